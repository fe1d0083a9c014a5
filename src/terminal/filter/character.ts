import type { Grid } from './grid.js';
import { HOLD, replace, type Pass } from './pass.js';
import { printCells, printWide } from './print.js';
import { readC1 } from './read-escape.js';
import { placeSequence } from './saved-cursor.js';
import { decodeAt, encodedLength, INCOMPLETE, INVALID } from './utf8.js';
import { widthOf } from './width.js';

/* Characters beyond ASCII, as UTF-8. */

const REPLACEMENT = '\ufffd';
const MOST_MARKS = 32; // in UTF-16 units; no text has as many on one character

/** Remembers what was printed last, for REP and for combining characters. */
export const notePrinted = (grid: Grid, codePoint: number, width: number): void => {
  grid.lastCodePoint = codePoint;
  grid.lastWidth = width;
  if (grid.lastMarks !== '') grid.lastMarks = '';
  if (grid.repeated) grid.repeated = false;
  if (grid.repeatLost) grid.repeatLost = false;
};

/** Reads the character at `start`; returns the next offset. */
export const readCharacter = (pass: Pass, start: number): number => {
  const { grid } = pass;
  const codePoint = decodeAt(pass.bytes, start);
  if (codePoint === INCOMPLETE) return HOLD;
  if (codePoint === INVALID) return readInvalid(pass, start);
  const end = start + encodedLength(codePoint);
  if (codePoint < 0xa0) return readC1(pass, start, end, codePoint);
  const width = widthOf(codePoint);
  if (width === 0) return readMark(pass, start, end, codePoint);
  if (width === 1) printCells(grid, 1, start, pass.insert);
  else printWide(grid, start, pass.insert);
  notePrinted(grid, codePoint, width);
  return end;
};

/** Terminals differ in how many cells they give to bytes that are no UTF-8: one for each, except in xterm.js, which prints nothing. */
const readInvalid = (pass: Pass, start: number): number => {
  const { grid } = pass;
  if (grid.quirks.isXtermJs) return start + 1;
  printCells(grid, 1, start, pass.insert);
  notePrinted(grid, REPLACEMENT.charCodeAt(0), 1);
  return replace(pass, start, start + 1, REPLACEMENT);
};

/** A combining character joins the one before it, and has none before it right after a control. */
const readMark = (pass: Pass, start: number, end: number, codePoint: number): number => {
  const { grid } = pass;
  const mark = String.fromCodePoint(codePoint);
  if (grid.lastWidth === 0) return readLoneMark(pass, start, end, mark);
  const before = String.fromCodePoint(grid.lastCodePoint) + grid.lastMarks;
  if (grid.lastMarks.length < MOST_MARKS) grid.lastMarks += mark;
  const first = grid.column - grid.lastWidth + (grid.pendingWrap ? 1 : 0);
  const isLost = grid.repeatLost && first >= 0;
  if (!isLost) return end;
  // a paint came between: the terminal would put it on the footer, or on nothing
  grid.repeatLost = grid.insertMode; // the switch back comes between the next mark and its letter, too
  grid.wrapLost = false;
  const [overwrite, insert] = grid.insertMode ? ['\x1b[4l', '\x1b[4h'] : ['', ''];
  return replace(pass, start, end, placeSequence(grid, first) + overwrite + before + mark + insert);
};

/** xterm.js gives it a place of its own, others put it on whatever stands before the cursor. */
const readLoneMark = (pass: Pass, start: number, end: number, mark: string): number => {
  const { grid } = pass;
  if (grid.pendingWrap) return end;
  if (grid.quirks.isXtermJs) {
    printCells(grid, 1, start, pass.insert);
    return end;
  }
  return replace(pass, start, end, mark + placeSequence(grid));
};
