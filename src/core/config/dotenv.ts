// The names and values of a dotenv file: `NAME=value`, also after `export`, with quotes and comments. Nothing in it is expanded or run.

const PAIR = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/;
const NOTHING = /^\s*(?:#.*)?$/;
const QUOTED = /^(["'`])(.*?)\1\s*(?:#.*)?$/;

export interface Dotenv {
  /** the last one of a name holds */
  readonly values: Readonly<Record<string, string>>;
  /** numbers, from 1, of the lines that are neither pairs nor comments nor empty; they are passed over */
  readonly unread: readonly number[];
}

export const readDotenv = (text: string): Dotenv => {
  const values: [string, string][] = [];
  const unread: number[] = [];
  for (const [index, line] of text.split(/\r\n|[\r\n]/).entries()) {
    const [, name, rest] = PAIR.exec(line) ?? [];
    if (name !== undefined && rest !== undefined) values.push([name, valueIn(rest)]);
    else if (!NOTHING.test(line)) unread.push(index + 1);
  }
  return { values: Object.fromEntries(values), unread };
};

const valueIn = (rest: string): string => QUOTED.exec(rest)?.[2] ?? rest.replace(/(?:^|\s)#.*$/, '').trim();
