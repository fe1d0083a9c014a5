import type headless from '@xterm/headless';
import type { Characters } from '../core/reading.js';

/**
 * Adds up the characters of rows. A program that erases everything and writes it again (Ink does with all that is higher than the
 * screen) is counted once: of each text as many rows as there were at most between two erasures.
 */
export interface RowTally {
  readonly put: (text: string) => void;
  /** the screen was erased: what comes now may be what was there */
  readonly noteErased: () => void;
  readonly characters: () => Characters;
}

/** How often a text was there: at most between two erasures, and since the one with this number. */
interface Seen {
  most: number;
  count: number;
  erasure: number;
}

const MOST_TEXTS = 20_000; // remembered, 3 MB; of a repaint of more rows than that, some are counted again
const HASH_START = 0x811c9dc5; // FNV-1a over UTF-16 units: two of the texts remembered share one with a chance of 1 in 20
const HASH_FACTOR = 0x01000193;

/** Lines, boxes, shades and spinners (`─ ╭ █ ⠋`) are looks, and nobody's tokens. */
const isDrawing = (code: number): boolean =>
  (code >= 0x2500 && code <= 0x259f) || (code >= 0x2800 && code <= 0x28ff);

const makeRowTally = (): RowTally => {
  const texts = new Map<number, Seen>();
  let erasure = 0;
  let ascii = 0;
  let wide = 0;

  /** true for a row that was not there before the last erasure */
  const isNew = (hash: number): boolean => {
    const seen = texts.get(hash);
    if (seen === undefined) {
      if (texts.size >= MOST_TEXTS) texts.clear();
      texts.set(hash, { most: 1, count: 1, erasure });
      return true;
    }
    seen.count = seen.erasure === erasure ? seen.count + 1 : 1;
    seen.erasure = erasure;
    if (seen.count <= seen.most) return false;
    seen.most = seen.count;
    return true;
  };
  return {
    put: (text) => {
      let [ownAscii, ownWide, hash, blank] = [0, 0, HASH_START, true];
      for (let index = 0; index < text.length; index += 1) {
        const code = text.charCodeAt(index);
        if (isDrawing(code) || (blank && code === 0x20)) continue; // blanks in a series count once
        blank = code === 0x20;
        if (code > 0x7f) ownWide += 1;
        else ownAscii += 1;
        hash = Math.imul(hash ^ code, HASH_FACTOR);
      }
      if (ownAscii + ownWide === 0 || !isNew(hash)) return;
      ascii += ownAscii;
      wide += ownWide;
    },
    noteErased: () => {
      erasure += 1;
    },
    characters: () => ({ ascii, wide }),
  };
};

// Counts what a program has written to the main screen, by looking at each row when it leaves the screen at the top.

export interface WrittenText {
  /** rows that have gone at the top and rows on the shown screen, together */
  readonly characters: () => Characters;
  /** the first rows of the screen are about to go, in a way that is no scrolling */
  readonly takeTop: (rows: number) => void;
  /** the emulator has just got another size: rows that did not fit are in the scrollback, and there is no scroll region */
  readonly noteResize: () => void;
}

/** What `CSI t;b r` does to the top margin in the emulator: does a scroll still take the first row? */
const startsAtTop = ([top, bottom]: readonly unknown[], rows: number, before: boolean): boolean => {
  const first = Math.max(1, Number(top ?? 1));
  const last = bottom === undefined || bottom === 0 || Number(bottom) > rows ? rows : Number(bottom);
  return last > first ? first === 1 : before;
};

/** Counts from now on. It needs a scrollback of one row: a row is looked at in the moment in which it goes there. */
export const watchWrittenText = (terminal: headless.Terminal): WrittenText => {
  const { buffer, parser } = terminal;
  const gone = makeRowTally();
  let isTopScrolling = true; // false while a region begins below the first row: then nothing leaves the screen

  const isMain = (): boolean => buffer.active.type === 'normal';
  const textAt = (line: number): string => buffer.active.getLine(line)?.translateToString(true) ?? '';
  const noteRegion = (from: () => boolean): false => {
    if (isMain()) isTopScrolling = from();
    return false; // the emulator's own handler comes next
  };
  const noteErased = (isAll: boolean): false => {
    if (isAll && isMain()) gone.noteErased();
    return false;
  };
  terminal.onScroll(() => {
    const { baseY } = buffer.active;
    if (isTopScrolling && baseY > 0 && isMain()) gone.put(textAt(baseY - 1));
  });
  parser.registerCsiHandler({ final: 'r' }, (margins) =>
    noteRegion(() => startsAtTop(margins, terminal.rows, isTopScrolling)),
  );
  parser.registerCsiHandler({ intermediates: '!', final: 'p' }, () => noteRegion(() => true));
  parser.registerCsiHandler({ final: 'J' }, ([what]) => {
    const { cursorX, cursorY } = buffer.active;
    return noteErased(what === 2 || what === 3 || (!what && cursorX === 0 && cursorY === 0));
  });
  parser.registerEscHandler({ final: 'c' }, () => {
    isTopScrolling = true;
    gone.noteErased();
    return false;
  });
  return {
    characters: () => {
      const screen = makeRowTally();
      for (let row = 0; row < terminal.rows; row += 1) screen.put(textAt(buffer.active.baseY + row));
      const [before, shown] = [gone.characters(), screen.characters()];
      return { ascii: before.ascii + shown.ascii, wide: before.wide + shown.wide };
    },
    takeTop: (rows) => {
      for (let row = 0; isMain() && row < rows; row += 1) gone.put(textAt(buffer.active.baseY + row));
    },
    noteResize: () => {
      isTopScrolling = true;
      const { normal } = buffer;
      for (let line = 0; line < normal.baseY; line += 1)
        gone.put(normal.getLine(line)?.translateToString(true) ?? '');
    },
  };
};
