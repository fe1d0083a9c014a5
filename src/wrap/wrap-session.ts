import type { LadderChoice } from '../core/ladder.js';
import type { StatusLineWish } from '../runtimes/official-source.js';
import type { Runtime } from '../runtimes/runtime.js';
import type { Log } from '../storage/log.js';
import type { Recording } from '../storage/record.js';

/** What the wrapper may do about a full window: type, propose, show, or nothing at all. */
export type Mode = 'auto' | 'ask' | 'warn' | 'off';

/** How the child ended. */
export type ExitStatus =
  | { readonly kind: 'code'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals };

/** Who wraps, for other processes that look for sessions. */
export interface Wrapper {
  /** as in CTXWRAP_SESSION */
  readonly id: string;
  readonly pid: number;
  readonly version: string;
}

/** One run of a child under our PTY, as the command line decided it. */
export interface WrapSession {
  /** path of the program; it holds a slash, so that nothing searches PATH again */
  readonly file: string;
  readonly args: readonly string[];
  /** the child's environment, CTXWRAP_SESSION included */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly runtime: Runtime;
  /** absent for a session that nobody else is to see */
  readonly wrapper?: Wrapper;
  /** window in tokens as the user set it; undefined leaves it to the runtime */
  readonly window: number | undefined;
  /** boundaries of the tiers as the user set them; the runtime's own ladder when absent */
  readonly ladder?: LadderChoice;
  readonly footer: boolean;
  /** whether an agent with a status line may be asked for its numbers through it; `off` when absent */
  readonly statusLine?: StatusLineWish;
  /** where the agent's reports go, when it was asked for them */
  readonly reportPath?: string;
  readonly mode: Mode;
  /** control byte of the hotkey; undefined for none */
  readonly hotkey: number | undefined;
  readonly recording: Recording | undefined;
  readonly log: Log;
}
