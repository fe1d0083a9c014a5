import { UserError } from '../core/errors.js';
import { counted } from '../core/format.js';
import { replacementOf } from '../core/config/replaced-keys.js';
import { nearestWord, quoteForCopying } from '../core/text.js';
import { failure, listed, usageError } from './usage-error.js';

export * from './history-messages.js';

// The launcher's error messages: what is wrong, what was given, what to do.

/** Exit status when ctxwrap itself fails, not because of the user's input. */
export const OWN_FAILURE = 125;
const notExecutable = 126;
const notFound = 127;

export const noAgent = (): UserError =>
  usageError('no agent was given', 'try ctxwrap claude, or see ctxwrap --help');

export const noCommand = (): UserError =>
  usageError('no command was given after --', 'try ctxwrap -- bash, or see ctxwrap --help');

/** The word that was probably meant, or else another hint. */
const meantIn = (known: readonly string[], given: string, otherwise: string): string => {
  const close = nearestWord(given, known);
  return close === undefined ? otherwise : `did you mean ${close}?`;
};

/** The words that a command line can begin with. */
export interface FirstWords {
  readonly agents: readonly string[];
  readonly commands: readonly string[];
}

export const unknownWord = (word: string, { agents, commands }: FirstWords): UserError => {
  const list = `the agents are ${agents.join(', ')}; ctxwrap --help lists the commands.`;
  const right = meantIn([...agents, ...commands], word, list);
  return usageError(
    `unknown agent or command "${word}"`,
    `${right} Any program can be wrapped: ctxwrap -- ${word}`,
  );
};

/** `ctxwrap ctxwrap claude` */
export const wrapsItself = (args: readonly string[]): UserError =>
  usageError(
    'ctxwrap cannot wrap ctxwrap',
    `one is enough: ${args.length > 0 ? `ctxwrap ${args.map(quoteForCopying).join(' ')}` : 'ctxwrap claude'}`,
  );

export const unknownKey = (given: string, known: readonly string[]): UserError => {
  const { key, value = 'VALUE' } = replacementOf(given) ?? {};
  const hint =
    key === undefined
      ? meantIn(known, given, 'see ctxwrap config show')
      : `its name here is ${key}: ctxwrap config set ${key} ${value}`;
  return usageError(`unknown key "${given}"`, hint);
};

/** What follows `config` is neither a key nor a command. */
export const unknownConfigWord = (given: string, known: readonly string[]): UserError =>
  replacementOf(given)
    ? unknownKey(given, known)
    : usageError(
        `there is no key or command "${given}" of ctxwrap config`,
        meantIn(known, given, 'ctxwrap config show lists the keys, ctxwrap config --help the commands'),
      );

/** What follows `help`, or `help` and a command, is no command. */
export const unknownHelp = (given: string, known: readonly string[], of?: string): UserError => {
  const near = nearestWord(given, known);
  const others = of === undefined ? 'ctxwrap help --all lists all commands' : `see ctxwrap help ${of}`;
  const right = ['try ctxwrap help', of, near].filter((word) => word !== undefined).join(' ');
  return usageError(
    `there is no command "${given}"${of === undefined ? '' : ` of ctxwrap ${of}`}`,
    near === undefined ? others : right,
  );
};

/** Where an option is allowed: before the command or after it. */
export interface KnownFlags {
  /** the command that the option followed, if any */
  readonly command?: string | undefined;
  readonly here: readonly string[];
  /** where the option belongs, with an example */
  readonly elsewhere?: string | undefined;
  /** what to do in its place, as a sentence */
  readonly instead?: string | undefined;
}

export const unknownOption = (flag: string, { command, here, elsewhere, instead }: KnownFlags): UserError => {
  const stem = (each: string): string => each.replace(/^--(no-)?/, ''); // `--footer` is probably meant as `--no-footer`
  const closeStem = flag.startsWith('--') ? nearestWord(stem(flag), here.map(stem)) : undefined;
  const close = here.find((each) => stem(each) === closeStem);
  const message = `unknown option "${flag}"${command === undefined ? '' : ` of ctxwrap ${command}`}`;
  if (instead !== undefined) return usageError(message, instead);
  if (elsewhere !== undefined) return usageError(message, `it goes ${elsewhere}`);
  if (close !== undefined) return usageError(message, `did you mean ${close}?`);
  return usageError(
    message,
    command === undefined
      ? `options of the agent go after its name: ctxwrap claude ${flag}`
      : `see ctxwrap ${command} --help`,
  );
};

/** `flag`: an option, or a command and what it takes */
export const unknownChoice = (flag: string, given: string, choices: readonly string[]): UserError => {
  const close = nearestWord(given, choices) ?? choices[0];
  const right = flag.startsWith('-') ? flag : `ctxwrap ${flag}`;
  return usageError(`${flag} must be one of ${choices.join(', ')}, got "${given}"`, `try ${right} ${close}`);
};

export const unknownItem = (flag: string, given: string, items: readonly string[]): UserError =>
  usageError(`${flag} has no item "${given}"`, meantIn(items, given, `the items are ${items.join(', ')}`));

