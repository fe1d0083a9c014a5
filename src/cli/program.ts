import { Command, Argument, CommanderError, Option } from 'commander';
import { agents } from '../agents/index.js';
import { isKeyName, keyNames, type KeyName } from '../core/config/keys.js';
import type { UserError } from '../core/errors.js';
import { hookAgents, hookText } from './hooks.js';
import * as messages from './messages.js';
import { unknownKey, exitStatus } from './messages.js';
import {
  addOptions,
  type CommandOptions,
  keyOption,
  parseOptions,
  parseChoice,
  parseAgent,
} from './options.js';
import {
  type Options,
  type Request,
  type ConfigRequest,
  type PsRequest,
  shells,
  type Shell,
  type ReplayRequest,
  type RunRequest,
} from './request.js';
import { candidatesFor, completionText } from './shell/completion.js';
import { manPage, manSections } from './shell/man.js';
import { fieldsText, parseTemplate } from './template.js';

// `ctxwrap compact`, defined for commander.

interface CompactOptions {
  readonly force?: boolean;
  readonly focus?: string;
  readonly json?: boolean;
  readonly wait: boolean;
}

const defineCompact = (program: Command, ask: (request: Request) => void): Command =>
  program
    .command('compact')
    .description('ask a running session to compact at its next safe moment, and wait for the outcome')
    .argument(
      '[session]',
      "an id, a pid or an agent's name; the one it runs in, or the only one, when absent",
    )
    .option('-f, --force', 'also while compacting is paused after failures')
    .addOption(keyOption('focus'))
    .option('--no-wait', 'do not wait for the outcome')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      '\nExit status: 0 compacted, or nothing to compact; 1 any other outcome; 2 wrong usage.\n',
    )
    .action((target: string | undefined, { force = false, focus, json = false, wait }: CompactOptions) =>
      ask({
        kind: 'compact',
        ...(target === undefined ? {} : { target }),
        force,
        ...(focus === undefined ? {} : { focus }),
        json,
        wait,
        options: parseOptions(program),
      }),
    );

// `ctxwrap config`, defined for commander.

interface ShowOptions {
  readonly origin?: boolean;
  readonly json?: boolean;
}

const defineConfig = (program: Command, ask: (request: Request) => void): Command => {
  const config = program
    .command('config')
    .description('what is set, where it comes from, and whether it is right')
    .helpCommand(false);
  const asked = (action: ConfigRequest['action'], { origin = false, json = false }: ShowOptions = {}) => ({
    kind: 'config' as const,
    action,
    origin,
    json,
    options: parseOptions(program),
  });
  config
    .command('show', { isDefault: true })
    .description('the values that hold in this folder')
    .addArgument(
      new Argument('[key]', 'only this one').choices(keyNames).argParser((text) => parseFirst(config, text)),
    )
    .option('--origin', 'also where each comes from, and what it hides')
    .option('--json', 'print one JSON object')
    .action((key: KeyName | undefined, options: ShowOptions) => {
      ask({ ...asked('show', options), ...(key === undefined ? {} : { key }) });
    });
  defineConfigChanges(config, (action, more = {}) => ask({ ...asked(action), ...more }));
  config
    .command('check')
    .description('what is wrong with it, and the command that mends it')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExit status: 0 nothing is wrong, 2 a value does not count.\n')
    .action((options: ShowOptions) => ask(asked('check', options)));
  config
    .command('init')
    .description('write the file with all keys as comments, or add those that are missing')
    .action(() => ask(asked('init')));
  config
    .command('path')
    .description('the name of the file')
    .action(() => ask(asked('path')));
  config
    .command('schema')
    .description('its JSON Schema, for editors')
    .action(() => ask(asked('schema')));
  return config;
};

type AskChange = (action: ConfigRequest['action'], more?: Pick<ConfigRequest, 'key' | 'value'>) => void;

/** The commands that write the user's file. */
const defineConfigChanges = (config: Command, ask: AskChange): void => {
  const keyArgument = (): Argument =>
    new Argument('<key>', 'see config show').choices(keyNames).argParser(parseKey);
  config
    .command('set')
    .description('set a key in your own configuration file')
    .addArgument(keyArgument())
    .argument('<value>', 'as in the file, without quotes; a list has commas')
    .action((key: KeyName, value: string) => ask('set', { key, value }));
  config
    .command('unset')
    .description('remove a key from your own configuration file')
    .addArgument(keyArgument())
    .action((key: KeyName) => ask('unset', { key }));
  config
    .command('edit')
    .description('open your own configuration file in VISUAL, EDITOR or vi, and check it afterwards')
    .addHelpText('after', '\nExit status: 0 nothing is wrong, 1 the editor failed, or the file is wrong.\n')
    .action(() => ask('edit'));
};

const parseKey = (text: string): KeyName => {
  if (!isKeyName(text)) throw unknownKey(text, keyNames);
  return text;
};

