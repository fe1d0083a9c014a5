import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { programPath } from './programs.js';

/** Makes code fail in a running wrapper: the test's side of test/fixtures/programs/fault.js. */
export interface Fault {
  readonly env: Readonly<Record<string, string>>;
  /** resolves when the code has failed */
  make: (what: 'timer' | 'filter') => Promise<void>;
  close: () => void;
}

export const makeFault = (folder: string): Fault => {
  const path = join(folder, 'fault.sock');
  const server = createServer().listen(path);
  const connected = once(server, 'connection').then(([socket]) => socket as Socket);
  connected.then((socket) => socket.on('error', () => undefined)).catch(() => undefined);
  return {
    env: {
      NODE_OPTIONS: `--import ${pathToFileURL(programPath('fault.js')).href}`,
      FAULT_SOCKET: path,
    },
    make: async (what) => {
      const socket = await connected;
      socket.write(what);
      await once(socket, 'data');
    },
    close: () => {
      connected.then((socket) => socket.destroy()).catch(() => undefined);
      server.close();
    },
  };
};