export const sessionWithAll = (target: string): UserError =>
  usageError(`--all asks every session, but "${target}" names one`, `ctxwrap compact ${target}`);

export const idleWithoutAll = (): UserError =>
  usageError('--idle needs --all', 'ctxwrap compact --all --idle');

export const needsStrategy = (option: string): UserError =>
  usageError(`${option} needs a strategy`, 'ctxwrap compact --strategy truncate --dry-run');

export const strategyWith = (option: string): UserError =>
  usageError(
    `${option} is for the agent's own command, which --strategy does not use`,
    'leave one of them out',
  );

export const topWithoutTerminal = (): UserError =>
  usageError(
    'ctxwrap top needs a terminal',
    'ctxwrap ps --watch prints the sessions again whenever one changes',
  );

export const unwritableReport = (path: string, reason: string): UserError =>
  failure(
    `the report cannot be written to ${path}: ${reason}`,
    'ctxwrap report --html FILE, in a folder that you can write to',
  );

export const jsonWithWatch = (): UserError =>
  usageError(
    '--json cannot be combined with --watch',
    `run ctxwrap ps --json repeatedly, or use --watch with --format`,
  );

export const badInterval = (given: string): UserError =>
  usageError(`--interval must be from 1 to 3600 seconds, got "${given}"`, 'try --interval 5');

export const intervalWithoutWatch = (): UserError =>
  usageError('--interval needs --watch', 'run ctxwrap ps --watch --interval 5');

/** `command`: what the option follows; absent for one before the agent or the command */
export const missingValue = (option: string, command?: string): UserError =>
  usageError(`option ${option} needs a value`, seeHelp(command));

const seeHelp = (command: string | undefined): string =>
  command === undefined ? 'see ctxwrap --help' : `see ctxwrap ${command} --help`;

export const missingArgument = (name: string, command: string): UserError =>
  usageError(`ctxwrap ${command} needs <${name}>`, seeHelp(command));

/** `most`: arguments that the command takes */
export const excessArgument = (given: string, command: string, most: number): UserError =>
  usageError(
    most === 0
      ? `ctxwrap ${command} takes no arguments, got "${given}"`
      : `ctxwrap ${command} takes only ${counted(most, 'argument')}, got "${given}" as well`,
    seeHelp(command),
  );

export const psOfOne = (given: string): UserError =>
  usageError(
    `ctxwrap ps lists all sessions, got "${given}"`,
    `for one session: ctxwrap context ${quoteForCopying(given)}`,
  );

export const excludedOption = (option: string, other: string): UserError =>
  usageError(`${option} cannot be combined with ${other}`, 'use only one of them');

export const badValue = (flag: string, rule: string, given: string, better: string): UserError =>
  usageError(`${flag} must be ${rule}, got "${given}"`, `try ${flag} ${better}`);

export const inputWithoutRecord = (): UserError =>
  usageError('--record-input needs a recording', 'try --record session.cast --record-input');

export const oneKeyForTwo = (key: string): UserError =>
  usageError(
    `${key} cannot both open the overview and say "not now"`,
    'choose two keys: --hotkey ^G --not-now Esc',
  );

export const commandWithoutNotify = (): UserError =>
  usageError('--notify-command needs --notify', 'add --notify auto,hard,failure,permission, or some of them');

export const wrongUsage = (message: string, command: string | undefined): UserError =>
  usageError(message, seeHelp(command));

export const demoNeedsFolder = (folder: string, reason: string): UserError =>
  usageError(`the demo cannot create a folder in "${folder}": ${reason}`, 'set TMPDIR to another folder');

export const demoNeedsTerminal = (): UserError =>
  usageError('the demo needs a terminal', 'run it without redirecting its input or output');

/** `path`: the demo's agent, which the build writes; `checkout`: the folder that it is built in, unless it was installed. */
export const brokenDemo = (path: string, checkout: string | undefined): UserError =>
  failure(
    `the agent of the demo is missing or cut off: ${path}`,
    checkout === undefined ? 'npm install -g ctxwrap' : `cd ${quoteForCopying(checkout)} && npm run build`,
  );

/** One line, because scripts show only one. */
export const notInstalled = (
  word: string,
  npmPackage: string | undefined,
  shims: readonly string[],
): UserError => {
  const passed = shims.length > 0 ? ` (skipped ${shims.join(', ')}, which starts ctxwrap)` : '';
  const install = npmPackage === undefined ? '' : `; install it with: npm install -g ${npmPackage}`;
  return new UserError(`${word} was not found${passed}${install}`, { exitCode: notFound });
};

export const notAProgram = (file: string, reason: string): UserError =>
  new UserError(`cannot run ${file}: ${reason}`, { exitCode: notExecutable });

/** PATH finds a program for the agent that starts ctxwrap again. */
export const startsItself = (file: string): UserError =>
  new UserError(`${file} keeps starting ctxwrap`, {
    exitCode: notExecutable,
    hint: 'put the agent itself on PATH, or call ctxwrap with the agent in the shim',
  });

