import stringWidth from 'string-width';

const UNKNOWN = 255;
// Two planes hold everything that programs print; private-use and tag planes fall through to the library each time.
const cache = new Uint8Array(0x20000).fill(UNKNOWN);

const SOFT_HYPHEN = 0xad; // a format character, but terminals give it a cell

const measure = (codePoint: number): number => {
  if (codePoint === SOFT_HYPHEN) return 1;
  if (codePoint >= 0x1160 && codePoint <= 0x11ff) return 0; // Hangul vowels and finals join the syllable before them
  return Math.min(2, stringWidth(String.fromCodePoint(codePoint)));
};

/** Cells that a code point takes in a terminal: 0 (combining), 1 or 2 (East Asian wide, emoji). */
export const widthOf = (codePoint: number): number => {
  if (codePoint >= cache.length) return measure(codePoint);
  const known = cache[codePoint];
  if (known !== undefined && known !== UNKNOWN) return known;
  const width = measure(codePoint);
  cache[codePoint] = width;
  return width;
};
