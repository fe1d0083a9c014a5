// What a command line asks for.
import type { FooterItem } from '../core/footer-items.js';
import type { Preset } from '../core/ladder.js';
import type { Bound } from '../core/rung.js';
import type { NotificationKind } from '../core/notifications.js';
import type { StatusLineWish } from '../runtimes/official-source.js';
import type { Mode } from '../core/compaction/state.js';
import type { ThemeChoice } from '../ui/look.js';
import type { RuntimeOption } from './values.js';

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
  /** a draft in the prompt: wait, or put it aside where the agent can */
  readonly draft?: 'hold' | 'stash';
  /** wait for the end of a turn, or give the command to the agent's own queue */
  readonly whenBusy?: 'wait' | 'queue';
  /** what the agent is asked to keep */
  readonly focus?: string;
  /** much new text at warn counts as auto */
  readonly proactive: boolean;
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
  readonly quiet?: boolean;
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
  /** a session as `ps` names it, or a session file; the only live session when absent */
  readonly target?: string;
  readonly json: boolean;
  readonly options: Options;
}

export interface CompactCommandRequest {
  readonly kind: 'compact';
  /** a session as `ps` names it; the only live session when absent */
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

/** Words for a shell that completes a command line. */
export interface CompleteRequest {
  readonly kind: 'complete';
  readonly found: readonly { readonly word: string; readonly description: string }[];
  /** sessions that run belong to them */
  readonly sessions: boolean;
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
  | DoctorRequest;

export type Request = Task | { readonly kind: 'print'; readonly text: string };
