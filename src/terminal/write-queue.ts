import { writeSync } from 'node:fs';

/**
 * Writes bytes to a terminal whose reader may be slow or stopped: as many as the kernel takes at once, and the rest in order when it
 * takes more. Never blocks in write(2).
 */
export interface WriteQueue {
  write: (bytes: Uint8Array) => void;
  /** bytes that the terminal has not taken yet */
  pending: () => number;
  /** resolves when the terminal has taken everything written so far, or has hung up */
  drained: () => Promise<void>;
  /** drops waiting bytes and all later ones */
  close: () => void;
}

export interface WriteQueueOptions {
  /** must have O_NONBLOCK set */
  readonly fd: number;
  /** checked before each write: after a close the descriptor's number may belong to another file */
  readonly isOpen: () => boolean;
  /** the terminal has taken everything queued */
  readonly onDrained: () => void;
  /** a write has failed: EIO after a hang-up, for example */
  readonly onHangUp: () => void;
  /** without one, bytes that were refused are tried again in time */
  readonly streamed?: StreamedWrite | undefined;
}

/**
 * Writes by a stream of libuv's to the same terminal: it is told by the kernel when the terminal takes more. Not every stream can be used:
 * libuv blocks in write(2) if it could not open the terminal anew, and always on the master side of a PTY.
 */
export type StreamedWrite = (bytes: Uint8Array, onDone: (error?: Error | null) => void) => void;

/** What is done with bytes that the terminal has just refused. */
interface Backlog {
  isBusy: () => boolean;
  /** `first` waits first, and the terminal takes nothing now */
  start: (first: Uint8Array) => void;
  /** the terminal has taken bytes since the last start */
  noteProgress: () => void;
  stop: () => void;
}

const NAP_MS = 0.1; // sleep in every turn of the event loop: a timer sleeps ten times as long, and a turn without sleep takes the reader's processor
const NAPPING_MS = 10; // a running reader takes the bytes within this time
// Milliseconds between two tries, by how long the terminal has taken nothing: a slow reader soon takes more, a stopped one may never.
const retryDelays = [
  { untilMs: 50, waitMs: 1 },
  { untilMs: 1_000, waitMs: 4 },
  { untilMs: Infinity, waitMs: 16 }, // 60 tries a second cost 0.2 % of a CPU, and the delay is at most one frame
] as const;

