// From a key to its echo. All candidates are open at the same time and asked in turn.
import { echo, quit, timeKey } from './echo.js';
import { median, percentile, sleep } from './numbers.js';
import { openTerminal } from './terminal.js';
import { takeTurns } from './turns.js';

const IDLE_KEYS = 1_200; // of each candidate, pooled: fewer say little about the slowest hundredth
const FLOOD_KEYS = 50; // a round
const PAUSE_MS = 4;
const SETTLE_MS = 700; // ctxwrap loads its footer, tmux draws
const LOST_KEYS = 5; // with more of them a candidate is broken

const time = async (entry, into) => {
  const taken = await timeKey(entry.terminal, (entry.keys += 1));
  if (taken !== undefined) return into.push(taken);
  entry.lost += 1;
  if (entry.lost > LOST_KEYS) throw new Error('hung: keys were not shown');
};

const timeFlood = async (entry) => {
  entry.terminal.write('g');
  await sleep(100);
  for (let count = 0; count < FLOOD_KEYS; count += 1) {
    await time(entry, entry.flood);
    await sleep(Math.random() * 2 * PAUSE_MS);
  }
  entry.terminal.write('s');
  await sleep(150);
};

/** Milliseconds from key to echo, by candidate: at rest, and beside a child that floods the screen. */
export const measureLatency = async (candidates, floods) => {
  const { each, results } = takeTurns(candidates);
  await each(async (entry) => {
    Object.assign(entry, { idle: [], flood: [], keys: 0, lost: 0 });
    entry.terminal = openTerminal(entry.candidate.words(echo));
    await entry.terminal.until('READY');
  });
  await sleep(SETTLE_MS);
  await each(({ terminal }) => terminal.stopAnswering());
  for (let round = 0; round < IDLE_KEYS; round += 1) {
    await each((entry) => time(entry, entry.idle));
    await sleep(Math.random() * 2 * PAUSE_MS);
  }
  for (let round = 0; round < floods; round += 1) await each(timeFlood);
  await each(({ terminal }) => terminal.leave(quit));
  return results(({ idle, flood }) => ({
    idleP50: median(idle),
    idleP99: percentile(idle, 0.99),
    floodP50: median(flood),
    floodP99: percentile(flood, 0.99),
  }));
};
