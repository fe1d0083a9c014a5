// Measures ctxwrap next to the command alone, a bare node-pty proxy, `script` and tmux, all in the same run; prints Markdown.
// Parts can be named: node test/bench/bench.js latency throughput frames recording start silent early idle resident memory paints scan overview
// --against=FOLDER compares with another build of ctxwrap, too; --write puts the tables into docs/speed.md.
// With --worst instead: what the filter costs for output that is made to be costly. With --history: how fast session files are read;
// --megabytes=N says how large they are.
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { candidates, missing } from './candidates.js';
import { readRecordings } from './recordings.js';
import { measureEarly } from './measure-early.js';
import { measureHistory } from './measure-history.js';
import { measureLatency } from './measure-latency.js';
import { measureOverview } from './measure-overview.js';
import { measureScan } from './measure-scan.js';
import { measureStart } from './measure-start.js';
import { measureThroughput } from './measure-throughput.js';
import { countPaints, measureIdle, measureMemory, measureResident } from './measure-upkeep.js';
import { measureWorker } from './measure-worker.js';
import { measureWorst } from './measure-worst.js';
import { historyText, tableText, worstText } from './table.js';

const HEAD = `# Speed\n\nWritten by \`npm run bench -- --write\`. All candidates ran in turn, in one run; \`+\` is what is added to the command alone.\n`;
const RESIDENT_BYTES = 34e6;
const FRAMES_BYTES = 50e6;
const PLAIN_BYTES = 100e6;
const RECORDING_BYTES = 50e6;

const plainLines = (bytes) => {
  const words = 'the quick brown fox jumps over the lazy dog while nobody looks and runs away again';
  const line = (number) => `${number} ${words.slice(number % 40)} ${words}\n`.slice(0, 78);
  const block = Array.from({ length: 1000 }, (_, number) => `${line(number).trimEnd()}\n`).join('');
  return Buffer.from(block.repeat(Math.ceil(bytes / block.length)));
};

/** What a text interface draws: whole frames of rows in colours, each row erased to its end. */
const frames = (bytes) => {
  const row = (frame, at) =>
    `\x1b[3${(frame + at) % 8}m● row ${at} of frame ${frame}\x1b[0m \x1b[2m${'─'.repeat(30)}\x1b[22m\x1b[K`;
  const frame = (number) =>
    `\x1b[?2026h\x1b[?25l\x1b[H${Array.from({ length: 22 }, (_, at) => row(number, at)).join('\r\n')}\x1b[22;3H\x1b[?25h\x1b[?2026l`;
  const block = Array.from({ length: 100 }, (_, number) => frame(number)).join('');
  return Buffer.from(block.repeat(Math.ceil(bytes / Buffer.byteLength(block))));
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
  frames: async (all, { frames: file }) => measureThroughput(all, { ...file, rounds: 3 }),
  recording: async (all, { recording }) => measureThroughput(all, { ...recording, rounds: 3 }),
  start: async (all, { folder }) => measureStart(all, { folder, rounds: 20, answers: true }),
  silent: async (all, { folder }) => measureStart(all, { folder, rounds: 10, answers: false }),
  early: async (all) => measureEarly(all, { rounds: 7, answers: true }),
  earlySilent: async (all) => measureEarly(all, { rounds: 7, answers: false }),
  idle: async (all) => measureIdle(all, 20),
  resident: async (all, { recording }) => measureResident(all, { ...recording, after: RESIDENT_BYTES }),
  memory: async (all, { plain }) => measureMemory(ours(all), { ...plain, times: 10 }),
  paints: async (all) => countPaints(ours(all), 10),
  scan: async (all, { folder }) => measureScan(folder),
  overview: async (all, { folder }) => measureOverview(folder),
  worker: async (all, { folder }) => measureWorker(ours(all), folder),
};

const ours = (all) => all.find(({ name }) => name === 'ctxwrap');

const bench = async (folder, { wanted, against }) => {
  const all = candidates(folder, against);
  const files = {
    folder,
    plain: fileOf(folder, 'plain', plainLines(PLAIN_BYTES)),
    frames: fileOf(folder, 'frames', frames(FRAMES_BYTES)),
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

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    against: { type: 'string' },
    write: { type: 'boolean' },
    worst: { type: 'boolean' },
    history: { type: 'boolean' },
    megabytes: { type: 'string', default: '500' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'ctxwrap-bench-'));
try {
  const machine = `${cpus()[0].model}, ${cpus().length} cores, Node ${process.versions.node}, ${process.platform}`;
  const text = values.history
    ? historyText(machine, measureHistory(folder, Number(values.megabytes) * 1e6))
    : values.worst
      ? worstText(machine, await measureWorst(folder))
      : tableText(machine, await bench(folder, { wanted: positionals, against: values.against }));
  if (values.write) writeFileSync(join(import.meta.dirname, '../../docs/speed.md'), `${HEAD}\n${text}`);
  process.stdout.write(text);
} finally {
  rmSync(folder, { recursive: true });
}
