import type { Past } from './history.js';
import type { Compaction, Mode } from './compaction/state.js';
import { footerView } from './footer-view.js';
import {
  countAt,
  isRecord,
  listAt,
  parseRecord,
  recordAt,
  textAt,
  type JsonRecord,
  oneLine,
} from './json.js';
import type { Tier, Threshold } from './ladder.js';
import type { Notification } from './notifications.js';
import {
  type Activity,
  type Millis,
  askedIn,
  possibleTokens,
  type Basis,
  type Source,
  type WindowSource,
} from './reading.js';
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
  { attempts }: Past,
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
export interface Published {
  readonly logPath?: string | undefined;
  readonly compaction?: CompactionRecord | undefined;
  readonly end?: { readonly at: Millis; readonly exit: Exit } | undefined;
}

export const sessionRecord = (
  identity: SessionIdentity,
  state: Session,
  { logPath, compaction, end }: Published,
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
export const outdated = (
  sessions: readonly { readonly record: SessionRecord; readonly liveness: Liveness }[],
  now: Millis,
): readonly SessionRecord[] =>
  sessions
    .filter(({ liveness }) => liveness === 'ended' || liveness === 'dead')
    .map(({ record }) => record)
    .toSorted((a, b) => b.heartbeatAt - a.heartbeatAt)
    .filter(({ heartbeatAt }, index) => index >= MOST_ENDED || now - heartbeatAt > KEPT_MS);

// A session record as another process finds it: written by whatever version, and perhaps not by us at all.

const SESSION_ID = /^[A-Za-z0-9_-]{1,64}$/;

export const isSessionId = (text: string): boolean => SESSION_ID.test(text);

/** The record in a text; undefined when something that every record has is missing. */
export const parseSessionRecord = (text: string): SessionRecord | undefined => {
  const found = parseRecord(text);
  if (!found || found['schema'] !== 'ctxwrap.session/1') return undefined;
  const id = textAt(found, 'id') ?? '';
  const [pid, childPid] = [countAt(found, 'pid'), countAt(found, 'childPid')];
  const [startedAt, heartbeatAt] = [countAt(found, 'startedAt'), countAt(found, 'heartbeatAt')];
  const [runtime, cwd] = [textAt(found, 'runtime'), textAt(found, 'cwd')];
  if (!isSessionId(id) || !pid || childPid === undefined || runtime === undefined) return undefined;
  if (startedAt === undefined || heartbeatAt === undefined || cwd === undefined) return undefined;
  return {
    schema: 'ctxwrap.session/1',
    id,
    version: textAt(found, 'version') ?? '',
    pid,
    childPid,
    runtime,
    cwd,
    startedAt,
    heartbeatAt,
    ...texts(found, ['processStart', 'agentVersion', 'agentSessionId', 'logPath', 'note']),
    ...counts(found, ['endedAt']),
    ...present('exit', exitIn(found)),
    ...present('reading', readingIn(recordAt(found, 'reading'))),
    ...present('tier', oneOf(tiers, found['tier'])),
    activity: oneOf(activities, found['activity']) ?? 'unknown',
    ...present('asks', askedIn(oneOf(activities, found['activity']) ?? 'unknown', textAt(found, 'asks'))),
    ...present('evidence', evidenceIn(recordAt(found, 'evidence'))),
    compactions: countAt(found, 'compactions') ?? 0,
    thresholds: listAt(found, 'thresholds').flatMap((each) => thresholdIn(each) ?? []),
    ...present('compaction', compactionIn(recordAt(found, 'compaction'))),
  };
};

const compactionIn = (found: JsonRecord | undefined): CompactionRecord | undefined => {
  const mode = oneOf(modes, found?.['mode']);
  const successful = found?.['compactSuccessful'];
  return (
    found &&
    mode && {
      mode,
      ...texts(found, ['words']),
      ...(typeof successful === 'boolean' ? { compactSuccessful: successful } : {}),
    }
  );
};

const evidenceIn = (found: JsonRecord | undefined): EvidenceRecord | undefined =>
  found && {
    records: found['records'] === true,
    screen: found['screen'] === true,
    state: found['state'] === true,
  };

const exitIn = (found: JsonRecord): Exit | undefined => {
  const signal = textAt(found['exit'], 'signal');
  const code = countAt(found['exit'], 'code');
  if (signal !== undefined) return { signal };
  return code === undefined ? undefined : { code };
};

const readingIn = (found: JsonRecord | undefined): ReadingRecord | undefined => {
  const at = countAt(found, 'at');
  const source = oneOf(sources, found?.['source']);
  if (!found || at === undefined || source === undefined) return undefined;
  return {
    schema: 'ctxwrap.reading/1',
    at,
    runtime: textAt(found, 'runtime') ?? '',
    source,
    basis: oneOf(bases, found['basis']) ?? 'window',
    ...present('usedTokens', possibleTokens(countAt(found, 'usedTokens'))),
    ...present('answerTokens', possibleTokens(countAt(found, 'answerTokens'))),
    ...present('windowTokens', possibleTokens(countAt(found, 'windowTokens'))),
    ...present('usedPercent', percentIn(found)),
    ...present('windowSource', oneOf(windowSources, found['windowSource'])),
    ...(found['over'] === true ? { over: true } : {}),
    exact: found['exact'] === true,
    ...present('tier', oneOf(tiers, found['tier'])),
    ...texts(found, ['model']),
  };
};

const percentIn = (found: JsonRecord): number | undefined => {
  const percent = countAt(found, 'usedPercent');
  return percent === undefined || percent > 100 ? undefined : percent;
};

const thresholdIn = (found: unknown): Threshold | undefined => {
  const name = isRecord(found) ? oneOf(thresholdNames, found['name']) : undefined;
  const value = countAt(found, 'value');
  if (name === undefined || value === undefined) return undefined;
  const unit = textAt(found, 'unit') === 'percent' ? 'percent' : 'tokens';
  return { name, value, unit, reason: textAt(found, 'reason') ?? '' };
};

const modes: readonly Mode[] = ['auto', 'ask', 'warn', 'off'];
const tiers: readonly Tier[] = ['safe', 'warn', 'auto', 'hard'];
const sources: readonly Source[] = ['official', 'log', 'screen', 'estimate'];
const bases: readonly Basis[] = ['window', 'effective', 'auto-compact', 'baseline'];
const windowSources: readonly WindowSource[] = ['user', 'agent', 'derived', 'table', 'default'];
const activities: readonly Activity[] = ['ready', 'draft', 'busy', 'dialog', 'compacting', 'unknown', 'dead'];
const thresholdNames: readonly Threshold['name'][] = ['effective', 'warn', 'auto', 'hard', 'native'];

const oneOf = <T extends string>(known: readonly T[], value: unknown): T | undefined =>
  known.find((each) => each === value);

const present = <K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } =>
  value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: V });

