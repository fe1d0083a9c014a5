import type { Agent, AgentLaunch, SavedSession } from '../agents/agent.js';
import type { Millis } from '../core/reading.js';
import type { ControlChannel, Mode } from '../core/compaction/state.js';
import type { CurrentSettings } from '../core/config/keys.js';
import type { Shortening } from '../core/event.js';
import type { SessionLimit } from '../core/own-limit.js';
import type { ControlPlace } from '../storage/control-place.js';
import type { Log } from '../storage/log-file.js';
import type { Recording } from '../storage/recording.js';

/** How the child ended. */
export type ExitStatus =
  | { readonly kind: 'code'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals };

/** What the agent is started again with. */
export interface RestartPlan {
  /** the shortened session */
  readonly session: SavedSession;
  /** the session that it had, which stays as it is */
  readonly before: SavedSession;
  /** of the window, in the agent's tokens */
  readonly preTokens: number;
  readonly postTokens: number;
  /** the time of the records in the shortened session */
  readonly writtenAt: Millis;
  readonly shortening: Shortening;
  /** as the user has set it by now */
  readonly mode: Mode;
  /** as the user has chosen it by a key; absent where the settings hold */
  readonly limit?: SessionLimit | undefined;
  /** when the conversation was shortened within the last hour, this time included (wall clock) */
  readonly times: readonly Millis[];
}

/** How a session has ended. */
export interface SessionEnd {
  readonly status: ExitStatus;
  /** what happened, in one line for the user's shell; undefined if nothing did */
  readonly summary?: string | undefined;
  /** a thread still runs that was told to end: an ordinary exit would wait for it */
  readonly hasStuckThread?: boolean;
  /** the child has left the cursor in the middle of a line */
  readonly isLineOpen?: boolean;
  /** the agent has ended to be started again with this */
  readonly restart?: RestartPlan | undefined;
  /** it was started again, and has ended by itself without having shown the new session */
  readonly hasLostRestart?: boolean;
  /** it could not even be started again, so that nothing has recorded what came of it */
  readonly isUnstarted?: boolean;
}

/** The child, since when it runs (wall clock). */
export interface StartedChild {
  readonly pid: number;
  readonly startedAt: Millis;
}

/** The wrapper, as other processes see it when they list sessions. */
export interface Wrapper {
  /** the value of CTXWRAP_SESSION */
  readonly id: string;
  readonly pid: number;
  readonly version: string;
}

export interface SettingsListener {
  /** called with the complete new settings */
  readonly onChange: (now: CurrentSettings) => void;
  /** called with a problem, in one line for the footer */
  readonly onNotice: (text: string) => void;
}

/** The user's configuration file, for a session that changes it. */
export interface OwnConfig {
  readonly path: string;
  /** as a sentence names it */
  readonly name: string;
  /** what begins a command about it: `ctxwrap config` */
  readonly command: string;
  /** the option or the variable that sets `auto` in its place; absent where nothing does */
  readonly autoFrom?: string | undefined;
}

/**
 * What happens by itself in a demonstration, so that it is short and shows everything: the overview opens once after the first compaction,
 * and when it has closed the child gets `signal`. Only the command line can ask for it; nothing that a child writes does.
 */
export interface Tour {
  /** length of the countdown before a compaction */
  readonly countdownMs: number;
  /** from the compaction to the opening of the overview */
  readonly overviewAfterMs: number;
  /** for how long it shows the recap until Enter, unless the user presses a key in it */
  readonly overviewMs: number;
  readonly signal: NodeJS.Signals;
}

/** A control channel of the agent, and what it takes to use it: a port of 127.0.0.1, or the path of a Unix socket. */
export type OpenChannel =
  | (ControlChannel & { readonly via: 'server'; readonly port: number; readonly password: string })
  | (ControlChannel & { readonly via: 'daemon'; readonly socket: string });

/** One run of a child under a PTY, with the settings at its start. */
export interface LaunchSession extends CurrentSettings {
  /** path of the program; contains a slash, so PATH is not searched again */
  readonly file: string;
  readonly args: readonly string[];
  /** the child's environment, including CTXWRAP_SESSION */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly agent: AgentLaunch;
  /** absent for a session that other processes should not see */
  readonly wrapper?: Wrapper;
  /** the window in tokens to assume when unknown; shown with a `?` */
  readonly assumedWindow?: number;
  /** where the agent writes its reports, if it was asked for them */
  readonly reportPath?: string;
  /** where the agent looks for context beside the user's next message, if it was told to */
  readonly contextPath?: string;
  /** shell command that the agent runs before it compacts by itself; absent when the agent decides alone */
  readonly holdCommand?: string;
  /** the agent's control channel, opened at its launch */
  readonly channel?: OpenChannel | undefined;
  /** where the parent that owns the session steers it from */
  readonly control?: ControlPlace | undefined;
  /** absent where none can be changed */
  readonly ownConfig?: OwnConfig | undefined;
  /** where the window is compacted at the latest, as chosen by a key before the agent was started again */
  readonly limit?: SessionLimit | undefined;
  /** messages for the user at the start, one line each */
  readonly notices?: readonly string[];
  /** a text to put into the agent's prompt once it rests; it is never submitted. No control characters but newlines */
  readonly startingDraft?: string | undefined;
  /** what the agent was started again with, in place of its earlier run */
  readonly restarted?: RestartPlan | undefined;
  /** what an earlier worker has recorded of that, or of `unstarted`: that the agent has the session, or what came of the shortening */
  readonly restartProgress?: 'taken' | 'recorded' | undefined;
  /** what the agent could not be started again with, where that is not recorded yet */
  readonly unstarted?: RestartPlan | undefined;
  /** when its conversation was shortened in earlier runs within the last hour (wall clock) */
  readonly shortenedAt?: readonly Millis[] | undefined;
  /** absent in a session of work */
  readonly tour?: Tour | undefined;
  /** calls the listener with changed settings until the returned function is called */
  readonly watchSettings?: (listener: SettingsListener) => () => void;
  readonly recording: Recording | undefined;
  readonly log: Log;
}

/** The same for the worker, which also reads the agent's screen and its session files. */
export interface WrapSession extends LaunchSession {
  readonly agent: Agent;
}
