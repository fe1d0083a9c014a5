// The command line as commander sees it. Parsing has no effects: it gives what to do, or throws what is wrong.
import { Argument, Command, CommanderError, Option } from 'commander';
import { runtimes } from '../runtimes/index.js';
import { defineCompact } from './compact-program.js';
import { exitStatus } from './exit-status-text.js';
import { defineConfig } from './config/program.js';
import { explain } from './explain.js';
import { defineHook } from './hooks/hook-program.js';
import * as messages from './messages.js';
import { addOptions } from './options.js';
import type { Options, ReplayRequest, Request, RunRequest } from './request.js';
import { defineShell } from './shell/shell-program.js';
import { defineVerify } from './verify/verify-program.js';
import { parseChoice, parseRuntime, parseWindow } from './values.js';

/** Words that `ctxwrap WORD` knows. */
export const agentWords: readonly string[] = Object.values(runtimes).flatMap((runtime) =>
  'command' in runtime ? [runtime.command] : [],
);

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
  const options = program.opts<Options>();
  if (options.recordInput && options.record === undefined) throw messages.inputWithoutRecord();
  return withGiven(request, givenOptions(program));
};

const withGiven = (request: Request, given: readonly string[]): Request =>
  request.kind === 'print' ? request : { ...request, given };

/** Those that stand on the command line, before a command and after it. */
const givenOptions = (program: Command): readonly string[] =>
  [program, ...program.commands].flatMap((each) =>
    each.options
      .map((option) => option.attributeName())
      .filter((name) => each.getOptionValueSource(name) === 'cli'),
  );

/** `ctxwrap [options] -- command`; commander drops the dashes, so we look for them before the word where it stopped. */
const afterDashes = (program: Command, argv: readonly string[]): RunRequest | undefined => {
  const { operands, unknown } = program.parseOptions([...argv]);
  const eaten = program.options.find(
    (option) => option.required && program.opts()[option.attributeName()] === '--',
  );
  if (eaten?.long) throw messages.missingValue(eaten.long);
  if (unknown.length > 0 || argv[argv.length - operands.length - 1] !== '--') return undefined;
  const [word, ...args] = operands;
  if (word === undefined) throw messages.noCommand();
  return { kind: 'run', word, args, anyCommand: true, options: program.opts<Options>() };
};

/** The commands of ours: no agent can be called so. */
export const commandWords = (): readonly string[] =>
  define('', { ask: () => undefined, print: () => undefined }).commands.map((each) => each.name());

interface Sinks {
  readonly ask: (request: Request) => void;
  readonly print: (text: string) => void;
}

const define = (version: string, { ask, print }: Sinks): Command => {
  const program = new Command('ctxwrap')
    .description('Runs claude, codex, gemini or qwen unchanged and shows how full the context window is.')
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
    ask({ kind: 'run', word, args, anyCommand: false, options: program.opts<Options>() });
  });
  program
    .command('demo')
    .description('show it with a built-in agent: offline, 60 s')
    .option('-i, --interactive', 'type to the agent yourself')
    .action(({ interactive = false }: { interactive?: boolean }) =>
      ask({ kind: 'demo', interactive, options: program.opts<Options>() }),
    );
  defineReplay(program, ask);
  defineSessions(program, ask);
  defineCompact(program, ask);
  program
    .command('doctor')
    .description('look at everything ctxwrap needs, and say what to mend')
    .option('--json', 'print one JSON object')
    .action(({ json = false }: { json?: boolean }) =>
      ask({ kind: 'doctor', json, options: program.opts<Options>() }),
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

const defineSessions = (program: Command, ask: Sinks['ask']): void => {
  program
    .command('ps')
    .description('the sessions that are running: how full, what the agent is doing')
    .option('-a, --all', 'also those that are over, and those that do not answer')
    .option('--json', 'print one JSON object')
    .action(({ all = false, json = false }: { all?: boolean; json?: boolean }) =>
      ask({ kind: 'ps', all, json, options: program.opts<Options>() }),
    );
  program
    .command('context')
    .description('what fills the window of a session, and where its tiers begin')
    .argument(
      '[session]',
      "an id, a pid or an agent's name, or a session file; the one it runs in, or the only one, when absent",
    )
    .option('--runtime <name>', 'the agent of the session file, when it is not recognised', parseRuntime)
    .option('--window <tokens>', 'the size of the context window: 200000, 200k, 1M', parseWindow)
    .option('--json', 'print one JSON object')
    .action((target: string | undefined, { json = false, ...own }: ContextOptions) => {
      const options = { ...program.opts<Options>(), ...own };
      ask({ kind: 'context', ...(target === undefined ? {} : { target }), json, options });
    });
};

interface ContextOptions extends Pick<Options, 'runtime' | 'window'> {
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
      parseRuntime,
    )
    .option('--window <tokens>', 'the size of the context window: 200000, 200k, 1M', parseWindow)
    .addOption(new Option('--json', 'print one JSON object').conflicts('ndjson'))
    .option('--ndjson', 'print one JSON object a line')
    .action((path: string, { log: logs = [], json, ndjson, ...own }: ReplayOptions) => {
      const format: ReplayRequest['format'] = json ? 'json' : ndjson ? 'ndjson' : 'text';
      ask({ kind: 'replay', path, logs, format, options: { ...program.opts<Options>(), ...own } });
    });

const collect = (path: string, others: readonly string[] = []): readonly string[] => [...others, path];

interface ReplayOptions extends Pick<Options, 'runtime' | 'window'> {
  readonly log?: readonly string[];
  readonly json?: boolean;
  readonly ndjson?: boolean;
}

const afterHelp = `\nExit status: ${exitStatus}\n`;
