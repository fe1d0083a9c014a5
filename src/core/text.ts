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
