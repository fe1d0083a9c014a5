import type { CellStyle, ScreenView } from '../../src/core/reading.js';

/** A screen as rows of text; ranges of it may be drawn in a style. Characters of one cell only. */
export interface Drawn {
  readonly columns: number;
  readonly rows: readonly string[];
  readonly cursor: readonly [row: number, column: number];
  readonly alternate?: boolean;
  readonly styles?: readonly {
    readonly row: number;
    readonly column: number;
    readonly style: Partial<CellStyle>;
  }[];
}

const plain: CellStyle = { bold: false, dim: false, inverse: false };
const GREY = 246; // Claude's colour for notices beside the conversation, on a dark background

/** Text that ends at one of the last two columns is grey, as Claude's notifications are. */
export const viewOf = ({ columns, rows, cursor, alternate = false, styles = [] }: Drawn): ScreenView => ({
  columns,
  rows: Math.max(rows.length, 24),
  cursorRow: cursor[0],
  cursorColumn: cursor[1],
  alternate,
  text: (row) => (rows[row] ?? '').trimEnd(),
  styleAt: (row, column) => {
    const own = styles.find((each) => each.row === row && each.column === column)?.style;
    if (own) return { ...plain, ...own };
    const length = (rows[row] ?? '').trimEnd().length;
    return columns - length <= 2 && column > columns / 3 ? { ...plain, foreground: GREY } : plain;
  },
});

/** `text` at the right end of a row, `margin` blanks before its end. */
export const atRight = (columns: number, text: string, left = '', margin = 2): string =>
  left + text.padStart(columns - margin - left.length);
