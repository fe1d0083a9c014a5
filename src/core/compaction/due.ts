import type { Millis } from '../reading.js';
import { GONE_MS, sentDue } from './sent.js';
import type { Compaction } from './state.js';
import { TYPING_MS } from './step.js';

const TICK_MS = 1_000; // what the footer counts in

/** When the state has to be looked at again though nothing happens. */
export const compactionDue = ({ phase, settings }: Compaction, now: Millis): Millis | undefined => {
  switch (phase.kind) {
    case 'rest':
    case 'proposed':
      return undefined;
    case 'held':
      return phase.hold.until;
    case 'blocked':
      return 'until' in phase.block ? tickBefore(phase.block.until, now) : undefined;
    case 'countdown':
      return tickBefore(phase.until, now);
    case 'typing':
      return phase.attempt.startedAt + TYPING_MS;
    case 'sent':
      return sentDue(phase, settings);
    case 'foreign':
      return phase.goneAt === undefined ? undefined : phase.goneAt + GONE_MS;
  }
};

/** The next whole second before the end, so that what is left is counted down. */
const tickBefore = (until: Millis, now: Millis): Millis => {
  const left = Math.max(0, until - now);
  return until - Math.floor(Math.max(0, left - 1) / TICK_MS) * TICK_MS;
};
