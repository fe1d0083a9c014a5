import type { Characters } from '../core/estimate.js';

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

export const makeRowTally = (): RowTally => {
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
