import { rankedCandidates } from '../evidence.js';
import { toOneLine } from '../text.js';
import type { WrittenHandoff } from '../live-handoff.js';
import type { Via } from '../compaction/outcome.js';
import type { PastAttempts } from './history.js';
import type { Compaction, Mode } from '../compaction/state.js';
import type { PlanLimit, PromptCache } from '../economy.js';
import { footerView } from '../footer-view.js';
import type { Tier, Threshold } from '../ladder.js';
import { approachOf, type Distance, type NextPoint } from '../next-compaction.js';
import type { Notification } from '../notifications.js';
import type { Activity, Millis } from '../reading.js';
import { oneDecimal, readingRecord, sessionLadder, sessionThresholds, type ReadingRecord } from './report.js';
import type { Session } from '../session.js';
import { shownId, shownPath } from '../shown-conversation.js';
import { present } from '../present.js';
import { DAY_MS } from '../time.js';

// The records that a wrapper publishes about its session for other processes, in a file that it rewrites regularly.

/** The part of a record that stays the same during a session. */
export interface SessionIdentity {
  /** `[A-Za-z0-9_-]{1,64}`, also in the child's environment as CTXWRAP_SESSION */
  readonly id: string;
  /** of the wrapper that wrote this */
  readonly version: string;
  /** of the wrapper */
  readonly pid: number;
  /** start time of that process in the system's own unit, to recognize another process with the same pid; absent if unknown */
  readonly processStart?: string;
  readonly childPid: number;
  readonly runtime: string;
  readonly cwd: string;
  readonly startedAt: Millis;
  /** the control channel that the agent may be asked by without keys; absent where there is none; since 0.3 */
  readonly channel?: Via;
}

/** How the child ended. */
export type Exit = { readonly code: number } | { readonly signal: string };

/** A wrapped session at one moment. Unknown fields are left out. */
export interface SessionRecord extends SessionIdentity {
  readonly schema: 'ctxwrap.session/1';
  /** when this was written; a running wrapper writes every 5 s */
  readonly heartbeatAt: Millis;
  readonly endedAt?: Millis;
  readonly exit?: Exit;
  /** since when ctxwrap itself has failed in this session: the agent runs on, and nothing is compacted any more; since 0.3 */
  readonly failedAt?: Millis;
  /** from the agent's own records */
  readonly agentVersion?: string;
  /** the agent's id of the conversation */
  readonly agentSessionId?: string;
  /** the agent's session file */
  readonly logPath?: string;
  /** the session before the one that the agent has now, which ctxwrap has shortened; since 0.3 */
  readonly shortenedFrom?: { readonly id: string; readonly path: string };
  readonly reading?: ReadingRecord;
  /** why there is no reading, as text */
  readonly note?: string;
  readonly activity: Activity;
  /** since when; since 0.3 */
  readonly activitySince?: Millis;
  /** in a dialog: what the agent asks, if it reports that; since 0.2 */
  readonly asks?: string;
  readonly tier?: Tier;
  /** which sources of the agent were understood so far; since 0.2 */
  readonly evidence?: EvidenceRecord;
  /** during the whole session */
  readonly compactions: number;
  /** a handoff of the present conversation was written, at this path; since 0.3 */
  readonly handoff?: HandoffRecord;
  /** characters of the text on the screen that the session's tokens are estimated from; absent where they are counted; since 0.3 */
  readonly cumulativeChars?: number;
  /** the estimate: of those characters, or the counted number and the text after it; absent where there is none; since 0.3 */
  readonly estimatedTokens?: number;
  /** the item of the agent's plan that it works on, in its words; since 0.3 */
  readonly currentTask?: string;
  /** items of that plan, without dropped ones; absent without a plan; since 0.3 */
  readonly tasksTotal?: number;
  readonly tasksCompleted?: number;
  /** turns that the user has begun; since 0.3 */
  readonly turns?: number;
  /** the prompt cache of the conversation; since 0.3 */
  readonly cache?: PromptCache;
  /** limits of the user's plan; since 0.3 */
  readonly limits?: readonly PlanLimit[];
  readonly thresholds: readonly Threshold[];
  /** the point at which something happens next; since 0.3 */
  readonly next?: NextRecord;
  /** absent if the wrapper is too old to accept requests */
  readonly compaction?: CompactionRecord;
}

