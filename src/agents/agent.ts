import type { NativeTrigger } from '../core/build-ladder.js';
import type { Values } from '../core/config/keys.js';
import type { Conversation, ConversationWriter, NewSession } from '../core/conversation/conversation.js';
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
import type { PasteFolding } from '../core/terminal-input.js';
import type { View } from '../core/shown-conversation.js';
import type { AgentChannel, ChannelLaunch } from './channel.js';
import type { RowQuery, SessionDatabase } from './database.js';
import type { AgentHome } from './home.js';
import type { OwnCompactionSource } from './own-compaction.js';
import type { PrintMode } from './print-mode.js';
import type { SessionFormat, StartReader } from './session-format.js';

/** What a launch of an agent needs. It is loaded before the child runs, and nothing that reads screens or session files is. */
export interface AgentLaunch {
  /** as in `ctxwrap NAME` and in the footer */
  readonly name: string;
  /** the program to find on PATH; undefined for an agent that is not a program of its own */
  readonly command?: string;
  /** what to install when the command is not found */
  readonly npmPackage?: string;
  /** false when these arguments make the agent print and exit, so that it must run without a PTY and a footer */
  readonly isInteractive: (args: readonly string[]) => boolean;
  /** what a launch adds to have exact numbers reported; undefined where the agent reports none */
  readonly official?: LaunchReports;
  /** how its control channel is opened or found */
  readonly channel?: ChannelLaunch;
  /** the arguments that start the agent with a session in its file; undefined where that is not known */
  readonly resumeArgs?: (session: SavedSession) => readonly string[];
  /** how it is ended and started again; undefined where that is not known */
  readonly restarting?: Restarting;
  /** how to ask the agent to compact; without a recipe nothing is ever typed */
  readonly recipe?: (env: Env) => CompactRecipe | undefined;
  /**
   * signs the agent omits from its title once its question for agent states (OSC 7501) is answered. ctxwrap answers where the terminal does
   * not, and adds the signs. Undefined for an agent that does not ask; it gets no answer
   */
  readonly titleSigns?: (env: Env) => TitleSigns;
  /**
   * the text it prints instead of stopping at Ctrl-Z, when a wrapper keeps it from stopping: its keyboard is dead until SIGCONT. Undefined
   * for an agent that stops, or handles the key itself
   */
  readonly suspendedText?: string;
}

/** One agent product as a value: everything the wrapper knows about it. It holds data and pure functions, and does nothing by itself. */
export interface Agent extends AgentLaunch {
  /** its files on this machine; undefined where unknown */
  readonly home?: AgentHome;
  /** where the agent compacts by itself, from its environment alone; undefined if it does not or if unknown */
  readonly nativeTrigger: (env: Env) => NativeTrigger | undefined;
  /** the agent's compaction point from its settings files; undefined if no such files are known */
  readonly ownCompaction?: OwnCompactionSource;
  /** the agent reports no usage at all: the text it writes is counted, and marked as an estimate */
  readonly isEstimated?: true;
  /** the agent's own tier boundaries for its own window, where it has any; `nativeTokens` is where it compacts by itself */
  readonly ownLadder?: (windowTokens: number, nativeTokens: number | undefined) => OwnLadder;
  /** where and how the agent records its sessions; undefined when it has no session file we can read */
  readonly log?: SessionLog;
  /** exact numbers the agent reports when its launch asks for them; undefined when it cannot */
  readonly official?: OfficialSource;
  /** how a new session of it is written; undefined where that is not known well enough, or not possible */
  readonly newSessions?: NewSessionForm;
  /** an `@` in a message has it read the file that is named behind it, unless a backslash stands before it */
  readonly readsMentions?: true;
  /** its prompt shows larger pastes as a placeholder; undefined where that is not known, or it shows all */
  readonly foldsPastes?: PasteFolding;
  /** its own import of other agents' sessions; undefined if it has none */
  readonly imports?: SessionImport;
  /** how it answers one prompt and exits; undefined where it is not known to do so without tools */
  readonly printMode?: PrintMode;
  /** how to ask it without keys; undefined if it has no known interface for that */
  readonly channel?: AgentChannel;
  /** how its screen and signals are read; undefined when they are unknown */
  readonly screen?: AgentScreen;
  /** a snippet for its own settings that calls ctxwrap, for the user to paste; undefined where it has no hooks */
  readonly hooks?: (commands: HookCommands) => string;
  /** the environment makes windows smaller than usual, so that they say nothing about other sessions; undefined if none can */
  readonly limitsWindows?: (env: Env) => boolean;
  /** the window size, from the percentage on the screen and the tokens in the session file at the same moment */
  readonly derivedWindow?: (screen: Reading, log: Reading, env: Env) => WindowClaim | undefined;
}