/** The file exists, but the program in its first line does not. */
export const noInterpreter = (file: string): UserError =>
  new UserError(`cannot run ${file}: its interpreter was not found`, { exitCode: notFound });

export const noSession = (): UserError =>
  usageError('no session is running', 'start one with ctxwrap claude, or give a session file');

export const sessionEndedLongAgo = (id: string): UserError =>
  usageError(
    `session ${id} has ended, and its events are no longer kept`,
    'ctxwrap ps lists running sessions',
  );

export const unknownSession = (given: string, names: readonly string[]): UserError =>
  usageError(
    `there is no session and no file "${given}"`,
    names.length > 0
      ? `the sessions are:${listed(names)}`
      : 'no session is running; ctxwrap ps --all lists ended ones',
  );

/** `command`: what the user has called */
export const namesCompaction = (given: string, command: string): UserError =>
  usageError(
    `"${given}" names one compaction`,
    `of the session: ctxwrap ${command} ${given.replace(/#\d+$/, '')}; of the compaction: ctxwrap history show ${given}`,
  );

export const unreadableSession = (given: string, reason: string): UserError =>
  usageError(`cannot read the session "${given}": ${reason}`, 'ctxwrap history lists those that can be read');

/** a notice */
export const readFromCopy = (path: string): string =>
  `${path} is gone: read from the copy that ctxwrap has kept`;

/** a notice */
export const unreadRecords = (agent: string, reason: string): string =>
  `the records of ${agent} cannot be read: ${reason}`;

/** a notice */
export const goneSessionFile =
  'the session file is gone: the numbers are the last ones, and compactions and tool results are missing';

export const unreadableFile = (path: string, reason: string): UserError =>
  usageError(`cannot read the session file "${path}": ${reason}`, 'give a session file written by an agent');

export const compressedFile = (path: string): UserError =>
  usageError(
    `the session file "${path}" is compressed`,
    `unpack it first: zstd -dc "${path}" > session.jsonl`,
  );

export const otherAgentsFile = (path: string, asked: string, recognised: string | undefined): UserError =>
  usageError(
    `"${path}" is not a session file of ${asked}`,
    recognised === undefined
      ? `give a session file written by ${asked}`
      : `it looks like one of ${recognised}: --runtime ${recognised}`,
  );

export const unknownFile = (path: string): UserError =>
  usageError(
    `"${path}" is not a known kind of session file`,
    'if it is one, name its agent: --runtime claude',
  );

export const unfollowedAgent = (agent: string): UserError =>
  usageError(`ctxwrap cannot read session files of ${agent}`, 'use another --runtime');

/** What the exit status means. */
export const exitStatus = `The agent's own, even if a signal killed it. Otherwise:
  1    doctor or verify found a problem, an undo, a copy or an edit failed, or
       a request to a running session was refused, or its outcome is unknown
  2    invalid usage, an unwritable file, or config check found an error
  125  ctxwrap failed before the agent started
  126  the agent was found but cannot be executed
  127  the agent was not found`;

// Messages of `ctxwrap handoff`.

export const nothingToHandOff = (): UserError =>
  usageError(
    'no session is running',
    'name a session file, or the id of a conversation: ctxwrap handoff ID; ctxwrap history lists them',
  );

export const handoffEmpty = (path: string): UserError =>
  failure(`there is no conversation in "${path}"`, 'ctxwrap history lists sessions');

export const noDraft = (reason: string): UserError =>
  usageError(
    `there is no prompt to put the handoff into: ${reason}`,
    'run it in a terminal, or print it: ctxwrap handoff',
  );

export const unknownTarget = (given: string, known: readonly string[]): UserError =>
  usageError(
    `--to must be an agent whose prompt ctxwrap can read, got "${given}"`,
    meantIn(known, given, `the agents are ${known.join(', ')}`),
  );

export const noImport = (to: string, from: string): UserError =>
  usageError(`${to} has no import for sessions of ${from} that ctxwrap knows`, 'leave out --import');

export const outputExists = (path: string): UserError =>
  usageError(`"${path}" already exists, and ctxwrap overwrites no file`, 'choose a new file name');

export const outputFailed = (path: string, reason: string): UserError =>
  usageError(`cannot write "${path}": ${reason}`, 'name another file');

export const badFolder = (path: string, reason: string): UserError =>
  failure(
    `cannot go to "${path}", where the session was: ${reason}`,
    'print the handoff and start the agent where you want it: ctxwrap handoff',
  );

// Messages of `ctxwrap verify` besides its results.

/** `absent`: one sentence per missing agent. */
export const nothingToVerify = (absent: readonly string[]): UserError =>
  usageError(`nothing to verify: ${absent.join('; ')}`, 'install an agent and put it on PATH');

export const misplacedArguments = (): UserError =>
  usageError('--order is internal', 'run ctxwrap verify without it');

export const verifyStopped = 'verify was stopped; its files are removed';

export const verifiedNotKept = (reason: string): string => `cannot store the result of verify: ${reason}`;