export interface HandoffRecord {
  readonly state: 'handoff_ready';
  /** the Markdown file */
  readonly path: string;
  readonly at: Millis;
}

/** The next point, and how far it is. */
export interface NextRecord extends NextPoint {
  /** what is left until then, in the same unit; 0 where it is reached */
  readonly left?: number;
  /** 0…100 of the way, one decimal, which is how long the bar is; 0 and 100 only if exact */
  readonly wayPercent?: number;
  /** what the footer says about it, if it is far below the window */
  readonly distance?: Distance;
}

/** Records: the session file or status line gives numbers. State: the agent reports its state itself. */
export type EvidenceRecord = Readonly<Record<'records' | 'screen' | 'state', boolean>>;

/** The state of compaction in a session. */
export interface CompactionRecord {
  readonly mode: Mode;
  /** what it does or waits for, in the words of the footer; absent if there is nothing to say */
  readonly words?: string;
  /** the request that waits or is being carried out, so that `words` are about it; absent if there is none */
  readonly request?: string;
  /** true if the last compaction or attempt succeeded; absent before the first one; since 0.2 */
  readonly compactSuccessful?: boolean;
}

/** `words` in the footer's words. */
export const compactionRecord = (
  { mode, request: open, phase }: Compaction,
  { attempts }: PastAttempts,
  words: string | undefined,
): CompactionRecord => {
  const last = attempts.at(-1);
  const request = open ?? ('attempt' in phase ? phase.attempt.request : undefined);
  return {
    mode,
    ...present({ words, request: request?.id }),
    ...(last ? { compactSuccessful: last.ended.outcome.kind === 'verified' } : {}),
  };
};

/**
 * Whether the wrapper of a record still runs: `stale` runs but has not written for long, `failed` runs but only passes the agent's bytes on,
 * `dead` ended without a last record.
 */
export type Liveness = 'live' | 'stale' | 'failed' | 'dead' | 'ended';

/** True if the wrapper runs, even if it can no longer do its work. */
export const isRunningAs = (liveness: Liveness): boolean => liveness !== 'dead' && liveness !== 'ended';

/** The activity that `ps` and other commands show for a session in which ctxwrap has failed. */
export const FAILED_WORDS = 'ctxwrap has failed: no compaction';

/** A wrapper writes its record at least this often. */
export const HEARTBEAT_MS = 5_000;

/** A wrapper that has not written for longer is stopped, or its machine sleeps. */
const STALE_MS = 60_000;

export const livenessOf = (
  { endedAt, heartbeatAt, failedAt }: Pick<SessionRecord, 'endedAt' | 'heartbeatAt' | 'failedAt'>,
  isRunning: boolean,
  now: Millis,
): Liveness => {
  if (endedAt !== undefined) return 'ended';
  if (!isRunning) return 'dead';
  if (failedAt !== undefined) return 'failed';
  return Math.abs(now - heartbeatAt) > STALE_MS ? 'stale' : 'live'; // a clock that was set back makes the last report one of the future
};

interface Replacement {
  readonly from: { readonly id: string; readonly path: string };
  readonly to: { readonly id: string };
}

/** Facts that are not part of the session's state. */
export interface PublishedFacts {
  /** the agent has the session `to`, shortened, in place of `from` */
  readonly replaced?: Replacement | undefined;
  readonly compaction?: CompactionRecord | undefined;
  readonly end?: { readonly at: Millis; readonly exit: Exit } | undefined;
  readonly failedAt?: Millis | undefined;
  /** of the present conversation */
  readonly handoff?: WrittenHandoff | undefined;
}

/** In mode `off`, in place of what would be observed. */
const OFF_WORDS = 'off: not observed';

