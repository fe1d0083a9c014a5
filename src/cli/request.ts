import type { Agent } from '../agents/agent.js';
import type { CurrentSettings, Values } from '../core/config/keys.js';
import type { Printable } from '../core/printable.js';
import type { ControlPlace } from '../storage/control-place.js';
import type { Outcome } from './session.js';

// The parsed command line.

/** `--runtime`: an agent by name, built in or configured, or the file that defines one. */
export type AgentOption = { readonly name: string } | { readonly file: string };

export interface Options extends CurrentSettings {
  /** keys given on the command line */
  readonly flags: Partial<Values>;
  readonly runtime?: AgentOption | undefined;
  readonly record?: string | undefined;
  readonly recordInput?: boolean | undefined;
  /** where a parent steers the session from */
  readonly control?: ControlPlace | undefined;
  /** the user's configuration file, instead of the default one */
  readonly config?: string | undefined;
  /** what files and environment configure beyond single values; absent until they are read */
  readonly configured?: Configured;
}

/** Settings that only a configuration can hold. */
export interface Configured {
  /** agents the user has defined or changed; they come before the built-in ones */
  readonly runtimes: readonly Agent[];
  /** window in tokens by agent name */
  readonly windows: Readonly<Record<string, number>>;
  /** the option or the variable that sets `auto`, above the user's file; absent where none does */
  readonly autoFrom?: string | undefined;
  /** problems with the configuration, one line each for the footer */
  readonly notices: readonly string[];
  /** the settings for the log; absent where nothing is configured */
  readonly settingsLine?: string;
  /** all problems in full, for the log */
  readonly details: readonly string[];
  /** calls the listener when the user's file changes, until the returned function is called */
  readonly watch: (listener: ConfigListener) => () => void;
}

export interface ConfigListener {
  /** `line`: the new settings, for the log */
  readonly onChange: (now: CurrentSettings, line: string) => void;
  /** a new problem, in one line for the footer */
  readonly onNotice: (text: string) => void;
  /** the file cannot be read, so the previous settings stay in effect */
  readonly onTrouble: (detail: string) => void;
}

export interface RunRequest {
  readonly kind: 'run';
  readonly word: string;
  readonly args: readonly string[];
  /** after `--` the word is any command, otherwise an agent */
  readonly anyCommand: boolean;
  /** a text to put into the agent's prompt, as a draft */
  readonly startingDraft?: string;
  readonly options: Options;
}

/** What of the user's configuration applies to a command; of a recorded session only the agents that it defines. */
export type ConfigurationUse = 'none' | 'agents' | 'all';

/** Starts an agent under ctxwrap. */
export type Start = (request: RunRequest) => Promise<Outcome>;

/** A command, as it was asked for. */
export interface CommandRequest {
  readonly kind: 'command';
  /** as it is defined: `ps` where `ls` was typed, `show` for `history show` */
  readonly name: string;
  /** what was given to it */
  readonly asked: Readonly<Record<string, unknown>>;
  readonly options: Options;
  readonly configuration: ConfigurationUse;
  /** a text is printed; `options`: with the configuration applied */
  readonly perform: (options: Options, start: Start) => Promise<Outcome | Printable>;
}

/** A task that runs and ends. */
export type Task = RunRequest | CommandRequest;

export type Request = Task | { readonly kind: 'print'; readonly text: string };

/** Shells that have functions and completion. */
export const shells = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof shells)[number];

/** Receives what the command line asks for. */
export type Ask = (request: Request) => void;
