import { writeSync } from 'node:fs';

/**
 * Writes bytes to a terminal whose reader may be slow or stopped: as many as the kernel takes at once, and the rest in order when it
 * takes more. Never blocks in write(2). libuv does block if it could not reopen the terminal, and always on the master side of a PTY:
 * with a full PTY it retries without returning to the event loop.
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

/** Schedules retries for a terminal that has just taken nothing. */
const makeRetry = (attempt: () => void) => {
  let stuckSince = 0;
  let cancel: (() => void) | undefined;
  const run = (): void => {
    cancel = undefined;
    attempt();
  };
  return {
    isScheduled: (): boolean => cancel !== undefined,
    /** the terminal has taken bytes, so retries are frequent again */
    noteProgress: (): void => {
      stuckSince = performance.now();
    },
    schedule: (): void => {
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

export const makeWriteQueue = ({ fd, isOpen, onDrained, onHangUp }: WriteQueueOptions): WriteQueue => {
  let waiting: Uint8Array[] = [];
  let size = 0;
  let isClosed = false;
  let whenDrained: (() => void)[] = [];
  const retry = makeRetry(() => flush());

  const resolveDrained = (): void => whenDrained.splice(0).forEach((resolve) => resolve());
  const close = (): void => {
    isClosed = true;
    retry.stop();
    [waiting, size] = [[], 0];
    resolveDrained();
  };
  /** The number of bytes taken; a terminal that has hung up counts as taking everything. */
  const tryWrite = (bytes: Uint8Array): number => {
    try {
      if (isOpen()) return writeNow(fd, bytes);
      close();
    } catch {
      close();
      onHangUp();
    }
    return bytes.length;
  };
  const flush = (): void => {
    for (let first = waiting[0]; first !== undefined; [first] = waiting) {
      const taken = tryWrite(first);
      if (isClosed) return;
      if (taken > 0) retry.noteProgress();
      size -= taken;
      if (taken < first.length) {
        waiting[0] = first.subarray(taken);
        return retry.schedule();
      }
      waiting.shift();
    }
    resolveDrained();
    onDrained();
  };
  return {
    write: (bytes) => {
      if (isClosed || bytes.length === 0) return;
      const taken = waiting.length > 0 ? 0 : tryWrite(bytes);
      if (isClosed || taken === bytes.length) return;
      waiting.push(new Uint8Array(bytes.subarray(taken))); // the caller may write to them again
      size += bytes.length - taken;
      if (retry.isScheduled()) return;
      retry.noteProgress();
      retry.schedule();
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
