import type { Characters } from '../../core/estimate.js';
import type { Fact } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import { estimateDue, estimateStep, noEstimate } from '../observing/estimate-source.js';

/** Estimates at the times when the wrapper would have told them. Times are in milliseconds since the epoch. */
export interface ReplayEstimate {
  readonly note: (written: Characters, now: Millis) => void;
  /** what is told before then, if anything: it is to be asked for at least once for each moment */
  readonly next: (until: Millis) => { readonly at: Millis; readonly facts: readonly Fact[] } | undefined;
}

export const makeReplayEstimate = (): ReplayEstimate => {
  let last = noEstimate;
  let waiting: { readonly written: Characters; readonly since: Millis } | undefined;
  return {
    note: (written, now) => {
      waiting = { written, since: now };
    },
    next: (until) => {
      if (!waiting) return undefined;
      const at = Math.max(waiting.since, estimateDue(last));
      if (at > until) return undefined;
      const { estimate, facts } = estimateStep(last, waiting.written, at);
      last = estimate;
      waiting = undefined;
      return facts.length > 0 ? { at, facts } : undefined;
    },
  };
};
