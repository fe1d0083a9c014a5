import fc from 'fast-check';
import { expect, it } from 'vitest';
import { joinWrappedRows } from '../../src/agents/compress.js';

const COLUMNS = 20;

/** As an agent breaks a line: between words, or inside one that is longer than a row. */
const wrapped = (line: string): readonly string[] =>
  line.split(' ').reduce<readonly string[]>((rows, word) => {
    const last = rows.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= COLUMNS)
      return [...rows.slice(0, -1), `${last} ${word}`];
    const parts = word.match(/.{1,20}/g) ?? [''];
    return [...rows, ...parts];
  }, []);

const word = fc.stringMatching(/^[a-z/-]{1,45}$/);
const line = fc.array(word, { minLength: 1, maxLength: 12 }).map((words) => words.join(' '));

const isFull = (rows: readonly string[]): boolean => rows.slice(0, -1).some((row) => row.length === COLUMNS);

it('rows of a prompt are the line that was typed', () => {
  const lines = line.filter((typed) => !isFull(wrapped(typed)));
  fc.assert(
    fc.property(lines, (typed) => {
      expect(joinWrappedRows(wrapped(typed), COLUMNS)).toBe(typed);
    }),
  );
});

it('of rows that are full to their end, only the blanks behind them are not known', () => {
  const withoutBlanks = (text: string): string => text.replaceAll(' ', '');
  fc.assert(
    fc.property(line, (typed) => {
      expect(withoutBlanks(joinWrappedRows(wrapped(typed), COLUMNS))).toBe(withoutBlanks(typed));
    }),
  );
});

it('a row that had room for the next word was ended by a line break', () => {
  expect(joinWrappedRows(['one', 'two', '', 'three'], COLUMNS)).toBe('one\ntwo\n\nthree');
  expect(joinWrappedRows([], COLUMNS)).toBe('');
});
