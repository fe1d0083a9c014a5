import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programPath } from './programs.js';

interface Message {
  readonly pid?: number;
  readonly size?: readonly [number, number];
  readonly received?: string;
  readonly done?: string;
}

/** The child that writes what it is told: test/fixtures/programs/player.js, from the test's side. */
export interface Player {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** resolves when it runs and its terminal is raw */
  ready: () => Promise<{ readonly pid: number }>;
  /** resolves when its terminal has taken all the bytes, in pieces of these sizes, over and over */
  write: (bytes: Uint8Array | string, sizes?: readonly number[]) => Promise<void>;
  exit: (code: number) => void;
  /** makes it send itself a signal */
  kill: (signal: NodeJS.Signals) => void;
  /** what it has read from its terminal */
  received: () => string;
  /** rows and columns of its terminal, as it was told last */
  size: () => readonly [number, number] | undefined;
  /** resolves when the condition holds, looked at whenever it tells something */
  until: (isMet: () => boolean) => Promise<void>;
  ended: () => Promise<void>;
  close: () => void;
}

const PATIENCE_MS = 20_000; // then the test fails with a reason instead of by its time limit
const WHOLE = Number.MAX_SAFE_INTEGER;

/** `folder` is for its socket. */
export const makePlayer = (folder: string): Player => {
  const path = join(folder, 'player.sock');
  let socket: Socket | undefined;
  let pid = 0;
  let size: readonly [number, number] | undefined;
  let received = '';
  let done = 0;
  let asked = 0;
  let isGone = false;
  const watchers = new Set<() => void>();
  const look = (): void => watchers.forEach((watcher) => watcher());
  const until = (isMet: () => boolean): Promise<void> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`the player never said it; received ${JSON.stringify(received)}, size ${size}`));
      }, PATIENCE_MS);
      const watcher = (): void => {
        if (!isMet()) return;
        clearTimeout(timer);
        watchers.delete(watcher);
        resolve();
      };
      watchers.add(watcher);
      watcher();
    });
  const hear = (message: Message): void => {
    pid = message.pid ?? pid;
    size = message.size ?? size;
    received += message.received ?? '';
    if (message.done !== undefined) done += 1;
    look();
  };
  const server = createServer((connected) => {
    socket = connected;
    connected.on('error', () => undefined); // it may be killed while it talks
    connected.on('close', () => {
      isGone = true;
      look();
    });
    createInterface({ input: connected }).on('line', (line) => hear(JSON.parse(line) as Message));
  }).listen(path);
  const order = (text: object): number => {
    socket?.write(`${JSON.stringify(text)}\n`);
    asked += 1;
    return asked;
  };
  return {
    command: [process.execPath, programPath('player.js')],
    env: { PLAYER_SOCKET: path },
    ready: async () => {
      await until(() => pid > 0);
      return { pid };
    },
    write: async (bytes, sizes = [WHOLE]) => {
      const turn = order({ do: 'write', bytes: Buffer.from(bytes).toString('base64'), sizes });
      await until(() => done >= turn || isGone);
    },
    exit: (code) => void order({ do: 'exit', code }),
    kill: (signal) => void order({ do: 'kill', signal }),
    received: () => received,
    size: () => size,
    until,
    ended: () => until(() => isGone),
    close: () => {
      socket?.destroy();
      server.close();
    },
  };
};
