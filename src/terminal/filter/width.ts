import { eastAsianWidth } from 'get-east-asian-width';

const UNKNOWN = 255;
// Two planes hold everything that programs print; private-use and tag planes fall through to the library each time.
const cache = new Uint8Array(0x20000).fill(UNKNOWN);

const SOFT_HYPHEN = 0xad; // a format character, but terminals give it a cell

// string-width has the same rule for a single character, but its regexes for emoji take 20 ms to compile at the first of them
const invisible =
  /^[\p{Default_Ignorable_Code_Point}\p{Control}\p{Format}\p{Nonspacing_Mark}\p{Enclosing_Mark}\p{Surrogate}]/u;

const measure = (codePoint: number): number => {
  if (codePoint === SOFT_HYPHEN) return 1;
  if (codePoint >= 0x1160 && codePoint <= 0x11ff) return 0; // Hangul vowels and finals join the syllable before them
  return invisible.test(String.fromCodePoint(codePoint)) ? 0 : eastAsianWidth(codePoint);
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
