// Measures ctxwrap next to the command alone, a bare node-pty proxy, `script` and tmux, all in the same run; prints Markdown.
// Parts can be named: node test/bench/bench.js latency throughput recording start idle memory paints scan overlay
// With --worst instead: what the filter costs for output that is made to be costly.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { candidates, missing } from './candidates.js';
import { readRecordings } from './recordings.js';
import { measureLatency } from './measure-latency.js';
import { measureOverlay } from './measure-overlay.js';
import { measureScan } from './measure-scan.js';
import { measureStart } from './measure-start.js';
import { measureThroughput } from './measure-throughput.js';
import { countPaints, measureIdle, measureMemory } from './measure-upkeep.js';
import { measureWorst } from './measure-worst.js';
import { printTable, printWorst } from './table.js';

const PLAIN_BYTES = 100e6;
const RECORDING_BYTES = 50e6;

const plainLines = (bytes) => {
  const words = 'the quick brown fox jumps over the lazy dog while nobody looks and runs away again';
  const line = (number) => `${number} ${words.slice(number % 40)} ${words}\n`.slice(0, 78);
  const block = Array.from({ length: 1000 }, (_, number) => `${line(number).trimEnd()}\n`).join('');
  return Buffer.from(block.repeat(Math.ceil(bytes / block.length)));
};

const looped = (bytes, size) =>
  Buffer.concat(Array.from({ length: Math.ceil(size / bytes.length) }, () => bytes));

const fileOf = (folder, name, bytes) => {
  const file = join(folder, name);
  writeFileSync(file, bytes);
  return { file, bytes: statSync(file).size };
};

const parts = {
  latency: async (all) => measureLatency(all),
  throughput: async (all, { plain }) => measureThroughput(all, { ...plain, rounds: 5 }),
  recording: async (all, { recording }) => measureThroughput(all, { ...recording, rounds: 3 }),
  start: async (all, { folder }) => measureStart(all, { folder, rounds: 20, answers: true }),
  silent: async (all, { folder }) => measureStart(all, { folder, rounds: 10, answers: false }),
  idle: async (all) => measureIdle(all, 20),
  memory: async (all, { plain }) => measureMemory(ours(all), { ...plain, times: 10 }),
  paints: async (all) => countPaints(ours(all), 10),
  scan: async (all, { folder }) => measureScan(folder),
  overlay: async (all, { folder }) => measureOverlay(folder),
};

const ours = (all) => all.find(({ name }) => name === 'ctxwrap');

const bench = async (folder, wanted) => {
  const all = candidates(folder);
  const files = {
    folder,
    plain: fileOf(folder, 'plain', plainLines(PLAIN_BYTES)),
    recording: fileOf(folder, 'recording', looped(readRecordings(), RECORDING_BYTES)),
  };
  const results = {};
  try {
    for (const [name, measure] of Object.entries(parts)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      process.stderr.write(`${name} …\n`);
      results[name] = await measure(all, files);
      if (process.env.BENCH_RAW) process.stderr.write(`${JSON.stringify(results[name])}\n`);
    }
  } finally {
    for (const each of all) each.close();
  }
  return { names: all.map(({ name }) => name), results, notInstalled: missing(all) };
};

const folder = mkdtempSync(join(tmpdir(), 'ctxwrap-bench-'));
try {
  const machine = `${cpus()[0].model}, ${cpus().length} cores, Node ${process.versions.node}, ${process.platform}`;
  if (process.argv.includes('--worst')) printWorst(machine, await measureWorst(folder));
  else printTable(machine, await bench(folder, process.argv.slice(2)));
} finally {
  rmSync(folder, { recursive: true });
}
