import type headless from '@xterm/headless';
import type { CharacterCounts } from '../core/reading.js';

// Counts the text that a program has written, for an estimate of its tokens.

/**
 * Adds up the characters of rows. Text that a program erases and writes again (Ink does this with output higher than the screen) counts
 * once: each text as often as it occurred at most between two erasures.
 */
export interface RowCounter {
  readonly add: (text: string) => void;
  /** the screen was erased: the next rows may repeat earlier ones */
  readonly noteErased: () => void;
  readonly characters: () => CharacterCounts;
}

/** How often a text occurred: at most between two erasures, and since the erasure with this number. */
interface RowOccurrences {
  maxCount: number;
  count: number;
  erasure: number;
}

const MAX_TEXTS = 20_000; // kept, 3 MB; in a repaint of more rows, some are counted again
const HASH_START = 0x811c9dc5; // FNV-1a over UTF-16 units: the chance that any two of the kept texts share a hash is 1 in 20
const HASH_FACTOR = 0x01000193;

/** Lines, boxes, shades and spinners (`─ ╭ █ ⠋`) are decoration, not tokens. */
const isDrawing = (code: number): boolean =>
  (code >= 0x2500 && code <= 0x259f) || (code >= 0x2800 && code <= 0x28ff);

const makeRowCounter = (): RowCounter => {
  const texts = new Map<number, RowOccurrences>();
  let erasure = 0;
  let ascii = 0;
  let wide = 0;

  /** true if the row does not repeat one from before an erasure */
  const isNew = (hash: number): boolean => {
    const occurrences = texts.get(hash);
    if (occurrences === undefined) {
      if (texts.size >= MAX_TEXTS) texts.clear();
      texts.set(hash, { maxCount: 1, count: 1, erasure });
      return true;
    }
    occurrences.count = occurrences.erasure === erasure ? occurrences.count + 1 : 1;
    occurrences.erasure = erasure;
    if (occurrences.count <= occurrences.maxCount) return false;
    occurrences.maxCount = occurrences.count;
    return true;
  };
  return {
    add: (text) => {
      let [ownAscii, ownWide, hash, blank] = [0, 0, HASH_START, true];
      for (let index = 0; index < text.length; index += 1) {
        const code = text.charCodeAt(index);
        if (isDrawing(code) || (blank && code === 0x20)) continue; // a run of blanks counts once
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

// Counts what a program has written to the main screen, by reading each row when it scrolls off at the top.

export interface TextCounter {
  /** characters of the rows scrolled off at the top and of the visible screen, together */
  readonly characters: () => CharacterCounts;
  /** counts the first rows of the screen, which are about to be removed without scrolling */
  readonly countTopRows: (rows: number) => void;
  /** the emulator was just resized: rows that did not fit are in the scrollback, and there is no scroll region */
  readonly noteResize: () => void;
}

/** Whether the scroll region starts at the first row after `CSI t;b r`, so that a scroll removes that row. */
const startsAtTop = ([top, bottom]: readonly unknown[], rows: number, before: boolean): boolean => {
  const first = Math.max(1, Number(top ?? 1));
  const last = bottom === undefined || bottom === 0 || Number(bottom) > rows ? rows : Number(bottom);
  return last > first ? first === 1 : before;
};

/** Counts from now on. Needs a scrollback of one row: a row is read when it moves there. */
export const makeTextCounter = (terminal: headless.Terminal): TextCounter => {
  const { buffer, parser } = terminal;
  const scrolledOff = makeRowCounter();
  let isTopScrolling = true; // false while the region starts below the first row: then no row leaves the screen

  const isMain = (): boolean => buffer.active.type === 'normal';
  const textAt = (line: number): string => buffer.active.getLine(line)?.translateToString(true) ?? '';
  const noteRegion = (from: () => boolean): false => {
    if (isMain()) isTopScrolling = from();
    return false; // the emulator's own handler comes next
  };
  const noteErased = (isAll: boolean): false => {
    if (isAll && isMain()) scrolledOff.noteErased();
    return false;
  };
  terminal.onScroll(() => {
    const { baseY } = buffer.active;
    if (isTopScrolling && baseY > 0 && isMain()) scrolledOff.add(textAt(baseY - 1));
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
    scrolledOff.noteErased();
    return false;
  });
  return {
    characters: () => {
      const screen = makeRowCounter();
      for (let row = 0; row < terminal.rows; row += 1) screen.add(textAt(buffer.active.baseY + row));
      const [before, shown] = [scrolledOff.characters(), screen.characters()];
      return { ascii: before.ascii + shown.ascii, wide: before.wide + shown.wide };
    },
    countTopRows: (rows) => {
      for (let row = 0; isMain() && row < rows; row += 1) scrolledOff.add(textAt(buffer.active.baseY + row));
    },
    noteResize: () => {
      isTopScrolling = true;
      const { normal } = buffer;
      for (let line = 0; line < normal.baseY; line += 1)
        scrolledOff.add(normal.getLine(line)?.translateToString(true) ?? '');
    },
  };
};