export const sessionRecord = (
  identity: SessionIdentity,
  state: Session,
  { replaced, compaction, end, failedAt, handoff }: PublishedFacts,
  now: Millis,
): SessionRecord => {
  const reading = readingRecord(state, now);
  const off = compaction?.mode === 'off' ? { words: OFF_WORDS } : undefined;
  const note = off?.words ?? footerView(state, now).note;
  return {
    schema: 'ctxwrap.session/1',
    ...identity,
    heartbeatAt: now,
    ...present({
      endedAt: end?.at,
      exit: end?.exit,
      failedAt,
      agentVersion: state.agentVersion,
      agentSessionId: shownId(state.conversation),
      logPath: shownPath(state.conversation),
    }),
    ...(replaced && replaced.to.id === shownId(state.conversation) ? { shortenedFrom: replaced.from } : {}),
    ...present({ reading }),
    ...(reading || note === undefined ? {} : { note }),
    activity: end ? 'dead' : state.activity,
    activitySince: end ? end.at : state.activitySince,
    ...(end || state.asks === undefined ? {} : { asks: state.asks }),
    ...(reading?.tier === undefined ? {} : { tier: reading.tier }),
    evidence: { records: state.isAwaited, ...state.understood },
    compactions: state.compactions,
    ...(handoff ? { handoff: { state: 'handoff_ready', path: handoff.path, at: handoff.at } as const } : {}),
    ...estimateOf(state),
    ...(end ? {} : tasksOf(state)),
    turns: state.turns,
    ...(end || state.cache === undefined ? {} : { cache: state.cache }),
    ...present({ limits: state.limits }),
    thresholds: sessionThresholds(state),
    ...(end ? {} : present({ next: nextRecord(state, compaction?.mode) })),
    ...(compaction ? { compaction: end ? withoutWords(compaction) : { ...compaction, ...off } } : {}),
  };
};

const estimateOf = ({ evidence }: Session): Pick<SessionRecord, 'cumulativeChars' | 'estimatedTokens'> => {
  const estimate = rankedCandidates(evidence).findLast(({ reading }) => reading.source === 'estimate');
  return present({
    cumulativeChars: evidence.candidates.estimate?.reading.characters,
    estimatedTokens: estimate?.reading.usedTokens,
  });
};

const LONGEST_TASK = 200; // characters

const tasksOf = ({ work }: Session): Pick<SessionRecord, 'currentTask' | 'tasksTotal' | 'tasksCompleted'> => {
  if (!work?.tasks) return {};
  const { current, done, total } = work.tasks;
  const currentTask = current === undefined ? undefined : toOneLine(current, LONGEST_TASK);
  return { ...present({ currentTask }), tasksTotal: total, tasksCompleted: done };
};

const nextRecord = (state: Session, mode: Mode = 'auto'): NextRecord | undefined => {
  const { point, left, wayPercent, distance } = approachOf(sessionLadder(state), mode, state.fused);
  if (left === undefined && point.unit === 'percent') return undefined;
  return {
    ...point,
    ...(left === undefined ? {} : { left: point.unit === 'tokens' ? Math.ceil(left) : oneDecimal(left) }),
    ...(wayPercent === undefined ? {} : { wayPercent: oneDecimal(wayPercent) }),
    ...(distance ? { distance: { ...distance, tokens: Math.ceil(distance.tokens) } } : {}),
  };
};

// No compaction is under way any more.
const withoutWords = (compaction: CompactionRecord): CompactionRecord => {
  const { words: _, request: __, ...rest } = compaction;
  return rest;
};

/**
 * The record of a session that nothing follows any more. It leaves out the last known state of the conversation, which readers would take
 * for the present one, and keeps its identity from `before`.
 */
export const failedRecord = (
  identity: SessionIdentity,
  before: SessionRecord | undefined,
  { failedAt, now }: { readonly failedAt: Millis; readonly now: Millis },
): SessionRecord => {
  const { agentVersion, agentSessionId, logPath, shortenedFrom, compactions = 0 } = before ?? {};
  return {
    schema: 'ctxwrap.session/1',
    ...identity,
    heartbeatAt: now,
    failedAt,
    ...present({ agentVersion, agentSessionId, logPath, shortenedFrom }),
    note: FAILED_WORDS,
    activity: 'unknown',
    compactions,
    thresholds: [],
  };
};

