import type { Counters, ToWorker } from '../session/thread-messages.js';

// What the worker is sent of the child's output and the user's keys, and what is left out while it is slow.

const SEND_MS = 8; // output and keys are told together
const MOST_TOLD = 256 * 1024; // bytes told together
const MOST_UNREAD = 256 * 1024; // bytes that the screen model has not read; more are left out, and it starts anew
const RESTART_MS = 250; // between two such starts, while a child writes without a pause

/** Bytes on their way to the worker, in a buffer of their own, which can be handed over without a copy. */
const join = (chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
};

interface FeedPort {
  readonly counters: Counters;
  readonly send: (message: ToWorker, transfer?: readonly ArrayBuffer[]) => boolean;
  /** resolves when the worker has read everything sent before */
  readonly settled: () => Promise<unknown>;
  /** bytes that bring a new screen model to the child's cursor and modes */
  readonly seed: () => string;
}

/** How much of the child's output the worker has read: one that is slow loses output, and its screen model starts anew. */
const makeFlowControl = ({ counters, send, settled, seed }: FeedPort) => {
  let unread = 0;
  let isAsked = false; // whether the worker has read what it got
  let skippedAt: number | undefined;

  const restart = (): void => {
    if (skippedAt === undefined) return;
    skippedAt = undefined;
    unread = 0;
    send({ type: 'restart', seed: seed(), fed: counters.get('fed') });
  };
  const ask = (): void => {
    if (isAsked) return;
    isAsked = true;
    const before = unread;
    void settled().then(() => {
      isAsked = false;
      unread = Math.max(0, unread - before);
      if (skippedAt === undefined) return;
      setTimeout(restart, Math.max(0, skippedAt + RESTART_MS - performance.now())).unref();
    });
  };
  return {
    restart,
    isSkipping: () => skippedAt !== undefined,
    hasRoom: (bytes: number): boolean => unread + bytes <= MOST_UNREAD,
    noteSent: (bytes: number): void => {
      unread += bytes;
      if (unread > MOST_UNREAD / 2) ask();
      if (unread > MOST_UNREAD) skippedAt ??= performance.now();
    },
    reset: (): void => {
      [unread, isAsked, skippedAt] = [0, false, undefined];
    },
  };
};

/** Sends the child's output, and the user's keys as an event, at most every 8 ms. */
export const makeFeed = (port: FeedPort) => {
  const { counters, send } = port;
  const flow = makeFlowControl(port);
  let chunks: Uint8Array[] = [];
  let length = 0;
  let hasKeys = false;
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;

  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const flush = (): void => {
    cancel();
    if (length > 0) {
      const bytes = join(chunks, length);
      [chunks, length] = [[], 0];
      send({ type: 'output', bytes }, [bytes.buffer]);
      flow.noteSent(bytes.length);
    }
    if (hasKeys) send({ type: 'keys', typed: counters.get('typed') });
    hasKeys = false;
  };
  const flushSoon = (): void => {
    timer ??= setTimeout(flush, SEND_MS);
  };
  const reset = (): void => {
    cancel();
    flow.reset();
    [chunks, length, hasKeys] = [[], 0, false];
  };
  return {
    flush,
    restart: flow.restart,
    output: (bytes: Uint8Array): void => {
      counters.add('fed', bytes.length);
      if (isOver || flow.isSkipping()) return;
      chunks.push(bytes);
      length += bytes.length;
      if (length < MOST_TOLD && flow.hasRoom(length)) flushSoon();
      else flush();
    },
    keys: (): void => {
      if (isOver) return;
      hasKeys = true;
      flushSoon();
    },
    /** there is another worker, which has got nothing yet */
    reset,
    /** there is no worker any more */
    end: (): void => {
      isOver = true;
      reset();
    },
  };
};

export type Feed = ReturnType<typeof makeFeed>;
