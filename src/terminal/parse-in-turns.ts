import { makeBacklog, type Backlog } from './backlog.js';

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
