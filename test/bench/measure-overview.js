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
const GREETING = 'demo agent'; // of the agent, at its start
const NUMBER = '124k'; // of the footer or the agent
const GONE = '\x1b[?1049l';
const APART_MS = 700; // two presses that are closer together are one double press
// What a start has to do is done by then, and Ink is loaded two seconds after the agent's last output. The span ends before a build keeps
// compiled code, three seconds after the start, and before V8 gives back memory, once, for up to 40 ms: neither has to do with Ink.
const START_MS = 1_200;
const LOAD_MS = 1_600;

const agent = [
  process.execPath,
  join(import.meta.dirname, '../fixtures/programs/demo-like.js'),
  '--used',
  '124000',
];

/** `act` gets the terminal when it has shown `text`. */
const withDemo = (candidate, folder, text, act) => {
  mkdirSync(folder, { recursive: true });
  const log = join(mkdtempSync(join(folder, 'demo-')), 'log.jsonl');
  const words = candidate.run(['--runtime', 'demo', '--', ...agent]);
  return withTerminal(words, { env: { CTXWRAP_DEMO_LOG: log } }, async (terminal) => {
    await terminal.until(text);
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

/** Milliseconds of processor time in a span in which nothing but the load happens. */
const loadCpu = async ({ pid }) => {
  await sleep(START_MS);
  const before = cpuSeconds([pid]);
  await sleep(LOAD_MS);
  return (cpuSeconds([pid]) - before) * 1000;
};

/** Milliseconds, by candidate: the first opening `unloaded` and `loaded`, p50 and p95 of those `again`, `inkCpu` of processor time. */
export const measureOverview = (candidates, folder, rounds) =>
  measureInTurn(candidates, rounds, async (candidate) => {
    const place = join(folder, `overview of ${candidate.name}`);
    const unloaded = await withDemo(candidate, place, NUMBER, open);
    return withDemo(candidate, place, GREETING, async (terminal) => {
      const inkCpu = await loadCpu(terminal);
      const loaded = await open(terminal);
      const times = [];
      for (let time = 0; time < AGAIN; time += 1) times.push(await openAgain(terminal));
      return { unloaded, loaded, p50: median(times), p95: percentile(times, 0.95), inkCpu };
    });
  });
