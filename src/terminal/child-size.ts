import type { Size } from './tty.js';

// The size of the child's terminal: that of the user's, without the row of the footer.

const MIN_ROWS = 8; // below this an agent needs every row
const MIN_DUE_ROWS = 4; // while a compaction is due: a prompt between two lines, and the countdown
const MIN_COLUMNS = 20; // below this nothing useful fits into a footer

/** On what a footer depends, beside the terminal. */
export interface FooterConditions {
  /** the user wants to see it */
  readonly isFooterWanted: boolean;
  /** a compaction is due */
  readonly isRowWanted?: boolean;
  /** bytes go through untouched */
  readonly isPassthrough?: boolean;
}

/** The size of the child's terminal for a real terminal of this size. */
export const childSize = (
  { columns, rows, isGuess }: Size,
  { isFooterWanted, isRowWanted = false, isPassthrough = false }: FooterConditions,
): Size => {
  const fits = isGuess !== true && rows >= (isRowWanted ? MIN_DUE_ROWS : MIN_ROWS) && columns >= MIN_COLUMNS;
  return { columns, rows: isFooterWanted && !isPassthrough && fits ? rows - 1 : rows };
};
