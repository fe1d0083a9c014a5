// Makes text of other programs safe to print, to type, or to paste into a shell.

/** The text on one line of at most `mostCharacters` characters, without control and format characters. */
export const toOneLine = (text: string, mostCharacters: number): string => {
  const line = text
    .replace(/[\p{Cf}\p{Cs}]/gu, '')
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  // by code points: half of a surrogate pair is not a character
  return line.length <= mostCharacters ? line : [...line].slice(0, mostCharacters).join('').trim();
};

/** The text as one word for any POSIX shell, quoted if necessary: a folder's name may contain what a shell would run. */
export const quotePosix = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

const PLAIN = /^[\w./-]+$/;

/**
 * As `quotePosix`, for a line that the user copies: invisible characters, and blanks that a terminal would drop or join, are written as
 * `$'\xNN'`, which bash and zsh understand in every locale.
 */
export const quoteForCopying = (text: string): string => {
  if (!UNSEEN.test(text)) return quotePosix(text);
  const escaped = text.replace(/[\\']/g, String.raw`\$&`).replace(new RegExp(UNSEEN, 'gu'), bytesOf);
  return `$'${escaped}'`;
};

const UNSEEN = /[^\P{C}]|[^\P{Z} ]|^ | (?= )| $|[\u115f\u1160\u2800\u3164\uffa0]/u;

const bytesOf = (found: string): string =>
  Array.from(new TextEncoder().encode(found), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');

/** Longest focus text, in characters. */
export const MAX_FOCUS_LENGTH = 200;

/** The focus text (what the agent is asked to keep) as it may be typed after a command; undefined if nothing is left of it. */
export const cleanFocus = (text: string): string | undefined => {
  // composed (NFC), so that the text in the prompt can be compared with the typed text
  const plain = toOneLine(text, Infinity).normalize('NFC').replaceAll('@', ' '); // `@` opens a list of files
  const line = toOneLine(plain, MAX_FOCUS_LENGTH).replace(/[\\\s]+$/, ''); // after a backslash, Enter is a line break
  return line === '' ? undefined : line;
};

/** The text with a backslash before every `@`, for agents that read the file whose name follows (`Agent.readsMentions`). */
export const escapeMentions = (text: string): string => text.replace(/(?<!\\)@/g, String.raw`\@`);

export const unescapeMentions = (text: string): string => text.replaceAll(String.raw`\@`, '@');

// Suggests what was meant by a word with typing mistakes.

/** The known word closest to `given` by typing mistakes, at most one in three letters; undefined when none is close. */
export const nearestWord = (given: string, known: readonly string[]): string | undefined => {
  const alike = known
    .filter((word) => Math.abs(word.length - given.length) <= mostMistakes(given, word))
    .map((word) => ({ word, mistakes: mistakesBetween(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, mistakes }) => mistakes <= mostMistakes(given, word))
    .sort((a, b) => a.mistakes - b.mistakes);
  return alike[0]?.word;
};

const mostMistakes = (given: string, word: string): number =>
  Math.max(1, Math.floor(Math.max(given.length, word.length) / 3));

/** Letters missing, extra, wrong or swapped with a neighbour (optimal string alignment distance). */
const mistakesBetween = (from: string, to: string): number => {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const wrong = from[row - 1] === to[column - 1] ? 0 : 1;
      const swapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        cell(last, column) + 1,
        cell(current, column - 1) + 1,
        cell(last, column - 1) + wrong,
        swapped ? cell(beforeLast, column - 2) + 1 : Infinity,
      );
    }
    beforeLast = last;
    last = current;
  }
  return cell(last, to.length);
};

const cell = (row: readonly number[], column: number): number => row[column] ?? Infinity;
