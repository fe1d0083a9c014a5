import type { Agent } from '../agents/agent.js';
import type { CurrentSettings } from '../core/config/keys.js';
import type { Log } from '../storage/log-file.js';
import type { Recording } from '../storage/recording.js';

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

export interface SettingsListener {
  /** each time as a whole */
  readonly onChange: (now: CurrentSettings) => void;
  /** what is wrong with them, in one line for the footer */
  readonly onNotice: (text: string) => void;
}

/** One run of a child under our PTY, with the settings that hold when it begins. */
export interface WrapSession extends CurrentSettings {
  /** path of the program; it holds a slash, so that nothing searches PATH again */
  readonly file: string;
  readonly args: readonly string[];
  /** the child's environment, CTXWRAP_SESSION included */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly agent: Agent;
  /** absent for a session that nobody else is to see */
  readonly wrapper?: Wrapper;
  /** what the window may be, in tokens, where nobody tells; shown with a `?` */
  readonly assumedWindow?: number;
  /** where the agent's reports go, when it was asked for them */
  readonly reportPath?: string;
  /** asked, in a shell, before the agent compacts by itself; it does as it likes when absent */
  readonly holdCommand?: string;
  /** what the user should know from the start, one line each */
  readonly notices?: readonly string[];
  /** tells of other settings until the returned function is called */
  readonly watchSettings?: (listener: SettingsListener) => () => void;
  readonly recording: Recording | undefined;
  readonly log: Log;
}
