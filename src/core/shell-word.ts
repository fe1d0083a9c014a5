/** A text as one word of a POSIX shell, in quotes where it needs them: the name of a folder may hold what a shell would run. */
export const shellWord = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
