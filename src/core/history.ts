import { noPast, notePast, type Past } from './compaction/history.js';
import { isLower, isSameFill, type Fill, fillOf } from './compaction/outcome.js';
import { momentOf, type Compaction } from './compaction/state.js';
import type { Event } from './event.js';
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

export const noUsage: UsageHistory = { samples: [], marks: [], stepMs: FIRST_STEP_MS };

export interface UsageNote {
  /** undefined while there is no number */
  readonly fill: Fill | undefined;
  readonly at: Millis;
  /** the conversation was compacted just now */
  readonly mark?: boolean;
}

/** The history with what is known now; the same object when that is nothing new. */
export const noteUsage = (history: UsageHistory, { fill, at, mark = false }: UsageNote): UsageHistory => {
  const last = history.samples.at(-1);
  const isKnown = last ? isSameFill(last.fill, fill) : fill === undefined;
  const isSet = last !== undefined && at < last.at;
  if (isKnown && !mark && !isSet) return history;
  const inTime = isSet ? before(history, at) : history;
  const marked = mark ? { ...inTime, marks: [...inTime.marks, at].slice(-MOST_MARKS) } : inTime;
  return isKnown && !isSet ? marked : thinned(added(marked, { at, ...(fill ? { fill } : {}) }));
};

// A clock that was set back: what it says happened later did not.
const before = ({ samples, marks, stepMs }: UsageHistory, now: Millis): UsageHistory => ({
  samples: samples.map((each) => ({ ...each, at: Math.min(each.at, now) })),
  marks: marks.map((at) => Math.min(at, now)),
  stepMs,
});

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

// What the overlay remembers of a session while it is closed, so that it has something to show when it opens. Cheap: most steps
// change nothing here.

export interface OverlayRecord {
  readonly usage: UsageHistory;
  readonly past: Past;
  /** counted so far: one that is new is marked in the usage */
  readonly compactions: number;
}

export const noRecord: OverlayRecord = { usage: noUsage, past: noPast, compactions: 0 };

/** A step of the session: what happened, and the states after it. */
export interface RecordedStep {
  readonly session: Session;
  readonly compaction: Compaction;
  /** absent where only time has passed */
  readonly event?: Event | undefined;
  readonly now: Millis;
}

/** The record after a step; the same object when there is nothing to remember. */
export const noteStep = (record: OverlayRecord, step: RecordedStep): OverlayRecord => {
  const { session, compaction, event, now } = step;
  const { compactions, fused } = session;
  // estimates are drawn, too: they are what the footer shows
  const mark = compactions > record.compactions;
  const usage = noteUsage(record.usage, { fill: fused && fillOf(fused), at: now, mark });
  const { fill } = momentOf(session, now).seen;
  const past = notePast(record.past, { event, effects: compaction.effects, fill, now });
  const isSame = usage === record.usage && past === record.past && compactions === record.compactions;
  return isSame ? record : { usage, past, compactions };
};