const texts = <K extends string>(from: JsonRecord, names: readonly K[]): { readonly [P in K]?: string } =>
  Object.assign({}, ...names.map((name) => present(name, textAt(from, name))));

const counts = <K extends string>(from: JsonRecord, names: readonly K[]): { readonly [P in K]?: number } =>
  Object.assign({}, ...names.map((name) => present(name, countAt(from, name))));

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
  runtime: state.runtime,
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

const SCHEMA = 'ctxwrap.verified/1';
const MOST_CHECKS = 64;
const LONGEST_NAME = 80;
const LONGEST_EVIDENCE = 400;
const LONGEST_VERSION = 64;
const VERSION = /^[A-Za-z0-9][\w.+-]*$/;

/** The record in a text; undefined for everything else. */
export const parseVerifiedRecord = (text: string): VerifiedRecord | undefined => {
  const found = parseRecord(text);
  if (!found || found['schema'] !== SCHEMA) return undefined;
  const [agent, agentVersion] = [textAt(found, 'agent'), textAt(found, 'agentVersion')];
  const at = countAt(found, 'at');
  const checks = listAt(found, 'checks').map(checkIn);
  if (agent === undefined || agentVersion === undefined || at === undefined) return undefined;
  if (checks.length === 0 || checks.length > MOST_CHECKS) return undefined;
  // one that is not understood may be the one that failed
  const understood = checks.filter((each) => each !== undefined);
  if (understood.length < checks.length) return undefined;
  return {
    schema: SCHEMA,
    agent,
    agentVersion,
    version: oneLine(textAt(found, 'version') ?? '', LONGEST_VERSION),
    at,
    seconds: countAt(found, 'seconds') ?? 0,
    place: found['place'] === 'namespace' ? 'namespace' : 'base URL',
    checks: understood,
  };
};

const checkIn = (found: unknown): VerifiedCheck | undefined => {
  const name = textAt(found, 'name');
  if (!isRecord(found) || name === undefined || typeof found['isGood'] !== 'boolean') return undefined;
  const evidence = oneLine(textAt(found, 'evidence') ?? '', LONGEST_EVIDENCE);
  return { name: oneLine(name, LONGEST_NAME), isGood: found['isGood'], evidence };
};

/** The name of a record's file, without its ending; undefined for a version that is none: nothing of it may lead to another folder. */
export const verifiedName = (agent: string, agentVersion: string): string | undefined =>
  agentVersion.length <= LONGEST_VERSION && VERSION.test(agentVersion) && VERSION.test(agent)
    ? `${agent}-${agentVersion}`
    : undefined;

export const goodChecks = ({ checks }: Pick<VerifiedRecord, 'checks'>): number =>
  checks.filter(({ isGood }) => isGood).length;

export const isFullyVerified = (record: Pick<VerifiedRecord, 'checks'>): boolean =>
  goodChecks(record) === record.checks.length;

/** `8 of 8` */
export const scoreOf = (record: Pick<VerifiedRecord, 'checks'>): string =>
  `${goodChecks(record)} of ${record.checks.length}`;
