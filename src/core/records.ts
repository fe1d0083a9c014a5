import type { PastAttempts } from './history.js';
import type { Compaction, Mode } from './compaction/state.js';
import { footerView } from './footer-view.js';
import type { Tier, Threshold } from './ladder.js';
import type { Notification } from './notifications.js';
import type { Activity, Millis } from './reading.js';
import { sessionThresholds, readingRecord, type ReadingRecord } from './report.js';
import type { Session } from './session.js';

// What a wrapper tells other processes about its session, as a file that is written anew all the time.

/** What does not change in a session. */
export interface SessionIdentity {
  /** `[A-Za-z0-9_-]{1,64}`, also in the child's environment as CTXWRAP_SESSION */
  readonly id: string;
  /** of the wrapper that wrote this */
  readonly version: string;
  /** of the wrapper */
  readonly pid: number;
  /** when that process began, as the system counts: another process with the same pid has another one. Absent where it does not tell */
  readonly processStart?: string;
  readonly childPid: number;
  readonly runtime: string;
  readonly cwd: string;
  readonly startedAt: Millis;
}

/** How the child ended. */
export type Exit = { readonly code: number } | { readonly signal: string };

/** One wrapped session at one moment. What is not known is left out. */
export interface SessionRecord extends SessionIdentity {
  readonly schema: 'ctxwrap.session/1';
  /** when this was written; a running wrapper writes every 5 s */
  readonly heartbeatAt: Millis;
  readonly endedAt?: Millis;
  readonly exit?: Exit;
  /** of the agent, as its own records tell it */
  readonly agentVersion?: string;
  /** the agent's own id of the conversation */
  readonly agentSessionId?: string;
  /** the agent's session file */
  readonly logPath?: string;
  readonly reading?: ReadingRecord;
  /** why there is no reading, in words */
  readonly note?: string;
  readonly activity: Activity;
  /** in a dialog, what the agent asks, where it says so; since 0.2 */
  readonly asks?: string;
  readonly tier?: Tier;
  /** which witnesses of the agent have been understood so far; since 0.2 */
  readonly evidence?: EvidenceRecord;
  /** of the whole wrap */
  readonly compactions: number;
  readonly thresholds: readonly Threshold[];
  /** absent where the wrapper is too old to be asked for one */
  readonly compaction?: CompactionRecord;
}

/** Records: its session file or status line gives numbers. State: its own word on what it does. */
export type EvidenceRecord = Readonly<Record<'records' | 'screen' | 'state', boolean>>;

/** What a wrapper does about a full window. */
export interface CompactionRecord {
  readonly mode: Mode;
  /** what it does now, or waits for, as its footer says; absent while there is nothing to say */
  readonly words?: string;
  /** whether the last compaction, or attempt at one, worked; absent before the first; since 0.2 */
  readonly compactSuccessful?: boolean;
}

/** `words` as the footer says them. */
export const compactionRecord = (
  { mode }: Compaction,
  { attempts }: PastAttempts,
  words: string | undefined,
): CompactionRecord => {
  const last = attempts.at(-1);
  return {
    mode,
    ...(words === undefined ? {} : { words }),
    ...(last ? { compactSuccessful: last.ended.outcome.kind === 'verified' } : {}),
  };
};

/** Whether somebody is behind a record: `stale` has not written for long but runs, `dead` is gone without having said so. */
export type Liveness = 'live' | 'stale' | 'dead' | 'ended';

/** A wrapper that has not written for longer is stopped, or its machine sleeps. */
const STALE_MS = 60_000;

export const livenessOf = (
  { endedAt, heartbeatAt }: Pick<SessionRecord, 'endedAt' | 'heartbeatAt'>,
  isRunning: boolean,
  now: Millis,
): Liveness => {
  if (endedAt !== undefined) return 'ended';
  if (!isRunning) return 'dead';
  return now - heartbeatAt > STALE_MS ? 'stale' : 'live';
};

/** What else is known beside the state. */
export interface PublishedFacts {
  readonly logPath?: string | undefined;
  readonly compaction?: CompactionRecord | undefined;
  readonly end?: { readonly at: Millis; readonly exit: Exit } | undefined;
}