/** The number of bytes taken; 0 if the terminal takes none now. Throws the system's error if it has hung up. */
const writeNow = (fd: number, bytes: Uint8Array): number => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // EAGAIN comes as an error, and its stack trace would cost more than the write
  try {
    return writeSync(fd, bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EAGAIN' || code === 'EINTR') return 0;
    throw error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
};

const never = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Tries again in time. `attempt` is told how many of the bytes have been written: none. */
const makeRetries = (attempt: (written: number) => void): Backlog => {
  let stuckSince = 0;
  let cancel: (() => void) | undefined;
  const run = (): void => {
    cancel = undefined;
    attempt(0);
  };
  return {
    isBusy: (): boolean => cancel !== undefined,
    noteProgress: (): void => {
      stuckSince = performance.now();
    },
    start: (): void => {
      const stuckMs = performance.now() - stuckSince;
      if (stuckMs < NAPPING_MS) {
        const immediate = setImmediate(() => {
          Atomics.wait(never, 0, 0, NAP_MS);
          run();
        });
        cancel = () => clearImmediate(immediate);
        return;
      }
      const timer = setTimeout(run, retryDelays.find(({ untilMs }) => stuckMs < untilMs)?.waitMs);
      cancel = () => clearTimeout(timer);
    },
    stop: (): void => {
      cancel?.();
      cancel = undefined;
    },
  };
};

const STREAMED_BYTES = 512; // enough to be called when the terminal takes more; the rest counts as waiting until it is really written

/** Leaves the beginning of what waits to a stream, which writes it as soon as the terminal takes it. */
const makeStreamed = (
  write: StreamedWrite,
  onWritten: (bytes: number) => void,
  onFailure: () => void,
): Backlog => {
  let isBusy = false;
  let isStopped = false;
  return {
    isBusy: () => isBusy,
    noteProgress: () => undefined,
    start: (first) => {
      isBusy = true;
      const bytes = first.subarray(0, STREAMED_BYTES);
      write(bytes, (error) => {
        isBusy = false;
        if (isStopped) return;
        if (error) onFailure();
        else onWritten(bytes.length);
      });
    },
    stop: () => {
      isStopped = true;
    },
  };
};

const CHUNK_BYTES = 16 * 1024; // what waits in many small pieces is written together

/** Bytes that wait, in order. */
const makeWaiting = () => {
  let chunks: { readonly memory: Uint8Array; start: number; end: number }[] = [];
  let size = 0;
  return {
    size: () => size,
    isEmpty: () => size === 0,
    first: (): Uint8Array | undefined => {
      const [chunk] = chunks;
      return chunk?.memory.subarray(chunk.start, chunk.end);
    },
    /** copies them: the caller may write to them again */
    add: (bytes: Uint8Array): void => {
      size += bytes.length;
      const last = chunks.at(-1);
      if (last && last.end + bytes.length <= last.memory.length) {
        last.memory.set(bytes, last.end);
        last.end += bytes.length;
        return;
      }
      const memory = new Uint8Array(Math.max(bytes.length, CHUNK_BYTES));
      memory.set(bytes);
      chunks.push({ memory, start: 0, end: bytes.length });
    },
    /** so many of the first bytes have been written */
    drop: (count: number): void => {
      const [chunk] = chunks;
      if (chunk === undefined) return;
      size -= count;
      chunk.start += count;
      if (chunk.start === chunk.end) chunks.shift();
    },
    clear: (): void => void ([chunks, size] = [[], 0]),
  };
};

export const makeWriteQueue = ({ fd, streamed, ...terminal }: WriteQueueOptions): WriteQueue => {
  const waiting = makeWaiting();
  let isClosed = false;
  const whenDrained: (() => void)[] = [];

  const resolveDrained = (): void => whenDrained.splice(0).forEach((resolve) => resolve());
  const close = (): void => {
    isClosed = true;
    backlog.stop();
    waiting.clear();
    resolveDrained();
  };
  const hangUp = (): void => {
    close();
    terminal.onHangUp();
  };
  /** The number of bytes taken; a terminal that has hung up counts as taking everything. */
  const tryWrite = (bytes: Uint8Array): number => {
    try {
      if (terminal.isOpen()) return writeNow(fd, bytes);
      close();
    } catch {
      hangUp();
    }
    return bytes.length;
  };
  /** `written` bytes of what waits first have been written; goes on with the rest. */
  const goOn = (written: number): void => {
    waiting.drop(written);
    for (let first = waiting.first(); first; first = waiting.first()) {
      const taken = tryWrite(first);
      if (isClosed) return;
      if (taken > 0) backlog.noteProgress();
      waiting.drop(taken);
      if (taken < first.length) return backlog.start(first.subarray(taken));
    }
    resolveDrained();
    terminal.onDrained();
  };
  const backlog = streamed ? makeStreamed(streamed, goOn, hangUp) : makeRetries(goOn);
  return {
    write: (bytes) => {
      if (isClosed || bytes.length === 0) return;
      const taken = waiting.isEmpty() ? tryWrite(bytes) : 0;
      if (isClosed || taken === bytes.length) return;
      waiting.add(bytes.subarray(taken));
      if (backlog.isBusy()) return;
      backlog.noteProgress();
      backlog.start(waiting.first() ?? bytes);
    },
    pending: waiting.size,
    drained: () =>
      new Promise((resolve) => {
        if (waiting.isEmpty()) resolve();
        else whenDrained.push(resolve);
      }),
    close,
  };
};
