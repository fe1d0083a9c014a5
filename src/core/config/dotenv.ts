// The names and values of a dotenv file: `NAME=value`, also after `export`, with quotes and comments. Nothing in it is expanded or run.

const PAIR = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/;
const QUOTED = /^(["'`])(.*?)\1\s*(?:#.*)?$/;

/** The last one of a name holds. Lines that are no pairs are passed over. */
export const readDotenv = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split(/\r\n|[\r\n]/).flatMap((line) => {
      const [, name, rest] = PAIR.exec(line) ?? [];
      return name === undefined || rest === undefined ? [] : [[name, valueIn(rest)]];
    }),
  );

const valueIn = (rest: string): string => QUOTED.exec(rest)?.[2] ?? rest.replace(/(?:^|\s)#.*$/, '').trim();
