/** A text as one word of any POSIX shell, in quotes where it needs them: the name of a folder may hold what a shell would run. */
export const posixWord = (text: string): string =>
  PLAIN.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

const PLAIN = /^[\w./-]+$/;

/**
 * The same for a line that a person copies: what cannot be seen, and blanks that a terminal or a line of ours would run together, is
 * written byte by byte, as bash and zsh understand it in every locale.
 */
export const shellWord = (text: string): string => {
  if (!UNSEEN.test(text)) return posixWord(text);
  const escaped = text.replace(/[\\']/g, String.raw`\$&`).replace(new RegExp(UNSEEN, 'gu'), bytesOf);
  return `$'${escaped}'`;
};

const UNSEEN = /[^\P{C}]|[^\P{Z} ]|^ | (?= )| $|[\u115f\u1160\u2800\u3164\uffa0]/u;

const bytesOf = (found: string): string =>
  Array.from(new TextEncoder().encode(found), (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