/** Shell commands for an agent's hooks. They do nothing when the agent was started without ctxwrap, and always exit with status 0. */
export interface HookCommands {
  /** after a turn: compacts when the window has reached warn; the agent does not wait for it */
  readonly compactFull: string;
  /** before a compaction: records how full the window is */
  readonly noteFill: string;
  /** after a compaction: prints what the model should know about its window */
  readonly tellModel: string;
}

/** The part of an agent that the core needs, for this environment. */
export const toAgentFacts = (agent: Agent, env: Env): AgentFacts => {
  const { name, nativeTrigger, log, screen, derivedWindow } = agent;
  return {
    name,
    native: nativeTrigger(env),
    hasLog: log !== undefined,
    showsLeft: screen?.showsLeft === true,
    takesHandoff: takesDraft(agent),
    derivedWindow: derivedWindow && ((screen, log) => derivedWindow(screen, log, env)),
  };
};

/** It can be started by its name, and a text can be put into its prompt. */
export const takesDraft = ({ command, screen }: Pick<Agent, 'command' | 'screen'>): boolean =>
  command !== undefined && screen?.prompt !== undefined;

/** How a runtime's rendered screen is read. */
export interface AgentScreen {
  /**
   * true when the screen is laid out as only this agent does it, judged by its boxes and signals, never by words that a conversation can
   * contain
   */
  readonly recognises: (seen: ScreenEvidence) => boolean;
  /** the reader for the first screen */
  readonly reader: (env: Env) => ScreenReader;
  /**
   * after a compaction it shows an estimate of what is left, until the next number; otherwise 0 % there says nothing. Absent where what it
   * then shows is wrong
   */
  readonly showsLeft?: true;
  /** reads the text in its prompt, to check whether typed text has arrived; required where there is a recipe */
  readonly prompt?: PromptReader;
  /** what the agent writes about its state into a separate file, if it does */
  readonly status?: (port: FilePort, place: ChildPlace) => Promise<AgentStatus | undefined>;
}

/**
 * Reads the screen whenever it has come to rest, and a few times a second while it has not. Pure: anything to remember is in the next
 * reader. Must take less than 2 ms on a screen of 200 × 60.
 */
export type ScreenReader = (seen: ScreenEvidence, now: Millis) => ScreenResult;

