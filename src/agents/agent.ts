import type { NativeTrigger } from '../core/build-ladder.js';
import type { Values } from '../core/config/keys.js';
import type { Fact } from '../core/event.js';
import type { JsonRecord } from '../core/json.js';
import type { OwnLadder } from '../core/ladder.js';
import type {
  ActivityReport,
  Millis,
  Reading,
  WindowClaim,
  TitleSigns,
  ScreenView,
  Signals,
} from '../core/reading.js';
import type { AgentFacts } from '../core/session-flow.js';
import type { OwnCompactionSource } from './own-compaction.js';
import type { ContentReader } from './records.js';

/** One agent product as a value. Everything the wrapper knows about an agent is here; nothing of it acts. */
export interface Agent {
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
  /** where the agent compacts by itself, as far as its environment tells; undefined when it does not or when nobody knows */
  readonly nativeTrigger: (env: Env) => NativeTrigger | undefined;
  /** the same with its own settings; undefined where there are none that are known */
  readonly ownCompaction?: OwnCompactionSource;
  /** nothing of it tells a number: the text that it writes is counted, and marked as an estimate */
  readonly isEstimated?: true;
  /** the boundaries the agent itself shows in its own window, where it has any, and compacts by itself at so many tokens */
  readonly ownLadder?: (windowTokens: number, nativeTokens: number | undefined) => OwnLadder;
  /** where and how the agent records its sessions; undefined when it has no session file we can read */
  readonly log?: SessionLog;
  /** the exact numbers it tells when its launch asks for them; undefined when it tells none */
  readonly official?: OfficialSource;
  /** how its own compaction is asked for; nothing is ever typed into an agent without one */
  readonly recipe?: (env: Env) => CompactRecipe | undefined;
  /** how its screen and signals are read; undefined when nothing is known of them */
  readonly screen?: AgentScreen;
  /**
   * it asks the terminal whether it understands agent states (OSC 7501), is answered where the terminal does not, and these are the signs
   * that it then leaves out of its title; undefined for one that does not ask, which gets no answer of ours
   */
  readonly titleSigns?: (env: Env) => TitleSigns;
  /**
   * what it prints in the place of stopping at Ctrl-Z, where a wrapper keeps it from stopping: its keyboard is dead then until SIGCONT;
   * undefined for one that stops, or takes the key itself
   */
  readonly suspendedText?: string;
  /** what its own settings need to call ctxwrap, as text to be pasted by the user; undefined where it has no hooks */
  readonly hooks?: (commands: HookCommands) => string;
  /** how large the window must be, when the screen shows this share of it and the session file these tokens at the same moment */
  readonly derivedWindow?: (screen: Reading, log: Reading, env: Env) => WindowClaim | undefined;
}

/** Shell commands for an agent's hooks. They do nothing where the agent was started without ctxwrap, and always end with status 0. */
export interface HookCommands {
  /** behind a turn: compacts where it has reached warn; the agent does not wait for it */
  readonly compactFull: string;
  /** before a compaction: notes how full the window is */
  readonly noteFill: string;
  /** after a compaction: prints what the model should know of its window */
  readonly tellModel: string;
}

/** What the core has to know of an agent, in the environment that it will run in. */
export const toAgentFacts = ({ name, nativeTrigger, log, derivedWindow }: Agent, env: Env): AgentFacts => ({
  name,
  native: nativeTrigger(env),
  hasLog: log !== undefined,
  derivedWindow: derivedWindow && ((screen, log) => derivedWindow(screen, log, env)),
});

/** How a runtime's rendered screen is read. */
export interface AgentScreen {
  /** true when the screen is laid out as only this agent does it: by its own boxes and signals, not by words a conversation can hold */
  readonly recognises: (seen: ScreenEvidence) => boolean;
  /** the reader for the first screen of a run */
  readonly reader: (env: Env) => ScreenReader;
  /** what stands in its prompt, to see whether what was typed has arrived; needed where there is a recipe */
  readonly prompt?: PromptReader;
  /** what the agent says of itself in a file beside the conversation, where it has such a file */
  readonly status?: (port: FilePort, place: ChildPlace) => Promise<AgentStatus | undefined>;
}

/**
 * Reads the screen whenever it has come to rest, and at least a few times a second while it has not. Pure: what must be remembered
 * between screens is in the next reader. Must stay below 2 ms on a screen of 200 × 60.
 */
