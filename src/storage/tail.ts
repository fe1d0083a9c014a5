// Follows an append-only file by asking for its size: no watcher, no open file between two reads, one line in memory at most.
import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 256 * 1024;
// Longer lines are skipped: they hold pictures or whole histories, and parsing them would hold up the terminal.
const LONGEST_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface TailOptions {
  readonly path: string;
  readonly intervalMs: number;
  /** one complete line, without its newline */
  readonly onLine: (line: string) => void;
  /** the end was reached after something new was read */
  readonly onCaughtUp: () => void;
  /** the file was truncated or replaced: its lines come again from the first one */
  readonly onRestart: () => void;
  /** said once until reading works again; the tail goes on trying */
  readonly onProblem: (reason: string) => void;
}

interface Position {
  readonly inode: number;
  offset: number;
}

/** A line nobody can use is told of and skipped; reading it again would fail again. */
const skipUnusable =
  ({ path, onLine, onProblem }: TailOptions) =>
  (line: string): void => {
    try {
      onLine(line);
    } catch (error) {
      onProblem(`${path}: ${textOf(error)}`);
    }
  };

/** Reads the file from its start and then whatever is appended, until stopped. */
export const tail = (options: TailOptions): { readonly stop: () => void } => {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let position: Position | undefined;
  let problem: string | undefined;
  const onLine = skipUnusable(options);
  let lines = lineSplitter(onLine);

  const restart = (inode: number): Position => {
    if (position) options.onRestart();
    lines = lineSplitter(onLine);
    position = { inode, offset: 0 };
    return position;
  };

  const readNew = async (): Promise<void> => {
    const stats = await lstat(options.path);
    if (stopped) return;
    if (!stats.isFile()) throw new Error('not a regular file');
    const before = position;
    const isSame = before?.inode === stats.ino && stats.size >= before.offset;
    // After a problem everything is read again: whoever was told of it has let go of the last number.
    const from = before && isSame && problem === undefined ? before : restart(stats.ino);
    problem = undefined;
    if (from === before && stats.size === from.offset) return;
    await readFrom(options.path, from, (chunk) => {
      if (!stopped) lines.push(chunk);
      return !stopped;
    });
    if (!stopped) options.onCaughtUp();
  };

  const poll = async (): Promise<void> => {
    try {
      await readNew();
    } catch (error) {
      const reason = `${options.path}: ${textOf(error)}`;
      if (!stopped && reason !== problem) options.onProblem(reason);
      problem = reason;
    }
    if (!stopped) timer = setTimeout(poll, options.intervalMs).unref();
  };

  void poll();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      lines = lineSplitter(onLine);
    },
  };
};

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

// Every read is awaited, so the terminal is served between two chunks however long the file is.
const readFrom = async (path: string, at: Position, take: (chunk: Buffer) => boolean): Promise<void> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if ((await file.stat()).ino !== at.inode) return; // replaced since the question: the next poll sees it
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    while (await readChunk(file, buffer, { at, take }));
  } finally {
    await file.close();
  }
};

const readChunk = async (
  file: FileHandle,
  buffer: Buffer,
  { at, take }: { readonly at: Position; readonly take: (chunk: Buffer) => boolean },
): Promise<boolean> => {
  const { bytesRead } = await file.read(buffer, 0, buffer.length, at.offset);
  at.offset += bytesRead;
  return bytesRead > 0 && take(buffer.subarray(0, bytesRead));
};

/** Cuts bytes into lines whatever the chunks are; the bytes of a line are decoded together, so no character is torn. */
export const lineSplitter = (
  onLine: (line: string) => void,
  longestBytes = LONGEST_LINE_BYTES,
): { readonly push: (chunk: Buffer) => void } => {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let isSkipping = false;

  const keep = (piece: Buffer): void => {
    bytes += piece.length;
    isSkipping ||= bytes > longestBytes;
    if (isSkipping) pieces = [];
    else if (piece.length > 0) pieces.push(Buffer.from(piece)); // a copy: the chunk's memory is used again
  };

  const end = (piece: Buffer): void => {
    const isTooLong = isSkipping || bytes + piece.length > longestBytes;
    const whole = pieces.length === 0 ? piece : Buffer.concat([...pieces, piece]);
    pieces = [];
    bytes = 0;
    isSkipping = false;
    if (!isTooLong) onLine(whole.toString('utf8'));
  };

  return {
    push: (chunk) => {
      let start = 0;
      for (let newline = chunk.indexOf(NEWLINE); newline >= 0; newline = chunk.indexOf(NEWLINE, start)) {
        end(chunk.subarray(start, newline));
        start = newline + 1;
      }
      keep(chunk.subarray(start));
    },
  };
};
