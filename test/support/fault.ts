import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { programPath } from './programs.js';
import { eventually } from './eventually.js';

type Thread = 'main' | 'worker';

/** Makes code fail in a running wrapper: the test's side of test/fixtures/programs/fault.cjs. */
export interface Fault {
  readonly env: Readonly<Record<string, string>>;
  /** makes the code of a thread fail as soon as the thread runs; of the newest worker */
  make: (what: 'throw' | 'filter' | 'hang' | 'exit' | 'leak' | 'native', thread?: Thread) => Promise<void>;
  /** workers that were started */
  workers: () => number;
  close: () => void;
}

const STARTED = { timeout: 60_000, interval: 10 };

export const makeFault = (folder: string): Fault => {
  const path = join(folder, 'fault.sock');
  const threads: { readonly name: string; readonly socket: Socket }[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (name) => threads.push({ name: name.toString(), socket }));
  }).listen(path);
  return {
    env: {
      NODE_OPTIONS: `--require "${programPath('fault.cjs')}"`,
      FAULT_SOCKET: path,
    },
    make: async (what, thread = 'main') => {
      const socket = await eventually(() => {
        const found = threads.findLast(({ name }) => name === thread)?.socket;
        expect(found).toBeDefined();
        return found as Socket;
      }, STARTED);
      socket.write(what);
      await once(socket, 'data');
    },
    workers: () => threads.filter(({ name }) => name === 'worker').length,
    close: () => {
      for (const { socket } of threads) socket.destroy();
      server.close();
    },
  };
};