/** What follows `config` is a key for `show`, unless it is a command. */
const parseFirst = (config: Command, text: string): KeyName => {
  if (!isKeyName(text)) throw unknownKey(text, [...keyNames, ...config.commands.map((each) => each.name())]);
  return text;
};

// Commander's errors in ctxwrap's own wording.

const explain = (error: CommanderError, program: Command): UserError => {
  const text = error.message.replace(/^error: /, '');
  const quoted = /'(.*)'/.exec(text)?.[1] ?? text;
  const command = program.commands.find((each) => each.name() === program.args[0]);
  switch (error.code) {
    case 'commander.unknownOption':
      return messages.unknownOption(quoted, knownFlags(quoted, program, command));
    case 'commander.optionMissingArgument':
      return messages.missingValue(quoted);
    default:
      return messages.wrongUsage(text, command?.name());
  }
};

const knownFlags = (flag: string, program: Command, command: Command | undefined): messages.KnownFlags => {
  const [name] = flag.split('=');
  const knows = (each: Command): boolean => flagsOf(each).includes(name ?? flag);
  const others = command === undefined ? program.commands.filter(knows) : [];
  const other = others.find((each) => program.args.includes(each.name())) ?? others[0];
  const isBefore = command !== undefined && knows(program);
  return {
    command: command?.name(),
    here: flagsOf(command ?? program),
    elsewhere: isBefore
      ? `before the command, as in: ctxwrap ${flag} … ${command.name()}`
      : other && `after the command, as in: ctxwrap ${other.name()} ${flag}`,
  };
};

const flagsOf = (command: Command): readonly string[] => [
  ...command.options.flatMap((option) => option.long ?? []),
  '--help',
];

// `ctxwrap hook`, defined for commander.

const defineHook = (program: Command, ask: (request: Request) => void): void => {
  program
    .command('hook')
    .description("print what an agent's settings need to compact early and to note how full it is")
    .addArgument(
      new Argument('<agent>', hookAgents.join(', '))
        .choices(hookAgents)
        .argParser(parseChoice('hook', ...hookAgents)),
    )
    .action((agent: string) => ask({ kind: 'print', text: hookText(agent) }));
  program
    .command('hold', { hidden: true })
    .description('the answer to an agent that is about to compact by itself')
    .helpOption(false)
    .action(() => ask({ kind: 'hold', options: parseOptions(program) }));
};

// `ctxwrap init` and `ctxwrap completion`, defined for commander, and hidden commands for shells and the build.

export interface ShellParts {
  readonly agents: readonly string[];
  readonly version: string;
  readonly ask: (request: Request) => void;
}

const defineShell = (program: Command, { agents, version, ask }: ShellParts): void => {
  const print = (text: string): void => ask({ kind: 'print', text });
  const shell = (name: string): Argument =>
    new Argument('<shell>', shells.join(', ')).choices(shells).argParser(parseChoice(name, ...shells));
  program
    .command('init')
    .description('print shell functions that start the agents through ctxwrap')
    .addArgument(shell('init'))
    .action((name: Shell) => ask({ kind: 'init', shell: name, options: parseOptions(program) }));
  program
    .command('completion')
    .description('print what makes a shell complete the words of ctxwrap')
    .addArgument(shell('completion'))
    .action((name: Shell) => print(completionText(name)));
  program
    .command('complete', { hidden: true })
    .description('words for a shell')
    .argument('[words...]')
    .helpOption(false)
    .action((words: readonly string[]) => {
      const line = words.map((word) => word.replace(/^=/, ''));
      ask({
        kind: 'complete',
        candidates: (ownAgents) => candidatesFor(program, line, [...agents, ...ownAgents]),
        typed: line.at(-1) ?? '',
        options: parseOptions(program),
      });
    });
  program
    .command('version', { hidden: true })
    .description('print the version')
    .action(() => print(`${version}\n`));
  program
    .command('man', { hidden: true })
    .description('the manual page')
    .action(() => print(manPage(program, { version, sections: manSections })));
};

// `ctxwrap verify`, defined for commander.

interface VerifyOptions {
  readonly keep?: boolean;
  readonly json?: boolean;
  readonly order?: string;
}

const defineVerify = (
  program: Command,
  agents: readonly string[],
  ask: (request: Request) => void,
): Command =>
  program
    .command('verify')
    .description(
      'try an installed agent against a made-up model server: no network, no key, nothing of yours',
    )
    .addArgument(
      new Argument('[agent]', `${agents.join(', ')}; every one that is installed when absent`)
        .choices(agents)
        .argParser(parseChoice('verify', ...agents)),
    )
    .option('--keep', 'keep the recording and the log, also when all is well')
    .option('--json', 'print one JSON object')
    .addOption(new Option('--order <json>', 'what is played in the place that was made for it').hideHelp())
    .addHelpText(
      'after',
      '\nExit status: 0 all is well; 1 something is not; 2 wrong usage, or nothing to try is installed.\n',
    )
    .action((agent: string | undefined, { keep = false, json = false, order }: VerifyOptions) =>
      ask({
        kind: 'verify',
        ...(agent === undefined ? {} : { agent }),
        keep,
        json,
        ...(order === undefined ? {} : { order }),
        options: parseOptions(program),
      }),
    );

