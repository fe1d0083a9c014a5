import type { Recipe } from '../recipe.js';
import type { Definition } from './definition.js';

const KEYS = { enter: '\r', tab: '\t' } as const;

/** How the agent is asked to compact; undefined where it is not told how to see what was typed, for nothing is typed blindly. */
export const recipeOf = ({ recipe, prompt }: Definition): Recipe | undefined =>
  recipe &&
  prompt && {
    command: recipe.command,
    takesFocus: recipe.takesFocus ?? false,
    isPasted: recipe.paste ?? false,
    pauseMs: recipe.pauseMs ?? 150,
    submit: KEYS[recipe.submit ?? 'enter'],
    startMs: recipe.startMs ?? 5_000,
    finishMs: recipe.finishMs ?? 120_000,
  };
