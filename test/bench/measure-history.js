// How fast `ctxwrap history` reads a session file of each agent, and how much memory it takes: the built program, from start to end.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shapes, writeSessionFile } from './session-files.js';
import { takeTurns } from './turns.js';

const PATIENCE_MS = 60_000;

/** Loaded into the measured process: it writes what it has used when it ends. */
const METER = `
import { writeFileSync } from 'node:fs';
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeFileSync(process.env.METER, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, megabytes: maxRSS / 1024 }));
});
`;

const runOnce = (candidate, folder, path) => {
  const meter = join(folder, 'meter.json');
  const [file, ...words] = candidate.run(['history', path, '--ndjson']);
  const started = performance.now();
  const { stdout, status, error } = spawnSync(file, ['--import', join(folder, 'meter.mjs'), ...words], {
    env: { PATH: process.env.PATH, HOME: folder, METER: meter },
    encoding: 'utf8',
    maxBuffer: 1e9,
    timeout: PATIENCE_MS,
  });
  if (error) throw new Error(`hung: history took ${PATIENCE_MS / 1000} s`);
  if (status !== 0) throw new Error(`crashed: history ended with ${status}`);
  const seconds = (performance.now() - started) / 1000;
  return { seconds, found: stdout.split('\n').length - 1, ...JSON.parse(readFileSync(meter, 'utf8')) };
};

const measureFile = (candidate, { folder, path, bytes, compactions }) => {
  const { seconds, cpu, megabytes, found } = runOnce(candidate, folder, path);
  if (found !== compactions) throw new Error(`failed: ${found} of ${compactions} compactions were found`);
  return { rate: bytes / 1e6 / seconds, cpuRate: bytes / 1e6 / cpu, memory: megabytes };
};

/** MB/s (`claude`, `codex` …), the slowest of them (`least`), MB for a second of processor time (`cpuRate`, the least), and the most megabytes. */
export const measureHistory = async (candidates, folder, size) => {
  writeFileSync(join(folder, 'meter.mjs'), METER);
  const { each, results } = takeTurns(candidates);
  for (const [agent, shape] of Object.entries(shapes)) {
    const path = join(folder, shape.name);
    const file = { folder, path, ...writeSessionFile(path, shape, size) };
    await each(async (entry) => ((entry.agents ??= {})[agent] = measureFile(entry.candidate, file)));
    rmSync(path);
  }
  return results(({ agents }) => {
    const of = (key) => Object.values(agents).map((file) => file[key]);
    const rates = Object.fromEntries(Object.entries(agents).map(([agent, { rate }]) => [agent, rate]));
    return {
      ...rates,
      least: Math.min(...of('rate')),
      cpuRate: Math.min(...of('cpuRate')),
      memory: Math.max(...of('memory')),
    };
  });
};