export const sessionRecord = (
  identity: SessionIdentity,
  state: Session,
  { logPath, compaction, end }: PublishedFacts,
  now: Millis,
): SessionRecord => {
  const reading = readingRecord(state, now);
  const { note } = footerView(state, now);
  return {
    schema: 'ctxwrap.session/1',
    ...identity,
    heartbeatAt: now,
    ...(end ? { endedAt: end.at, exit: end.exit } : {}),
    ...(state.agentVersion === undefined ? {} : { agentVersion: state.agentVersion }),
    ...(state.sessionId === undefined ? {} : { agentSessionId: state.sessionId }),
    ...(logPath === undefined ? {} : { logPath }),
    ...(reading ? { reading } : {}),
    ...(reading || note === undefined ? {} : { note }),
    activity: end ? 'dead' : state.activity,
    ...(end || state.asks === undefined ? {} : { asks: state.asks }),
    ...(reading?.tier === undefined ? {} : { tier: reading.tier }),
    evidence: { records: state.isAwaited, ...state.understood },
    compactions: state.compactions,
    thresholds: sessionThresholds(state),
    ...(compaction ? { compaction: end ? withoutWords(compaction) : compaction } : {}),
  };
};

// nothing is done any more
const withoutWords = (compaction: CompactionRecord): CompactionRecord => {
  const { words: _, ...rest } = compaction;
  return rest;
};

const MOST_ENDED = 50;
const KEPT_MS = 7 * 86_400_000;

/** Which records nobody needs any more: of sessions that are over, those of the last 7 days are kept, at most 50. */
export const findOutdated = (
  sessions: readonly { readonly record: SessionRecord; readonly liveness: Liveness }[],
  now: Millis,
): readonly SessionRecord[] =>
  sessions
    .filter(({ liveness }) => liveness === 'ended' || liveness === 'dead')
    .map(({ record }) => record)
    .toSorted((a, b) => b.heartbeatAt - a.heartbeatAt)
    .filter(({ heartbeatAt }, index) => index >= MOST_ENDED || now - heartbeatAt > KEPT_MS);

export const SESSION_ID = /^[A-Za-z0-9_-]{1,64}$/;

export const isSessionId = (text: string): boolean => SESSION_ID.test(text);

/** A notification as other programs get it. */
export interface NotificationRecord extends Notification {
  readonly schema: 'ctxwrap.notification/1';
  readonly at: Millis;
  readonly runtime: string;
  /** of the wrapper, as in CTXWRAP_SESSION */
  readonly session?: string;
  /** the agent's own id of the conversation */
  readonly agentSessionId?: string;
  readonly cwd: string;
  readonly activity: Session['activity'];
  /** in a dialog, what the agent asks, where it says so */
  readonly asks?: string;
  readonly reading?: ReadingRecord;
}

/** Where a notification comes from. */
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
  ...(session === undefined ? {} : { session }),
  ...(state.sessionId === undefined ? {} : { agentSessionId: state.sessionId }),
  cwd,
  activity: state.activity,
  ...(state.asks === undefined ? {} : { asks: state.asks }),
  ...readingOf(state, at),
});

const readingOf = (state: Session, at: Millis): Pick<NotificationRecord, 'reading'> => {
  const reading = readingRecord(state, at);
  return reading ? { reading } : {};
};

// What a user has tried of an agent with `ctxwrap verify`, as it is kept for other commands.

/** One thing that was tried. */
export interface VerifiedCheck {
  readonly name: string;
  readonly isGood: boolean;
  /** what was seen; of a failure also what was expected */
  readonly evidence: string;
}

/** Where the agent ran: with no way to any network, or with nothing but the address of its model server to hold it. */
export type VerifiedPlace = 'namespace' | 'base URL';

/** All that was tried with one version of an agent. */
export interface VerifiedRecord {
  readonly schema: 'ctxwrap.verified/1';
  readonly agent: string;
  /** as the agent tells it */
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

/** The name of a record's file, without its ending; undefined for a version that is none: nothing of it may lead to another folder. */
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