export interface ScreenResult {
  readonly activity: ActivityReport;
  /**
   * what the screen shows now: a reading as long as the number is visible (the same one each time), a window claim, or a boundary once,
   * when a compaction is seen to succeed. No reading means no number is visible.
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
    const { state: after, ...reading } = read(state, seen, now);
    return { ...reading, next: makeScreenReader(after, read) };
  };

/** How a runtime's session file is found and read. */
export interface SessionLog {
  readonly locate: Locate;
  /** for an agent that keeps all sessions in one SQLite database, which is then `Located.path`; undefined for one that writes text files */
  readonly database?: SessionDatabase;
  /** what its records mean */
  readonly reader: StartReader;
  /** its estimate of what a compaction leaves is without what is sent with every request: system prompt, tools */
  readonly leavesOutFixed?: true;
  /** the agent's activity from this record on, if its records show it; undefined for a record that does not affect it */
  readonly stateIn?: (line: string) => AgentStatus | undefined;
  /** when a line was written, where the field differs from other agents' */
  readonly timeOf?: (line: string) => Millis | undefined;
  /** true for a record that only this agent writes; undefined when its records are indistinguishable from others' */
  readonly recognises?: (record: JsonRecord) => boolean;
  /** true for the first lines of a whole-document file that only this agent writes; undefined where it writes none */
  readonly recognisesDocument?: (head: readonly string[]) => boolean;
  /** how a whole file is read as a conversation; undefined if only the numbers in its records are understood */
  readonly conversation?: SessionFormat;
}

/** Finds the session file that the child is writing, or undefined while there is none. Called often, so it must be cheap. */
export type Locate = (port: FilePort, place: ChildPlace) => Promise<Located | undefined>;

export interface Located {
  readonly sessionId: string;
  /** undefined when the session is known but has no file yet */
  readonly path?: string;
  /** proved by the agent (a pid file, an open file); false for the best of several candidates */
  readonly certain: boolean;
  /** for an uncertain file: when it was last written, or when the user's message appeared in it */
  readonly writtenAt?: Millis;
  /** the process that runs the conversation, where the child only shows it */
  readonly pid?: number;
  /** the file is of the conversation that this one continues, and will have its own file: this one stays as it is */
  readonly isEarlier?: true;
}

/** What an agent writes about its own state (`sessions/<pid>.json` of Claude's, docs/facts/claude.md#state-reports). */
export interface AgentStatus {
  /** verbatim: `idle`, `busy`, `waiting`, `shell` */
  readonly state: string;
  readonly waitingFor?: string;
  /** it may end while the agent writes nothing to its screen, so it is read again until then */
  readonly isSilent?: true;
}

/** All evidence of the agent's state at one moment. */
export interface ScreenEvidence {
  readonly screen: ScreenView;
  readonly signals: Signals;
  /** absent where the agent writes none, and in replays */
  readonly status?: AgentStatus;
}

/** What is known about the child when its session file is searched. */
export interface ChildPlace {
  readonly childPid: number;
  readonly cwd: string;
  readonly home: string;
  readonly env: Env;
  /** when the child was started: older files that have not grown since are not its own */
  readonly startedAt: Millis;
  readonly now: Millis;
  /** when the user last pressed Enter in the child's terminal; undefined if never */
  readonly enteredAt?: Millis;
  /** when the first Enter in the two seconds before that was pressed; its message may be the newest one */
  readonly enteredSince?: Millis;
  /** when the screen last showed that the agent begins to work; undefined if never */
  readonly workedAt?: Millis;
  /** the file followed now, for evidence that exists only at the moment of a change */
  readonly currentPath?: string;
  /** the arguments of the child */
  readonly args: readonly string[];
  /** the conversation on the screen; undefined until the screen has shown one, and possibly for the first conversation */
  readonly view?: View;
  /** when this view began; absent for the child's first view. Facts about earlier views no longer hold */
  readonly viewSince?: Millis;
  /** when the view before it began */
  readonly viewedBefore?: Millis;
  /** as in `Located.pid`, of the conversation that was found last, while it is in view */
  readonly followedPid?: number;
}

/** The environment of the child; an agent reads only its own variables. */
export type Env = Readonly<Record<string, string | undefined>>;

/** How new session files of an agent are written, and how it goes on with one (docs/facts/sessions.md). Pure. */
export interface NewSessionForm {
  /** a conversation as the lines of a new session file */
  readonly write: ConversationWriter;
  /** the path of a new session's file, from the folder of the agent's other session files of the same project; it may be another folder */
  readonly fileName: (as: NewSession) => string;
  /** what the agent needs beside a new session's file of this path, to find it */
  readonly beside?: (path: string, as: NewSession) => readonly NewFile[];
  /** the files that this line of a session file refers to, by their paths from its folder: a new session with the line gets copies */
  readonly filesOf?: (line: string) => readonly string[];
  /** a line of a session file as written into a copy that is another session; `ids` are the ids that the file had so far */
  readonly copyLine: (line: string, ids: ReadonlySet<string>, as: NewSession) => string;
  /** why the agent would not take a copy of a file with this first line; undefined if it would */
  readonly obstacle?: (firstLine: string) => string | undefined;
  /** how the running agent is made to continue with another session; undefined if it cannot be */
  readonly switching?: Switching;
}

/** The agent's own import of another agent's sessions, which takes the whole conversation. */
export interface SessionImport {
  /** names of the agents whose sessions it takes */
  readonly from: readonly string[];
  /** its command, as a user types it; it lets the user choose what to import */
  readonly command: string;
}

export interface SavedSession {
  readonly id: string;
  readonly path: string;
}

/** How the running agent goes on with another session. */
export interface Switching {
  /** its command, as a user types it; `name` matches [A-Za-z0-9_-]{1,64} */
  readonly command: (name: string) => string;
  /** for an agent that keeps its id: true for a line of its session file that records a switch to another conversation */
  readonly restores?: (line: string) => boolean;
  /** what the agent's list of completions shows for the typed command, where it shows one */
  readonly listedAs?: (name: string) => string;
  /** how its typing differs from that of the compact command */
  readonly typing?: Partial<Pick<CompactRecipe, 'isPasted' | 'pauseMs' | 'submit'>>;
  /** it keeps earlier sessions open, so before its next turn nothing shows that it has gone back to one */
  readonly keepsOpen?: true;
  /**
   * for an agent that takes no other session file while it runs, but a conversation in a file of its own: that file, beside the session
   * file that it writes. The command then takes the name of it
   */
  readonly checkpoint?: (conversation: Conversation, sessionPath: string, name: string) => NewFile;
}

/** How the agent is ended by its own command, and started again with another session of its own. */
export interface Restarting {
  /** the command that ends it, as a user types it */
  readonly exitCommand: string;
  /** how its typing differs from that of the compact command */
  readonly typing?: Switching['typing'];
  /**
   * the user's arguments without a starting prompt and without what chooses a session, to which those of `resumeArgs` are added; undefined
   * if it cannot be started again with them
   */
  readonly options: (args: readonly string[]) => readonly string[] | undefined;
}

export interface NewFile {
  readonly path: string;
  readonly text: string;
}

// How to ask an agent to compact: data, with figures from facts/ that were proved on the real agents.

export interface CompactRecipe {
  /** as a user would type it: `/compact` */
  readonly command: string;
  /** text after the command tells the agent what its summary must keep */
  readonly takesFocus: boolean;
  /** the text goes in as a bracketed paste followed by a space, for agents that mistake fast typing for a paste */
  readonly isPasted: boolean;
  /** minimum pause between the text and the submit key, in milliseconds */
  readonly pauseMs: number;
  /** bytes of the key that submits the command */
  readonly submit: string;
  /** timeouts for the compaction to begin and to finish, in milliseconds */
  readonly startMs: number;
  readonly finishMs: number;
  /** bytes that stash a draft until the command has run, and how long the agent takes for that, in milliseconds */
  readonly stash?: { readonly keys: string; readonly pauseMs: number };
  /** the agent lists matching commands below what is typed, and submit runs the first of the list, so it must be the right one */
  readonly isListed?: true;
  /** the entry of that list that runs the typed command, where it is not the command itself */
  readonly listedAs?: string;
  /** the agent accepts the command while it works and runs it after the turn */
  readonly isQueued?: true;
}

/** The content of the agent's prompt, as it is drawn. */
export interface PromptContent {
  /**
   * the user's text without glyph, hint and suggestion; '' when empty; wrapped rows are joined as they were typed, where that can be known
   */
  readonly text: string;
  /** the command that is chosen in the list below the prompt, with its slash; absent where there is no list */
  readonly listed?: string;
  /** a draft is stashed */
  readonly isStashed?: true;
}

/** The prompt on this screen; undefined where none is visible, or where typed text would not be taken as a message. */
export type PromptReader = (seen: ScreenEvidence) => PromptContent | undefined;

/** What makes an agent pass numbers to a command of ctxwrap's, and run its hooks, in one launch. */
export interface LaunchReports {
  /** what to add to the launch, or why the launch is left alone */
  readonly plan: (port: SettingsPort, launch: OfficialLaunch) => Promise<OfficialPlan>;
  /** what to add to the launch so that the agent runs this hook, or why it gets none; absent where it has no hooks */
  readonly hook?: (port: SettingsPort, launch: OfficialLaunch, hook: LaunchHook) => Promise<OfficialPlan>;
}

/** Numbers that the agent passes to a command of ctxwrap's, for a launch that asks for them. */
export interface OfficialSource extends LaunchReports {
  /** a file with this content goes to the model beside the user's next message; undefined: the text is too long for that */
  readonly contextFile?: (text: string, sessionId: string) => string | undefined;
  /** parses one report of the agent; undefined for anything else */
  readonly read: (text: string, now: Millis) => OfficialReport | undefined;
}

/** What planning may read from the machine. Nothing rejects; links are followed, because the files are the user's own. */
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
   * the setting `claude.statusLine`. Asking is not quite invisible where the user has no status line, so `auto` asks there only if nothing
   * else reports the size of the window
   */
  readonly statusLine: Values['claude.statusLine'];
  /** the user has set the size of the window */
  readonly isWindowSet: boolean;
  /** the user has switched on what needs the end of the prompt cache, which only the report gives exactly */
  readonly isCacheWanted?: boolean;
  /** the command is the agent itself; another one, such as `npx`, may not take the agent's arguments first */
  readonly isOwnProgram: boolean;
  /** of the program to start; undefined when unknown */
  readonly version: string | undefined;
  readonly files: OfficialFiles;
}

