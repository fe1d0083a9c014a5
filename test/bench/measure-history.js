// How fast `ctxwrap history` reads a session file of each agent, and how much memory it takes: the built program, from start to end.
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { shapes, writeSessionFile } from './session-files.js';

const bin = resolve(import.meta.dirname, '../../bin/ctxwrap.js');
const ROUNDS = 3;

/** Loaded into the measured process: it writes what it has used when it ends. */
const METER = `
import { writeFileSync } from 'node:fs';
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeFileSync(process.env.METER, JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, megabytes: maxRSS / 1024 }));
});
`;

const runOnce = (folder, path, options) => {
  const meter = join(folder, 'meter.json');
  const started = performance.now();
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--import', join(folder, 'meter.mjs'), bin, 'history', path, '--ndjson', ...options],
    { env: { PATH: process.env.PATH, HOME: folder, METER: meter }, encoding: 'utf8', maxBuffer: 1e9 },
  );
  if (status !== 0) throw new Error(`history ended with ${status}`);
  const seconds = (performance.now() - started) / 1000;
  return { seconds, found: stdout.split('\n').length - 1, ...JSON.parse(readFileSync(meter, 'utf8')) };
};

/** Of some rounds the fastest one, because other processes only slow it down. */
const measureFile = (folder, path, { bytes, compactions }) => {
  const rounds = Array.from({ length: ROUNDS }, () => runOnce(folder, path, []));
  const wrong = rounds.find(({ found }) => found !== compactions);
  if (wrong) throw new Error(`${path}: found ${wrong.found} of ${compactions} compactions`);
  const least = (key) => Math.min(...rounds.map((each) => each[key]));
  return {
    megabytes: bytes / 1e6,
    compactions,
    rate: bytes / 1e6 / least('seconds'),
    cpuRate: bytes / 1e6 / least('cpu'),
    memory: Math.max(...rounds.map((each) => each.megabytes)),
  };
};

export const measureHistory = (folder, size) => {
  writeFileSync(join(folder, 'meter.mjs'), METER);
  return Object.entries(shapes).map(([agent, shape]) => {
    const path = join(folder, shape.name);
    const result = { agent, ...measureFile(folder, path, writeSessionFile(path, shape, size)) };
    rmSync(path);
    return result;
  });
};
