import type { Agent } from '../agents/agent.js';
import type { CurrentSettings, KeyName, Values } from '../core/config/keys.js';
import type { HandoffSection } from '../core/conversation/handoff.js';
import type { Millis } from '../core/reading.js';
import type { ControlPlace } from '../storage/control-place.js';
import type { AgentOption } from './options.js';
import type { Candidates } from './shell/completion.js';
import type { Template } from './template.js';

// The parsed command line.

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
  /** problems with the configuration, one line each for the footer */
  readonly notices: readonly string[];
  /** the settings for the log; absent where nothing is configured */
  readonly told?: string;
  /** all problems in full, for the log */
  readonly details: readonly string[];
  /** calls the listener when the user's file changes, until the returned function is called */
  readonly watch: (listener: ConfigListener) => () => void;
}

export interface ConfigListener {
  /** `told`: the new settings, for the log */
  readonly onChange: (now: CurrentSettings, told: string) => void;
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
  /** include sessions that have ended or do not respond */
  readonly all: boolean;
  readonly json: boolean;
  /** print again whenever a session changes */
  readonly watch: boolean;
  /** a line for each session in place of the table */
  readonly format?: Template;
  readonly options: Options;
}

export interface EventsRequest {
  readonly kind: 'events';
  /** a session as `ps` lists it; all sessions when absent */
  readonly target?: string;
  /** one JSON object per line, instead of a line to read */
  readonly ndjson: boolean;
  readonly options: Options;
}

export interface TopRequest {
  readonly kind: 'top';
  readonly options: Options;
}

export interface ReportRequest {
  readonly kind: 'report';
  /** the file to write */
  readonly html: string;
  readonly options: Options;
}

export interface ContextRequest {
  readonly kind: 'context';
  /** a session as `ps` lists it, or a session file; when absent, the one this process runs in or the only live one */
  readonly target?: string;
  readonly json: boolean;
  readonly options: Options;
}

export interface CompactCommandRequest {
  readonly kind: 'compact';
  /** a session as `ps` lists it; when absent, the one this process runs in or the only live one */
  readonly target?: string;
  /** every session that runs */
  readonly all: boolean;
  /** with `all`: only those whose agent is idle */
  readonly idle: boolean;
  readonly force: boolean;
  readonly focus?: string;
  readonly json: boolean;
  /** wait for the outcome */
  readonly wait: boolean;
  readonly options: Options;
}

/** `ctxwrap compact --strategy`. */
export interface ShortenCommandRequest {
  readonly kind: 'shorten';
  /** a session, a conversation's id, or a file; when absent, the session this process runs in or the only live one */
  readonly target?: string;
  readonly strategy: string;
  readonly isDryRun: boolean;
  /** in a new session, also where the agent runs and could go on with it */
  readonly isNewSession: boolean;
  readonly keepRecent?: number;
  readonly budgetTokens?: number;
  readonly json: boolean;
  readonly options: Options;
}

/** What `history` and its commands look through. */
interface HistorySearch {
  /** paths of files and folders, or ids of sessions, with `#N` for one compaction; all sessions when empty */
  readonly targets: readonly string[];
  readonly options: Options;
}

export interface HistoryRequest extends HistorySearch {
  readonly kind: 'history';
  /** only sessions in this folder and those below it */
  readonly project?: string;
  /** only compactions since then */
  readonly since?: Millis;
  /** whole summaries */
  readonly full: boolean;
  readonly format: 'text' | 'json' | 'ndjson';
  /** also how full the window was over each session */
  readonly chart: boolean;
}

export interface ReceiptRequest extends HistorySearch {
  readonly kind: 'receipt';
  /** also what was kept */
  readonly full: boolean;
  readonly json: boolean;
}

export interface BriefRequest {
  readonly kind: 'brief';
  /** a running session; with `isPrinted` a compaction, as `ID#N` */
  readonly target?: string;
  readonly isPrinted: boolean;
  readonly options: Options;
}