const MOST_ENDED = 50;
/** How long what an ended session has left is kept. */
export const KEPT_MS = 7 * DAY_MS;

/** The records to delete: of ended sessions, those of the last 7 days are kept, at most 50. */
export const findOutdated = (
  sessions: readonly { readonly record: SessionRecord; readonly liveness: Liveness }[],
  now: Millis,
): readonly SessionRecord[] =>
  sessions
    .filter(({ liveness }) => liveness === 'ended' || liveness === 'dead')
    .map(({ record }) => record)
    .toSorted((a, b) => b.heartbeatAt - a.heartbeatAt)
    .filter(({ heartbeatAt }, index) => index >= MOST_ENDED || now - heartbeatAt > KEPT_MS);

/** A notification for other programs. */
export interface NotificationRecord extends Notification {
  readonly schema: 'ctxwrap.notification/1';
  readonly at: Millis;
  readonly runtime: string;
  /** id of the wrapper's session, as in CTXWRAP_SESSION */
  readonly session?: string;
  /** the agent's id of the conversation */
  readonly agentSessionId?: string;
  readonly cwd: string;
  readonly activity: Session['activity'];
  /** in a dialog: what the agent asks, if it reports that */
  readonly asks?: string;
  readonly reading?: ReadingRecord;
}

/** The session that a notification belongs to. */
export interface NotificationOrigin {
  readonly session?: string | undefined;
  readonly cwd: string;
}

export const notificationRecord = (
  { kind, text }: Notification,
  state: Session,
  { session, cwd }: NotificationOrigin,
  at: Millis,
): NotificationRecord => ({
  schema: 'ctxwrap.notification/1',
  at,
  kind,
  text,
  runtime: state.agent,
  ...present({ session, agentSessionId: shownId(state.conversation) }),
  cwd,
  activity: state.activity,
  ...present({ asks: state.asks }),
  ...readingOf(state, at),
});

const readingOf = (state: Session, at: Millis): Pick<NotificationRecord, 'reading'> => {
  const reading = readingRecord(state, at);
  return reading ? { reading } : {};
};

// The results of `ctxwrap verify`, kept for other commands.

/** One check. */
export interface VerifiedCheck {
  readonly name: string;
  readonly isGood: boolean;
  /** what was observed; for a failure also what was expected */
  readonly evidence: string;
}

/** Where the agent ran: in a network namespace without any network, or held only by the address of its model server. */
export type VerifiedPlace = 'namespace' | 'base URL';

/** The results for one version of an agent. */
export interface VerifiedRecord {
  readonly schema: 'ctxwrap.verified/1';
  readonly agent: string;
  /** as reported by the agent */
  readonly agentVersion: string;
  /** of ctxwrap */
  readonly version: string;
  readonly at: Millis;
  readonly seconds: number;
  readonly place: VerifiedPlace;
  readonly checks: readonly VerifiedCheck[];
}

const LONGEST_VERSION = 64;
const VERSION = /^[A-Za-z0-9][\w.+-]*$/;

/** File name of a record without its suffix; undefined for an invalid version, which must not lead to another folder. */
export const verifiedFileName = (agent: string, agentVersion: string): string | undefined =>
  agentVersion.length <= LONGEST_VERSION && VERSION.test(agentVersion) && VERSION.test(agent)
    ? `${agent}-${agentVersion}`
    : undefined;

export const countPassed = ({ checks }: Pick<VerifiedRecord, 'checks'>): number =>
  checks.filter(({ isGood }) => isGood).length;

export const isFullyVerified = (record: Pick<VerifiedRecord, 'checks'>): boolean =>
  countPassed(record) === record.checks.length;

/** `8 of 8` */
export const formatScore = (record: Pick<VerifiedRecord, 'checks'>): string =>
  `${countPassed(record)} of ${record.checks.length}`;
