import type { Agent } from '../agents/agent.js';
import { agents } from '../agents/index.js';
import type { RecordedCompaction } from '../core/conversation/boundary-record.js';
import { makeHandoffBuilder } from '../core/conversation/handoff-builder.js';
import { buildLadder } from '../core/build-ladder.js';
import { backendWindow } from '../core/config/backends.js';
import { ladderChoice, type Values } from '../core/config/keys.js';
import type { Settings } from '../core/config/merge.js';
import { listThresholds } from '../core/ladder.js';
import { tokensOfCharacters } from '../core/reading.js';
import { isSessionId } from '../core/report/session-id.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import { toCurrentSettings, readConfiguration } from './config/load.js';
import { workingFolder } from './print.js';

// The library for other programs, as docs/internals/library.md describes it. Its types are published alone, so every type that it exports is declared
// here. First, the settings in effect, under the names that CONTEXT_WINDOW_SIZE and related variables use, and an estimate from a character
// count.

export type Backend = 'claude' | 'openai' | 'gemini' | 'ollama' | 'vllm' | 'custom';

/** Where settings are looked up: the environment and the folder of the project. Both default to this process's. */
export interface Place {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

const settingsAt = ({ env = process.env, cwd = workingFolder() }: Place): Settings =>
  readConfiguration({ flags: {} }, { env, home: homeFolder(env), cwd }).settings;

const valuesAt = (place: Place): Values => settingsAt(place).values;

/** `claude` when none is set. */
export const getBackendName = (place: Place = {}): Backend => valuesAt(place).backend ?? 'claude';

const windowIn = (values: Values): number => values.window ?? backendWindow(values);

// As a running session has it, where a backend or a ladder is configured; otherwise 85 % of the window. A session without either counts from
// the end of the window, and comes before the agent's own compaction: both are known only with the agent.
const thresholdIn = (values: Values): number | undefined => {
  const { ladder = 'percent' } = values;
  const choice = ladderChoice({ ...values, ladder });
  return buildLadder({ agent: '', windowTokens: windowIn(values), choice }).auto?.value;
};

/** In tokens: the user's setting, else the window of the backend's models. What a running agent reports is not known here. */
export const getContextWindowSize = (place: Place = {}): number => windowIn(valuesAt(place));

/**
 * In tokens: the window times COMPACTION_THRESHOLD_PCT or `auto` (85 % by default), rounded down; undefined when the settings have no auto.
 * It holds before an agent is known: a session of Claude without a `backend` compacts at 162,000 of 200,000 tokens, 5,000 before Claude
 * would, where this says 170,000. `getLadder` and the published state have the session's own number.
 */
export const getCompactionThreshold = (place: Place = {}): number | undefined => thresholdIn(valuesAt(place));

/** Whether this many used tokens are at or above that threshold. */
export const shouldTriggerCompaction = (currentTokens: number, place: Place = {}): boolean =>
  currentTokens >= (getCompactionThreshold(place) ?? Infinity);

/** Whether ctxwrap types the command itself, rather than leaving it to the agent and the user. */
export const needsCustomCompaction = (place: Place = {}): boolean => {
  const { values, isModeGiven } = toCurrentSettings(settingsAt(place));
  const isSeen = values.footer !== false || isModeGiven; // without a footer a countdown would be invisible
  return isSeen && values.mode === 'auto' && thresholdIn(values) !== undefined;
};

/** The default window in tokens. */
const CONTEXT_LIMIT = 200_000;

export interface ContextUsageResult {
  /** estimated at four characters per token, rounded up */
  readonly totalTokens: number;
  /** share of the window: 0.7 is 70 %; above 1 when it is over-full */
  readonly usageRatio: number;
  /** at or above the warning threshold; also true at critical */
  readonly isWarning: boolean;
  readonly isCritical: boolean;
  readonly action: 'none' | 'prepare_handoff' | 'force_return';
}

/**
 * Estimates how much of a window of `contextLimit` tokens a conversation of this many characters uses. Thresholds are shares of the window
 * (0.7 is 70 %) and inclusive: prepare a handoff at warning, hand over at critical.
 */
export const analyzeContextUsage = (
  cumulativeChars: number,
  warningThreshold = 0.7,
  criticalThreshold = 0.85,
  contextLimit = CONTEXT_LIMIT,
): ContextUsageResult => {
  const totalTokens = tokensOfCharacters({ ascii: cumulativeChars, wide: 0 });
  return usageOf(totalTokens, { warningThreshold, criticalThreshold, contextLimit });
};

interface UsageBounds {
  readonly warningThreshold: number;
  readonly criticalThreshold: number;
  readonly contextLimit: number;
}

const usageOf = (
  totalTokens: number,
  { warningThreshold, criticalThreshold, contextLimit }: UsageBounds,
): ContextUsageResult => {
  const usageRatio = totalTokens / contextLimit;
  const isWarning = usageRatio >= warningThreshold;
  const isCritical = usageRatio >= criticalThreshold;
  const action = isCritical ? 'force_return' : isWarning ? 'prepare_handoff' : 'none';
  return { totalTokens, usageRatio, isWarning, isCritical, action };
};

/**
 * The same of a running session, by its own number and window; undefined while either is not known. Its number counts before an estimate.
 */
export const analyzeSessionUsage = (
  { reading, estimatedTokens }: Pick<SessionState, 'reading' | 'estimatedTokens'>,
  warningThreshold = 0.7,
  criticalThreshold = 0.85,
): ContextUsageResult | undefined => {
  const { usedTokens = estimatedTokens, windowTokens: contextLimit } = reading ?? {};
  if (usedTokens === undefined || contextLimit === undefined) return undefined;
  return usageOf(usedTokens, { warningThreshold, criticalThreshold, contextLimit });
};

/** Why there is a handoff. */
export type BuiltReason = 'threshold_critical' | 'task_complete' | 'error' | 'requested';

/** Work that is done, or begun and not finished. */
export interface CompletedWork {
  readonly file?: string;
  readonly status: 'done' | 'partial';
  readonly notes: string;
}

export interface RemainingWork {
  readonly description: string;
  /** `normal` when absent */
  readonly priority?: 'high' | 'normal';
}

/** A handoff in the form of `ctxwrap handoff --json`, `ctxwrap.handoff/1`. */
export interface BuiltHandoff {
  readonly schema: 'ctxwrap.handoff/1';
  /** ISO 8601 */
  readonly createdAt: string;
  readonly runtime: string;
  readonly agentId?: string | undefined;
  readonly cwd?: string | undefined;
  readonly reason: BuiltReason;
  readonly completed: readonly CompletedWork[];
  readonly remaining: readonly Required<RemainingWork>[];
  readonly context: {
    readonly decisions: readonly string[];
    readonly patterns: readonly string[];
    readonly issues: readonly string[];
    readonly constraints: readonly string[];
    readonly filesModified: readonly string[];
    readonly commands: readonly never[];
  };
  readonly requests: readonly never[];
}

export interface HandoffBuild {
  readonly handoff: BuiltHandoff;
  /** of its JSON */
  readonly characters: number;
  /** what to do about one of more than 4,000 characters, about a thousand tokens; absent for a shorter one */
  readonly warning?: string;
}

/** Puts a handoff together; each method returns the builder. */
export interface HandoffBuilder {
  readonly addCompleted: (work: CompletedWork) => HandoffBuilder;
  readonly addRemaining: (work: RemainingWork) => HandoffBuilder;
  readonly addDecision: (text: string) => HandoffBuilder;
  readonly addPattern: (text: string) => HandoffBuilder;
  readonly addIssue: (text: string) => HandoffBuilder;
  /** a changed file; one that is added again is listed once */
  readonly addFile: (path: string) => HandoffBuilder;
  /** as it is by now */
  readonly build: (reason?: BuiltReason) => HandoffBuild;
}

/** What the handoff is of: the name of the agent, its id of the conversation, and the folder that it works in. */
export type HandoffOf = Pick<BuiltHandoff, 'runtime' | 'agentId' | 'cwd'>;

/** For a program that knows what its agent has done. ctxwrap's own handoffs come from the agent's records alone. */
export const createHandoffBuilder = (of: HandoffOf): HandoffBuilder => makeHandoffBuilder(of, Date.now);

// What a supervisor of agents needs: the ladder of a window, session files, recordings, and the events of running sessions. What reads files
// is loaded when it is called.

/** A built-in agent. */
export type AgentName = 'claude' | 'codex' | 'gemini' | 'qwen' | 'opencode' | 'copilot' | 'kimi';

export type TierName = 'safe' | 'warn' | 'auto' | 'hard';

/** A boundary of a ladder, and the reason for it. */
export interface LadderThreshold {
  readonly name: 'effective' | 'warn' | 'auto' | 'hard' | 'native';
  /** in tokens, or 0…100 of the window */
  readonly value: number;
  readonly unit: 'tokens' | 'percent';
  readonly reason: string;
}

const agentNamed = (name: string): Agent => {
  const found = Object.values<Agent>(agents).find((agent) => agent.name === name);
  if (!found)
    throw new RangeError(`there is no agent "${name}": the agents are ${Object.keys(agents).join(', ')}`);
  return found;
};

/**
 * Where the tiers of a window begin, in ascending order, before the agent's own compaction point; in percent where the window is not known.
 * `env` is the agent's: it can move that point. Throws a RangeError for an agent that is not built in, and for a window that is no size.
 */
export const getLadder = (
  agent: AgentName,
  windowTokens?: number,
  env: Readonly<Record<string, string | undefined>> = {},
): readonly LadderThreshold[] => {
  if (windowTokens !== undefined && !(Number.isSafeInteger(windowTokens) && windowTokens > 0))
    throw new RangeError(`a window is a whole number of tokens above 0, got ${windowTokens}`);
  const known = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
  const native = agentNamed(agent).nativeTrigger(known as Readonly<Record<string, string>>);
  return listThresholds(buildLadder({ agent, windowTokens, native }));
};

/** How full a window is: `ctxwrap.reading/1`. */
export interface WindowReading {
  readonly schema: 'ctxwrap.reading/1';
  /** in milliseconds since 1970 */
  readonly at: number;
  readonly runtime: string;
  readonly source: 'official' | 'log' | 'screen' | 'estimate';
  /** what `usedPercent` refers to */
  readonly basis: 'window' | 'effective' | 'auto-compact' | 'baseline';
  readonly usedTokens?: number;
  readonly windowTokens?: number;
  readonly windowSource?: 'user' | 'agent' | 'derived' | 'table' | 'remembered' | 'default';
  /** 0…100, one decimal */
  readonly usedPercent?: number;
  /** more is used than the window holds */
  readonly over?: true;
  /** not estimated, and the window is certain if one was needed */
  readonly exact: boolean;
  readonly tier?: TierName;
  readonly model?: string;
}

/** A compaction that a session file records. */
export interface FileCompaction {
  /** within its session, counted from 1 */
  readonly number: number;
  /** in milliseconds since 1970 */
  readonly at: number;
  /** `agent-idle`: the agent, while it was idle */
  readonly initiator?: 'user' | 'agent' | 'agent-idle' | 'ctxwrap';
  readonly preTokens?: number;
  readonly postTokens?: number;
  /** the record proves it */
  readonly isVerified: boolean;
  /** the summary that took the place of the messages */
  readonly summary?: string;
}

export interface SessionFile {
  readonly agent: string;
  /** the agent's own id */
  readonly sessionId?: string;
  /** the folder it was started in */
  readonly project?: string;
  /** the last number; absent where there is none, as after a compaction */
  readonly reading?: WindowReading;
  readonly thresholds: readonly LadderThreshold[];
  readonly compactions: readonly FileCompaction[];
  /** lines that could not be read */
  readonly damagedLines: number;
}

export interface SessionFileOptions {
  /** the agent that has written it; recognised when absent */
  readonly agent?: AgentName;
  /** where the file does not tell it */
  readonly windowTokens?: number;
}

/**
 * What an agent's session file contains: the last number, the boundaries, and its compactions with their summaries. Undefined for a file of
 * no agent that is known. Rejects with the system's error if it cannot be read. The file is read in bounded memory.
 */
export const readSession = async (
  path: string,
  { agent: name, windowTokens }: SessionFileOptions = {},
): Promise<SessionFile | undefined> => {
  const { agentOfFile, readSessionFile } = await import('../session-files/read-session-file.js');
  const { readHistory } = await import('../session-files/read-history.js');
  const { storedFile } = await import('../storage/session-store.js');
  const { readingRecord, sessionThresholds } = await import('../core/report/report.js');
  const agent = name === undefined ? await agentOfFile(path, Object.values<Agent>(agents)) : agentNamed(name);
  if (!agent?.log) return undefined;
  const now = Date.now();
  const file = await storedFile(path);
  const found = await readHistory({ agent, ...file }, { isFull: true, withUsage: false, now });
  const { state } = await readSessionFile({ path: file.path, agent, env: {}, windowTokens, now });
  const reading = readingRecord(state, now);
  const { sessionId, project, damagedLines = 0, compactions = [] } = found?.history ?? {};
  return {
    agent: agent.name,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(project === undefined ? {} : { project }),
    ...(reading ? { reading } : {}),
    thresholds: sessionThresholds(state),
    compactions: compactions.map(compactionOf),
    damagedLines,
  };
};

const compactionOf = ({
  number,
  at,
  initiator,
  preTokens,
  postTokens,
  isVerified,
  summary,
}: RecordedCompaction): FileCompaction => ({
  number,
  at,
  ...(initiator === undefined ? {} : { initiator }),
  ...(preTokens === undefined ? {} : { preTokens }),
  ...(postTokens === undefined ? {} : { postTokens }),
  isVerified,
  ...(summary?.kind === 'text' ? { summary: summary.text } : {}),
});

/** What ctxwrap reads from a recording: `ctxwrap.reading/1`, `.activity/1`, `.tier/1` and `.boundary/1`; `at` is in seconds from its start. */
export interface RecordingEvent {
  readonly schema: string;
  readonly at: number;
  readonly [field: string]: unknown;
}

export interface RecordingOptions extends SessionFileOptions {
  /** the agent's session files of that time */
  readonly logs?: readonly string[];
}

/** Replays a recording (asciicast v2, also gzipped) as fast as its events are read. Throws an Error that says why it cannot be read. */
export async function* replayRecording(
  path: string,
  { agent: name, windowTokens, logs = [] }: RecordingOptions = {},
): AsyncGenerator<RecordingEvent> {
  const { openReplay } = await import('../replay/replay.js');
  const { detectAgent } = await import('../replay/sources.js');
  const { openRecordingFile } = await import('../storage/recording-reader.js');
  const open = () => openRecordingFile(path);
  const agent =
    name === undefined
      ? ((await detectAgent(await open(), Object.values<Agent>(agents))) ?? agents.generic)
      : agentNamed(name);
  const { events } = await openReplay({ open, logs, agent, env: {}, window: windowTokens });
  for await (const event of events) yield { ...event };
}

export type ActivityName = 'ready' | 'draft' | 'busy' | 'dialog' | 'compacting' | 'unknown' | 'dead';

export type ModeName = 'auto' | 'ask' | 'warn' | 'off';

/** A running session at one moment: the fields of `ctxwrap.session/1` that do not change with the agent. */
export interface SessionState {
  readonly schema: 'ctxwrap.session/1';
  readonly id: string;
  /** of ctxwrap */
  readonly pid: number;
  readonly childPid: number;
  /** the agent */
  readonly runtime: string;
  readonly cwd: string;
  /** in milliseconds since 1970, as all times here */
  readonly startedAt: number;
  readonly activity: ActivityName;
  readonly activitySince?: number | undefined;
  readonly reading?: WindowReading | undefined;
  readonly tier?: TierName | undefined;
  readonly compactions: number;
  /** characters on the screen that the tokens are estimated from; absent where the agent's numbers are counted */
  readonly cumulativeChars?: number | undefined;
  /** the estimate in tokens; absent where there is none */
  readonly estimatedTokens?: number | undefined;
  /** the item of the agent's plan that it works on, in its words */
  readonly currentTask?: string | undefined;
  /** items of that plan; absent without one */
  readonly tasksTotal?: number | undefined;
  readonly tasksCompleted?: number | undefined;
  /** a handoff of the conversation was written */
  readonly handoff?:
    | { readonly state: 'handoff_ready'; readonly path: string; readonly at: number }
    | undefined;
  readonly compaction?: { readonly mode: ModeName; readonly words?: string | undefined } | undefined;
  /** the agent's own id of the conversation */
  readonly agentSessionId?: string | undefined;
  /** the agent's session file */
  readonly logPath?: string | undefined;
}

/** How a compaction ended: `ctxwrap.attempt/1`. */
export interface CompactionAttempt {
  readonly schema: 'ctxwrap.attempt/1';
  readonly initiator: string;
  /** it answers a request */
  readonly isManual: boolean;
  /** `verified` if it is proved */
  readonly outcome: string;
  /** the outcome in the words of the footer */
  readonly words: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly evidence: readonly string[];
}

/** The fields of each type of event, as docs/internals/events.md describes them. Minor versions add types. */
export type SessionEventContent =
  | { readonly type: 'session-start' | 'state'; readonly state: SessionState }
  | { readonly type: 'reading'; readonly reading?: WindowReading | undefined }
  | {
      readonly type: 'tier';
      readonly tier?: TierName | undefined;
      readonly before?: TierName | undefined;
    }
  | {
      readonly type: 'activity';
      readonly activity: ActivityName;
      readonly before: ActivityName;
      readonly asks?: string | undefined;
    }
  | { readonly type: 'mode'; readonly mode: ModeName; readonly before: ModeName }
  | { readonly type: 'conversation'; readonly agentSessionId?: string | undefined }
  | {
      readonly type: 'attempt';
      readonly request?: string | undefined;
      readonly strategy?: string | undefined;
    }
  | {
      readonly type: 'outcome';
      readonly attempt: CompactionAttempt;
      readonly request?: string | undefined;
    }
  | { readonly type: 'handoff_ready'; readonly path: string }
  | { readonly type: 'refused'; readonly request: string; readonly reason: string }
  | { readonly type: 'dropped'; readonly count: number }
  | {
      readonly type: 'session-end';
      readonly exit?: { readonly code: number } | { readonly signal: string } | undefined;
    };

/** An event of a running session, `ctxwrap.event/1`; its `type` determines the other fields. */
export type SessionEvent = {
  readonly schema: 'ctxwrap.event/1';
  readonly session: string;
  readonly seq: number;
  /** in milliseconds since 1970 */
  readonly at: number;
} & SessionEventContent;

export interface FollowOptions {
  /** the whole id of one session, whose end is the end; one that has not begun is waited for. All sessions when absent */
  readonly session?: string | undefined;
  /** aborting it ends the events */
  readonly signal?: AbortSignal | undefined;
  /** where the state folder is looked up; this process's environment by default */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/**
 * What `ctxwrap events --ndjson` prints, with the same guarantees, without another process. Throws a RangeError for what is no id of a
 * session.
 */
export async function* followEvents({
  session,
  signal,
  env = process.env,
}: FollowOptions = {}): AsyncGenerator<SessionEvent> {
  if (session !== undefined && !isSessionId(session))
    throw new RangeError(`"${session}" is no id of a session, as ctxwrap ps --json prints it`);
  const { eventsOf } = await import('./event-sources.js');
  const groups = eventsOf({ stateFolder: stateFolder(env, homeFolder(env)), session, signal });
  for await (const events of groups) for (const { fields } of events) yield fields as unknown as SessionEvent;
}