export type ScreenReader = (seen: ScreenEvidence, now: Millis) => ScreenResult;

export interface ScreenResult {
  readonly activity: ActivityReport;
  /**
   * what the screen shows now: a reading as long as the number is there (the same one each time), a window claim, a boundary once
   * when a compaction is seen to end well. No reading means that the screen shows no number now.
   */
  readonly facts: readonly Fact[];
  readonly next: ScreenReader;
}

/** What one screen means to a reader with state S. */
export interface ScreenReading<S> {
  readonly state: S;
  readonly activity: ActivityReport;
  readonly facts: readonly Fact[];
}

/** A screen reader from a state and a pure function of it. */
export const makeScreenReader =
  <S>(state: S, read: (state: S, seen: ScreenEvidence, now: Millis) => ScreenReading<S>): ScreenReader =>
  (seen, now) => {
    const { state: after, ...said } = read(state, seen, now);
    return { ...said, next: makeScreenReader(after, read) };
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
  /** true for the first lines of a file that is one document, as only this agent writes it; undefined where it writes none */
  readonly recognisesDocument?: (head: readonly string[]) => boolean;
  /** the reader for the first line of a session file that finds what its tools put into the window; undefined where nobody knows */
  readonly contents?: () => ContentReader;
}

/**
 * Reads one complete line of a session file, gives what it says and the reader for the next line. Pure: what must be remembered
 * between lines is in the next reader. `now` is used where a record has no timestamp.
 */
export type LineReader = (line: string, now: Millis) => LineResult;

export interface LineResult {
  readonly facts: readonly Fact[];
  readonly next: LineReader;
  /** why the line does not fit what is known of this runtime's files; undefined when it does */
  readonly misfit?: string;
}

/** What one line means to a reader with state S. */
export interface LineMeaning<S> {
  readonly state: S;
  readonly facts: readonly Fact[];
  readonly misfit?: string;
}

/** A reader from a state and a pure function of it. */
export const makeLineReader = <S>(
  state: S,
  read: (state: S, line: string, now: Millis) => LineMeaning<S>,
): LineReader => {
  const reader: LineReader = (line, now) => {
    const { state: after, ...said } = read(state, line, now);
    return { ...said, next: after === state ? reader : makeLineReader(after, read) };
  };
  return reader;
};

/** Finds the session file the child writes now, or undefined while there is none. Called again and again: it must be cheap. */
export type Locate = (port: FilePort, place: ChildPlace) => Promise<Located | undefined>;

export interface Located {
  readonly sessionId: string;
  /** undefined when the session is known but has no file yet */
  readonly path?: string;
  /** the agent itself said so (a pid file, an open file); otherwise it is the best of several */
  readonly certain: boolean;
  /** when the file was written last, or what the user sent was recorded in it, where it is only a guess */
  readonly writtenAt?: Millis;
}

/** An agent's own word on its state (facts/claude.md §5: `sessions/<pid>.json`). */
export interface AgentStatus {
  /** as the agent writes it: `idle`, `busy`, `waiting`, `shell` */
  readonly state: string;
  readonly waitingFor?: string;
}

/** Everything that witnesses the agent's state at one moment. */
export interface ScreenEvidence {
  readonly screen: ScreenView;
  readonly signals: Signals;
  /** absent where the agent writes none, and in a replay */
  readonly status?: AgentStatus;
}

/** What is known about the child when its session file is looked for. */
export interface ChildPlace {
  readonly childPid: number;
  readonly cwd: string;
  readonly home: string;
  readonly env: Env;
  /** when the child was started: older files that did not grow since are not its own */
  readonly startedAt: Millis;
  readonly now: Millis;
  /** when the user pressed Enter in the child's terminal last; undefined while never */
  readonly enteredAt?: Millis;
  /** the file that is followed now, for what shows only in the moment of a change */
  readonly currentPath?: string;
}

/** The environment of the child, as far as a runtime's own variables matter. */
export type Env = Readonly<Record<string, string | undefined>>;

// How an agent's own compaction is asked for: data, with the figures that facts/ proved on the real agents.

