import type { Agent } from '../agents/agent.js';
import type { CurrentSettings, Values } from '../core/config/keys.js';
import type { AgentOption } from './options.js';
import type { VerifyRequest } from './program.js';
import type { Candidates } from './shell/completion.js';

// What a command line asks for.

export interface Options extends CurrentSettings {
  /** the keys that stand on the command line */
  readonly flags: Partial<Values>;
  readonly runtime?: AgentOption | undefined;
  readonly record?: string | undefined;
  readonly recordInput?: boolean | undefined;
  /** the user's configuration, in place of the one in its folder */
  readonly config?: string | undefined;
  /** what the files and the environment say beyond the values; absent before they are read */
  readonly configured?: Configured;
}

/** What only a configuration says. */
export interface Configured {
  /** agents of the user's own, and ours as the user has changed them; they come before ours */
  readonly runtimes: readonly Agent[];
  /** windows in tokens that the user gives an agent, by its name */
  readonly windows: Readonly<Record<string, number>>;
  /** one line each, for the footer: what is wrong with the configuration */
  readonly notices: readonly string[];
  /** what is set, for the log; absent where there is nothing to read */
  readonly told?: string;
  /** what is wrong, whole, for the log */
  readonly details: readonly string[];
  /** tells of changes in the user's file until the returned function is called */
  readonly watch: (listener: ConfigListener) => () => void;
}

export interface ConfigListener {
  /** `told` is what is set now, for the log */
  readonly onChange: (now: CurrentSettings, told: string) => void;
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
export type Task =
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
  | VerifyRequest;

export type Request = Task | { readonly kind: 'print'; readonly text: string };

/** The shells for which there are functions and completion. */
export const shells = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof shells)[number];
