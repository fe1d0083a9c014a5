import { Unicode11Addon } from '@xterm/addon-unicode11';
import type headless from '@xterm/headless';
import { decodeAt, INCOMPLETE } from './filter/bytes.js';

/*
 * Feeds the emulator in short slices, so that parsing never blocks the event loop, and only with complete characters.
 */

/** Bytes that wait to be parsed, taken in slices. */
export interface Backlog {
  add: (bytes: Uint8Array) => void;
  /** runs this when everything added before has been taken */
  addAction: (act: () => void) => void;
  /** runs the actions that come before the next byte */
  runActions: () => void;
  /** the next slice of at most `most` bytes; undefined if nothing waits */
  take: (most: number) => Uint8Array | undefined;
  /** bytes that wait */
  size: () => number;
  clear: () => void;
  /** runs the actions that wait, drops all bytes and starts with these */
  restartWith: (bytes: Uint8Array) => void;
}

const MAX_TAKEN = 1024; // chunks kept after they were taken, before the array is copied

const makeBacklog = (): Backlog => {
  let chunks: Uint8Array[] = [];
  let actions: { readonly at: number; readonly act: () => void }[] = []; // `at`: bytes added before
  let [added, takenBytes] = [0, 0];
  let first = 0; // index of the first chunk not taken; `shift` for each would be slow with many small chunks
  let size = 0;
  const runActions = (until = takenBytes): void => {
    while (actions[0] && actions[0].at <= until) actions.shift()?.act();
  };
  const restartWith = (bytes?: Uint8Array): void => {
    runActions(Infinity);
    takenBytes = added;
    added += bytes?.length ?? 0;
    chunks = bytes ? [bytes] : [];
    first = 0;
    size = bytes?.length ?? 0;
  };
  return {
    add: (bytes) => {
      if (bytes.length > 0) chunks.push(bytes);
      size += bytes.length;
      added += bytes.length;
    },
    addAction: (act) => {
      actions.push({ at: added, act });
      if (size === 0) runActions();
    },
    runActions: () => runActions(),
    take: (most) => {
      const chunk = chunks[first];
      if (chunk === undefined) return undefined;
      const taken = chunk.subarray(0, most); // an action waits for the end of a chunk
      if (taken.length === chunk.length) first += 1;
      else chunks[first] = chunk.subarray(most);
      size -= taken.length;
      takenBytes += taken.length;
      if (first === MAX_TAKEN || first === chunks.length) {
        chunks = chunks.slice(first);
        first = 0;
      }
      return taken;
    },
    size: () => size,
    clear: () => restartWith(),
    restartWith,
  };
};

export interface TimeSlicedParser {
  readonly feed: (bytes: Uint8Array) => void;
  /** runs this when everything fed before is parsed; at once where nothing waits */
  readonly inOrder: (act: () => void) => void;
  /** resolves when everything fed so far is parsed, or when parsing has ended */
  readonly settled: () => Promise<void>;
  readonly isBehind: () => boolean;
  /** drops waiting bytes and ignores new ones until `resume` */
  readonly pause: () => void;
  /** parses these bytes first, then what is fed */
  readonly resume: (first: Uint8Array) => void;
}

export interface ParserOptions {
  /** milliseconds of a monotonic clock */
  readonly now: () => number;
  /** CPU time of this process in milliseconds: a suspended process must not count as a slow slice */
  readonly cpu: () => number;
  readonly parse: (bytes: Uint8Array) => void;
  /** bytes to restart with when too many wait */
  readonly restartBytes: () => Uint8Array;
  /** `parse` has thrown, or has taken too long to be called again; parsing has ended */
  readonly onFailure: (error: unknown) => void;
}

const MAX_BACKLOG = 512 * 1024; // bytes; many times what it takes to draw a screen
const FLOOD = 16 * 1024; // bytes that wait
const FLOOD_PAUSE_MS = 10; // while a flood waits and bytes keep coming, parsing waits
const SLICE_MS = 4; // per turn of the event loop, which also carries the user's keys
const MAX_PARSE_MS = 1_000; // CPU time for one slice, during which the event loop is blocked
const SLICE = { least: 4, first: 64, most: 256 } as const; // bytes

/** Bytes to parse before the next look at the clock: most bytes take a few ns, some a hundred µs (`ESC c`). */
const nextSlice = (bytes: number, tookMs: number): number => {
  if (tookMs > SLICE_MS / 2) return Math.max(SLICE.least, Math.floor(bytes / 8));
  return tookMs < SLICE_MS / 8 ? Math.min(SLICE.most, bytes * 2) : bytes;
};