/** Files of this launch only. */
export interface OfficialFiles {
  /** settings that the agent reads at its start */
  readonly settings: string;
  /** the latest report of the agent; each one replaces the one before */
  readonly report: string;
  /** what the agent adds to the user's next message; it takes the file away */
  readonly context: string;
}

/** A hook that the agent runs in this launch. */
export type LaunchHook = (
  | {
      /** before it compacts by itself */
      readonly kind: 'hold';
      /** shell command; its exit status decides whether the agent may compact */
      readonly command: string;
    }
  | {
      /** when the user sends a message: adds what is in the file of `OfficialFiles.context`, if there is one */
      readonly kind: 'context';
    }
) & {
  /** the settings that the launch adds anyway */
  readonly settings?: string | undefined;
};

export type OfficialPlan =
  | { readonly kind: 'ask'; readonly args: readonly string[]; readonly settings: string }
  | { readonly kind: 'leave'; readonly reason: string };

export interface OfficialReport {
  /** the agent's id of the conversation that the numbers belong to */
  readonly sessionId?: string;
  readonly facts: readonly Fact[];
}

/** A regular file, never a link or a folder. */
export interface FileEntry {
  readonly path: string;
  readonly name: string;
  readonly modifiedAt: Millis;
}

/** What finding a session file may read from the machine. Nothing throws: what cannot be read is empty or undefined. */
export interface FilePort {
  /** regular files directly in a folder whose names match */
  readonly list: (folder: string, wanted: (name: string) => boolean) => Promise<readonly FileEntry[]>;
  /** names of folders directly in a folder, without links; a few hundred at most, the last by name */
  readonly folders: (folder: string) => Promise<readonly string[]>;
  readonly entry: (path: string) => Promise<FileEntry | undefined>;
  /** whether anything of this name exists, including sockets and links */
  readonly exists: (path: string) => Promise<boolean>;
  /** the first line, if it is complete and not too long */
  readonly firstLine: (path: string) => Promise<string | undefined>;
  /** the last 64 KB, which may begin inside a line */
  readonly lastPart: (path: string) => Promise<string | undefined>;
  /** the content of a small text file */
  readonly smallText: (path: string) => Promise<string | undefined>;
  /** the process and its descendants in the same terminal session, itself first */
  readonly family: (pid: number) => Promise<readonly number[]>;
  /** paths of the regular files a process has open; undefined if the system does not report them */
  readonly openFiles: (pid: number) => Promise<readonly string[] | undefined>;
  /** rows of an SQLite database that the agent may be writing; undefined where it or this Node's SQLite is missing */
  readonly rows: (path: string, query: RowQuery) => Promise<readonly JsonRecord[] | undefined>;
  /** in hexadecimal digits */
  readonly sha256: (text: string) => Promise<string>;
}
