// The slowest echo of a key in the first moments of a session, while a wrapper still loads what it needs.
import { join } from 'node:path';
import { median, sleep } from './numbers.js';
import { openTerminal } from './terminal.js';

const KEYS = '~^|#';
const FIRST_MS = 1_500;
const PAUSE_MS = 5;
const LOST_MS = 2_000;

/** The child that shows each key. */
export const echo = [process.execPath, join(import.meta.dirname, 'children/echo.js')];

const echoOf = (terminal, key) =>
  new Promise((resolve) => {
    const sentAt = performance.now();
    const finish = () => {
      clearTimeout(timer);
      terminal.listen(() => undefined);
      resolve(performance.now() - sentAt);
    };
    const timer = setTimeout(finish, LOST_MS);
    terminal.listen((bytes) => {
      if (bytes.includes(key.charCodeAt(0))) finish();
    });
    terminal.write(key);
  });

/** Milliseconds: the slowest echo of the keys that are typed for so long, one after the other. */
export const slowestEcho = async (terminal, forMs) => {
  const until = performance.now() + forMs;
  let slowest = 0;
  for (let count = 0; performance.now() < until; count += 1) {
    slowest = Math.max(slowest, await echoOf(terminal, KEYS[count % KEYS.length]));
    await sleep(PAUSE_MS);
  }
  return slowest;
};

const slowestOf = async (candidate, answers) => {
  const terminal = openTerminal(candidate.words(echo), { answers });
  await terminal.until('READY');
  const slowest = await slowestEcho(terminal, FIRST_MS);
  terminal.write('q');
  await terminal.ended;
  return slowest;
};

/** Milliseconds, the median of the rounds, by candidate; `answers: false` is a terminal that does not say where its cursor is. */
export const measureEarly = async (candidates, { rounds, answers }) => {
  const samples = new Map(candidates.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const candidate of candidates) samples.get(candidate.name).push(await slowestOf(candidate, answers));
  return candidates.map(({ name }) => ({ name, slowest: median(samples.get(name)) }));
};
