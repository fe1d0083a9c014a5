import { Command, CommanderError } from 'commander';
import { agentWords } from '../agents/launches.js';
import type { UserError } from '../core/errors.js';
import { commands } from './commands.js';
import { addNotes, helpSettings, helpWidth } from './define/help.js';
import * as messages from './messages.js';
import { exitStatus } from './messages.js';
import { addOptions, parseOptions } from './options.js';
import type { Ask, Request, RunRequest } from './request.js';

// Commander's errors in ctxwrap's own wording.

const explain = (error: CommanderError, program: Command): UserError => {
  const text = error.message.replace(/^error: /, '');
  const quoted = /'(.*)'/.exec(text)?.[1] ?? text;
  const command = givenCommand(program);
  const name = command && fullName(command);
  switch (error.code) {
    case 'commander.unknownOption':
      return messages.unknownOption(quoted, knownFlags(quoted, program, command));
    case 'commander.optionMissingArgument':
      return messages.missingValue(quoted, name);
    case 'commander.missingArgument':
      return messages.missingArgument(quoted, name ?? '');
    case 'commander.conflictingOption': {
      const [option = '', other = ''] = [...text.matchAll(/option '(?:-\w, )?([^' ]+)/g)].map(
        ([, flag]) => flag,
      );
      return messages.excludedOption(option, other);
    }
    case 'commander.excessArguments': {
      const most = command?.registeredArguments.length ?? 0;
      return messages.excessArgument(command?.args[most] ?? '', name ?? '', most);
    }
    default:
      return messages.wrongUsage(text, name);
  }
};

/** `history show` rather than `history`, where that was given. */
const givenCommand = (parent: Command): Command | undefined => {
  const command = parent.commands.find((each) => each.name() === parent.args[0]);
  return command && (givenCommand(command) ?? command);
};

/** `history show`. */
const fullName = (command: Command): string =>
  command.parent?.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();

/** What to do in place of an option that a command has not, though its neighbours have it. */
const insteadOf: Readonly<Record<string, string>> = {
  'report --json': 'ctxwrap history --json and ctxwrap ps --all --json print what the page shows',
};

const knownFlags = (flag: string, program: Command, command: Command | undefined): messages.KnownFlags => {
  const [name] = flag.split('=');
  const knows = (each: Command): boolean => flagsOf(each).includes(name ?? flag);
  const others = command === undefined ? program.commands.filter(knows) : [];
  const other = others.find((each) => program.args.includes(each.name())) ?? others[0];
  const isBefore = command !== undefined && knows(program);
  return {
    command: command && fullName(command),
    instead: command && insteadOf[`${fullName(command)} ${name}`],
    here: flagsOf(command ?? program),
    elsewhere: isBefore
      ? `before the command: ctxwrap ${flag} … ${fullName(command)}`
      : other && `after the command: ctxwrap ${other.name()} ${flag}`,
  };
};

const flagsOf = (command: Command): readonly string[] => [
  ...command.options.flatMap((option) => option.long ?? []),
  '--help',
];

// The command line, defined for commander. Parsing has no side effects: it returns a task, or throws what is wrong.

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

interface Sinks {
  readonly ask: Ask;
  readonly print: (text: string) => void;
}

const define = (version: string, { ask, print }: Sinks): Command => {
  const program = new Command('ctxwrap')
    .description(
      `Runs ${listed(agentWords)} unchanged, shows how full the context window is, and compacts it at a safe moment.`,
    )
    .usage(
      '[options] <agent> [agent args...]\n[options] -- <program> [args...]\n[options] <command> [args...]',
    )
    .argument('[agent]', `one of ${agentWords.join(', ')}`)
    .argument('[args...]', "the agent's own arguments, passed on untouched")
    .helpCommand(false)
    .enablePositionalOptions()
    .passThroughOptions()
    .showSuggestionAfterError(false)
    .exitOverride()
    .configureOutput({
      writeOut: print,
      writeErr: () => undefined,
      getOutHelpWidth: () => helpWidth(process.stdout.columns),
    })
    .configureHelp(helpSettings);
  addNotes(program, programNotes);
  addOptions(program, version).action((word: string | undefined, args: readonly string[]) => {
    if (word === undefined) throw messages.noAgent();
    ask({ kind: 'run', word, args, anyCommand: false, options: parseOptions(program) });
  });
  for (const each of commands) each.addTo(program, { program, version, ask });
  return program;
};

const programNotes = {
  examples: [
    "ctxwrap claude                      options after the name are the agent's",
    'ctxwrap --mode ask codex resume     suggest compacting, type nothing',
    'ctxwrap --window 1M claude          when the window is not known',
    'ctxwrap ps --watch                  in another terminal',
  ],
  sections: [['Exit status', exitStatus]],
} as const;
