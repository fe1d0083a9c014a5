// Names and words come from outside: what reaches the terminal must have the width that we count, in every terminal.
import stringWidth from 'string-width';
import { plain } from '../plain-text.js';

/**
 * The same value with every text in it made safe: on one line, without control characters, and without what joins several characters
 * into one picture, about whose width terminals disagree.
 */
export const withSafeTexts = <Value>(value: Value): Value => {
  const safe = (each: unknown): unknown => {
    if (typeof each === 'string') return safeText(each);
    if (Array.isArray(each)) return each.map(safe);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([name, field]) => [name, safe(field)]));
  };
  return safe(value) as Value;
};

const safeText = (text: string): string =>
  /^[\x20-\x7e]*$/.test(text)
    ? text.trim()
    : Array.from(plain(text.normalize('NFC')), safeCharacter).join('');

/** Marks, selectors of a presentation, skin colours, halves of flags, and Hangul that joins the syllable before it. */
const joining = /[\p{M}\p{EMod}\p{RI}\ufe00-\ufe0f\u1160-\u11ff\ud7b0-\ud7fb]/u;
const drawn = /[\p{L}\p{N}\p{P}\p{S} ]/u;

const safeCharacter = (character: string): string => {
  if (joining.test(character) || stringWidth(character) === 0) return '';
  return drawn.test(character) ? character : '_';
};

/** Signs that are drawn, and what stands for each of them in ASCII; all of one column. */
const asciiSigns: Readonly<Record<string, string>> = {
  '▰': '#',
  '▮': '=',
  '▱': '-',
  '▯': ':',
  '╵': '|',
  '▶': '>',
  '→': '>',
  '×': 'x',
  '⟳': 'c',
  '…': '*', // a `~` would make a path of the end of one
};

const RAMP = ' ..::==##';

/** The same columns in characters of 0x20–0x7e. */
export const asciiText = (text: string): string =>
  Array.from(text, (character) => {
    if (character >= ' ' && character <= '~') return character;
    const dots = dotsOf(character);
    if (dots !== undefined) return RAMP[dots] ?? '#';
    return asciiSigns[character] ?? '_'.repeat(stringWidth(character));
  }).join('');

const FIRST_BRAILLE = 0x2800;

/** How many of its eight dots a braille character has. */
const dotsOf = (character: string): number | undefined => {
  const bits = (character.codePointAt(0) ?? 0) - FIRST_BRAILLE;
  if (bits < 0 || bits > 0xff) return undefined;
  return [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => bits & (1 << bit)).length;
};
