import { type Sequence, widthOf } from './bytes.js';
import { hasFooter, type Grid } from './grid.js';
import { clearWrap, index, printCells, printWide } from './motion.js';
import { notePrinted, type Pass } from './parser.js';
import { addRendition } from './rendition.js';

// What agents' output is made of nearly everywhere: text, CR, LF, graphic renditions and moves of the cursor. Read in one loop, with no
// table and no object for each; whatever is not that simple is left to the readers of single elements, which do the same for all of them.

const LF = 0x0a;
const CR = 0x0d;
const ESC = 0x1b;
const DEL = 0x7f;
const [DIGIT_0, DIGIT_9, COLON, SEMICOLON, QUESTION_MARK] = [0x30, 0x39, 0x3a, 0x3b, 0x3f];
const CSI = 0x5b; // behind ESC
const [CUU, CUD, CUF, CUB, CHA, CUP, EL, SM, RM, SGR] = Array.from('ABCDGHKhlm', (final) =>
  final.charCodeAt(0),
);

const MOST_VALUES = 30;
const MOST = 99_999; // a larger parameter is no usual one

/** Nothing is open, and no mode is on that seldom is and changes what cursor and text do. */
const isUsual = ({ grid, string, unterminated, openLength }: Pass): boolean =>
  string === undefined &&
  openLength === 0 &&
  !(unterminated || grid.vt52 || grid.sideMargins || grid.origin || grid.newLine);

const print = (pass: Pass, grid: Grid, count: number, at: number): void => {
  const column = grid.column + count;
  if (grid.pendingWrap || column >= grid.columns) printCells(grid, count, at, pass.insert);
  else grid.column = column;
};

const text = (pass: Pass, grid: Grid, start: number): number => {
  const { bytes } = pass;
  let end = start + 1;
  for (; end < bytes.length; end += 1) {
    const byte = bytes[end] ?? 0;
    if (byte < 0x20 || byte >= DEL) break;
  }
  print(pass, grid, end - start, start);
  notePrinted(grid, bytes[end - 1] ?? 0, 1);
  return end;
};

/** A character of two or three bytes from U+00C0 on that takes a cell or two. */
const character = (pass: Pass, grid: Grid, start: number): number => {
  const { bytes } = pass;
  const lead = bytes[start] ?? 0;
  const size = lead < 0xe0 ? 2 : 3;
  if (lead < 0xc3 || lead >= 0xf0 || start + size > bytes.length) return start;
  const [second, third] = [(bytes[start + 1] ?? 0) ^ 0x80, size === 3 ? (bytes[start + 2] ?? 0) ^ 0x80 : 0];
  if (second > 0x3f || third > 0x3f) return start;
  const codePoint =
    size === 2 ? ((lead & 0x1f) << 6) | second : ((lead & 0x0f) << 12) | (second << 6) | third;
  if (size === 3 && (codePoint < 0x800 || (codePoint >= 0xd800 && codePoint < 0xe000))) return start;
  const width = widthOf(codePoint);
  if (width === 0) return start;
  if (width === 1) print(pass, grid, 1, start);
  else printWide(grid, start, pass.insert);
  notePrinted(grid, codePoint, width);
  return start + size;
};

/** LF, except in the child's last row below its region. */
const lineFeed = (grid: Grid, start: number): number => {
  if (grid.row === grid.rows - 1 && grid.row !== grid.bottom && hasFooter(grid)) return start;
  index(grid);
  grid.lastWidth = 0;
  return start + 1;
};

/** Reads the parameters at `start` into `sequence`, and gives the offset of what ends them; −1 where they are not usual. */
const parameters = (sequence: Sequence, bytes: Uint8Array, start: number): number => {
  let [at, count, value] = [start, 0, 0];
  for (; at < bytes.length && value <= MOST && count < MOST_VALUES; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= DIGIT_0 && byte <= DIGIT_9) value = value * 10 + byte - DIGIT_0;
    else if (byte === SEMICOLON) {
      sequence.values[count++] = value;
      value = 0;
    } else {
      sequence.values[count] = value;
      sequence.count = count + 1;
      return byte === COLON ? -1 : at;
    }
  }
  return -1;
};

/** `CSI ? 25 h` and its like, for modes that no rule is about: the cursor's visibility, synchronized output. */
const privateMode = (pass: Pass, grid: Grid, start: number): number => {
  const { bytes, sequence, ledger } = pass;
  const end = parameters(sequence, bytes, start + 3);
  const final = bytes[end];
  const mode = sequence.values[0] ?? 0;
  if (end < 0 || sequence.count > 1 || (final !== SM && final !== RM) || (mode !== 25 && mode !== 2026))
    return start;
  ledger.privateMode(mode, final === SM);
  grid.lastWidth = 0;
  return end + 1;
};

const moved = (grid: Grid, row: number, column: number): true => {
  grid.row = row;
  grid.column = column;
  clearWrap(grid);
  return true;
};

/** Does what the sequence does; false, with nothing done, where that is not simple. */
const act = (grid: Grid, final: number | undefined, { values, count }: Sequence): boolean => {
  const first = values[0] || 1;
  const { row, column, columns, rows, bottom, top } = grid;
  switch (final) {
    case EL:
      return true;
    case CUP: {
      const second = (count > 1 && values[1]) || 1;
      return first <= rows && moved(grid, first - 1, Math.min(columns, second) - 1);
    }
    case CUU:
      return moved(grid, Math.max(row >= top ? top : 0, row - first), column);
    case CUD:
      return row + first <= bottom && moved(grid, row + first, column);
    case CUF:
      return moved(grid, row, Math.min(columns - 1, column + first));
    case CUB:
      return moved(grid, row, Math.max(0, column - first));
    case CHA:
      return moved(grid, row, Math.min(columns, first) - 1);
    default:
      return false;
  }
};

const escape = (pass: Pass, grid: Grid, start: number): number => {
  const { bytes, sequence } = pass;
  if (bytes[start + 1] !== CSI) return start;
  const first = start + 2;
  if (bytes[first] === QUESTION_MARK) return privateMode(pass, grid, start);
  const end = parameters(sequence, bytes, first);
  if (end < 0) return start;
  if (bytes[end] === SGR) {
    sequence.bytes = bytes;
    sequence.start = first;
    sequence.end = end;
    grid.rendition = addRendition(grid.rendition, sequence);
  } else if (!act(grid, bytes[end], sequence)) return start;
  grid.lastWidth = 0;
  return end + 1;
};

/** Reads the usual elements from `start` on; returns the offset of the first that is none, or of the end. */
export const readUsual = (pass: Pass, start: number): number => {
  if (!isUsual(pass)) return start;
  const { bytes, grid } = pass;
  let at = start;
  for (let before = -1; at < bytes.length && at !== before;) {
    before = at;
    const byte = bytes[at] ?? 0;
    if (byte === ESC) at = escape(pass, grid, at);
    else if (byte >= DEL) at = character(pass, grid, at);
    else if (byte >= 0x20) at = text(pass, grid, at);
    else if (byte === LF) at = lineFeed(grid, at);
    else if (byte === CR) {
      moved(grid, grid.row, 0);
      grid.lastWidth = 0;
      at += 1;
    }
  }
  return at;
};
