import { type Command, Option } from 'commander';
import * as messages from '../messages.js';
import { type CommandOptions, keyOption, parseAgent, parseOptions } from '../options.js';
import type { Ask, PsRequest, ReplayRequest } from '../request.js';
import { fieldsText, parseTemplate } from '../template.js';

// The commands about sessions and recordings, defined for commander.

/** What other programs call it. */
const otherNamesOfPs = ['ls', 'status'];

export const defineSessions = (program: Command, ask: Ask): void => {
  for (const name of ['ps', ...otherNamesOfPs])
    program
      .command(name, { hidden: name !== 'ps' })
      .description('the sessions that are running: how full, what the agent is doing')
      .option('-a, --all', 'also those that are over, and those that do not answer')
      .option('-w, --watch', 'redraw the table when a session changes; q quits')
      .option('--format <template>', "one line per session, e.g. '{agent} {fill} {tier}'", parseTemplate)
      .option('--json', 'print one JSON object')
      .addHelpText('after', `\nFields for --format ({{ and }} for braces):\n${fieldsText()}\n`)
      .action(({ all = false, watch = false, json = false, format }: PsOptions) => {
        if (json && watch) throw messages.jsonWithWatch();
        if (json && format) throw messages.jsonWithFormat();
        const options = parseOptions(program);
        ask({ kind: 'ps', all, watch, json, ...(format ? { format } : {}), options });
      });
  program
    .command('top')
    .description('the running sessions, live: sort, filter, details, and a key that asks one to compact')
    .action(() => ask({ kind: 'top', options: parseOptions(program) }));
  program
    .command('report')
    .description('all recorded sessions and compactions as one page for a browser')
    .requiredOption('--html <file>', 'the file to write; it needs no network')
    .action(({ html }: { html: string }) => ask({ kind: 'report', html, options: parseOptions(program) }));
  program
    .command('context')
    .description('what fills the window of a session, and where its tiers begin')
    .argument(
      '[session]',
      "an id, a pid or an agent's name, or a session file; the one it runs in, or the only one, when absent",
    )
    .option('--runtime <name>', 'the agent of the session file, when it is not recognised', parseAgent)
    .addOption(keyOption('window'))
    .option('--json', 'print one JSON object')
    .action((target: string | undefined, { json = false, ...own }: ContextOptions) => {
      const options = parseOptions(program, own);
      ask({ kind: 'context', ...(target === undefined ? {} : { target }), json, options });
    });
};

type PsOptions = Partial<Pick<PsRequest, 'all' | 'watch' | 'json' | 'format'>>;

interface ContextOptions extends CommandOptions {
  readonly json?: boolean;
}

export const defineReplay = (program: Command, ask: Ask): Command =>
  program
    .command('replay')
    .description('what is read from a recording: numbers, activity, tiers, compactions')
    .argument('<file>', 'a recording (asciicast v2), also gzipped')
    .option('--log <file>', "the recorded agent's session file; once for each of several", collect)
    .option(
      '--runtime <name|file>',
      'the recorded agent, when it is not recognised, or a definition of it',
      parseAgent,
    )
    .addOption(keyOption('window'))
    .addOption(new Option('--json', 'print one JSON object').conflicts('ndjson'))
    .option('--ndjson', 'print one JSON object a line')
    .action((path: string, { log: logs = [], json, ndjson, ...own }: ReplayOptions) => {
      const format: ReplayRequest['format'] = json ? 'json' : ndjson ? 'ndjson' : 'text';
      ask({ kind: 'replay', path, logs, format, options: parseOptions(program, own) });
    });

const collect = (path: string, others: readonly string[] = []): readonly string[] => [...others, path];

interface ReplayOptions extends CommandOptions {
  readonly log?: readonly string[];
  readonly json?: boolean;
  readonly ndjson?: boolean;
}

interface CompactOptions {
  readonly all?: boolean;
  readonly idle?: boolean;
  readonly force?: boolean;
  readonly focus?: string;
  readonly json?: boolean;
  readonly wait: boolean;
}

export const defineCompact = (program: Command, ask: Ask): Command =>
  program
    .command('compact')
    .description('ask a running session to compact at its next safe moment, and wait for the outcome')
    .argument(
      '[session]',
      "an id, a pid or an agent's name; the one it runs in, or the only one, when absent",
    )
    .option('-a, --all', 'every running session')
    .option('--idle', 'with --all: only sessions whose agent rests')
    .option('-f, --force', 'also while compacting is paused after failures')
    .addOption(keyOption('focus'))
    .option('--no-wait', 'do not wait for the outcome')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExit status: 0 compacted, or nothing to compact; 1 any other outcome; 2 wrong usage.\n',
    )
    .action((target: string | undefined, given: CompactOptions) => {
      const { all = false, idle = false, force = false, focus, json = false, wait } = given;
      if (all && target !== undefined) throw messages.sessionWithAll(target);
      if (idle && !all) throw messages.idleWithoutAll();
      ask({
        kind: 'compact',
        ...(target === undefined ? {} : { target }),
        all,
        idle,
        force,
        ...(focus === undefined ? {} : { focus }),
        json,
        wait,
        options: parseOptions(program),
      });
    });
