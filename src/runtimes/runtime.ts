import type { ActivityReport } from '../core/activity.js';
import type { Fact } from '../core/event.js';
import type { JsonRecord } from '../core/json.js';
import type { NativeTrigger } from '../core/ladder.js';
import type { Millis, Reading, WindowClaim } from '../core/reading.js';
import type { OwnLadder } from '../core/thresholds.js';
import type { TitleSigns } from '../core/title-signs.js';
import type { AgentHome } from './agent-home.js';
import type { ContentReader } from './contents.js';
import type { FilePort } from './file-port.js';
import type { OfficialSource } from './official-source.js';
import type { Env, Place } from './place.js';
import type { PromptReader, Recipe } from './recipe.js';
import type { AgentStatus, Seen } from './seen.js';

/** One agent product as a value. Everything the wrapper knows about an agent is here; nothing of it acts. */
export interface Runtime {
  /** as in `ctxwrap NAME` and in the footer */
  readonly name: string;
  /** the program to find on PATH; undefined for an agent that is not a program of its own */
  readonly command?: string;
  /** what to install when the command is not found */
  readonly npmPackage?: string;
  /** what of it is on the machine; undefined where nobody knows */
  readonly home?: AgentHome;
  /** false when these arguments make the agent print and exit, so that it must run without a PTY and a footer */
  readonly isInteractive: (args: readonly string[]) => boolean;
  /** where the agent compacts by itself; undefined when it does not or when nobody knows */
  readonly nativeTrigger: (env: Env) => NativeTrigger | undefined;
  /** nothing of it tells a number: the text that it writes is counted, and marked as an estimate */
  readonly isEstimated?: true;
  /** the boundaries the agent itself shows, where it has any */
  readonly ownLadder?: (windowTokens: number) => OwnLadder;
  /** where and how the agent records its sessions; undefined when it has no session file we can read */
  readonly log?: SessionLog;
  /** the exact numbers it tells when its launch asks for them; undefined when it tells none */
  readonly official?: OfficialSource;
  /** how its own compaction is asked for; nothing is ever typed into an agent without one */
  readonly recipe?: (env: Env) => Recipe | undefined;
  /** how its screen and signals are read; undefined when nothing is known of them */
  readonly screen?: AgentScreen;
  /**
   * it asks the terminal whether it understands agent states (OSC 7501), is answered where the terminal does not, and these are the signs
   * that it then leaves out of its title; undefined for one that does not ask, which gets no answer of ours
   */
  readonly titleSigns?: (env: Env) => TitleSigns;
  /** how large the window must be, when the screen shows this share of it and the session file these tokens at the same moment */
  readonly derivedWindow?: (screen: Reading, log: Reading, env: Env) => WindowClaim | undefined;
}

/** How a runtime's rendered screen is read. */
export interface AgentScreen {
  /** true when the screen is laid out as only this agent does it: by its own boxes and signals, not by words a conversation can hold */
  readonly recognises: (seen: Seen) => boolean;
  /** the reader for the first screen of a run */
  readonly reader: (env: Env) => ScreenReader;
  /** what stands in its prompt, to see whether what was typed has arrived; needed where there is a recipe */
  readonly prompt?: PromptReader;
  /** what the agent says of itself in a file beside the conversation, where it has such a file */
  readonly status?: (port: FilePort, place: Place) => Promise<AgentStatus | undefined>;
}

/**
 * Reads the screen whenever it has come to rest, and at least a few times a second while it has not. Pure: what must be remembered
 * between screens is in the next reader. Must stay below 2 ms on a screen of 200 × 60.
 */
export type ScreenReader = (seen: Seen, now: Millis) => ScreenStep;

export interface ScreenStep {
  readonly activity: ActivityReport;
  /**
   * what the screen shows now: a reading as long as the number is there (the same one each time), a window claim, a boundary once
   * when a compaction is seen to end well. No reading means that the screen shows no number now.
   */
  readonly facts: readonly Fact[];
  readonly next: ScreenReader;
}

/** What one screen means to a reader with state S. */
export interface Seeing<S> {
  readonly state: S;
  readonly activity: ActivityReport;
  readonly facts: readonly Fact[];
}

/** A screen reader from a state and a pure function of it. */
export const screenReader =
  <S>(state: S, read: (state: S, seen: Seen, now: Millis) => Seeing<S>): ScreenReader =>
  (seen, now) => {
    const { state: after, ...said } = read(state, seen, now);
    return { ...said, next: screenReader(after, read) };
  };

/** How a runtime's session file is found and read. */
export interface SessionLog {
  readonly locate: Locate;
  /** the reader for the first line of a session file */
  readonly reader: (env: Env) => LineReader;
  /** what the agent does from this record on, where its records tell that; undefined for a record that says nothing of it */
  readonly stateIn?: (line: string) => AgentStatus | undefined;
  /** when a line was written, where its records do not say it as those of all others do */
  readonly timeOf?: (line: string) => Millis | undefined;
  /** true for a record as only this agent writes it; undefined when its records cannot be told from another's */
  readonly recognises?: (record: JsonRecord) => boolean;
  /** the reader for the first line of a session file that finds what its tools put into the window; undefined where nobody knows */
  readonly contents?: () => ContentReader;
}

/**
 * Reads one complete line of a session file, gives what it says and the reader for the next line. Pure: what must be remembered
 * between lines is in the next reader. `now` is used where a record has no timestamp.
 */
export type LineReader = (line: string, now: Millis) => LineStep;

export interface LineStep {
  readonly facts: readonly Fact[];
  readonly next: LineReader;
  /** why the line does not fit what is known of this runtime's files; undefined when it does */
  readonly misfit?: string;
}

/** What one line means to a reader with state S. */
export interface Understood<S> {
  readonly state: S;
  readonly facts: readonly Fact[];
  readonly misfit?: string;
}

/** A reader from a state and a pure function of it. */
export const lineReader = <S>(
  state: S,
  read: (state: S, line: string, now: Millis) => Understood<S>,
): LineReader => {
  const reader: LineReader = (line, now) => {
    const { state: after, ...said } = read(state, line, now);
    return { ...said, next: after === state ? reader : lineReader(after, read) };
  };
  return reader;
};

/** Finds the session file the child writes now, or undefined while there is none. Called again and again: it must be cheap. */
export type Locate = (port: FilePort, place: Place) => Promise<Located | undefined>;

export interface Located {
  readonly sessionId: string;
  /** undefined when the session is known but has no file yet */
  readonly path?: string;
  /** the agent itself said so (a pid file, an open file); otherwise it is the best of several */
  readonly certain: boolean;
  /** when the file was written last, or what the user sent was recorded in it, where it is only a guess */
  readonly writtenAt?: Millis;
}
