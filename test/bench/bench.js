// Measures ctxwrap next to the command alone, a bare node-pty proxy, `script` and tmux, all in the same run; prints Markdown.
// Parts can be named: `npm run bench -- latency start`. `worst` and `scan` measure code of ctxwrap's alone; `worst` and `pty` run only if they are named.
// --against=FOLDER measures another build of ctxwrap, too; --runs=3 does everything three times, and says the median and the range;
// --write puts the tables into docs/internals/speed.md; --megabytes=N is the size of the session files of `history`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { candidates, missing } from './candidates.js';
import { parts, warmUp } from './parts.js';
import { speedText } from './table.js';

const HEAD = `# Speed\n\nWritten by \`npm run bench -- --write\`. All candidates took turns, in one run; \`+\` is what is added to the command alone.\n`;
const page = join(import.meta.dirname, '../../docs/internals/speed.md');

const load = () =>
  loadavg()
    .map((value) => value.toFixed(2))
    .join(' ');

/** The result of a part, or why there is none. */
const measure = async (name, all, settings) => {
  process.stderr.write(`${name} … `);
  const startedAt = performance.now();
  try {
    return { rows: await parts[name].measure(all, settings) };
  } catch (error) {
    return { rows: [], failure: `${name}: ${error.message}` };
  } finally {
    process.stderr.write(`${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`);
  }
};

/** The rounds of a part in each run: together the runs have so many, but each at least one. */
const roundsOf = (name, runs) => Math.ceil((parts[name].rounds ?? 1) / (parts[name].isOnce ? 1 : runs));

/** What each run has found: the rows of its parts, by name. */
const measureRuns = async (all, { names, runs, folder, size }) => {
  const [found, failures] = [[], []];
  for (let run = 0; run < runs; run += 1) {
    const results = {};
    for (const name of names) {
      if (run > 0 && parts[name].isOnce) continue;
      const place = mkdtempSync(join(folder, 'part-'));
      const rounds = roundsOf(name, runs);
      const { rows, failure } = await measure(name, all, { folder: place, rounds, size });
      results[name] = rows;
      if (failure) failures.push(failure);
      if (process.env.BENCH_RAW) process.stderr.write(`${JSON.stringify(rows)}\n`);
      rmSync(place, { recursive: true });
    }
    found.push(results);
  }
  return { found, failures };
};

const bench = async (folder, { names, runs, against, size }) => {
  const all = candidates(folder, against);
  // tmux's server and the files would stay
  const stop = () => {
    for (const each of all) each.close();
    rmSync(folder, { recursive: true, force: true });
    process.exit(1);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const before = load();
  const startedAt = performance.now();
  try {
    await warmUp(all);
    const measured = await measureRuns(all, { names, runs, folder, size });
    const minutes = (performance.now() - startedAt) / 60_000;
    const machine = `${cpus()[0].model}, ${cpus().length} cores, Node ${process.versions.node}, ${process.platform}`;
    const rounds = names.map((name) => `${name} ${parts[name].isOnce ? 'once' : roundsOf(name, runs)}`);
    const conditions = { machine, load: { before, after: load() }, runs, rounds, minutes };
    return speedText({ ...measured, conditions, names: all.map(({ name }) => name), missing: missing(all) });
  } finally {
    for (const each of all) each.close();
  }
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    against: { type: 'string' },
    runs: { type: 'string', default: '1' },
    write: { type: 'boolean' },
    megabytes: { type: 'string', default: '500' },
  },
});
const unknown = positionals.find((name) => !parts[name]);
if (unknown) {
  process.stderr.write(`There is no part "${unknown}". There are: ${Object.keys(parts).join(' ')}\n`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'ctxwrap-bench-'));
// a home of its own: your configuration, your sessions and what they keep have no part in the numbers
process.env.HOME = join(folder, 'home');
for (const name of Object.keys(process.env)) if (name.startsWith('XDG_')) delete process.env[name];
mkdirSync(process.env.HOME);
try {
  const names = Object.keys(parts).filter((name) =>
    positionals.length > 0 ? positionals.includes(name) : !parts[name].isOnlyNamed,
  );
  const text = await bench(folder, {
    names,
    runs: Number(values.runs),
    against: values.against,
    size: Number(values.megabytes) * 1e6,
  });
  if (values.write) writeFileSync(page, `${HEAD}\n${text}`);
  process.stdout.write(text);
} finally {
  rmSync(folder, { recursive: true });
}
