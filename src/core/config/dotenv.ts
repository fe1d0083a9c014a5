// The names and values of a dotenv file: `NAME=value`, also after `export`, with quotes and comments. Nothing in it is expanded or run.

const PAIR = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*([^]*)$/;
const NOTHING = /^\s*(?:#.*)?$/;

export interface Dotenv {
  /** the last one of a name holds */
  readonly values: Readonly<Record<string, string>>;
  /** the lines that are neither pairs nor comments nor empty, with their numbers from 1; they are passed over */
  readonly unread: readonly { readonly number: number; readonly text: string }[];
}

export const readDotenv = (text: string): Dotenv => {
  const lines = text.split(/\r\n|[\r\n]/);
  const values: [string, string][] = [];
  const unread: { number: number; text: string }[] = [];
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? '';
    const [, name, rest] = PAIR.exec(line) ?? [];
    if (name !== undefined && rest !== undefined) {
      const last = lastLineOf(rest, lines, index);
      values.push([name, valueIn([rest, ...lines.slice(index + 1, last + 1)].join('\n'))]);
      index = last;
    } else if (!NOTHING.test(line)) unread.push({ number: index + 1, text: line });
  }
  return { values: Object.fromEntries(values), unread };
};

/** Where a value ends that begins in the line `from`: there, too, where its quote is never closed. */
const lastLineOf = (rest: string, lines: readonly string[], from: number): number => {
  const quote = /^["'`]/.exec(rest)?.[0];
  if (quote === undefined || rest.indexOf(quote, 1) > 0) return from;
  for (let at = from + 1; at < lines.length; at += 1) if (lines[at]?.includes(quote)) return at;
  return from;
};

const valueIn = (rest: string): string => quotedIn(rest) ?? withoutComment(rest).trim();

/** Up to the first quote behind which there is nothing but a comment. Each character is looked at once, whatever the text is. */
const quotedIn = (rest: string): string | undefined => {
  const quote = /^["'`]/.exec(rest)?.[0];
  if (quote === undefined) return undefined;
  const lastLine = rest.lastIndexOf('\n');
  for (let at = rest.indexOf(quote, 1); at > 0; at = rest.indexOf(quote, at + 1)) {
    let next = at + 1;
    while (/\s/.test(rest[next] ?? '')) next += 1;
    if (next === rest.length || (rest[next] === '#' && next > lastLine)) return rest.slice(1, at);
  }
  return undefined;
};

/** A comment is one in the last line, at its begin or behind a blank. */
const withoutComment = (rest: string): string => {
  const lastLine = rest.lastIndexOf('\n') + 1;
  const at = rest.slice(lastLine).search(/(?:^|\s)#/);
  return at < 0 ? rest : rest.slice(0, lastLine + at);
};
