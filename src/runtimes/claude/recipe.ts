import type { Recipe } from '../recipe.js';
import { isOn } from './window.js';
import type { Env } from '../place.js';

// Enter may come at once, but the row is drawn after it: 100 to 150 ms on a busy machine (facts/claude.md §4).
const PAUSE_MS = 120;
const STASH_PAUSE_MS = 100;

/** `/compact`, or none where the user has switched it off. */
export const recipe = (env: Env): Recipe | undefined =>
  isOn(env['DISABLE_COMPACT'])
    ? undefined
    : {
        command: '/compact',
        takesFocus: true,
        isPasted: false,
        pauseMs: PAUSE_MS,
        submit: '\r',
        startMs: 5_000,
        finishMs: 300_000, // real ones take 10 to 120 s; more is told as a timeout
        stash: { keys: '\x13', pauseMs: STASH_PAUSE_MS }, // in one write with the command the draft goes to the model
      };
