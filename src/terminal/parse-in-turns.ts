import { Unicode11Addon } from '@xterm/addon-unicode11';
import type headless from '@xterm/headless';
import { decodeAt, INCOMPLETE } from './filter/bytes.js';

/** Bytes that wait to be parsed, handed out in slices so that nobody waits long for the event loop. */
export interface Backlog {
  add: (bytes: Uint8Array) => void;
  /** the next slice of at most so many bytes, or undefined when nothing waits */
  take: (most: number) => Uint8Array | undefined;
  /** bytes that wait */
  size: () => number;
  drop: () => void;
  /** drops everything and begins again with these bytes */
  startAnew: (bytes: Uint8Array) => void;
}

const MOST_TAKEN = 1024; // chunks kept after they were taken

const makeBacklog = (): Backlog => {
  let chunks: Uint8Array[] = [];
  let first = 0; // those before it have been taken; shifting each would make a flood of small chunks slow
  let size = 0;
  const startAnew = (bytes?: Uint8Array): void => {
    chunks = bytes ? [bytes] : [];
    first = 0;
    size = bytes?.length ?? 0;
  };
  return {
    add: (bytes) => {
      if (bytes.length > 0) chunks.push(bytes);
      size += bytes.length;
    },
    take: (most) => {
      const chunk = chunks[first];
      if (chunk === undefined) return undefined;
      const taken = chunk.subarray(0, most);
      if (taken.length === chunk.length) first += 1;
      else chunks[first] = chunk.subarray(most);
      size -= taken.length;
      if (first === MOST_TAKEN || first === chunks.length) {
        chunks = chunks.slice(first);
        first = 0;
      }
      return taken;
    },
    size: () => size,
    drop: () => startAnew(),
    startAnew,
  };
};

export interface Parsing {
  readonly feed: (bytes: Uint8Array) => void;
  /** resolves when everything fed so far is parsed, or nothing is parsed any more */
  readonly settled: () => Promise<void>;
  readonly isBehind: () => boolean;
  /** drops what waits, and takes nothing until `resume` */
  readonly pause: () => void;
  /** parses this first, and then what is fed */
  readonly resume: (first: Uint8Array) => void;
}

export interface ParsingPort {
  /** milliseconds, of a clock that never goes back */
  readonly now: () => number;
  /** milliseconds in which a processor worked for this process: a stop of it is no slice that took long */
  readonly cpu: () => number;
  readonly parse: (bytes: Uint8Array) => void;
  /** what to begin anew with when too much waits */
  readonly anew: () => Uint8Array;
  /** `parse` has thrown, or has taken so long that it must not be called again; nothing is parsed any more */
  readonly onFailure: (error: unknown) => void;
}

const MAX_BACKLOG = 512 * 1024; // bytes; many times what a screen needs to be drawn
const FLOOD = 16 * 1024; // bytes that wait
const FLOOD_PAUSE_MS = 10; // while a flood waits and bytes keep coming, parsing waits
const TURN_MS = 4; // of the event loop, which has the user's keys to carry as well
const UNBEARABLE_MS = 1_000; // for one slice, in which nothing else happens
const SLICE = { least: 4, first: 64, most: 256 } as const; // bytes

/** How much is parsed before the clock is asked again: most bytes take a few ns, some a hundred µs (`ESC c`). */
const nextSlice = (bytes: number, tookMs: number): number => {
  if (tookMs > TURN_MS / 2) return Math.max(SLICE.least, Math.floor(bytes / 8));
  return tookMs < TURN_MS / 8 ? Math.min(SLICE.most, bytes * 2) : bytes;
};

/** Parses what waits for a few milliseconds; true when it is all. Throws when it must not be called again. */
const parseTurns = (backlog: Backlog, { parse, now, cpu }: ParsingPort): (() => boolean) => {
  let slice: number = SLICE.first;
  return () => {
    const worked = cpu();
    for (let left = TURN_MS; left > 0;) {
      const bytes = backlog.take(slice);
      if (bytes === undefined) return true;
      const startedAt = now();
      parse(bytes);
      const tookMs = now() - startedAt;
      if (tookMs > UNBEARABLE_MS && cpu() - worked > UNBEARABLE_MS)
        throw new Error(`${bytes.length} bytes took ${Math.round(tookMs)} ms`);
      slice = nextSlice(slice, tookMs);
      left -= tookMs;
    }
    return backlog.size() === 0;
  };
};

