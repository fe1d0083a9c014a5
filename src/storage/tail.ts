import { constants, type Stats } from 'node:fs';
import { lstat, open, type FileHandle } from 'node:fs/promises';
import { errorText } from '../core/errors.js';
import { followByPolling, type FollowOptions } from './watch.js';

// Reads growing text files line by line. First, splitting bytes into lines.

// Longer lines are skipped: they hold images or whole histories, and parsing them would block the terminal.
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface LineSplitterOptions {
  /** lines with more bytes are skipped */
  readonly maxBytes?: number;
  /** the first bytes may belong to a line that started earlier: everything up to the first newline is skipped */
  readonly startsInside?: boolean;
  /** where the first bytes are in their file; 0 when absent */
  readonly offset?: number;
}

export interface LineSplitter {
  readonly push: (chunk: Buffer) => void;
}

/** Gets a line without its newline, and the byte at which it begins in its file. */
export type OnLine = (line: string, offset: number) => void;

/** Splits bytes into lines without newlines; each line is decoded as a whole, so no character is split. */
export const makeLineSplitter = (
  onLine: OnLine,
  { startsInside = false, maxBytes = MAX_LINE_BYTES, offset = 0 }: LineSplitterOptions = {},
): LineSplitter => {
  let isSkipping = startsInside;
  const onBytes = (line: Buffer | undefined, lineAt: number): void => {
    if (line && !isSkipping) onLine(line.toString('utf8'), lineAt);
    isSkipping = false;
  };
  return { push: makeByteSplitter(onBytes, { maxBytes, offset }).push };
};

export interface ByteSplitter extends LineSplitter {
  /** the last line, which has no newline yet; undefined if it is empty or too long */
  readonly rest: () => Buffer | undefined;
}

/**
 * Splits bytes into lines, which are only valid during the call: they lie in the memory of the chunk. `undefined` stands for a line of more
 * than `maxBytes`.
 */
export const makeByteSplitter = (
  onLine: (line: Buffer | undefined, offset: number) => void,
  { maxBytes = MAX_LINE_BYTES, offset = 0 }: Omit<LineSplitterOptions, 'startsInside'> = {},
): ByteSplitter => {
  let lineAt = offset;
  let chunkAt = offset;
  let pieces: Buffer[] = [];
  let bytes = 0;
  let isFirst = true;

  const keep = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > maxBytes) pieces = [];
    else if (piece.length > 0) pieces.push(Buffer.from(piece)); // a copy, since the chunk's memory is reused
  };

  const end = (piece: Buffer): void => {
    const isTooLong = bytes + piece.length > maxBytes;
    const whole = pieces.length === 0 ? piece : Buffer.concat([...pieces, piece]);
    const line = isFirst && hasByteOrderMark(whole) ? whole.subarray(BYTE_ORDER_MARK_BYTES.length) : whole;
    pieces = [];
    bytes = 0;
    isFirst = false;
    onLine(isTooLong ? undefined : line, lineAt);
  };

  return {
    push: (chunk) => {
      let start = 0;
      for (let newline = chunk.indexOf(NEWLINE); newline >= 0; newline = chunk.indexOf(NEWLINE, start)) {
        end(chunk.subarray(start, newline));
        start = newline + 1;
        lineAt = chunkAt + start;
      }
      keep(chunk.subarray(start));
      chunkAt += chunk.length;
    },
    rest: () => (pieces.length === 0 ? undefined : Buffer.concat(pieces)),
  };
};

// Some editors put one at the start of a file; JSON does not allow it.
const BYTE_ORDER_MARK_BYTES = Buffer.from([0xef, 0xbb, 0xbf]);

const hasByteOrderMark = (line: Buffer): boolean =>
  line.subarray(0, BYTE_ORDER_MARK_BYTES.length).equals(BYTE_ORDER_MARK_BYTES);

// Reads what was appended to a file since the last read. Of a long file only the end is read at first: in a session file of hundreds of
// megabytes the last records say how full the window is.

const CHUNK_BYTES = 256 * 1024;
const LAST_BYTES = 64;
const defaultLookBack: LookBack = { firstBytes: 8 * 1024 * 1024, maxBytes: 64 * 1024 * 1024 };
// The first record of a session file may hold the whole system prompt.
const MAX_HEAD_BYTES = 1024 * 1024;

/** How much of the end of a long file is read at first, and at most; doubled until `isEnough`. */
export interface LookBack {
  readonly firstBytes: number;
  readonly maxBytes: number;
}

export interface TailReaderOptions {
  readonly path: string;
  /** one complete line */
  readonly onLine: OnLine;
  /** the first line of a long file, before the lines of its end: for facts about the whole file */
  readonly onHead?: (line: string) => void;
  /** the file was truncated or replaced, or more of its end is needed: earlier lines are void, lines are read again */
  readonly onRestart: () => void;
  /** called after the end of a long file was read: false to restart further back. Absent: the whole file is read */
  readonly isEnough?: () => boolean;
  readonly lookBack?: LookBack;
}

export interface TailReader {
  /** reads to the end; true if there was something new. Rejects if the file cannot be read, and may be called again */
  readonly readNew: () => Promise<boolean>;
  /** the next read starts from scratch */
  readonly reset: () => void;
  readonly stop: () => void;
}

interface Position {
  readonly inode: number;
  offset: number;
  /** the last bytes before the offset: if they differ, the file was rewritten and has grown past the offset */
  lastBytes: Buffer;
  modifiedAt: number;
}

