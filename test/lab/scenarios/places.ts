// Places in an agent's interface where a typed command would do something else, visited while the window is full.
import { setTimeout as pause } from 'node:timers/promises';
import type { Place, PlaceName } from '../agents/agent.js';
import { QUICK_SUMMARY_MS, WATCH_MS, type Scenario, type LabSession } from './scenario.js';
import { untilCompacted, staysUntouched } from '../../../src/verify/checks.js';
import { fill } from './steps.js';

const KEY_MS = 300; // between two keys that open a place

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

const WAITS = /waiting: (?!you just typed|the agent has just stopped)/;

const go = async ({ terminal }: LabSession, keys: readonly string[]): Promise<void> => {
  for (const each of keys) {
    if (each.length > 1) {
      await terminal.type(each);
      await terminal.until(() => terminal.screen().includes(each), `${each} in the prompt`);
    } else terminal.press(each);
    await pause(KEY_MS);
  }
};

const visit = async (session: LabSession, { keys, shows, back }: Place, isVim: boolean): Promise<string> => {
  const { vimStart } = session.agent;
  if (isVim && vimStart) {
    session.terminal.press(vimStart.key);
    await session.untilScreen(vimStart.shows);
  }
  await fill(session);
  await go(session, keys);
  await session.untilScreen(shows);
  const held = await staysUntouched(session, WAITS, shows, WATCH_MS);
  await go(session, back);
  await untilCompacted(session);
  return `${held}; compacted after it was left`;
};

export const places: readonly Scenario[] = placeNames.map((name) => ({
  name,
  expects: `the user is there when the window is full: no key, until it is left`,
  isFor: ({ places: known }) => known[name] !== undefined,
  isVim: name === VIM,
  summaryMs: QUICK_SUMMARY_MS,
  typed: 1,
  play: async (session) => {
    const place = session.agent.places[name];
    if (!place) throw new Error('the agent has no such place');
    return visit(session, place, name === VIM);
  },
}));
