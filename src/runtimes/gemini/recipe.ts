import type { Recipe } from '../recipe.js';

/**
 * facts/gemini.md §4.2: Enter within 30 ms of a key is a line break, so the pause; what stands behind the command is not read. Its
 * own retries go on for nearly five minutes.
 */
export const geminiRecipe: Recipe = {
  command: '/compress',
  takesFocus: false,
  isPasted: false,
  pauseMs: 150,
  submit: '\r',
  startMs: 5_000,
  isListed: true,
  finishMs: 300_000,
};