export interface CompactRecipe {
  /** as a user would type it: `/compact` */
  readonly command: string;
  /** text after the command tells the agent what its summary must keep */
  readonly takesFocus: boolean;
  /** the text goes in as a bracketed paste with a blank behind it, for agents that take fast typing for a paste of their own */
  readonly isPasted: boolean;
  /** between the text and the key that submits it, at least, in milliseconds */
  readonly pauseMs: number;
  /** the bytes of the key that submits the command */
  readonly submit: string;
  /** how long the agent may take to begin and to end, in milliseconds */
  readonly startMs: number;
  readonly finishMs: number;
  /** the bytes that put a draft aside until the command has run, and how long to wait for it, in milliseconds */
  readonly stash?: { readonly keys: string; readonly pauseMs: number };
  /**
   * the agent always lists what could be meant below a command, and the key that submits takes the first of the list: it must be the
   * command, or another one runs
   */
  readonly isListed?: true;
  /** the agent takes the command while it works, and runs it after the turn */
  readonly isQueued?: true;
}

/** What stands in the agent's prompt, as it is drawn. */
export interface PromptContent {
  /** the user's text without glyph, hint and suggestion; '' when there is none; rows of one text are joined by what was typed between them, where it can be known */
  readonly text: string;
  /** the command that is chosen in the list below the prompt, with its slash; absent where there is no list */
  readonly listed?: string;
  /** a draft has been put aside */
  readonly isStashed?: true;
}

/** The prompt on this screen; undefined where none is seen, or where what is typed would not be taken as a message. */
export type PromptReader = (seen: ScreenEvidence) => PromptContent | undefined;

/** Numbers that the agent itself hands to a command of ours, for the one launch that asks for them. */
export interface OfficialSource {
  /** what to add to the launch, or why the agent is left alone */
  readonly plan: (port: SettingsPort, launch: OfficialLaunch) => Promise<OfficialPlan>;
  /** what to add to the launch so that the agent asks before it compacts by itself; absent where it cannot */
  readonly hold?: (port: SettingsPort, launch: OfficialLaunch, hold: NativeHoldHook) => Promise<OfficialPlan>;
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
  /**
   * whether the agent is asked at its launch to tell its numbers; that is not quite invisible where the user has no status line of their
   * own, so `auto` asks there only where nothing else tells how large the window is
   */
  readonly wish: Values['claude.statusLine'];
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
export interface NativeHoldHook {
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

/** A regular file; links and folders are never one. */
export interface FileEntry {
  readonly path: string;
  readonly name: string;
  readonly modifiedAt: Millis;
}

/** What finding a file may ask of the machine. Nothing here throws: what cannot be read is empty or undefined. */
export interface FilePort {
  /** regular files directly in a folder whose name passes */
  readonly list: (folder: string, wanted: (name: string) => boolean) => Promise<readonly FileEntry[]>;
  /** names of the folders directly in a folder, without links; not more than a few hundred, the last by name */
  readonly folders: (folder: string) => Promise<readonly string[]>;
  readonly entry: (path: string) => Promise<FileEntry | undefined>;
  /** whether there is anything at all, also a socket or a link */
  readonly exists: (path: string) => Promise<boolean>;
  /** the first line, if it is complete and of a sane length */
  readonly firstLine: (path: string) => Promise<string | undefined>;
  /** the last 64 KB, which may begin inside a line */
  readonly lastPart: (path: string) => Promise<string | undefined>;
  /** the content of a small text file */
  readonly smallText: (path: string) => Promise<string | undefined>;
  /** the process and all below it, itself first */
  readonly family: (pid: number) => Promise<readonly number[]>;
  /** paths of the regular files a process has open; undefined where the system does not tell */
  readonly openFiles: (pid: number) => Promise<readonly string[] | undefined>;
  /** in hexadecimal digits */
  readonly sha256: (text: string) => Promise<string>;
}

// What an agent has on this machine beside its sessions, for `ctxwrap doctor`.

/** Where an agent looks for its files. */
export type AgentFolders = Pick<ChildPlace, 'env' | 'home' | 'cwd'>;

export interface AgentHome {
  /** versions that the lab has played, the newest first; docs/agents.md has the same */
  readonly played: readonly string[];
  /** the window of its usual model, in tokens */
  readonly usualWindowTokens: number;
  /** the window that the user can say its models have (`claude.million`), in tokens; undefined where there is no such setting */
  readonly largeWindowTokens?: number;
  /** the folder that holds its session files */
  readonly sessions: (where: AgentFolders) => string;
}
