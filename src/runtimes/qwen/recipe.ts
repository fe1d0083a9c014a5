import type { Recipe } from '../recipe.js';

/** facts/qwen.md; a command given during a turn is queued and runs as a command. */
export const qwenRecipe: Recipe = {
  command: '/compress',
  takesFocus: true,
  isPasted: false,
  pauseMs: 150,
  submit: '\r',
  startMs: 5_000,
  isListed: true,
  finishMs: 300_000, // real ones take 10 to 120 s; more is told as a timeout
  isQueued: true,
};
