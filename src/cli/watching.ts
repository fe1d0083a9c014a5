import { joinPrintable, own, type Printable } from '../core/printable.js';

// What `ctxwrap ps --watch` and `ctxwrap top` share: when to look again, and the terminal's other screen.

const LEAST_MS = 1_000; // between two looks: an agent at work changes its record all the time
const MOST_MS = 5_000; // a session that was killed, or a disk that reports nothing

export interface Looks {
  /** resolves when it is time for the next look: after so many milliseconds, or earlier */
  readonly next: (pauseMs?: number) => Promise<void>;
  /** something has changed */
  readonly hasten: () => void;
  /** the next look is due at once */
  readonly force: () => void;
  readonly end: () => void;
  readonly isOver: () => boolean;
}

/** With `everyMs`, a look is due that long after the one before, and no earlier because of a change. */
export const makeLooks = (everyMs?: number): Looks => {
  const mostMs = everyMs ?? MOST_MS;
  let isOver = false;
  let pauseMs = mostMs;
  let arm = (): void => undefined;
  const limit = (ms: number): void => {
    pauseMs = Math.min(pauseMs, ms);
    arm();
  };
  return {
    next: (ms = mostMs) =>
      new Promise((done) => {
        limit(ms);
        const since = performance.now();
        let timer: NodeJS.Timeout | undefined;
        arm = () => {
          clearTimeout(timer);
          timer = setTimeout(finish, Math.max(0, since + pauseMs - performance.now()));
        };
        const finish = (): void => {
          arm = () => undefined;
          pauseMs = mostMs;
          done();
        };
        arm();
      }),
    hasten: () => limit(everyMs ?? LEAST_MS),
    force: () => limit(0),
    end: () => {
      isOver = true;
      limit(0);
    },
    isOver: () => isOver,
  };
};

/**
 * What turns the rows on the screen into these; '' where they are the same. Each row is erased before it is written: behind a row that is
 * exactly full, its last cell would be erased. `draw` is given the rows that have changed, and returns what is written for each of them.
 */
export const changedRows = (
  rows: readonly Printable[],
  before: readonly Printable[],
  draw = (changed: readonly Printable[]): readonly Printable[] => changed,
): Printable => {
  const places = [...rows.keys()].filter((place) => rows[place] !== before[place]);
  const texts = places.length === 0 ? [] : draw(places.map((place) => rows[place] ?? own``));
  const drawn = places.map((place, index) => own`\x1b[${place + 1};1H\x1b[2K${texts[index] ?? own``}`);
  const below = rows.length < before.length ? [own`\x1b[${rows.length + 1};1H\x1b[J`] : [];
  const all = [...drawn, ...below];
  return all.length === 0 ? own`` : own`\x1b[?2026h${joinPrintable(all)}\x1b[?2026l`;
};

/** The alternate screen, without a cursor; and back. */
export const ENTER = own`\x1b[?1049h\x1b[?25l`;
export const LEAVE = own`\x1b[?25h\x1b[?1049l`;
/** Erases it: after a change of its size nobody knows what is drawn. */
export const CLEAR = own`\x1b[2J\x1b[H`;