/** Parses what it is fed for a few milliseconds a turn of the event loop, and not at all in the middle of a flood. */
export const parseInTurns = (port: ParsingPort): Parsing => {
  const { anew, onFailure, now } = port;
  const backlog = makeBacklog();
  const parseTurn = parseTurns(backlog, port);
  let waiting: (() => void)[] = [];
  let timer: NodeJS.Timeout | undefined;
  let next: NodeJS.Immediate | undefined;
  let lastFeed = 0;
  let isPaused = false;

  const finish = (): void => waiting.splice(0).forEach((done) => done());
  const sleep = (): void => {
    clearTimeout(timer);
    clearImmediate(next);
    timer = next = undefined;
  };
  const pause = (): void => {
    isPaused = true;
    backlog.drop();
    finish();
  };
  const wake = (delayMs: number): void => {
    if (!next) timer ??= setTimeout(pump, delayMs);
  };
  const isFlood = (): boolean => backlog.size() > FLOOD && now() - lastFeed < FLOOD_PAUSE_MS;
  const pump = (): void => {
    sleep();
    if (isPaused) return finish();
    if (waiting.length === 0 && isFlood()) return wake(FLOOD_PAUSE_MS);
    try {
      if (parseTurn()) finish();
      else next = setImmediate(pump);
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
      if (backlog.size() > MAX_BACKLOG) backlog.startAnew(anew());
      wake(0);
    },
    settled: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        pump();
      }),
    pause,
    resume: (first) => {
      isPaused = false;
      backlog.startAnew(first);
      wake(0);
    },
  };
};

const LONGEST = 4; // bytes of a character in UTF-8 (RFC 3629)

/**
 * Keeps the beginning of a character back until its rest is there. xterm.js 6 loses some characters that come in two pieces (seen: `•`
 * before its third byte), though it is meant to join them.
 */
export const makeWholeCharacters = (): ((chunk: Uint8Array) => Uint8Array) => {
  let begun: Uint8Array = new Uint8Array();
  return (chunk) => {
    const bytes = begun.length > 0 ? Buffer.concat([begun, chunk]) : chunk;
    const end = endOfWhole(bytes);
    begun = bytes.slice(end);
    return bytes.subarray(0, end);
  };
};

/** Where a character begins that is not complete; the length where there is none. */
const endOfWhole = (bytes: Uint8Array): number => {
  for (let at = bytes.length - 1; at >= Math.max(0, bytes.length - LONGEST + 1); at -= 1) {
    const byte = bytes[at] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return decodeAt(bytes, at) === INCOMPLETE ? at : bytes.length;
  }
  return bytes.length;
};

// Widths of characters as Unicode 11 has them, with an end to what may pile up in one cell.

/** Characters on top of the first one in a cell; more are cells of their own. No language needs more: UAX #15, Stream-Safe Text Format. */
const MOST_JOINED = 30;

// What xterm.js knows of a character is one number: does it join the one before it, how wide are both, and bits of the provider's own.
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

/** Without it each combining character that is piled on a cell makes every later look at that cell longer. */
export const limitJoinedCharacters = (terminal: headless.Terminal): void => {
  const provider = unicode11();
  terminal.unicode.register({
    version: VERSION,
    wcwidth: (codePoint) => provider.wcwidth(codePoint),
    charProperties: (codePoint, before) => {
      const properties = provider.charProperties(codePoint, before & XTERMS_BITS);
      if ((properties & JOINS) === 0) return properties;
      const joined = (before >> OWN_SHIFT) + 1;
      return joined > MOST_JOINED ? ONE_COLUMN : properties | (joined << OWN_SHIFT);
    },
  });
  terminal.unicode.activeVersion = VERSION;
};
