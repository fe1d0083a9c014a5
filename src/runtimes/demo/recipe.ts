import type { Recipe } from '../recipe.js';

/** The demo's own command; it takes whole texts, so the pause is only there for its screen. */
export const demoRecipe: Recipe = {
  command: '/compact',
  takesFocus: false,
  isPasted: false,
  pauseMs: 100,
  submit: '\r',
  startMs: 5_000,
  finishMs: 30_000,
};
