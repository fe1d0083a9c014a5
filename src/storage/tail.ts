import { constants, type Stats } from 'node:fs';
import { lstat, open, type FileHandle } from 'node:fs/promises';
import { errorText } from '../core/json.js';

// Bytes of a text file become lines, whatever the chunks are.

// Longer lines are skipped: they hold pictures or whole histories, and parsing them would hold up the terminal.
const LONGEST_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

export interface LineSplitterOptions {
  /** lines with more bytes are left out */
  readonly longestBytes?: number;
  /** the first bytes may belong to a line that began earlier: nothing is given until a newline has passed */
  readonly startsInside?: boolean;
}

export interface LineSplitter {
  readonly push: (chunk: Buffer) => void;
}

/** Cuts bytes into lines, without their newlines; the bytes of a line are decoded together, so no character is torn. */
export const lineSplitter = (
  onLine: (line: string) => void,
  { longestBytes = LONGEST_LINE_BYTES, startsInside = false }: LineSplitterOptions = {},
): LineSplitter => {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let isSkipping = startsInside;
  let isFirst = !startsInside;

  const keep = (piece: Buffer): void => {
    bytes += piece.length;
    isSkipping ||= bytes > longestBytes;
    if (isSkipping) pieces = [];
    else if (piece.length > 0) pieces.push(Buffer.from(piece)); // a copy: the chunk's memory is used again
  };

  const end = (piece: Buffer): void => {
    const isLeftOut = isSkipping || bytes + piece.length > longestBytes;
    const whole = pieces.length === 0 ? piece : Buffer.concat([...pieces, piece]);
    const start = isFirst && hasMark(whole) ? BYTE_ORDER_MARK_BYTES.length : 0;
    pieces = [];
    bytes = 0;
    isSkipping = false;
    isFirst = false;
    if (!isLeftOut) onLine(whole.toString('utf8', start));
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

// Editors of other systems put one at the start of a file; JSON does not know it.
const BYTE_ORDER_MARK_BYTES = Buffer.from([0xef, 0xbb, 0xbf]);

const hasMark = (line: Buffer): boolean =>
  line.subarray(0, BYTE_ORDER_MARK_BYTES.length).equals(BYTE_ORDER_MARK_BYTES);

// Reads what an append-only file has got since the last time. Of a long file only the end is read at first: a session of
// hundreds of megabytes says in its last ones how full the window is.

const CHUNK_BYTES = 256 * 1024;
const MARK_BYTES = 64;
const defaultLookBack: LookBack = { firstBytes: 8 * 1024 * 1024, mostBytes: 64 * 1024 * 1024 };
// The first record of a session file may hold the whole system prompt.
const LONGEST_HEAD_BYTES = 1024 * 1024;

/** How much of the end of a long file is read at first, and at most when that says nothing: twice as much each time. */
export interface LookBack {
  readonly firstBytes: number;
  readonly mostBytes: number;
}

export interface GrowingFileOptions {
  readonly path: string;
  /** one complete line, without its newline */
  readonly onLine: (line: string) => void;
  /** the first line of a long file, before the lines of its end: for what it says of the file, not of the present */
  readonly onHead?: (line: string) => void;
  /** lines come again, because the file was truncated or replaced or more of its end is needed: what they said is void */
  readonly onRestart: () => void;
  /** asked when the end of a long file was read: false to begin again further back. Absent: the whole file is read */
  readonly isEnough?: () => boolean;
  readonly lookBack?: LookBack;
}

export interface GrowingFile {
  /** reads to the end; true if there was something new. Rejects when the file cannot be read, and may be called again */
  readonly readNew: () => Promise<boolean>;
  /** the next read begins anew */
  readonly forget: () => void;
  readonly stop: () => void;
}

interface Position {
  readonly inode: number;
  offset: number;
  /** the last bytes before the offset: others there mean that the file was written anew and has grown past it */
  mark: Buffer;
  modifiedAt: number;
}

/** Nothing is open between two reads, and one line is in memory at most. */
export const growingFile = (options: GrowingFileOptions): GrowingFile => {
  const { firstBytes, mostBytes } = options.lookBack ?? defaultLookBack;
  let stopped = false;
  let position: Position | undefined;
  let wasRead = false;
  let lines = lineSplitter(options.onLine);

  const begin = (inode: number, offset: number): Position => {
    if (wasRead) options.onRestart();
    wasRead = true;
    lines = lineSplitter(options.onLine, { startsInside: offset > 0 });
    position = { inode, offset, mark: Buffer.alloc(0), modifiedAt: 0 };
    return position;
  };

  const take = (chunk: Buffer): boolean => {
    if (!stopped) lines.push(chunk);
    return !stopped;
  };

  const beginLong = async (file: FileHandle, inode: number, size: number): Promise<Position> => {
    const head = await firstLine(file);
    for (let back = firstBytes; ; back *= 2) {
      // one byte more, so that a line that begins just here is known to be whole
      const at = begin(inode, Math.max(0, size - Math.min(back, mostBytes) - 1));
      const isWhole = at.offset === 0;
      if (!isWhole && head !== undefined && !stopped) options.onHead?.(head);
      await readTo(file, at, { end: size, take });
      if (stopped || isWhole || back >= mostBytes || options.isEnough?.() !== false) return at;
    }
  };

  const readNew = async (): Promise<boolean> => {
    const { ino, size, mtimeMs } = await regularFile(options.path);
    if (stopped) return false;
    const before = position?.inode === ino && size >= position.offset ? position : undefined;
    if (before && size === before.offset && mtimeMs === before.modifiedAt) return false;
    return withFile(options.path, ino, async (file) => {
      const goesOn = before && (await isMarked(file, before));
      const offset = goesOn ? before.offset : -1;
      const isLong = options.isEnough !== undefined && size > firstBytes;
      const at = goesOn ? before : isLong ? await beginLong(file, ino, size) : begin(ino, 0);
      await readTo(file, at, { end: Infinity, take });
      at.modifiedAt = mtimeMs;
      return !stopped && at.offset !== offset;
    });
  };

  return {
    readNew,
    forget: () => {
      position = undefined;
    },
    stop: () => {
      stopped = true;
      lines = noLines;
    },
  };
};

const regularFile = async (path: string): Promise<Stats> => {
  const stats = await lstat(path);
  if (!stats.isFile()) throw new Error('not a regular file');
  return stats;
};

/** False when another file has come into its place since it was looked at: the next read sees that. */
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

interface Stretch {
  readonly end: number;
  readonly take: (chunk: Buffer) => boolean;
}

// Every read is awaited, so the terminal is served between two chunks however long the file is.
const readTo = async (file: FileHandle, at: Position, { end, take }: Stretch): Promise<void> => {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  while (at.offset < end) {
    const wanted = Math.min(buffer.length, end - at.offset);
    const { bytesRead } = await file.read(buffer, 0, wanted, at.offset);
    const chunk = buffer.subarray(0, bytesRead);
    at.offset += bytesRead;
    at.mark = Buffer.concat([at.mark, chunk.subarray(-MARK_BYTES)]).subarray(-MARK_BYTES);
    if (bytesRead === 0 || !take(chunk)) return;
  }
};

const isMarked = async (file: FileHandle, { offset, mark }: Position): Promise<boolean> => {
  const found = Buffer.alloc(mark.length);
  await file.read(found, 0, mark.length, offset - mark.length);
  return found.equals(mark);
};

const firstLine = async (file: FileHandle): Promise<string | undefined> => {
  const lines: string[] = [];
  const splitter = lineSplitter((line) => lines.push(line), { longestBytes: LONGEST_HEAD_BYTES });
  await readTo(
    file,
    { inode: 0, offset: 0, mark: Buffer.alloc(0), modifiedAt: 0 },
    {
      end: LONGEST_HEAD_BYTES,
      take: (chunk) => {
        const newline = chunk.indexOf(NEWLINE);
        splitter.push(newline < 0 ? chunk : chunk.subarray(0, newline + 1));
        return newline < 0;
      },
    },
  );
  return lines[0];
};

// Follows an append-only file by asking for its size: no watcher, no open file between two reads.

export interface TailOptions extends GrowingFileOptions {
  readonly intervalMs: number;
  /** the end was reached after something new was read */
  readonly onCaughtUp: () => void;
  /** said once until reading works again; the tail goes on trying */
  readonly onProblem: (reason: string) => void;
}

/** A line nobody can use is told of and skipped; reading it again would fail again. */
const skipUnusable =
  ({ path, onProblem }: TailOptions, use: ((line: string) => void) | undefined) =>
  (line: string): void => {
    try {
      use?.(line);
    } catch (error) {
      onProblem(`${path}: ${errorText(error)}`);
    }
  };

/** Reads what is in the file, of a long one its end, and then whatever is appended, until stopped. */
export const tail = (options: TailOptions): { readonly stop: () => void } => {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let problem: string | undefined;
  const file = growingFile({
    ...options,
    onLine: skipUnusable(options, options.onLine),
    onHead: skipUnusable(options, options.onHead),
  });

  const poll = async (): Promise<void> => {
    try {
      const isNew = await file.readNew();
      problem = undefined;
      if (isNew && !stopped) options.onCaughtUp();
    } catch (error) {
      const reason = `${options.path}: ${errorText(error)}`;
      if (!stopped && reason !== problem) options.onProblem(reason);
      problem = reason;
      // Everything is read again then: whoever was told of the problem has let go of the last number.
      file.forget();
    }
    if (!stopped) timer = setTimeout(poll, options.intervalMs).unref();
  };

  void poll();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      file.stop();
    },
  };
};
