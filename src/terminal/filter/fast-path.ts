import { type ControlSequence, widthOf } from './bytes.js';
import { hasFooter, type Grid } from './grid.js';
import { clearWrap, index, noteErased, printCells, printWide } from './motion.js';
import { notePrinted, type FilterState } from './parser.js';
import { addRendition } from './rendition.js';

// Fast path for most of the agents' output: text, CR, LF, graphic renditions and cursor moves, read in one loop without a table lookup or
// an object per element. Everything else is left to the general readers, which would do the same for these elements.

const LF = 0x0a;
const CR = 0x0d;
const ESC = 0x1b;
const DEL = 0x7f;
const [DIGIT_0, DIGIT_9, COLON, SEMICOLON, QUESTION_MARK] = [0x30, 0x39, 0x3a, 0x3b, 0x3f];
const CSI = 0x5b; // after ESC
const [CUU, CUD, CUF, CUB, CHA, CUP, EL, SM, RM, SGR] = Array.from('ABCDGHKhlm', (final) =>
  final.charCodeAt(0),
);

const MAX_VALUES = 30;
const MAX_VALUE = 99_999; // a larger parameter is left to the general readers

/** True outside strings and partial sequences, and with no rare mode on that changes cursor movement or text. */
const canUseFastPath = ({ grid, string, isStringOpen, partialLength }: FilterState): boolean =>
  string === undefined &&
  partialLength === 0 &&
  !(isStringOpen || grid.vt52 || grid.sideMargins || grid.origin || grid.newLine) &&
  !(grid.reverseWrap || grid.extendedReverseWrap || grid.isCursorUnsure);

const print = (state: FilterState, grid: Grid, count: number, at: number): void => {
  const column = grid.column + count;
  if (grid.pendingWrap || column >= grid.columns) printCells(grid, count, at, state.insert);
  else grid.column = column;
};

const readText = (state: FilterState, grid: Grid, start: number): number => {
  const { bytes } = state;
  let end = start + 1;
  for (; end < bytes.length; end += 1) {
    const byte = bytes[end] ?? 0;
    if (byte < 0x20 || byte >= DEL) break;
  }
  print(state, grid, end - start, start);
  notePrinted(grid, bytes[end - 1] ?? 0, 1);
  return end;
};

/** A character of two or three bytes, from U+00C0 on, with a width of one or two cells. */
const readCharacter = (state: FilterState, grid: Grid, start: number): number => {
  const { bytes } = state;
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
  if (width === 1) print(state, grid, 1, start);
  else printWide(grid, start, state.insert);
  notePrinted(grid, codePoint, width);
  return width === 1 && size === 3 ? skipRepeats(bytes, grid, start) : start + size;
};

/** Reads the same character of three bytes and one cell again, as lines of boxes and bars have it, as long as the row has room. */
const skipRepeats = (bytes: Uint8Array, grid: Grid, start: number): number => {
  const [first, second, third] = [bytes[start], bytes[start + 1], bytes[start + 2]];
  const room = grid.pendingWrap ? 0 : grid.columns - 1 - grid.column;
  let [at, count] = [start + 3, 0];
  for (; count < room && bytes[at + 2] === third && bytes[at + 1] === second && bytes[at] === first; at += 3)
    count += 1;
  grid.column += count;
  return at;
};

/** LF, except in the child's last row below its region. */
const readLineFeed = (grid: Grid, start: number): number => {
  if (grid.row === grid.rows - 1 && grid.row !== grid.bottom && hasFooter(grid)) return start;
  index(grid);
  grid.lastWidth = 0;
  return start + 1;
};

/** Reads the parameters at `start` into `sequence`; returns the offset after them, −1 if they are not simple. */
const readParameters = (sequence: ControlSequence, bytes: Uint8Array, start: number): number => {
  let [at, count, value] = [start, 0, 0];
  for (; at < bytes.length && value <= MAX_VALUE && count < MAX_VALUES; at += 1) {
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

/** `CSI ? 25 h` and similar, for modes without a rule: cursor visibility and synchronized output. */
const readPrivateMode = (state: FilterState, grid: Grid, start: number): number => {
  const { bytes, sequence, modeTracker } = state;
  const end = readParameters(sequence, bytes, start + 3);
  const final = bytes[end];
  const mode = sequence.values[0] ?? 0;
  if (end < 0 || sequence.count > 1 || (final !== SM && final !== RM) || (mode !== 25 && mode !== 2026))
    return start;
  modeTracker.setPrivateMode(mode, final === SM);
  grid.lastWidth = 0;
  return end + 1;
};

const setCursor = (grid: Grid, row: number, column: number): true => {
  grid.row = row;
  grid.column = column;
  clearWrap(grid);
  return true;
};

/** Applies the sequence; false, with nothing changed, if it is not simple. */
const applySequence = (
  grid: Grid,
  final: number | undefined,
  { values, count }: ControlSequence,
): boolean => {
  const first = values[0] || 1;
  const { row, column, columns, rows, bottom, top } = grid;
  switch (final) {
    case EL:
      if ((values[0] ?? 0) <= 2) noteErased(grid);
      return true;
    case CUP: {
      const second = (count > 1 && values[1]) || 1;
      return first <= rows && setCursor(grid, first - 1, Math.min(columns, second) - 1);
    }
    case CUU:
      return setCursor(grid, Math.max(row >= top ? top : 0, row - first), column);
    case CUD:
      return row + first <= bottom && setCursor(grid, row + first, column);
    case CUF:
      return setCursor(grid, row, Math.min(columns - 1, column + first));
    case CUB:
      return setCursor(grid, row, Math.max(0, column - first));
    case CHA:
      return setCursor(grid, row, Math.min(columns, first) - 1);
    default:
      return false;
  }
};

const readEscape = (state: FilterState, grid: Grid, start: number): number => {
  const { bytes, sequence } = state;
  if (bytes[start + 1] !== CSI) return start;
  const first = start + 2;
  if (bytes[first] === QUESTION_MARK) return readPrivateMode(state, grid, start);
  const end = readParameters(sequence, bytes, first);
  if (end < 0) return start;
  if (bytes[end] === SGR) {
    sequence.bytes = bytes;
    sequence.start = first;
    sequence.end = end;
    grid.rendition = addRendition(grid.rendition, sequence);
  } else if (!applySequence(grid, bytes[end], sequence)) return start;
  grid.lastWidth = 0;
  return end + 1;
};

/** Reads simple elements from `start` on; returns the offset of the first other element, or of the end. */
export const readFastPath = (state: FilterState, start: number): number => {
  if (!canUseFastPath(state)) return start;
  const { bytes, grid } = state;
  let at = start;
  for (let before = -1; at < bytes.length && at !== before;) {
    before = at;
    const byte = bytes[at] ?? 0;
    if (byte === ESC) at = readEscape(state, grid, at);
    else if (byte >= DEL) at = readCharacter(state, grid, at);
    else if (byte >= 0x20) at = readText(state, grid, at);
    else if (byte === LF) at = readLineFeed(grid, at);
    else if (byte === CR) {
      setCursor(grid, grid.row, 0);
      grid.lastWidth = 0;
      at += 1;
    }
  }
  return at;
};
