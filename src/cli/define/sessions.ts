import { type Command, Option } from 'commander';
import * as messages from '../messages.js';
import {
  type CommandOptions,
  keyOption,
  parseAgent,
  parseChoice,
  parseOptions,
  parseValue,
} from '../options.js';
import type { Ask, Options, PsRequest, ReplayRequest, ShortenCommandRequest } from '../request.js';
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
  defineEvents(program, ask);
  const context = program
    .command('context')
    .description('show what fills a window and where its tiers begin')
    .argument('[session]', `${SESSION}; the beginning of an agent's own id; or a session file`)
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

const defineEvents = (program: Command, ask: Ask): void => {
  const events = program
    .command('events')
    .description('follow what happens in sessions, for you or a program')
    .argument('[session]', "an id, a pid or an agent's name; by default all sessions")
    .option('--ndjson', 'print one JSON object per line')
    .action((target: string | undefined, { ndjson = false }: { ndjson?: boolean }) =>
      ask({
        kind: 'events',
        ...(target === undefined ? {} : { target }),
        ndjson,
        options: parseOptions(program),
      }),
    );
  addNotes(events, {
    sections: [
      [
        'Prints',
        [
          'First the state of each session, then every change of tier, activity and',
          'mode, every attempt to compact and its outcome, numbers at most once a',
          'second, and the end. With a session it ends when the session ends.',
          'Without --ndjson each event is a line to read: 14:03:07 4711-x2 tier safe',
          '→ warn.',
        ].join('\n'),
      ],
    ],
    examples: ['ctxwrap events --ndjson | jq -c \'select(.type == "tier")\''],
  });
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

interface CompactOptions extends CommandOptions {
  readonly all?: boolean;
  readonly idle?: boolean;
  readonly force?: boolean;
  readonly focus?: string;
  readonly json?: boolean;
  readonly wait: boolean;
  readonly strategy?: string;
  readonly dryRun?: boolean;
  readonly output?: string;
  readonly keepRecent?: number;
  readonly budget?: number;
}

/** The first of these options that was given; undefined where none was. */
const firstGiven = (options: Readonly<Record<string, unknown>>): string | undefined =>
  Object.keys(options).find((name) => options[name] !== undefined && options[name] !== false);

/** The request for a strategy; undefined where the agent's own command is meant. */
const shortenRequest = (
  target: string | undefined,
  given: CompactOptions,
  options: Options,
): ShortenCommandRequest | undefined => {
  const { strategy = 'auto', dryRun = false, output, keepRecent, budget, json = false } = given;
  if (strategy === 'auto') {
    const own = { '--dry-run': dryRun, '--output': output, '--keep-recent': keepRecent, '--budget': budget };
    const option = firstGiven(own);
    if (option !== undefined) throw messages.needsStrategy(option);
    return undefined;
  }
  const { all, idle, force, focus, wait } = given;
  const other = firstGiven({
    '--all': all,
    '--idle': idle,
    '--force': force,
    '--focus': focus,
    '--no-wait': !wait,
  });
  if (other !== undefined) throw messages.strategyWith(other);
  return {
    kind: 'shorten',
    ...(target === undefined ? {} : { target }),
    strategy,
    isDryRun: dryRun,
    isNewSession: output !== undefined,
    ...(keepRecent === undefined ? {} : { keepRecent }),
    ...(budget === undefined ? {} : { budgetTokens: budget }),
    json,
    options,
  };
};

const compactStatus =
  '0  compacted, or nothing to compact\n1  any other outcome, or it is not known\n2  invalid usage\nCtrl-C withdraws it while it waits, and ends with that signal.';

export const defineCompact = (program: Command, ask: Ask): void => {
  const compact = program
    .command('compact')
    .helpGroup(commandTopics.sessions)
    .description('compact a session at its next safe moment')
    .argument('[session]', `${SESSION}; with --strategy also a session file`)
    .option('-a, --all', 'compact every running session')
    .option('--idle', 'with --all: only sessions whose agent is idle')
    .option('-f, --force', 'even if compacting is paused after failures')
    .addOption(keyOption('focus'))
    .option('--no-wait', 'return at once, without waiting for the outcome')
    .option('--strategy <name>', 'shorten it without the agent: truncate, summarize, clustering, or your own')
    .option('--dry-run', 'with --strategy: only print what would be kept and taken out')
    .addOption(
      new Option('--output <where>', 'with --strategy: write a new session, and leave a running agent alone')
        .choices(['new'])
        .argParser(parseChoice('compact --output', 'new')),
    )
    .option(
      '--keep-recent <n>',
      'how many of your last messages stay word for word',
      parseValue('keepRecent', '--keep-recent'),
    )
    .option(
      '--budget <tokens>',
      'how long the conversation may be afterwards, such as 60k',
      parseValue('window', '--budget'),
    )
    .option('--json', 'print one JSON object')
    .option('--runtime <name>', 'the agent of the session file, if not recognised', parseAgent)
    .action((target: string | undefined, given: CompactOptions) => {
      const options = parseOptions(program, given.runtime === undefined ? {} : { runtime: given.runtime });
      const shortening = shortenRequest(target, given, options);
      if (shortening) return ask(shortening);
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
        options,
      });
    });
  addNotes(compact, {
    sections: [['Exit status', compactStatus]],
    examples: [
      'ctxwrap compact --focus "the failing tests"',
      'ctxwrap compact --all --idle',
      'ctxwrap compact --strategy truncate --dry-run',
    ],
  });
};
