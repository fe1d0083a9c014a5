// The slowest echo of a key while the worker of a session fails, and another one takes its place.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { echo, quit } from './echo.js';
import { slowestEcho } from './measure-early.js';
import { sleep } from './numbers.js';
import { withTerminal } from './terminal.js';
import { takeTurns } from './turns.js';

const FAULTS = ['throw', 'hang', 'exit'];
const LOADED_MS = 2_500;
const REPLACED_MS = 12_000; // a worker that hangs is left after five seconds
const TYPED_MS = 2_000; // after that

const program = join(import.meta.dirname, '../fixtures/programs/fault.cjs');

/** Resolves with the sockets of the workers that were started, in order; see the program. */
const listen = (path) => {
  const workers = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (name) => name.toString() === 'worker' && workers.push(socket));
  }).listen(path);
  return { workers, close: () => server.close() };
};

/** True when another worker has been there for a while, or does not come. */
const whenReplaced = (workers) => {
  let until = performance.now() + REPLACED_MS;
  let isReplaced = false;
  return () => {
    if (!isReplaced && workers.length > 1) {
      isReplaced = true;
      until = performance.now() + TYPED_MS;
    }
    return performance.now() > until;
  };
};

const slowestDuring = async (candidate, fault, socketPath) => {
  const { workers, close } = listen(socketPath);
  const env = { NODE_OPTIONS: `--require "${program}"`, FAULT_SOCKET: socketPath };
  try {
    return await withTerminal(candidate.words(echo), { env }, async (terminal) => {
      await terminal.until('READY');
      await sleep(LOADED_MS);
      const [worker] = workers;
      if (!worker) throw new Error('crashed: no worker was started');
      worker.write(fault);
      await once(worker, 'data', { signal: AbortSignal.timeout(REPLACED_MS) });
      const slowest = await slowestEcho(terminal, whenReplaced(workers));
      await terminal.leave(quit);
      if (workers.length !== 2) throw new Error(`failed: ${workers.length} workers were started`);
      return slowest;
    });
  } finally {
    for (const each of workers) each.destroy();
    close();
  }
};

/** Milliseconds, the worst of the rounds of each fault and of all (`worst`), by candidate. */
export const measureWorker = async (candidates, folder, rounds) => {
  const { each, results } = takeTurns(candidates);
  await each((entry) => (entry.faults = Object.fromEntries(FAULTS.map((fault) => [fault, 0]))));
  for (let round = 0; round < rounds; round += 1)
    for (const fault of FAULTS)
      await each(async ({ candidate, faults }) => {
        const path = join(folder, `${candidate.name}-${fault}-${round}`);
        faults[fault] = Math.max(faults[fault], await slowestDuring(candidate, fault, path));
        rmSync(path, { force: true });
      });
  return results(({ faults }) => ({ ...faults, worst: Math.max(...Object.values(faults)) }));
};
