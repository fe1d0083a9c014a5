import { type Command, Option } from 'commander';
import * as messages from '../messages.js';
import { type CommandOptions, keyOption, parseAgent, parseOptions } from '../options.js';
import type { Ask, PsRequest, ReplayRequest } from '../request.js';
import { fieldsText, parseTemplate } from '../template.js';
import { addNotes, commandTopics } from './help.js';

// The commands about sessions and recordings, defined for commander.

/** What other programs call it. */
const otherNamesOfPs = ['ls', 'status'];

export const SESSION = "an id, a pid or an agent's name; by default the session you are in, or the only one";

export const defineSessions = (program: Command, ask: Ask): void => {
  program.commandsGroup(commandTopics.sessions);
  for (const name of ['ps', ...otherNamesOfPs]) {
    const ps = program
      .command(name, { hidden: name !== 'ps' })
      .description('list running sessions, how full they are and what they do')
      .option('-a, --all', 'also list ended and unresponsive sessions')
      .option('-w, --watch', 'redraw when a session changes; q quits')
      .option('--format <template>', "print one line per session, e.g. '{agent} {fill}'", parseTemplate)
      .option('--json', 'print one JSON object')
      .action(({ all = false, watch = false, json = false, format }: PsOptions) => {
        if (json && watch) throw messages.jsonWithWatch();
        if (json && format) throw messages.jsonWithFormat();
        const options = parseOptions(program);
        ask({ kind: 'ps', all, watch, json, ...(format ? { format } : {}), options });
      });
    addNotes(ps, {
      sections: [['Fields for --format ({{ and }} for braces)', fieldsText()]],
      examples: ["ctxwrap ps --watch --format '{agent} {fill} {waits}'"],
    });
  }
  const top = program
    .command('top')
    .description('show running sessions live; sort, filter, compact one')
    .action(() => ask({ kind: 'top', options: parseOptions(program) }));
  addNotes(top, { examples: ['ctxwrap top'] });
  const context = program
    .command('context')
    .description('show what fills a window and where its tiers begin')
    .argument('[session]', `${SESSION}; or a session file of an agent`)
    .option('--runtime <name>', 'the agent of the session file, if not recognised', parseAgent)
    .addOption(keyOption('window'))
    .option('--json', 'print one JSON object')
    .action((target: string | undefined, { json = false, ...own }: ContextOptions) => {
      const options = parseOptions(program, own);
      ask({ kind: 'context', ...(target === undefined ? {} : { target }), json, options });
    });
  addNotes(context, { examples: ['ctxwrap context claude'] });
  const report = program
    .command('report')
    .description('write a page about all recorded sessions')
    .requiredOption('--html <file>', 'the file to write, for a browser')
    .action(({ html }: { html: string }) => ask({ kind: 'report', html, options: parseOptions(program) }));
  addNotes(report, { examples: ['ctxwrap report --html report.html'] });
};

type PsOptions = Partial<Pick<PsRequest, 'all' | 'watch' | 'json' | 'format'>>;

interface ContextOptions extends CommandOptions {
  readonly json?: boolean;
}

export const defineReplay = (program: Command, ask: Ask): void => {
  const replay = program
    .command('replay')
    .helpGroup(commandTopics.trying)
    .description('show what ctxwrap reads from a recording')
    .argument('<file>', 'a recording (asciicast v2), also gzipped')
    .option('--log <file>', "the agent's session file; repeat it for several", collect)
    .option(
      '--runtime <name|file>',
      'the recorded agent, if not recognised, or a JSON file that describes it',
      parseAgent,
    )
    .addOption(keyOption('window'))
    .addOption(new Option('--json', 'print one JSON object').conflicts('ndjson'))
    .option('--ndjson', 'print one JSON object per line')
    .action((path: string, { log: logs = [], json, ndjson, ...own }: ReplayOptions) => {
      const format: ReplayRequest['format'] = json ? 'json' : ndjson ? 'ndjson' : 'text';
      ask({ kind: 'replay', path, logs, format, options: parseOptions(program, own) });
    });
  addNotes(replay, { examples: ['ctxwrap replay session.cast --log ~/.claude/projects/-proj/ID.jsonl'] });
};

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

export const defineCompact = (program: Command, ask: Ask): void => {
  const compact = program
    .command('compact')
    .helpGroup(commandTopics.sessions)
    .description('compact a session at its next safe moment')
    .argument('[session]', SESSION)
    .option('-a, --all', 'compact every running session')
    .option('--idle', 'with --all: only sessions whose agent is idle')
    .option('-f, --force', 'even if compacting is paused after failures')
    .addOption(keyOption('focus'))
    .option('--no-wait', 'return at once, without waiting for the outcome')
    .option('--json', 'print one JSON object')
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
  addNotes(compact, {
    sections: [
      ['Exit status', '0  compacted, or nothing to compact\n1  any other outcome\n2  invalid usage'],
    ],
    examples: ['ctxwrap compact --focus "the failing tests"', 'ctxwrap compact --all --idle'],
  });
};
