import {
  findFailure,
  fillOf,
  isLower,
  isSameFill,
  type EndedCompaction,
  type Fill,
  type Outcome,
} from '../compaction/outcome.js';
import { sessionContext, type Compaction, type Effect } from '../compaction/state.js';
import { leavesConversation, type Boundary, type Event } from '../event.js';
import { leftTokens } from '../evidence.js';
import type { Millis } from '../reading.js';
import type { Session } from '../session.js';
import { present } from '../present.js';

// How full the window was during a session, in bounded memory: enough for a chart as wide as a terminal.

const MOST_SAMPLES = 240;
const MOST_MARKS = 60;
const FIRST_STEP_MS = 1_000;

/** The fill from `at` until the next sample. */
export interface UsageSample {
  readonly at: Millis;
  /** absent if there was no number */
  readonly fill?: Fill;
}

export interface UsageHistory {
  readonly samples: readonly UsageSample[];
  /** compactions, oldest first */
  readonly marks: readonly Millis[];
  /** samples closer together than this are merged; doubled when there are too many */
  readonly stepMs: number;
}

export const emptyUsage: UsageHistory = { samples: [], marks: [], stepMs: FIRST_STEP_MS };

export interface UsageUpdate {
  /** undefined if there is no number */
  readonly fill: Fill | undefined;
  readonly at: Millis;
  /** the conversation has just been compacted */
  readonly mark?: boolean;
}

/** Adds the current fill; returns the same object if it is not new. */
export const recordUsage = (history: UsageHistory, { fill, at, mark = false }: UsageUpdate): UsageHistory => {
  const last = history.samples.at(-1);
  const isKnown = last ? isSameFill(last.fill, fill) : fill === undefined;
  if (isKnown && !mark) return history;
  const marked = mark ? { ...history, marks: [...history.marks, at].slice(-MOST_MARKS) } : history;
  return isKnown ? marked : thinned(added(marked, { at, ...present({ fill }) }));
};

const added = (history: UsageHistory, sample: UsageSample): UsageHistory => {
  const { samples } = history;
  const last = samples.at(-1);
  const joined = last && joinedWith(history, last, sample);
  return { ...history, samples: joined ? samples.with(-1, joined) : [...samples, sample] };
};

/** Merges two samples if no visible detail is lost: no compaction, no drop and no gap. */
const joinedWith = (
  { marks, stepMs }: UsageHistory,
  a: UsageSample,
  b: UsageSample,
): UsageSample | undefined => {
  if (b.at - a.at >= stepMs || !a.fill !== !b.fill) return undefined;
  if (b.fill && isLower(a.fill, b.fill)) return undefined;
  return marks.some((at) => at > a.at && at <= b.at) ? undefined : { ...b, at: a.at };
};

const MOST_STEP_MS = 86_400_000;

const thinned = (history: UsageHistory): UsageHistory => {
  let { samples, stepMs } = history;
  while (samples.length > MOST_SAMPLES && stepMs < MOST_STEP_MS) {
    stepMs *= 2;
    const start: UsageHistory = { ...history, samples: [], stepMs };
    samples = samples.reduce(added, start).samples;
  }
  return { ...history, samples: samples.slice(-MOST_SAMPLES), stepMs };
};

// The finished compactions of this session, ctxwrap's and external ones, for the list of the last ones.

const MOST_PAST = 8;

/** A finished compaction or attempt. */
export interface PastAttempt {
  readonly ended: EndedCompaction;
  /** the first number after it, if its outcome contained none */
  readonly next?: Fill;
}

export interface PastAttempts {
  /** oldest first */
  readonly attempts: readonly PastAttempt[];
  /** the fill after the last step */
  readonly fill?: Fill;
  /** the last compaction succeeded, and no number after it has arrived yet */
  readonly isOpen: boolean;
}

export const noPastAttempts: PastAttempts = { attempts: [], isOpen: false };

/** The effects of a step on the list. */
export interface AttemptsUpdate {
  /** absent if only time has passed */
  readonly event?: Event | undefined;
  /** of the step after this event */
  readonly effects: readonly Effect[];
  /** the fill after the step, as the agent counted it */
  readonly fill: Fill | undefined;
  /** that count after the step */
  readonly compactions: number;
  readonly now: Millis;
}

