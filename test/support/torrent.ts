import { join } from 'node:path';
import { listenToChild } from './child-socket.js';
import { programPath } from './programs.js';

interface Message {
  readonly size?: readonly [number, number];
  readonly received?: string;
  readonly lines?: number;
}

type Order =
  /** numbered lines; endless without a number */
  | { readonly do: 'pour'; readonly lines?: number }
  /** stops the lines; then, or at once, prints a text on each row of its terminal */
  | { readonly do: 'stopAndPaint' | 'paint' }
  | { readonly do: 'exit'; readonly code: number };

/** The test's side of test/fixtures/programs/torrent.js. */
export interface Torrent {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  order: (order: Order) => void;
  /** lines that its terminal has accepted */
  lines: () => number;
  received: () => string;
  /** rows and columns of its terminal */
  size: () => readonly [number, number] | undefined;
  /** resolves when the condition holds, tested at each message */
  until: (isMet: () => boolean) => Promise<void>;
  ended: () => Promise<void>;
  close: () => void;
}

/** `folder` is for its socket. */
export const makeTorrent = (folder: string): Torrent => {
  const path = join(folder, 'torrent.sock');
  let told: Required<Message> | undefined;
  const hear = (message: Message): void => {
    const before = told ?? { size: [0, 0], received: '', lines: 0 };
    told = { ...before, ...message, received: before.received + (message.received ?? '') };
  };
  const child = listenToChild<Message>({ path, hear });
  return {
    command: [process.execPath, programPath('torrent.js')],
    env: { TORRENT_SOCKET: path },
    order: child.send,
    lines: () => told?.lines ?? 0,
    received: () => told?.received ?? '',
    size: () => told?.size,
    until: child.until,
    ended: () => child.until(child.isGone),
    close: child.close,
  };
};

const lineOf = (number: number): string => `line ${String(number).padStart(8, '0')} ${'·'.repeat(20)}\r\n`;
export const LINE_BYTES = Buffer.byteLength(lineOf(0));
/** The first lines of its output. */
export const linesTo = (count: number): Buffer =>
  Buffer.from(Array.from({ length: count }, (_, number) => lineOf(number)).join(''));
