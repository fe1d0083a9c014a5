import type { Counters, ToWorker } from '../session/thread-messages.js';
import { decodeLatin1, findCommands, hasNoCommand } from '../terminal/agent-state-proxy.js';
import { concatBytes } from '../terminal/filter/parser.js';

// What the worker is sent of the child's output and the user's keys, and what is left out while it is slow.

const SEND_MS = 8; // output is told together
const KEYS_MS = 250; // keys are told together: whoever must know of a key at once looks at the counters
const MOST_TOLD = 256 * 1024; // bytes told together
const MOST_UNREAD = 256 * 1024; // bytes that the screen model has not read; more are left out, and it starts anew
const MEMORY_BYTES = 2 * (MOST_TOLD + MOST_UNREAD); // twice what may be unread: only what a restart drops is overwritten unread
const RESTART_MS = 250; // at least so long after output is first left out
const FLOOD_MS = 1_000; // at the latest, while a child writes without a pause: most of what is read then is drawn over before anybody looks
const PAUSE_MS = 25; // without output, a flood has ended
const MOST_COMMANDS = 16; // of a flood; readers know eight titles, and the states of subagents come between
const noBytes = new Uint8Array();

/**
 * Collects bytes for the worker in memory that both threads see, from its beginning again when it is full. Arrays of their own would be
 * megabytes that only a collection in the worker gives back.
 */
const makeCollector = () => {
  const memory = new Uint8Array(new SharedArrayBuffer(MEMORY_BYTES));
  let start = 0;
  let end = 0;
  return {
    length: (): number => end - start,
    hasRoom: (bytes: Uint8Array): boolean => end + bytes.length <= memory.length,
    add: (bytes: Uint8Array): void => {
      memory.set(bytes, end);
      end += bytes.length;
    },
    take: (): Uint8Array => {
      const bytes = memory.subarray(start, end);
      start = end;
      return bytes;
    },
    drop: (): void => void (end = start),
    /** of what was not taken nothing may be left */
    rewind: (): void => void (start = end = 0),
  };
};

interface FeedPort {
  readonly counters: Counters;
  readonly send: (message: ToWorker) => boolean;
  /** resolves when the worker has read everything sent before */
  readonly settled: () => Promise<unknown>;
  /** bytes that bring a new screen model to the child's cursor and modes */
  readonly seed: () => string;
}

/** Titles and agent states of output that is left out: no agent sends them again only because it draws its screen again. */
const makeLeftOut = () => {
  let found: readonly string[] = [];
  let held: Uint8Array = noBytes;
  return {
    note: (bytes: Uint8Array): void => {
      if (held.length === 0 && hasNoCommand(bytes)) return;
      const whole = concatBytes(held, bytes);
      const { commands, end } = findCommands(whole);
      held = whole.subarray(end);
      const texts = commands.map(({ code, text, end: terminator }) => `\x1b]${code};${text}${terminator}`);
      found = [...found, ...texts].slice(-MOST_COMMANDS);
    },
    take: (): string => {
      const commands = decodeLatin1(found.join(''));
      [found, held] = [[], noBytes];
      return commands;
    },
  };
};

/** How much of the child's output the worker has read: one that is slow loses output, and its screen model starts anew. */
const makeFlowControl = ({ counters, send, settled, seed }: FeedPort) => {
  let unread = 0;
  let question: object | undefined; // whether the worker has read what it got; what was asked before a start anew is about other bytes
  let skippedAt: number | undefined;
  let lastOutput = 0; // of what is left out
  let timer: NodeJS.Timeout | undefined;
  const leftOut = makeLeftOut();

  /** Returns the commands of what was left out. */
  const reset = (): string => {
    clearTimeout(timer);
    [unread, question, skippedAt, timer] = [0, undefined, undefined, undefined];
    return leftOut.take();
  };
  const restart = (): void => {
    if (skippedAt === undefined) return;
    const commands = reset();
    send({ type: 'restart', seed: commands + seed(), fed: counters.get('fed') });
  };
  const restartInTime = (): void => {
    timer = undefined;
    if (skippedAt === undefined) return;
    const now = performance.now();
    const due = Math.max(skippedAt + RESTART_MS, Math.min(lastOutput + PAUSE_MS, skippedAt + FLOOD_MS));
    if (due <= now) restart();
    else timer = setTimeout(restartInTime, due - now).unref();
  };
  const ask = (): void => {
    if (question) return;
    const asked = (question = {});
    const before = unread;
    void settled().then(() => {
      if (question !== asked) return;
      question = undefined;
      unread -= before;
      if (timer === undefined) restartInTime();
    });
  };
  return {
    restart,
    /** true for output that is left out */
    skips: (bytes: Uint8Array): boolean => {
      if (skippedAt === undefined && unread <= MOST_UNREAD) return false;
      lastOutput = performance.now();
      if (skippedAt === undefined) {
        skippedAt = lastOutput;
        ask();
      }
      leftOut.note(bytes);
      return true;
    },
    hasRoom: (bytes: number): boolean => unread + bytes <= MOST_UNREAD,
    noteSent: (bytes: number): void => {
      unread += bytes;
      if (unread > MOST_UNREAD / 2) ask();
    },
    reset,
  };
};

/** Tells of the user's keys, for what the user sees: a countdown stops at once, anything else within a quarter of a second. */
const makeKeyReports = ({ send }: Pick<FeedPort, 'send'>) => {
  let isUrgent = false;
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const flush = (): void => {
    if (timer === undefined) return;
    cancel();
    send({ type: 'keys' });
  };
  return {
    cancel,
    flush,
    note: (): void => void (timer ??= setTimeout(flush, isUrgent ? SEND_MS : KEYS_MS).unref()),
    setUrgent: (isNow: boolean): void => {
      isUrgent = isNow;
      if (isUrgent) flush();
    },
  };
};

/** Sends the child's output, at most every 8 ms, and that the user has pressed keys. */
export const makeFeed = (port: FeedPort) => {
  const { counters, send } = port;
  const flow = makeFlowControl(port);
  const keys = makeKeyReports(port);
  const collector = makeCollector();
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;

  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const flushOutput = (): void => {
    cancel();
    if (collector.length() === 0) return;
    const bytes = collector.take();
    send({ type: 'output', bytes });
    flow.noteSent(bytes.length);
  };
  const reset = (): void => {
    cancel();
    keys.cancel();
    keys.setUrgent(false);
    flow.reset();
    collector.drop();
  };
  return {
    /** tells everything now, because something else follows */
    flush: (): void => {
      flushOutput();
      keys.flush();
    },
    restart: flow.restart,
    isUnwritten: (): boolean => counters.get('fed') === 0,
    output: (bytes: Uint8Array): void => {
      counters.add('fed', bytes.length);
      if (isOver || flow.skips(bytes)) return;
      if (!collector.hasRoom(bytes)) {
        flushOutput();
        collector.rewind();
      }
      collector.add(bytes);
      const length = collector.length();
      if (length >= MOST_TOLD || !flow.hasRoom(length)) flushOutput();
      else timer ??= setTimeout(flushOutput, SEND_MS);
    },
    keys: (): void => {
      if (!isOver) keys.note();
    },
    /** whether the user waits for the effect of a key */
    setUrgent: keys.setUrgent,
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
