import {
  findFailure,
  fillOf,
  isLower,
  isSameFill,
  type EndedCompaction,
  type Fill,
  type Outcome,
} from './compaction/outcome.js';
import { sessionContext, type Compaction, type Effect } from './compaction/state.js';
import type { Boundary, Event } from './event.js';
import type { Millis } from './reading.js';
import type { Session } from './session.js';

// How full the window was over a session, in bounded memory: enough for a line of a terminal's width.

const MOST_SAMPLES = 240;
const MOST_MARKS = 60;
const FIRST_STEP_MS = 1_000;

/** How full the window was from `at` on, up to the next sample. */
export interface UsageSample {
  readonly at: Millis;
  /** absent while there was no number */
  readonly fill?: Fill;
}

export interface UsageHistory {
  readonly samples: readonly UsageSample[];
  /** compactions, oldest first */
  readonly marks: readonly Millis[];
  /** samples that are closer together are one; doubled whenever there are too many */
  readonly stepMs: number;
}

export const emptyUsage: UsageHistory = { samples: [], marks: [], stepMs: FIRST_STEP_MS };

export interface UsageUpdate {
  /** undefined while there is no number */
  readonly fill: Fill | undefined;
  readonly at: Millis;
  /** the conversation was compacted just now */
  readonly mark?: boolean;
}

/** The history with what is known now; the same object when that is nothing new. */
export const recordUsage = (history: UsageHistory, { fill, at, mark = false }: UsageUpdate): UsageHistory => {
  const last = history.samples.at(-1);
  const isKnown = last ? isSameFill(last.fill, fill) : fill === undefined;
  if (isKnown && !mark) return history;
  const marked = mark ? { ...history, marks: [...history.marks, at].slice(-MOST_MARKS) } : history;
  return isKnown ? marked : thinned(added(marked, { at, ...(fill ? { fill } : {}) }));
};

const added = (history: UsageHistory, sample: UsageSample): UsageHistory => {
  const { samples } = history;
  const last = samples.at(-1);
  const joined = last && joinedWith(history, last, sample);
  return { ...history, samples: joined ? samples.with(-1, joined) : [...samples, sample] };
};

/** Two samples as one, where nothing that can be seen is lost: no compaction, no drop, and no gap. */
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

// The compactions of this session that are over, ours and others', for a list of the last ones.

const MOST_PAST = 8;

/** A compaction, or an attempt at one, that is over. */
export interface PastAttempt {
  readonly ended: EndedCompaction;
  /** the first number after it, where its own end told none */
  readonly next?: Fill;
}

export interface PastAttempts {
  /** oldest first */
  readonly attempts: readonly PastAttempt[];
  /** how full the window was after the last step */
  readonly fill?: Fill;
  /** the last one worked, and no number has told yet what it left */
  readonly isOpen: boolean;
}

export const noPastAttempts: PastAttempts = { attempts: [], isOpen: false };

/** What one step brought. */
export interface AttemptsUpdate {
  /** absent where only time has passed */
  readonly event?: Event | undefined;
  /** of the step after that event */
  readonly effects: readonly Effect[];
  /** how full the window is after it, as the agent counted it */
  readonly fill: Fill | undefined;
  readonly now: Millis;
}

/** The list after a step; the same object when nothing has changed. */
export const recordAttempts = (
  past: PastAttempts,
  { event, effects, fill, now }: AttemptsUpdate,
): PastAttempts => {
  const before = event?.type === 'session-changed' ? { ...past, isOpen: false } : past;
  const isNumbered = fill !== undefined && before.isOpen;
  const numbered = isNumbered ? withNext(before.attempts, fill) : before.attempts;
  // what was not tried is no attempt
  const ended = effects.flatMap((effect) =>
    effect.type === 'ended' && effect.ended.outcome.kind !== 'skipped-busy' ? [effect.ended] : [],
  );
  const isTold = event?.type === 'boundary' && event.boundary.source !== 'screen';
  const boundary = isTold ? event.boundary : undefined;
  const all = boundary && ended.length === 0 ? [endedOf(boundary, past.fill, now)] : ended;
  const told = all.map((each) => ({ ended: withBefore(each, past.fill, boundary) }));
  const last = told.at(-1)?.ended.outcome;
  const isOpen = last ? last.kind === 'verified' && !last.after : before.isOpen && !isNumbered;
  if (told.length === 0 && isOpen === past.isOpen && isSameFill(fill, past.fill)) return past;
  const kept = told.some(({ ended: { isLate } }) => isLate) ? withoutLastOfOurs(numbered) : numbered;
  return { attempts: [...kept, ...told].slice(-MOST_PAST), isOpen, ...(fill ? { fill } : {}) };
};

/** A compaction that only the agent's record tells of. */
const endedOf = (boundary: Boundary, before: Fill | undefined, now: Millis): EndedCompaction => {
  const { initiator = 'agent', postTokens, preTokens = before?.usedTokens } = boundary;
  const after = postTokens === undefined ? {} : { after: { usedTokens: postTokens } };
  const whole = preTokens === undefined ? boundary : { ...boundary, preTokens };
  const outcome: Outcome = findFailure(whole) ?? { kind: 'verified', ...after };
  return { initiator, startedAt: now, endedAt: now, outcome, evidence: ['its record of the compaction'] };
};

// The number that a compaction makes void is gone when its end is told.
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

/** What worked late was told as given up before. */
const withoutLastOfOurs = (attempts: readonly PastAttempt[]): readonly PastAttempt[] => {
  const last = attempts.findLastIndex(({ ended }) => ended.initiator === 'ctxwrap');
  return attempts.filter((_, index) => index !== last);
};

const withNext = (attempts: readonly PastAttempt[], next: Fill): readonly PastAttempt[] => {
  const last = attempts.at(-1);
  return last ? attempts.with(-1, { ...last, next }) : attempts;
};

// What the overlay remembers of a session while it is closed, so that it has something to show when it opens. Cheap: most steps
// change nothing here.

export interface OverlayHistory {
  readonly usage: UsageHistory;
  readonly past: PastAttempts;
  /** counted so far: one that is new is marked in the usage */
  readonly compactions: number;
}

export const emptyHistory: OverlayHistory = { usage: emptyUsage, past: noPastAttempts, compactions: 0 };

/** A step of the session: what happened, and the states after it. */
export interface SessionStep {
  readonly session: Session;
  readonly compaction: Compaction;
  /** absent where only time has passed */
  readonly event?: Event | undefined;
  readonly now: Millis;
}

/** The record after a step; the same object when there is nothing to remember. */
export const recordStep = (record: OverlayHistory, step: SessionStep): OverlayHistory => {
  const { session, compaction, event, now } = step;
  const { compactions, fused } = session;
  // estimates are drawn, too: they are what the footer shows
  const mark = compactions > record.compactions;
  const usage = recordUsage(record.usage, { fill: fused && fillOf(fused), at: now, mark });
  const { fill } = sessionContext(session, now);
  const past = recordAttempts(record.past, { event, effects: compaction.effects, fill, now });
  const isSame = usage === record.usage && past === record.past && compactions === record.compactions;
  return isSame ? record : { usage, past, compactions };
};
