// The agent rests until its prompt cache is about to go cold. It takes five minutes, so it runs only when it is named.
import { assertThat, untilCompacted } from '../../../src/verify/checks.js';
import { fill } from './steps.js';
import { QUICK_SUMMARY_MS, type Scenario } from './scenario.js';

const WINDOW = 60_000; // tokens; auto, at 50,000, is not reached
const RESTING = 40_000; // more than 60 % of it
const CACHE_MS = 330_000; // the agent's cache lives for five minutes

const resting: Scenario = {
  name: 'cold cache',
  expects: 'at rest with two thirds of the window used: compacts once, shortly before the cache goes cold',
  isFor: ({ name }) => name === 'claude',
  options: ['--idle', 'compact', '--window', String(WINDOW)],
  summaryMs: QUICK_SUMMARY_MS,
  typed: 1,
  play: async (session) => {
    await fill(session, RESTING);
    await session.untilFooter(/cache goes cold/, CACHE_MS);
    assertThat(session.summaryCount() === 0, 'a summary was asked for before the countdown');
    return untilCompacted(session);
  },
};

export const named: readonly Scenario[] = [resting];