export interface HistoryShowRequest extends HistorySearch {
  readonly kind: 'history-show';
  /** the conversation before the compaction, not the compaction itself */
  readonly before: boolean;
  readonly markdown: boolean;
}

export interface UndoCommandRequest {
  readonly kind: 'undo';
  /** as for `history`, with `#N` for a compaction; when absent, the session this process runs in or the only live one */
  readonly target?: string;
  /** start the agent with the new session, wrapped */
  readonly run: boolean;
  readonly json: boolean;
  readonly options: Options;
}

export interface HandoffRequest {
  readonly kind: 'handoff';
  /** as for `undo`, without a number */
  readonly target?: string;
  /** the agent to start with the handoff as a draft */
  readonly to?: string;
  /** how the other agent gets the conversation, where it has an import of its own; absent: the user is asked */
  readonly how?: 'import' | 'draft';
  readonly json: boolean;
  /** a new file to write to */
  readonly output?: string;
  /** how many of the user's last messages */
  readonly requests: number;
  readonly without: readonly HandoffSection[];
  readonly options: Options;
}

export interface CheckpointRequest {
  readonly kind: 'checkpoint';
  readonly action: 'list' | 'show' | 'create' | 'restore' | 'prune';
  /** a copy or a session, by its id or the beginning of it, or an agent */
  readonly target?: string;
  /** the new file to restore to */
  readonly path?: string;
  /** remove copies older than this, in milliseconds */
  readonly olderThanMs?: number;
  /** remove the oldest copies until so many bytes are left */
  readonly limitBytes?: number;
  /** remove everything */
  readonly all: boolean;
  readonly json: boolean;
  readonly options: Options;
}

export interface DoctorRequest {
  readonly kind: 'doctor';
  readonly json: boolean;
  readonly options: Options;
}

export interface ConfigRequest {
  readonly kind: 'config';
  readonly action: 'show' | 'check' | 'set' | 'unset' | 'edit' | 'init' | 'path' | 'schema';
  /** the key to set or unset; the only one to show */
  readonly key?: KeyName;
  /** the value to set, as typed */
  readonly value?: string;
  /** also show where a value comes from and which values it overrides */
  readonly origin: boolean;
  readonly json: boolean;
  readonly options: Options;
}

/** `ctxwrap agents`. */
export interface AgentsRequest {
  readonly kind: 'agents';
  readonly action: 'list' | 'add' | 'show';
  /** the file to add, or the name of one that comes with ctxwrap; the agent to show */
  readonly target?: string;
  /** add it in place of another one of the same name */
  readonly replaces: boolean;
  readonly json: boolean;
  readonly options: Options;
}

export interface InitRequest {
  readonly kind: 'init';
  readonly shell: Shell;
  readonly options: Options;
}

/** A hook's question before the agent compacts by itself. */
export interface HoldRequest {
  readonly kind: 'hold';
  readonly options: Options;
}

/** Words for a shell's completion. */
export interface CompleteRequest {
  readonly kind: 'complete';
  /** the words that fit, given the names of configured agents */
  readonly candidates: (ownAgents: readonly string[]) => Candidates;
  readonly typed: string;
  readonly options: Options;
}

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

/** A task that runs and ends, by its kind. */
export type Task =
  | RunRequest
  | DemoRequest
  | ReplayRequest
  | PsRequest
  | EventsRequest
  | TopRequest
  | ReportRequest
  | ContextRequest
  | CheckpointRequest
  | CompactCommandRequest
  | CompleteRequest
  | ConfigRequest
  | DoctorRequest
  | HandoffRequest
  | HistoryRequest
  | HistoryShowRequest
  | ReceiptRequest
  | AgentsRequest
  | BriefRequest
  | HoldRequest
  | InitRequest
  | ShortenCommandRequest
  | UndoCommandRequest
  | VerifyRequest;

export type Request = Task | { readonly kind: 'print'; readonly text: string };

/** Shells that have functions and completion. */
export const shells = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof shells)[number];

/** Receives what the command line asks for. */
export type Ask = (request: Request) => void;
