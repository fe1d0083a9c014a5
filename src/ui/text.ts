import stringWidth from 'string-width';

// Text for a terminal of any width. It may come from file names or other untrusted sources.

/** One line of text without control characters; invisible letters become spaces. */
export const toPlainText = (text: string): string =>
  text.replace(/[\s\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u115f\u1160\u2800\u3164\uffa0]+/gu, ' ').trim();

/** Cuts the text to this many columns, with `…` for its end or, for a path, its beginning. */
export const shorten = (text: string, columns: number, side: 'end' | 'start' = 'end'): string => {
  if (widthOf(text) <= columns) return text;
  if (columns < 1) return '';
  const characters = [...text];
  const part = (count: number): string =>
    (side === 'end' ? characters.slice(0, count) : characters.slice(characters.length - count)).join('');
  // halved, because the name of a folder may be very long
  let [most, tooMany] = [0, characters.length];
  while (tooMany - most > 1) {
    const middle = Math.floor((most + tooMany) / 2);
    if (widthOf(part(middle)) < columns) most = middle;
    else tooMany = middle;
  }
  return side === 'end' ? `${part(most)}…` : `…${part(most)}`;
};

/** Wraps a text to lines of at most this many columns; a longer word is cut, or kept whole on a line of its own. */
export const wrapText = (
  text: string,
  columns: number,
  longWord: 'cut' | 'whole' = 'cut',
): readonly string[] => {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    const longer = last === undefined ? word : `${last} ${word}`;
    if (last !== undefined && widthOf(longer) <= columns) lines[lines.length - 1] = longer;
    else lines.push(longWord === 'cut' ? shorten(word, columns) : word);
  }
  return lines;
};

/** A note leads with its main word (`waiting for the first turn`), which stays in a narrow row. A number means nothing without the rest. */
export const firstWord = (note: string): string => {
  if (widthOf(note) <= 12) return note;
  return /^[<\d]/.test(note) ? cutToWidth(note, NARROWEST) : note.split(/[\s:]+/, 1)[0] || note;
};

const NARROWEST = 16; // columns of a message in the narrowest footer

/** The main clause comes first (`compacting in 8 s · Esc: not now`) and stays in a narrow row. */
export const firstClause = (words: string): string => words.split(/ · |[:,]/, 1)[0] || words;

export const cutToWidth = (text: string, most: number): string => {
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
};

/** ctxwrap's own symbols, and their ASCII replacements. */
const signs: Readonly<Record<string, string>> = {
  '→': '->',
  '×': 'x',
  '…': '...',
  '·': '-',
  '✓': '+',
  '✗': '!',
};

/**
 * Names and words come from outside; only letters, digits and signs one or two columns wide may reach the terminal. Terminals disagree
 * about the width of emoji and of combining characters.
 */
export const toDrawable = (text: string, ascii: boolean): string =>
  Array.from(text.normalize('NFC'), (char) => {
    if (/[\x20-\x7e]/.test(char)) return char;
    const sign = signs[char];
    if (sign !== undefined) return ascii ? sign : char;
    return !ascii && isLetter(char) ? char : '_';
  }).join('');

const HANGUL_PARTS = /[\u1100-\u11ff\u3164\ud7b0-\ud7ff\uffa0]/; // and its fillers, which are letters, too

/** A letter whose width does not depend on its neighbours. */
const isLetter = (char: string): boolean => {
  if (!/\p{L}/u.test(char) || HANGUL_PARTS.test(char)) return false;
  const columns = stringWidth(char);
  return columns > 0 && stringWidth(`a${char}b`) === columns + 2;
};

// Names and words come from outside: what reaches the terminal must have the same width in every terminal as in ctxwrap's own count.

/**
 * The same value with all its texts made safe: on one line, without control characters and without combining characters, whose width
 * differs between terminals.
 */
export const makeTextsSafe = <Value>(value: Value): Value => {
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
    : Array.from(toPlainText(text.normalize('NFC')), safeCharacter).join('');

/** Marks, variation selectors, skin tones, regional indicators, and Hangul that joins the syllable before it. */
const joining = /[\p{M}\p{EMod}\p{RI}\ufe00-\ufe0f\u1160-\u11ff\ud7b0-\ud7fb]/u;
const drawn = /[\p{L}\p{N}\p{P}\p{S} ]/u;

const safeCharacter = (character: string): string => {
  if (joining.test(character) || stringWidth(character) === 0) return '';
  return drawn.test(character) ? character : '_';
};

/** Symbols that are drawn, and their ASCII replacements; all one column wide. */
const asciiSigns: Readonly<Record<string, string>> = {
  '▰': '#',
  '▮': '=',
  '▱': '-',
  '╵': '|',
  '╌': '-',
  '▶': '>',
  '→': '>',
  '×': 'x',
  '·': '-',
  '✓': '+',
  '✗': '!',
  '⟳': 'c',
  '…': '*', // a `~` would make the end of a path look like a path of its own
};

const ONE_COLUMN_EACH = new RegExp(`^[ -~${Object.keys(asciiSigns).join('')}]*$`);

/** Columns of a text without sequences. What ctxwrap says itself need not be taken apart into graphemes, which takes a hundred times as long. */
export const widthOf = (text: string): number =>
  ONE_COLUMN_EACH.test(text) ? text.length : stringWidth(text);

const RAMP = ' ..::==##';

/** The same columns in characters of 0x20–0x7e; sequences and newlines stay. */
export const toAscii = <Text extends string>(text: Text): Text =>
  Array.from(text, (character) => {
    if (character <= '~') return character;
    const dots = dotsOf(character);
    if (dots !== undefined) return RAMP[dots] ?? '#';
    return asciiSigns[character] ?? '_'.repeat(stringWidth(character));
  }).join('') as Text;

const FIRST_BRAILLE = 0x2800;

/** How many of its eight dots a braille character has. */
const dotsOf = (character: string): number | undefined => {
  const bits = (character.codePointAt(0) ?? 0) - FIRST_BRAILLE;
  if (bits < 0 || bits > 0xff) return undefined;
  return [0, 1, 2, 3, 4, 5, 6, 7].filter((bit) => bits & (1 << bit)).length;
};