/** The list after a step; the same object if nothing has changed. */
export const recordAttempts = (
  past: PastAttempts,
  { event, effects, fill, compactions, now }: AttemptsUpdate,
): PastAttempts => {
  const before = event && leavesConversation(event) ? { ...past, isOpen: false } : past;
  if (event?.type === 'undone' && effects.length === 0) return withUndone(before, compactions);
  const isNumbered = fill !== undefined && before.isOpen;
  const numbered = isNumbered ? withNext(before.attempts, fill) : before.attempts;
  // a refused request is not an attempt
  const ended = effects.flatMap((effect) =>
    effect.type === 'ended' && effect.ended.outcome.kind !== 'skipped-busy' ? [effect.ended] : [],
  );
  // what ctxwrap did itself counts when an answer of the agent has confirmed it
  const isTold =
    event?.type === 'boundary' &&
    event.boundary.source !== 'screen' &&
    event.boundary.initiator !== 'ctxwrap';
  const boundary = isTold ? event.boundary : undefined;
  const all = boundary && ended.length === 0 ? [endedOf(boundary, past.fill, now)] : ended;
  const finished = all.map((each) => ({ ended: withBefore(each, past.fill, boundary) }));
  const last = finished.at(-1)?.ended.outcome;
  const isOpen = last ? last.kind === 'verified' && !last.after : before.isOpen && !isNumbered;
  if (finished.length === 0 && isOpen === past.isOpen && isSameFill(fill, past.fill)) return past;
  const late = finished.find(({ ended: { isLate } }) => isLate);
  const kept = late ? withoutEarlier(numbered, late) : numbered;
  return { attempts: [...kept, ...finished].slice(-MOST_PAST), isOpen, ...present({ fill }) };
};

/** The last one that worked no longer counts; one that no answer has proved yet has told so itself. */
const withUndone = (past: PastAttempts, compactions: number): PastAttempts => {
  const { attempts } = past;
  const worked = attempts.filter(({ ended }) => ended.outcome.kind === 'verified');
  const last = worked.at(-1);
  if (!last || worked.length <= compactions) return past;
  const undone: PastAttempt = { ended: { ...last.ended, outcome: { kind: 'undone' } } };
  return { ...past, attempts: attempts.map((each) => (each === last ? undone : each)), isOpen: false };
};

/** A compaction known only from the agent's record. */
const endedOf = (boundary: Boundary, before: Fill | undefined, now: Millis): EndedCompaction => {
  const { initiator = 'agent', preTokens = before?.usedTokens } = boundary;
  const usedTokens = leftTokens(boundary);
  const after = usedTokens === undefined ? {} : { after: { usedTokens } };
  const whole = preTokens === undefined ? boundary : { ...boundary, preTokens };
  const outcome: Outcome = findFailure(whole) ?? { kind: 'verified', ...after };
  return { initiator, startedAt: now, endedAt: now, outcome, evidence: ['its record of the compaction'] };
};

// When the end of a compaction is reported, the number from before is already void.
const withBefore = (
  ended: EndedCompaction,
  fill: Fill | undefined,
  boundary: Boundary | undefined,
): EndedCompaction => {
  if (ended.before) return ended;
  const { preTokens } = boundary ?? {};
  const before = preTokens === undefined ? fill : { usedTokens: preTokens };
  return before ? { ...ended, before } : ended;
};

/** An attempt that succeeded late was reported as failed before; that entry is removed. */
const withoutEarlier = (
  attempts: readonly PastAttempt[],
  { ended: { startedAt } }: PastAttempt,
): readonly PastAttempt[] =>
  attempts.filter(({ ended }) => ended.initiator !== 'ctxwrap' || ended.startedAt !== startedAt);

const withNext = (attempts: readonly PastAttempt[], next: Fill): readonly PastAttempt[] => {
  const last = attempts.at(-1);
  return last ? attempts.with(-1, { ...last, next }) : attempts;
};

// What is recorded for the overview while it is closed. Cheap: most steps change nothing.

export interface OverviewHistory {
  readonly usage: UsageHistory;
  readonly past: PastAttempts;
  /** counted so far; a new one is marked in the chart */
  readonly compactions: number;
}

export const emptyHistory: OverviewHistory = { usage: emptyUsage, past: noPastAttempts, compactions: 0 };

/** A step of the session: the event and the states after it. */
export interface SessionStep {
  readonly session: Session;
  readonly compaction: Compaction;
  /** absent if only time has passed */
  readonly event?: Event | undefined;
  readonly now: Millis;
}

/** The history after a step; the same object if there is nothing to record. */
export const recordStep = (record: OverviewHistory, step: SessionStep): OverviewHistory => {
  const { session, compaction, event, now } = step;
  const { compactions, fused } = session;
  // estimates are included, because the footer displays them as well
  const mark = compactions > record.compactions;
  const usage = recordUsage(record.usage, { fill: fused && fillOf(fused), at: now, mark });
  const { fill } = sessionContext(session, now);
  const past = recordAttempts(record.past, {
    event,
    effects: compaction.effects,
    fill,
    compactions,
    now,
  });
  const isSame = usage === record.usage && past === record.past && compactions === record.compactions;
  return isSame ? record : { usage, past, compactions };
};
