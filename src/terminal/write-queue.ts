import { writeSync } from 'node:fs';

/**
 * Bytes on their way into a terminal whose reader may be slow, or may have stopped: written at once as far as the kernel takes them,
 * and the rest in their order as soon as it takes more. Nothing here ever waits in write(2). libuv does where it could not open the
 * terminal anew, and always on the PTY's own side: with a full PTY it tries again and again without going back to its loop.
 */
export interface WriteQueue {
  write: (bytes: Uint8Array) => void;
  /** bytes that the terminal has not taken yet */
  pending: () => number;
  /** resolves when it has taken everything written so far, or is gone */
  drained: () => Promise<void>;
  /** what waits is dropped, and so is all that comes */
  close: () => void;
}

export interface WriteQueueOptions {
  /** must have O_NONBLOCK set */
  readonly fd: number;
  /** asked before each write: the descriptor's number may belong to another file soon after it was closed */
  readonly isOpen: () => boolean;
  /** everything that waited has been taken */
  readonly onDrained: () => void;
  /** the terminal is gone: EIO after a hang-up, for one */
  readonly onGone: () => void;
}

const AT_ONCE_MS = 1; // a reader that runs takes what is there within this time: look in every turn of the loop
// Milliseconds between two tries, by how long it has taken nothing: a slow one soon takes more, one that has stopped may never.
const waits = [
  { untilMs: 50, waitMs: 1 },
  { untilMs: 1_000, waitMs: 4 },
  { untilMs: Infinity, waitMs: 16 }, // 60 tries a second cost 0.2 % of a processor, and nobody waits longer than a frame
] as const;

/** The number of bytes taken; 0 where the terminal takes none now. Throws what the system says where it is gone. */
const writeNow = (fd: number, bytes: Uint8Array): number => {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0; // "not now" comes as an error, and its stack would cost more than the write
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

/** Tries again with a terminal that has just taken nothing. */
const makeRetry = (attempt: () => void) => {
  let stuckSince = 0;
  let cancel: (() => void) | undefined;
  const run = (): void => {
    cancel = undefined;
    attempt();
  };
  return {
    isDue: (): boolean => cancel !== undefined,
    /** it takes bytes, so that it is looked at often again */
    noteProgress: (): void => {
      stuckSince = performance.now();
    },
    later: (): void => {
      const stuckMs = performance.now() - stuckSince;
      if (stuckMs < AT_ONCE_MS) {
        const immediate = setImmediate(run);
        cancel = () => clearImmediate(immediate);
        return;
      }
      const timer = setTimeout(run, waits.find(({ untilMs }) => stuckMs < untilMs)?.waitMs);
      cancel = () => clearTimeout(timer);
    },
    stop: (): void => {
      cancel?.();
      cancel = undefined;
    },
  };
};

export const makeWriteQueue = ({ fd, isOpen, onDrained, onGone }: WriteQueueOptions): WriteQueue => {
  let waiting: Uint8Array[] = [];
  let size = 0;
  let isClosed = false;
  let whenDrained: (() => void)[] = [];
  const retry = makeRetry(() => flush());

  const settle = (): void => whenDrained.splice(0).forEach((resolve) => resolve());
  const close = (): void => {
    isClosed = true;
    retry.stop();
    [waiting, size] = [[], 0];
    settle();
  };
  /** The number of bytes taken; a terminal that is gone takes everything. */
  const take = (bytes: Uint8Array): number => {
    try {
      if (isOpen()) return writeNow(fd, bytes);
      close();
    } catch {
      close();
      onGone();
    }
    return bytes.length;
  };
  const flush = (): void => {
    for (let first = waiting[0]; first !== undefined; [first] = waiting) {
      const taken = take(first);
      if (isClosed) return;
      if (taken > 0) retry.noteProgress();
      size -= taken;
      if (taken < first.length) {
        waiting[0] = first.subarray(taken);
        return retry.later();
      }
      waiting.shift();
    }
    settle();
    onDrained();
  };
  return {
    write: (bytes) => {
      if (isClosed || bytes.length === 0) return;
      const taken = waiting.length > 0 ? 0 : take(bytes);
      if (isClosed || taken === bytes.length) return;
      waiting.push(bytes.subarray(taken));
      size += bytes.length - taken;
      if (retry.isDue()) return;
      retry.noteProgress();
      retry.later();
    },
    pending: () => size,
    drained: () =>
      new Promise((resolve) => {
        if (size === 0) resolve();
        else whenDrained.push(resolve);
      }),
    close,
  };
};
