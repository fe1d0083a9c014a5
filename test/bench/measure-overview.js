// From the hotkey's byte to the last byte of the overview's last row, over what looks like the demo agent, with a number to show.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { median, percentile, sleep } from './numbers.js';
import { openTerminal } from './terminal.js';

const OPENINGS = 50;
const HOTKEY = '\x1d';
const LAST_WORDS = 'close\x1b'; // of the keys in the last row, up to the end of their style
const GONE = '\x1b[?1049l';
const LOADED_MS = 2_000; // Ink, after the agent's first screen
const APART_MS = 700; // two presses that are closer together are one double press

const root = join(import.meta.dirname, '../..');

const demo = (folder) => {
  mkdirSync(folder, { recursive: true });
  const agent = [process.execPath, join(root, 'test/fixtures/programs/demo-like.js'), '--used', '124000'];
  const wrapper = [process.execPath, join(root, 'bin/ctxwrap.js'), '--runtime', 'demo', '--', ...agent];
  return ['env', `CTXWRAP_DEMO_LOG=${join(folder, 'log.jsonl')}`, ...wrapper];
};

/** Milliseconds; in the form of the other measurements, of which only ours has an overview. */
export const measureOverview = async (folder) => {
  const terminal = openTerminal(demo(join(folder, 'overview')));
  await terminal.until('124k');
  await sleep(LOADED_MS);
  const times = [];
  for (let round = 0; round < OPENINGS; round += 1) {
    const seen = terminal.until(LAST_WORDS);
    const pressedAt = performance.now();
    terminal.write(HOTKEY);
    times.push((await seen) - pressedAt);
    const gone = terminal.until(GONE);
    terminal.write('q');
    await gone;
    await sleep(APART_MS);
  }
  terminal.kill();
  await terminal.ended;
  return [{ name: 'ctxwrap', p50: median(times), p95: percentile(times, 0.95) }];
};
