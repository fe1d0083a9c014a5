import type { Recipe } from '../recipe.js';

/**
 * Pasted, for Codex takes fast typing for a paste whose Enter is a new line; with a blank, for without one TAB only completes the
 * command. TAB sends it at rest and queues it behind a turn, and a dialog or a picker ignores all of it (facts/codex.md §0, §4).
 */
export const recipe = (): Recipe => ({
  command: '/compact',
  takesFocus: false,
  isPasted: true,
  pauseMs: 150,
  submit: '\t',
  startMs: 5_000,
  finishMs: 300_000, // real ones take 10 to 120 s; more is told as a timeout
  isQueued: true,
});