// The command line, defined for commander. Parsing has no side effects: it returns a task, or throws what is wrong.

/** The agents that `ctxwrap NAME` starts. */
export const agentWords: readonly string[] = Object.values(agents).flatMap((agent) =>
  'command' in agent ? [agent.name] : [],
);

const listed = (words: readonly string[]): string => `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

export const parseArguments = (argv: readonly string[], version: string): Request => {
  let request: Request | undefined;
  let printed = '';
  const program = define(version, {
    ask: (made) => {
      request = made;
    },
    print: (text) => {
      printed += text;
    },
  });
  try {
    request = afterDashes(program, argv);
    if (request === undefined) program.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0) throw explain(error, program);
    return { kind: 'print', text: printed };
  }
  if (request === undefined) throw messages.noAgent();
  const { record, recordInput } = parseOptions(program);
  if (recordInput && record === undefined) throw messages.inputWithoutRecord();
  return request;
};

/** `ctxwrap [options] -- command`. Commander drops the dashes, so they are looked up before the word where it stopped. */
const afterDashes = (program: Command, argv: readonly string[]): RunRequest | undefined => {
  const { operands, unknown } = program.parseOptions([...argv]);
  const eaten = program.options.find(
    (option) => option.required && program.opts()[option.attributeName()] === '--',
  );
  if (eaten?.long) throw messages.missingValue(eaten.long);
  if (unknown.length > 0 || argv[argv.length - operands.length - 1] !== '--') return undefined;
  const [word, ...args] = operands;
  if (word === undefined) throw messages.noCommand();
  return { kind: 'run', word, args, anyCommand: true, options: parseOptions(program) };
};

const nowhere: Sinks = { ask: () => undefined, print: () => undefined };

/** ctxwrap's own commands, also those that are not listed; no agent can have these names. */
export const commandWords = (): readonly string[] => define('', nowhere).commands.map((each) => each.name());

/** The commands that --help lists. */
export const listedCommands = (): readonly string[] => {
  const program = define('', nowhere);
  return program
    .createHelp()
    .visibleCommands(program)
    .map((each) => each.name());
};

interface Sinks {
  readonly ask: (request: Request) => void;
  readonly print: (text: string) => void;
}

const define = (version: string, { ask, print }: Sinks): Command => {
  const program = new Command('ctxwrap')
    .description(`Runs ${listed(agentWords)} unchanged and shows how full the context window is.`)
    .usage('[options] <agent> [agent args...]\n       ctxwrap [options] -- <command> [args...]')
    .argument('[agent]', `one of ${agentWords.join(', ')}`)
    .argument('[args...]', "the agent's own arguments, passed on untouched")
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .enablePositionalOptions()
    .passThroughOptions()
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: () => undefined })
    .addHelpText('after', afterHelp);
  addOptions(program).action((word: string | undefined, args: readonly string[]) => {
    if (word === undefined) throw messages.noAgent();
    ask({ kind: 'run', word, args, anyCommand: false, options: parseOptions(program) });
  });
  program
    .command('demo')
    .description('show it with a built-in agent: offline, 60 s')
    .option('-i, --interactive', 'type to the agent yourself')
    .action(({ interactive = false }: { interactive?: boolean }) =>
      ask({ kind: 'demo', interactive, options: parseOptions(program) }),
    );
  defineReplay(program, ask);
  defineSessions(program, ask);
  defineCompact(program, ask);
  program
    .command('doctor')
    .description('check your setup and suggest fixes')
    .option('--json', 'print one JSON object')
    .action(({ json = false }: { json?: boolean }) =>
      ask({ kind: 'doctor', json, options: parseOptions(program) }),
    );
  defineVerify(program, agentWords, ask);
  defineHook(program, ask);
  defineShell(program, { agents: agentWords, version, ask });
  defineConfig(program, ask);
  defineHelp(program);
  return program;
};

const defineHelp = (program: Command): void => {
  const words = program.createHelp().visibleCommands(program);
  const names = words.map((each) => each.name());
  program
    .command('help')
    .description('print this help, or that of a command')
    .addArgument(new Argument('[command]').choices(names).argParser(parseChoice('help', ...names)))
    .action((name: string | undefined) => (words.find((each) => each.name() === name) ?? program).help());
};

/** What other programs call it. */
const otherNamesOfPs = ['ls', 'status'];

const defineSessions = (program: Command, ask: Sinks['ask']): void => {
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

const defineReplay = (program: Command, ask: Sinks['ask']): Command =>
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

const afterHelp = `\nExit status: ${exitStatus}\n`;

export interface VerifyRequest {
  readonly kind: 'verify';
  /** all installed agents when absent */
  readonly agent?: string;
  /** keep the recording even when all checks pass */
  readonly keep: boolean;
  readonly json: boolean;
  /** set when ctxwrap has started itself in a sandbox without network: what to run there, as JSON */
  readonly order?: string;
  readonly options: Options;
}
