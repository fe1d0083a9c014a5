// From the hotkey's byte to the last byte of the overview's last row, over what looks like the demo agent, with a number to show: the first
// time, with Ink loaded and not loaded yet, and later times; and the processor time that Ink's load takes.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { median, percentile, sleep } from './numbers.js';
import { cpuSeconds } from './processes.js';
import { withTerminal } from './terminal.js';
import { measureInTurn } from './turns.js';

const AGAIN = 10;
const HOTKEY = '\x1d';
const LAST_WORDS = 'close\x1b'; // of the keys in the last row, up to the end of their style
const GONE = '\x1b[?1049l';
const APART_MS = 700; // two presses that are closer together are one double press
const START_MS = 1_200; // what a start has to do is done; Ink is loaded two seconds after the last output
const LOAD_MS = 4_000;
const IDLE_MS = 2_000;

const agent = [
  process.execPath,
  join(import.meta.dirname, '../fixtures/programs/demo-like.js'),
  '--used',
  '124000',
];

const withDemo = (candidate, folder, act) => {
  mkdirSync(folder, { recursive: true });
  const log = join(mkdtempSync(join(folder, 'demo-')), 'log.jsonl');
  const words = candidate.run(['--runtime', 'demo', '--', ...agent]);
  return withTerminal(words, { env: { CTXWRAP_DEMO_LOG: log } }, async (terminal) => {
    await terminal.until('124k');
    return act(terminal);
  });
};

const open = async (terminal) => {
  const seen = terminal.until(LAST_WORDS);
  const pressedAt = performance.now();
  terminal.write(HOTKEY);
  return (await seen) - pressedAt;
};

const openAgain = async (terminal) => {
  const gone = terminal.until(GONE);
  terminal.write('q');
  await gone;
  await sleep(APART_MS);
  return open(terminal);
};

/** Milliseconds of processor time between two seconds of which nothing happens in the second one, without what rest costs. */
const loadCpu = async ({ pid }) => {
  await sleep(START_MS);
  const before = cpuSeconds([pid]);
  await sleep(LOAD_MS);
  const loaded = cpuSeconds([pid]);
  await sleep(IDLE_MS);
  const rest = ((cpuSeconds([pid]) - loaded) / IDLE_MS) * LOAD_MS;
  return (loaded - before - rest) * 1000;
};

/** Milliseconds, by candidate: the first opening `unloaded` and `loaded`, p50 and p95 of those `again`, `inkCpu` of processor time. */
export const measureOverview = (candidates, folder, rounds) =>
  measureInTurn(candidates, rounds, async (candidate) => {
    const place = join(folder, `overview of ${candidate.name}`);
    const unloaded = await withDemo(candidate, place, open);
    return withDemo(candidate, place, async (terminal) => {
      const inkCpu = await loadCpu(terminal);
      const loaded = await open(terminal);
      const times = [];
      for (let time = 0; time < AGAIN; time += 1) times.push(await openAgain(terminal));
      return { unloaded, loaded, p50: median(times), p95: percentile(times, 0.95), inkCpu };
    });
  });
