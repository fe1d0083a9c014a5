import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programPath } from './programs.js';

interface Message {
  readonly size?: readonly [number, number];
  readonly received?: string;
  readonly lines?: number;
}

type Order =
  /** numbered lines, without an end if there is no number */
  | { readonly do: 'pour'; readonly lines?: number }
  /** no more lines; then, or at once, a text on each row of its terminal */
  | { readonly do: 'stopAndPaint' | 'paint' }
  | { readonly do: 'exit'; readonly code: number };

/** The child of test/fixtures/programs/torrent.js, from the test's side. */
export interface Torrent {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  order: (order: Order) => void;
  /** lines that its terminal has taken */
  lines: () => number;
  received: () => string;
  /** rows and columns of its terminal */
  size: () => readonly [number, number] | undefined;
  /** resolves when the condition holds, looked at whenever it tells something */
  until: (isMet: () => boolean) => Promise<void>;
  ended: () => Promise<void>;
  close: () => void;
}

/** `folder` is for its socket. */
export const makeTorrent = (folder: string): Torrent => {
  const path = join(folder, 'torrent.sock');
  let socket: Socket | undefined;
  let told: Required<Message> | undefined;
  let isGone = false;
  let watchers: (() => void)[] = [];
  const look = (): void => watchers.forEach((watcher) => watcher());
  const until = (isMet: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const watcher = (): void => {
        if (!isMet()) return;
        watchers = watchers.filter((each) => each !== watcher);
        resolve();
      };
      watchers.push(watcher);
      watcher();
    });
  const hear = (message: Message): void => {
    const before = told ?? { size: [0, 0], received: '', lines: 0 };
    told = { ...before, ...message, received: before.received + (message.received ?? '') };
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
  return {
    command: [process.execPath, programPath('torrent.js')],
    env: { TORRENT_SOCKET: path },
    order: (order) => void socket?.write(`${JSON.stringify(order)}\n`),
    lines: () => told?.lines ?? 0,
    received: () => told?.received ?? '',
    size: () => told?.size,
    until,
    ended: () => until(() => isGone),
    close: () => {
      socket?.destroy();
      server.close();
    },
  };
};

const lineOf = (number: number): string => `line ${String(number).padStart(8, '0')} ${'·'.repeat(20)}\r\n`;
export const LINE_BYTES = Buffer.byteLength(lineOf(0));
/** The first lines that it pours. */
export const linesTo = (count: number): Buffer =>
  Buffer.from(Array.from({ length: count }, (_, number) => lineOf(number)).join(''));
