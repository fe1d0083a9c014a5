import type { CompactRecipe } from './agent.js';

/** A compaction takes 10 to 120 s; Gemini's own retries take up to nearly five minutes. Longer is reported as a timeout. */
export const familyRecipe: Omit<CompactRecipe, 'takesFocus'> = {
  command: '/compress',
  isPasted: false,
  pauseMs: 150,
  submit: '\r',
  startMs: 5_000,
  isListed: true,
  finishMs: 300_000,
};
