// The slowest echo of a key while the worker of a session fails, and another one takes its place.
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { echo, slowestEcho } from './measure-early.js';
import { sleep } from './numbers.js';
import { openTerminal } from './terminal.js';

const FAULTS = ['throw', 'hang', 'exit'];
const ROUNDS = 3;
const LOADED_MS = 2_500;
const TYPED_MS = 4_000; // a worker that hangs is left after two seconds

const program = join(import.meta.dirname, '../fixtures/programs/fault.js');

/** Resolves with the sockets of the workers that were started, in order; see the program. */
const listen = (path) => {
  const workers = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (name) => name.toString() === 'worker' && workers.push(socket));
  }).listen(path);
  return { workers, close: () => server.close() };
};

const slowestDuring = async (candidate, fault, socketPath) => {
  const { workers, close } = listen(socketPath);
  const env = [`NODE_OPTIONS=--import ${pathToFileURL(program).href}`, `FAULT_SOCKET=${socketPath}`];
  const terminal = openTerminal(['env', ...env, ...candidate.words(echo)]);
  await terminal.until('READY');
  await sleep(LOADED_MS);
  const [worker] = workers;
  worker.write(fault);
  await once(worker, 'data');
  const slowest = await slowestEcho(terminal, TYPED_MS);
  terminal.write('q');
  await terminal.ended;
  for (const each of workers) each.destroy();
  close();
  return { slowest, workers: workers.length };
};

/** Milliseconds, the worst of the rounds. Throws when the worker was not replaced. */
export const measureWorker = async (candidate, folder) => {
  const results = [];
  for (const fault of FAULTS) {
    let worst = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const { slowest, workers } = await slowestDuring(candidate, fault, join(folder, `${fault}-${round}`));
      if (workers !== 2) throw new Error(`${fault}: ${workers} workers were started`);
      worst = Math.max(worst, slowest);
    }
    results.push({ fault, worst });
  }
  return results;
};
