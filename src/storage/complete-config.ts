// The file of a configuration with all keys in it. What the user wrote stays as it is, byte for byte; lines are only added.
import type { ConfigFile } from './config-file.js';

/** A key as comments that say what it does and show how it is set. */
export interface Block {
  readonly name: string;
  readonly lines: readonly string[];
}

export interface Completed {
  readonly text: string;
  /** keys that were not there */
  readonly added: readonly string[];
}

/** A new file; with the name of a schema beside it, editors know the keys. */
export const newConfig = (blocks: readonly Block[], schema?: string): Completed => {
  const first = schema === undefined ? [] : ['', `  "$schema": ${JSON.stringify(schema)},`];
  const lines = [...first, ...blocks.flatMap((block) => ['', ...indented(block)])].slice(1);
  return { text: `{\n${lines.join('\n')}\n}\n`, added: blocks.map(({ name }) => name) };
};

/** The file with the keys that are missing, set or as comments; undefined where there is no object to add them to. */
export const completedConfig = (
  file: ConfigFile & { readonly kind: 'read' },
  blocks: readonly Block[],
  schema?: string,
): Completed | undefined => {
  const { text, end, openEnd, faults } = file;
  if (end === undefined) return faults.length > 0 ? undefined : below(text, newConfig(blocks, schema));
  const missing = blocks.filter(({ name }) => !hasKey(file, name));
  if (missing.length === 0) return { text, added: [] };
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const head = text.slice(0, end);
  // a comma behind the last value, so that a line below it can be uncommented as it is
  const [before, after] =
    openEnd === undefined ? [head, ''] : [`${head.slice(0, openEnd)},`, head.slice(openEnd)];
  const start = /(?:^|[\r\n])[ \t]*$/.test(head) ? '' : newline;
  const lines = missing.flatMap((block) => ['', ...indented(block)]).map((line) => `${line}${newline}`);
  return {
    text: `${before}${after}${start}${lines.join('')}${text.slice(end)}`,
    added: missing.map(({ name }) => name),
  };
};

/** Comments alone are kept above it. */
const below = (text: string, { text: more, added }: Completed): Completed => {
  const ends = text.trim() === '' || /[\r\n]$/.test(text);
  return { text: `${text}${ends ? '' : '\n'}${more}`, added };
};

/** Set, or left as a comment by an earlier time; the same name in an object further in is another key. */
const hasKey = (
  { entries, text, isInValue }: ConfigFile & { readonly kind: 'read' },
  name: string,
): boolean => {
  const comment = new RegExp(`^[ \\t]*//[ \\t]*"${name.replaceAll('.', '\\.')}"\\s*:`, 'gm');
  return (
    entries.some(({ key }) => key === name) ||
    [...text.matchAll(comment)].some(({ index }) => !isInValue(index))
  );
};

const indented = ({ lines }: Block): readonly string[] => lines.map((line) => `  ${line}`);