/** The file is closed between two reads, and at most one line is in memory. */
export const makeTailReader = (options: TailReaderOptions): TailReader => {
  const { firstBytes, maxBytes } = options.lookBack ?? defaultLookBack;
  let isStopped = false;
  let position: Position | undefined;
  let wasRead = false;
  let lines = makeLineSplitter(options.onLine);

  const startAt = (inode: number, offset: number): Position => {
    if (wasRead) options.onRestart();
    wasRead = true;
    lines = makeLineSplitter(options.onLine, { startsInside: offset > 0, offset });
    position = { inode, offset, lastBytes: Buffer.alloc(0), modifiedAt: 0 };
    return position;
  };

  const onChunk = (chunk: Buffer): boolean => {
    if (!isStopped) lines.push(chunk);
    return !isStopped;
  };

  const startLong = async (file: FileHandle, inode: number, size: number): Promise<Position> => {
    const head = await firstLine(file);
    for (let back = firstBytes; ; back *= 2) {
      // one byte more, so that a line that starts exactly here is read
      const at = startAt(inode, Math.max(0, size - Math.min(back, maxBytes) - 1));
      const isWhole = at.offset === 0;
      if (!isWhole && head !== undefined && !isStopped) options.onHead?.(head);
      await readTo(file, at, { end: size, onChunk });
      if (isStopped || isWhole || back >= maxBytes || options.isEnough?.() !== false) return at;
    }
  };

  const readNew = async (): Promise<boolean> => {
    const { ino, size, mtimeMs } = await regularFile(options.path);
    if (isStopped) return false;
    const before = position?.inode === ino && size >= position.offset ? position : undefined;
    if (before && size === before.offset && mtimeMs === before.modifiedAt) return false;
    return withFile(options.path, ino, async (file) => {
      const goesOn = before && (await isUnchangedBefore(file, before));
      const offset = goesOn ? before.offset : -1;
      const isLong = options.isEnough !== undefined && size > firstBytes;
      const at = goesOn ? before : isLong ? await startLong(file, ino, size) : startAt(ino, 0);
      await readTo(file, at, { end: Infinity, onChunk });
      at.modifiedAt = mtimeMs;
      return !isStopped && at.offset !== offset;
    });
  };

  return {
    readNew,
    reset: () => {
      position = undefined;
    },
    stop: () => {
      isStopped = true;
      lines = noLines;
    },
  };
};

const regularFile = async (path: string): Promise<Stats> => {
  const stats = await lstat(path);
  if (!stats.isFile()) throw new Error('not a regular file');
  return stats;
};

/** False if the file was replaced since its stats were read; the next read handles that. */
const withFile = async (
  path: string,
  inode: number,
  use: (file: FileHandle) => Promise<boolean>,
): Promise<boolean> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return (await file.stat()).ino === inode && (await use(file));
  } finally {
    await file.close();
  }
};

const noLines: LineSplitter = { push: () => undefined };

interface ReadOptions {
  readonly end: number;
  readonly onChunk: (chunk: Buffer) => boolean;
}

// Every read is awaited, so the event loop can handle the terminal between two chunks.
const readTo = async (file: FileHandle, at: Position, { end, onChunk }: ReadOptions): Promise<void> => {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  while (at.offset < end) {
    const wanted = Math.min(buffer.length, end - at.offset);
    const { bytesRead } = await file.read(buffer, 0, wanted, at.offset);
    const chunk = buffer.subarray(0, bytesRead);
    at.offset += bytesRead;
    at.lastBytes = Buffer.concat([at.lastBytes, chunk.subarray(-LAST_BYTES)]).subarray(-LAST_BYTES);
    if (bytesRead === 0 || !onChunk(chunk)) return;
  }
};

const isUnchangedBefore = async (file: FileHandle, { offset, lastBytes }: Position): Promise<boolean> => {
  const found = Buffer.alloc(lastBytes.length);
  await file.read(found, 0, lastBytes.length, offset - lastBytes.length);
  return found.equals(lastBytes);
};

const firstLine = async (file: FileHandle): Promise<string | undefined> => {
  const lines: string[] = [];
  const splitter = makeLineSplitter((line) => lines.push(line), { maxBytes: MAX_HEAD_BYTES });
  await readTo(
    file,
    { inode: 0, offset: 0, lastBytes: Buffer.alloc(0), modifiedAt: 0 },
    {
      end: MAX_HEAD_BYTES,
      onChunk: (chunk) => {
        const newline = chunk.indexOf(NEWLINE);
        splitter.push(newline < 0 ? chunk : chunk.subarray(0, newline + 1));
        return newline < 0;
      },
    },
  );
  return lines[0];
};

// Follows an append-only file by polling its size, with no open file between two reads; a session at rest is told by a watcher.

export interface TailOptions
  extends TailReaderOptions, Pick<FollowOptions, 'intervalMs' | 'onCaughtUp' | 'onProblem' | 'rest'> {}

/** Reports and skips a line at which the caller throws; reading it again would fail again. */
const skipUnusable =
  ({ path, onProblem }: TailOptions, use: OnLine | undefined) =>
  (line: string, offset = 0): void => {
    try {
      use?.(line, offset);
    } catch (error) {
      onProblem(`${path}: ${errorText(error)}`);
    }
  };

/** Reads the file (of a long one its end) and then everything appended, until stopped. */
export const tail = (options: TailOptions): { readonly stop: () => void } => {
  const file = makeTailReader({
    ...options,
    onLine: skipUnusable(options, options.onLine),
    onHead: skipUnusable(options, options.onHead),
  });
  const following = followByPolling({ ...options, ...file });
  return {
    stop: () => {
      following.stop();
      file.stop();
    },
  };
};
