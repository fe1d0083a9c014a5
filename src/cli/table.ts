import { shortened, widthOf } from '../ui/plain-text.js';

export interface Column {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** which one goes first when the terminal is too narrow, the highest; 0 stays always */
  readonly rank: number;
  /** takes what is left, at least so many columns; its beginning is given up first, as of a path */
  readonly leastWidth?: number;
}

const GAP = 2;

/** Rows under their titles in at most `width` columns. Columns that do not fit are left out. */
export const table = (
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
): readonly string[] => {
  const natural = columns.map((column, index) =>
    Math.max(widthOf(column.title), ...rows.map((row) => widthOf(row[index] ?? ''))),
  );
  const least = columns.map(({ leastWidth }, index) => Math.min(leastWidth ?? Infinity, natural[index] ?? 0));
  const shown = fitting(columns, least, width);
  const spare = width - sum(shown.map((index) => (least[index] ?? 0) + GAP)) + GAP;
  const widths = columns.map(({ leastWidth }, index) =>
    leastWidth === undefined
      ? (least[index] ?? 0)
      : Math.min(natural[index] ?? 0, (least[index] ?? 0) + spare),
  );
  const line = (cells: readonly string[]): string =>
    shown
      .map((index) => padded(cells[index] ?? '', widths[index] ?? 0, columns[index]))
      .join(' '.repeat(GAP))
      .trimEnd();
  return [line(columns.map(({ title }) => title)), ...rows.map(line)].map((text) => shortened(text, width));
};

/** The columns that fit side by side, by their index. */
const fitting = (columns: readonly Column[], least: readonly number[], width: number): readonly number[] => {
  let shown = columns.map((_, index) => index);
  const rankOf = (index: number): number => columns[index]?.rank ?? 0;
  while (sum(shown.map((index) => (least[index] ?? 0) + GAP)) - GAP > width) {
    const last = Math.max(...shown.map(rankOf));
    if (last === 0) break;
    shown = shown.filter((index) => rankOf(index) !== last);
  }
  return shown;
};

const padded = (cell: string, width: number, column: Column | undefined): string => {
  const text = shortened(cell, width, column?.leastWidth === undefined ? 'end' : 'start');
  const blanks = ' '.repeat(Math.max(0, width - widthOf(text)));
  return column?.align === 'right' ? blanks + text : text + blanks;
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
