import type { AgentLaunch, CompactRecipe } from '../agent.js';

/** The demo's command; it accepts whole texts, so the pause is only for its screen. */
const demoRecipe: CompactRecipe = {
  command: '/compact',
  takesFocus: false,
  isPasted: false,
  pauseMs: 100,
  submit: '\r',
  startMs: 5_000,
  finishMs: 30_000,
};

export const demoLaunch = {
  name: 'demo',
  isInteractive: () => true,
  recipe: () => demoRecipe,
} as const satisfies AgentLaunch;