/** The returned function parses for a few milliseconds; true if nothing is left. It throws when it must not be called again. */
const makeSliceParser = (backlog: Backlog, { parse, now, cpu }: ParserOptions): (() => boolean) => {
  let slice: number = SLICE.first;
  return () => {
    const worked = cpu();
    for (let left = SLICE_MS; left > 0;) {
      const bytes = backlog.take(slice);
      if (bytes === undefined) return true;
      const startedAt = now();
      parse(bytes);
      backlog.runActions();
      const tookMs = now() - startedAt;
      if (tookMs > MAX_PARSE_MS && cpu() - worked > MAX_PARSE_MS)
        throw new Error(`${bytes.length} bytes took ${Math.round(tookMs)} ms`);
      slice = nextSlice(slice, tookMs);
      left -= tookMs;
    }
    return backlog.size() === 0;
  };
};

/** Parses for a few milliseconds per turn of the event loop, and waits while a flood of output lasts. */
export const makeTimeSlicedParser = (port: ParserOptions): TimeSlicedParser => {
  const { restartBytes, onFailure, now } = port;
  const backlog = makeBacklog();
  const parseSlices = makeSliceParser(backlog, port);
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let next: NodeJS.Immediate | undefined;
  let lastFeed = 0;
  let isPaused = false;

  const finish = (): void => waiting.splice(0).forEach((done) => done());
  const cancelTimers = (): void => {
    clearTimeout(timer);
    clearImmediate(next);
    timer = next = undefined;
  };
  const pause = (): void => {
    isPaused = true;
    backlog.clear();
    finish();
  };
  const schedule = (delayMs: number): void => {
    if (!next) timer ??= setTimeout(runTurn, delayMs);
  };
  const isFlood = (): boolean => backlog.size() > FLOOD && now() - lastFeed < FLOOD_PAUSE_MS;
  const runTurn = (): void => {
    cancelTimers();
    if (isPaused) return finish();
    if (waiting.length === 0 && isFlood()) return schedule(FLOOD_PAUSE_MS);
    try {
      if (parseSlices()) finish();
      else next = setImmediate(runTurn);
    } catch (error) {
      pause();
      onFailure(error);
    }
  };
  return {
    isBehind: () => backlog.size() > 0,
    feed: (bytes) => {
      if (isPaused) return;
      backlog.add(bytes);
      lastFeed = now();
      if (backlog.size() > MAX_BACKLOG) backlog.restartWith(restartBytes());
      schedule(0);
    },
    inOrder: backlog.addAction,
    settled: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        runTurn();
      }),
    pause,
    resume: (first) => {
      isPaused = false;
      backlog.restartWith(first);
      schedule(0);
    },
  };
};

const MAX_CHARACTER_BYTES = 4; // bytes of a character in UTF-8 (RFC 3629)

/**
 * Holds back the start of an incomplete character until its rest arrives. xterm.js 6 loses some characters that arrive in two pieces
 * (seen: `•` cut before its third byte), though it should join them.
 */
export const makeCharacterJoiner = (): ((chunk: Uint8Array) => Uint8Array) => {
  let partial: Uint8Array = new Uint8Array();
  return (chunk) => {
    const bytes = partial.length > 0 ? Buffer.concat([partial, chunk]) : chunk;
    const end = endOfLastComplete(bytes);
    partial = bytes.slice(end);
    return bytes.subarray(0, end);
  };
};

/** Offset of an incomplete last character; the length if there is none. */
const endOfLastComplete = (bytes: Uint8Array): number => {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - MAX_CHARACTER_BYTES + 1); at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return decodeAt(bytes, at) === INCOMPLETE ? at : bytes.length;
  }
  return bytes.length;
};

// Character widths of Unicode 11, with a limit for combining characters in one cell.

/** Combining characters in a cell; more get cells of their own. No language needs more: UAX #15, Stream-Safe Text Format. */
const MAX_COMBINING = 30;

// xterm.js describes a character with one number: whether it joins the one before it, the width of both, and bits free for the provider.
const JOINS = 0b001;
const OWN_SHIFT = 3;
const XTERMS_BITS = 0b111;
const ONE_COLUMN = 0b010;

const VERSION = '11 with an end';

type Provider = Parameters<headless.Terminal['unicode']['register']>[0];

const unicode11 = (): Provider => {
  let provider: Provider | undefined;
  const addon = new Unicode11Addon() as unknown as headless.ITerminalAddon;
  const catching = { unicode: { register: (given: Provider) => (provider = given) } };
  addon.activate(catching as unknown as headless.Terminal);
  if (!provider) throw new Error('the widths of Unicode 11 are missing');
  return provider;
};

/** Without a limit, each combining character added to a cell makes every later read of that cell slower. */
export const limitCombiningCharacters = (terminal: headless.Terminal): void => {
  const provider = unicode11();
  terminal.unicode.register({
    version: VERSION,
    wcwidth: (codePoint) => provider.wcwidth(codePoint),
    charProperties: (codePoint, before) => {
      const properties = provider.charProperties(codePoint, before & XTERMS_BITS);
      if ((properties & JOINS) === 0) return properties;
      const joined = (before >> OWN_SHIFT) + 1;
      return joined > MAX_COMBINING ? ONE_COLUMN : properties | (joined << OWN_SHIFT);
    },
  });
  terminal.unicode.activeVersion = VERSION;
};
