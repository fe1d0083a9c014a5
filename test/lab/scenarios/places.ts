// Where a user can be in an agent while the window is full: a key of ours would do there what nobody asked for.
import { setTimeout as pause } from 'node:timers/promises';
import type { Place, PlaceName } from '../agents/agent.js';
import { QUICK_SUMMARY_MS, WATCH_MS, type Scenario, type Stage } from './scenario.js';
import { compacted, untouched } from '../../../src/verify/certificate.js';
import { fill } from './steps.js';

const KEY_MS = 300; // between two keys that lead somewhere

const placeNames: readonly PlaceName[] = [
  'slash popup',
  'model picker',
  'rewind',
  'transcript',
  'history search',
  'shell mode',
  'vim normal',
];

const VIM: PlaceName = 'vim normal';

const WAITS = /waiting: (?!you are typing|agent has just stopped)|holding:/;

const go = async ({ terminal }: Stage, keys: readonly string[]): Promise<void> => {
  for (const each of keys) {
    if (each.length > 1) {
      await terminal.type(each);
      await terminal.until(() => terminal.screen().includes(each), `${each} in the prompt`);
    } else terminal.press(each);
    await pause(KEY_MS);
  }
};

const visit = async (stage: Stage, { keys, shows, back }: Place, isVim: boolean): Promise<string> => {
  const { vimStart } = stage.agent;
  if (isVim && vimStart) {
    stage.terminal.press(vimStart.key);
    await stage.untilScreen(vimStart.shows);
  }
  await fill(stage);
  await go(stage, keys);
  await stage.untilScreen(shows);
  const held = await untouched(stage, WAITS, shows, WATCH_MS);
  await go(stage, back);
  await compacted(stage);
  return `${held}; compacted after it was left`;
};

export const places: readonly Scenario[] = placeNames.map((name) => ({
  name,
  expects: `the user is there when the window is full: no key, until it is left`,
  isFor: ({ places: known }) => known[name] !== undefined,
  isVim: name === VIM,
  summaryMs: QUICK_SUMMARY_MS,
  typed: 1,
  play: async (stage) => {
    const place = stage.agent.places[name];
    if (!place) throw new Error('the agent has no such place');
    return visit(stage, place, name === VIM);
  },
}));
