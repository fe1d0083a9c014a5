import type { Runtime, StatusLineWish } from '../agents/agent.js';
import type { Mode } from '../core/compaction/state.js';
import type { BackendName } from '../core/config/keys.js';
import type { FooterItem, LogLevel } from '../core/format.js';
import type { Preset, Bound, LadderChoice } from '../core/ladder.js';
import type { NotificationKind } from '../core/notifications.js';
import type { ThemeChoice } from '../ui/look.js';
import type { RuntimeOption } from './options.js';
import type { VerifyRequest } from './program.js';
import type { Candidates } from './shell/completion.js';

// What a command line asks for.

export interface Options {
  readonly mode: Mode;
  /** tokens */
  readonly window?: number;
  readonly ladder?: Preset;
  readonly warn?: Bound;
  readonly auto?: Bound;
  readonly hard?: Bound;
  readonly runtime?: RuntimeOption;
  readonly claudeStatusLine: StatusLineWish;
  readonly draft?: 'hold' | 'stash';
  /** wait for the end of a turn, or give the command to the agent's own queue */
  readonly whenBusy?: 'wait' | 'queue';
  /** what the agent is asked to keep */
  readonly focus?: string;
  readonly proactive: boolean;
  /** the user has said the mode: by an option, in the environment or in their own file; false when absent */
  readonly isModeGiven?: boolean;
  /** a file of OMC in the session's folder counts as a request to compact */
  readonly watchOmc?: boolean;
  readonly tips: boolean;
  readonly notify?: readonly NotificationKind[];
  readonly notifyCommand?: string;
  readonly footer: boolean;
  readonly footerItems?: readonly FooterItem[];
  readonly theme?: ThemeChoice;
  readonly record?: string;
  readonly recordInput?: boolean;
  /** control byte */
  readonly hotkey: number | 'none';
  readonly log?: string;
  readonly logLevel?: LogLevel;
  readonly quiet?: boolean;
  /** the user's configuration, in place of the one in its folder */
  readonly config?: string;
  /** a dotenv file with names of the environment */
  readonly envFile?: string;
  /** what the files and the environment say beyond the options; absent before they are read */
  readonly configured?: Configured;
}

/** What only a configuration says. */
export interface Configured {
  /** agents of the user's own, and ours as the user has changed them; they come before ours */
  readonly runtimes: readonly Runtime[];
  /** windows in tokens that the user gives an agent, by its name */
  readonly windows: Readonly<Record<string, number>>;
  readonly backend?: BackendName;
  readonly isMillion?: boolean;
  /** one line each, for the footer: what is wrong with the configuration */
  readonly notices: readonly string[];
  /** what is set, for the log; absent where there is nothing to read */
  readonly told?: string;
  /** what is wrong, whole, for the log */
  readonly details: readonly string[];
  /** the log file was named by an option: without it nothing starts */
  readonly isLogGiven: boolean;
  /** the log may hold what was said; false when absent */
  readonly isTextLogged?: boolean;
  /** the agent's own compaction is held back below hard; false when absent */
  readonly isNativeHeld?: boolean;
  /** tells of changes in the user's file until the returned function is called */
  readonly watch: (listener: ConfigListener) => () => void;
}

export interface ConfigListener {
  /** `told` is what is set now, for the log */
  readonly onChange: (options: Options, told: string) => void;
  /** something else is wrong now, in one line for the footer */
  readonly onNotice: (text: string) => void;
  /** the file cannot be read now, so what held before goes on */
  readonly onTrouble: (detail: string) => void;
}

export interface RunRequest {
  readonly kind: 'run';
  readonly word: string;
  readonly args: readonly string[];
  /** after `--` the word is any command, otherwise it must be an agent */
  readonly anyCommand: boolean;
  readonly options: Options;
}

export interface DemoRequest {
  readonly kind: 'demo';
  readonly interactive: boolean;
  readonly options: Options;
}

export interface ReplayRequest {
  readonly kind: 'replay';
  readonly path: string;
  /** session files that belong to the recording */
  readonly logs: readonly string[];
  readonly format: 'text' | 'json' | 'ndjson';
  readonly options: Options;
}

export interface PsRequest {
  readonly kind: 'ps';
  /** also those that are over, and those that are silent */
  readonly all: boolean;
  readonly json: boolean;
  readonly options: Options;
}

export interface ContextRequest {
  readonly kind: 'context';
  /** a session as `ps` names it, or a session file; the one this process runs in, or the only live one, when absent */
  readonly target?: string;
  readonly json: boolean;
  readonly options: Options;
}

export interface CompactCommandRequest {
  readonly kind: 'compact';
  /** a session as `ps` names it; the one this process runs in, or the only live one, when absent */
  readonly target?: string;
  readonly force: boolean;
  readonly focus?: string;
  readonly json: boolean;
  /** for the outcome */
  readonly wait: boolean;
  readonly options: Options;
}

export interface DoctorRequest {
  readonly kind: 'doctor';
  readonly json: boolean;
  readonly options: Options;
}

export interface ConfigRequest {
  readonly kind: 'config';
  readonly action: 'show' | 'check' | 'init' | 'path' | 'schema';
  /** only this key is shown */
  readonly key?: string;
  /** also where a value comes from, and what it hides */
  readonly origin: boolean;
  readonly json: boolean;
  readonly options: Options;
}

export interface InitRequest {
  readonly kind: 'init';
  readonly shell: Shell;
  readonly options: Options;
}

/** The answer to an agent that is about to compact by itself. */
export interface HoldRequest {
  readonly kind: 'hold';
  readonly options: Options;
}

/** Words for a shell that completes a command line. */
export interface CompleteRequest {
  readonly kind: 'complete';
  /** the words that fit, with these agents beside ours */
  readonly candidates: (ownAgents: readonly string[]) => Candidates;
  readonly typed: string;
  readonly options: Options;
}

/** What is done and then over, by its kind. */
export type Task = (
  | RunRequest
  | DemoRequest
  | ReplayRequest
  | PsRequest
  | ContextRequest
  | CompactCommandRequest
  | CompleteRequest
  | ConfigRequest
  | DoctorRequest
  | HoldRequest
  | InitRequest
  | VerifyRequest
) & {
  /** the options that stand on the command line, as commander names them; the others have their defaults */
  readonly given?: readonly string[];
};

export type Request = Task | { readonly kind: 'print'; readonly text: string };

/** The boundaries of the tiers as the options say. */
export const ladderChoice = ({
  ladder,
  warn,
  auto,
  hard,
}: Pick<Options, 'ladder' | 'warn' | 'auto' | 'hard'>): LadderChoice => ({
  ...(ladder ? { preset: ladder } : {}),
  ...(warn ? { warn } : {}),
  ...(auto ? { auto } : {}),
  ...(hard ? { hard } : {}),
});

/** The shells for which there are functions and completion. */
export const shells = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof shells)[number];
