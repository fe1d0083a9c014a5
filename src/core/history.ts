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
  if (isKnown && !mark) return history;
  const marked = mark ? { ...history, marks: [...history.marks, at].slice(-MOST_MARKS) } : history;
  return isKnown ? marked : thinned(added(marked, { at, ...(fill ? { fill } : {}) }));
};

/** One cell of the line. */
export interface UsageCell {
  /** 0…1 of the window, or of the most that was used where the window is not known; absent where there was no number */
  readonly share?: number;
  /** the conversation was compacted then */
  readonly isMarked: boolean;
}

/** The history from its beginning until now in so many cells: the most in each of them, as a peak matters more than what follows it. */
export const usageCells = (
  { samples, marks }: UsageHistory,
  now: Millis,
  count: number,
): readonly UsageCell[] => {
  const from = samples[0]?.at;
  if (from === undefined || count < 1) return [];
  const cellMs = Math.max(1, now - from) / count;
  const cellOf = (at: Millis): number => Math.min(count - 1, Math.max(0, Math.floor((at - from) / cellMs)));
  const shareOf = scaled(samples);
  const shares: (number | undefined)[] = Array.from({ length: count });
  samples.forEach(({ at, fill }, index) => {
    const share = fill && shareOf(fill);
    const first = cellOf(at);
    const next = samples[index + 1];
    // what is known at a cell's end holds in the next one
    const last = Math.max(first, next ? cellOf(next.at) - 1 : count - 1);
    for (let cell = first; cell <= last; cell += 1) {
      const held = shares[cell];
      shares[cell] = share === undefined ? held : Math.max(held ?? 0, share);
    }
  });
  const marked = new Set(marks.map(cellOf));
  return shares.map((share, cell) => ({
    ...(share === undefined ? {} : { share }),
    isMarked: marked.has(cell),
  }));
};

const scaled = (samples: readonly UsageSample[]): ((fill: Fill) => number | undefined) => {
  const hasPercent = samples.some(({ fill }) => fill?.usedPercent !== undefined);
  if (hasPercent) return ({ usedPercent }) => usedPercent && Math.min(1, usedPercent / 100);
  const most = Math.max(1, ...samples.map(({ fill }) => fill?.usedTokens ?? 0));
  return ({ usedTokens }) => usedTokens && usedTokens / most;
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
