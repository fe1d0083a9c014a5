/**
 * A text as one word of a shell, in quotes where it needs them: the name of a folder may hold what a shell would run. What cannot be seen,
 * and blanks that a terminal or a line of ours would run together, is written as bash and zsh understand it.
 */
export const shellWord = (text: string): string => {
  if (/^[\w./-]+$/.test(text)) return text;
  if (!UNSEEN.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const escaped = text.replace(/[\\']/g, String.raw`\$&`).replace(new RegExp(UNSEEN, 'gu'), hexOf);
  return `$'${escaped}'`;
};

const UNSEEN = /[^\P{C}]|[^\P{Z} ]|^ | (?= )| $|[\u115f\u1160\u2800\u3164\uffa0]/u;

const hexOf = (found: string): string =>
  Array.from(found, (char) => `\\U${(char.codePointAt(0) ?? 0).toString(16).padStart(8, '0')}`).join('');
