// Megabytes of the child's output a second, until the last byte has come out.
import { sleep, median } from './numbers.js';
import { cpuSeconds } from './processes.js';
import { openTerminal } from './terminal.js';

const END = '~^END^~';
const SETTLE_MS = 600;
const TAIL_MS = 300;

// The terminal is reset before the end: a recording may leave it where the end would not be drawn.
const catTimes = (file, times) => [
  'sh',
  '-c',
  `stty -echo; printf READY; read -r go; i=0; while [ $i -lt ${times} ]; do cat "$0"; i=$((i+1)); done; printf '\\033c~^%s^~' END; read -r stop`,
  file,
];

/** Runs `cat` on the file `times` times; seconds until the end has come out, and of its processor time. */
export const runOutput = async (candidate, { file, times, onProgress }) => {
  const terminal = openTerminal(candidate.words(catTimes(file, times)));
  await terminal.until('READY');
  await sleep(SETTLE_MS);
  terminal.stopAnswering();
  const pids = [terminal.pid, ...candidate.helpers()];
  const cpuBefore = cpuSeconds(pids);
  const before = performance.now();
  terminal.write('\r');
  await sleep(0); // node-pty writes in the next turn
  terminal.readUntil(END, (bytes) => onProgress?.(bytes, terminal));
  const seconds = (performance.now() - before) / 1000;
  const cpu = cpuSeconds(pids) - cpuBefore;
  await sleep(TAIL_MS);
  terminal.write('\r');
  await terminal.ended;
  return { seconds, cpu };
};

/** Median MB/s, and processor seconds for 1 GB, by candidate; in each round every candidate has its turn. */
export const measureThroughput = async (candidates, { file, bytes, rounds }) => {
  const runs = new Map(candidates.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const candidate of candidates)
      runs.get(candidate.name).push(await runOutput(candidate, { file, times: 1 }));
  return candidates.map(({ name }) => ({
    name,
    rate: median(runs.get(name).map(({ seconds }) => bytes / 1e6 / seconds)),
    cpu: name === 'alone' ? NaN : median(runs.get(name).map(({ cpu }) => (cpu / bytes) * 1e9)),
  }));
};
