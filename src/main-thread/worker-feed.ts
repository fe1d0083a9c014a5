import type { Counters, ToWorker } from '../session/thread-messages.js';
import { commandText, decodeLatin1, findCommands, hasNoCommand } from '../terminal/agent-state-proxy.js';
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
const PART_BYTES = 64 * 1024; // at least so much of a flood's end is read, if the flood was as long: more than a screen takes
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
  /** bytes that bring a new screen model to the child's present cursor and modes */
  readonly seed: () => string;
  /** the child's output so far ends between two sequences */
  readonly isBetween: () => boolean;
}

/** Titles and agent states in output: no agent sends them again only because it draws its screen again. */
const makeCommands = () => {
  let found: readonly string[] = [];
  let held: Uint8Array = noBytes;
  return {
    note: (bytes: Uint8Array): void => {
      if (held.length === 0 && hasNoCommand(bytes)) return;
      const whole = concatBytes(held, bytes);
      const { commands, end } = findCommands(whole);
      held = whole.subarray(end);
      found = [...found, ...commands.map(commandText)].slice(-MOST_COMMANDS);
    },
    take: (): string => {
      const commands = decodeLatin1(found.join(''));
      [found, held] = [[], noBytes];
      return commands;
    },
  };
};

/** A part of the output, and the bytes that bring a new screen model to where it begins. */
interface Part {
  readonly seed: string;
  readonly memory: Uint8Array;
  length: number; // changed in place: a new part for each read would be memory that only a collection gives back
}

const bytesOf = ({ memory, length }: Part): Uint8Array => memory.subarray(0, length);

/** What the screen model starts anew with: the last parts of what was left out, and from where. */
interface LastParts {
  readonly seed: string;
  readonly parts: readonly Uint8Array[];
}

/**
 * Output that is left out: keeps the last of it, which draws the screen of a child that then rests, and of the rest the titles and states.
 * Two parts take turns, each of which begins between two sequences.
 */
const makeLeftOut = ({ seed, isBetween }: Pick<FeedPort, 'seed' | 'isBetween'>) => {
  const commands = makeCommands();
  let [memory, other] = [new Uint8Array(2 * PART_BYTES), new Uint8Array(2 * PART_BYTES)];
  let parts: readonly Part[] = []; // at most two

  const begin = (): void => {
    const [first] = parts;
    if (parts.length > 1 && first) commands.note(bytesOf(first));
    [memory, other] = [other, memory];
    parts = [...parts.slice(-1), { seed: seed(), memory, length: 0 }];
  };
  const drop = (bytes: Uint8Array): void => {
    for (const part of parts) commands.note(bytesOf(part));
    commands.note(bytes);
    parts = [];
  };
  return {
    /** the child's cursor and modes are those behind these bytes */
    note: (bytes: Uint8Array): void => {
      const last = parts.at(-1);
      const length = (last?.length ?? 0) + bytes.length;
      if (last && length <= memory.length) {
        memory.set(bytes, last.length);
        last.length = length;
      } else drop(bytes);
      if ((parts.length === 0 || length >= PART_BYTES) && isBetween()) begin();
    },
    take: (): LastParts => {
      const taken = { seed: commands.take() + (parts[0]?.seed ?? seed()), parts: parts.map(bytesOf) };
      parts = [];
      return taken;
    },
  };
};

/** How much of the child's output the worker has read: one that is slow loses output, and its screen model starts anew. */
const makeFlowControl = (port: FeedPort, tell: (bytes: Uint8Array) => void) => {
  const { counters, send, settled } = port;
  let unread = 0;
  let question: object | undefined; // whether the worker has read what it got; what was asked before a start anew is about other bytes
  let skippedAt: number | undefined;
  let lastOutput = 0; // of what is left out
  let timer: NodeJS.Timeout | undefined;
  const leftOut = makeLeftOut(port);
  /** Returns the end of what was left out. */
  const reset = (): LastParts => {
    clearTimeout(timer);
    [unread, question, skippedAt, timer] = [0, undefined, undefined, undefined];
    return leftOut.take();
  };
  const restart = (): void => {
    if (skippedAt === undefined) return;
    const { seed, parts } = reset();
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    send({ type: 'restart', seed, fed: (counters.get('fed') - length) | 0 });
    parts.forEach(tell);
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
      if (skippedAt === undefined) ask();
      skippedAt ??= lastOutput;
      leftOut.note(bytes);
      return true;
    },
    /** so many bytes do not wait any longer */
    isDue: (bytes: number): boolean => bytes >= MOST_TOLD || unread + bytes > MOST_UNREAD,
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
  const flow = makeFlowControl(port, (bytes) => collect(bytes));
  const keys = makeKeyReports(port);
  const collector = makeCollector();
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const collect = (bytes: Uint8Array): void => {
    if (!collector.hasRoom(bytes)) {
      flushOutput();
      collector.rewind();
    }
    collector.add(bytes);
    if (flow.isDue(collector.length())) flushOutput();
    else timer ??= setTimeout(flushOutput, SEND_MS);
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
      if (!isOver && !flow.skips(bytes)) collect(bytes);
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
