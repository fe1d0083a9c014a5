import type { Millis } from '../reading.js';
import { foreignDue } from './foreign.js';
import { requestDue } from './request.js';
import { sentDue } from './sent.js';
import type { Compaction } from './state.js';
import { TYPING_MS } from './step.js';
import { doubtDue, noticeEnd } from './words.js';

const TICK_MS = 1_000; // what the footer counts in
const MINUTE_MS = 60_000;

/** When the state has to be looked at again though nothing happens; undefined when only an event can change it. */
export const compactionDue = (state: Compaction, now: Millis): Millis | undefined => {
  const times = [phaseDue(state, now), noticeEnd(state, now), requestDue(state)].filter(
    (at) => at !== undefined,
  );
  return times.length > 0 ? Math.min(...times) : undefined;
};

const phaseDue = ({ phase, settings }: Compaction, now: Millis): Millis | undefined => {
  switch (phase.kind) {
    case 'rest':
    case 'doubted':
    case 'proposed':
      return undefined;
    case 'held':
      return phase.hold.until ?? doubtDue(phase, now);
    case 'blocked':
      if (phase.block.why === 'breaker') return phase.block.until;
      if (phase.block.why === 'postponed') return tickBefore(phase.block.until, now, MINUTE_MS);
      return phase.block.why === 'cooldown' ? tickBefore(phase.block.until, now) : undefined;
    case 'countdown':
      return tickBefore(phase.until, now);
    case 'typing':
      return phase.attempt.startedAt + TYPING_MS;
    case 'sent':
      return sentDue(phase, settings);
    case 'foreign':
      return foreignDue(phase);
  }
};

/** The next whole second or minute before the end, so that what is left is counted down. */
const tickBefore = (until: Millis, now: Millis, tickMs = TICK_MS): Millis => {
  const left = Math.max(0, until - now);
  return until - Math.floor(Math.max(0, left - 1) / tickMs) * tickMs;
};
