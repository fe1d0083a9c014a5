import type { Fact } from '../core/event.js';
import type { Millis } from '../core/reading.js';

/**
 * Whether the agent is asked at its launch to tell its numbers. That is not quite invisible where the user has no status line of their own,
 * so `auto` asks there only where nothing else tells how large the window is.
 */
export type StatusLineWish = 'auto' | 'on' | 'off';

/** Numbers that the agent itself hands to a command of ours, for the one launch that asks for them. */
export interface OfficialSource {
  /** what to add to the launch, or why the agent is left alone */
  readonly plan: (port: SettingsPort, launch: OfficialLaunch) => Promise<OfficialPlan>;
  /** what to add to the launch so that the agent asks before it compacts by itself; absent where it cannot */
  readonly hold?: (port: SettingsPort, launch: OfficialLaunch, hold: NativeHold) => Promise<OfficialPlan>;
  /** one report of the agent; undefined when the text is none */
  readonly read: (text: string, now: Millis) => OfficialReport | undefined;
}

/** What planning may ask of the machine. Nothing here rejects; links are followed, because the files are the user's own. */
export interface SettingsPort {
  /** the content of a small text file; undefined when it cannot be read; a relative path counts from the child's folder */
  readonly text: (path: string) => Promise<string | undefined>;
  /** names in a folder; none when it cannot be read */
  readonly names: (folder: string) => Promise<readonly string[]>;
}

export interface OfficialLaunch {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly home: string;
  /** of the child */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly wish: StatusLineWish;
  /** the user has said how large the window is */
  readonly isWindowSet: boolean;
  /** the command is the agent's own: another one, as `npx`, may take no arguments of the agent's before its own */
  readonly isOwnProgram: boolean;
  /** of the program that is started; undefined where nothing tells it */
  readonly version: string | undefined;
  readonly files: OfficialFiles;
}

/** Two files of ours, for this launch only. */
export interface OfficialFiles {
  /** what the agent reads at its start */
  readonly settings: string;
  /** where its reports go, each in the place of the one before */
  readonly report: string;
}

/** A hook that the agent runs before it compacts by itself. */
export interface NativeHold {
  /** for a shell; its status says whether the agent may */
  readonly command: string;
  /** what the launch asks for anyway */
  readonly settings: string | undefined;
}

export type OfficialPlan =
  | { readonly kind: 'ask'; readonly args: readonly string[]; readonly settings: string }
  | { readonly kind: 'leave'; readonly reason: string };

export interface OfficialReport {
  /** the agent's own id of the conversation that the numbers belong to */
  readonly sessionId?: string;
  readonly facts: readonly Fact[];
}
