import { type ControlSequence, widthOf } from './bytes.js';
import { hasFooter, type Grid } from './grid.js';
import { clearWrap, index, noteErased, printCells, printWide } from './motion.js';
import { notePrinted, replace, type FilterState } from './parser.js';
import { applyNoted, noteRendition } from './rendition.js';

// Fast path for most of the agents' output: text, CR, LF, graphic renditions and cursor moves, read in one loop without a table lookup or
// an object per element. Everything else is left to the general readers, which would do the same for these elements. No byte beyond the
// end of the chunk is read here: after the first such read V8 checks each value that is read at that place.

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
const MAX_PARAMETERS = 64; // bytes; longer sequences, too

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

/** The code point of a character of three bytes; 0 if they are none, or a part of one. */
const decodeThree = (bytes: Uint8Array, start: number): number => {
  if (start + 3 > bytes.length) return 0;
  const second = (bytes[start + 1] ?? 0) ^ 0x80;
  const third = (bytes[start + 2] ?? 0) ^ 0x80;
  const codePoint = (((bytes[start] ?? 0) & 0x0f) << 12) | (second << 6) | third;
  const isCharacter = second <= 0x3f && third <= 0x3f && codePoint >= 0x800;
  return isCharacter && (codePoint < 0xd800 || codePoint >= 0xe000) ? codePoint : 0;
};

const decodeTwo = (bytes: Uint8Array, start: number): number => {
  if (start + 2 > bytes.length) return 0;
  const second = (bytes[start + 1] ?? 0) ^ 0x80;
  return second <= 0x3f ? (((bytes[start] ?? 0) & 0x1f) << 6) | second : 0;
};

/** A character of two or three bytes, from U+00A0 on, with a width of one or two cells. */
const readCharacter = (state: FilterState, grid: Grid, start: number): number => {
  const { bytes } = state;
  const lead = bytes[start] ?? 0;
  if (lead < 0xc2 || lead >= 0xf0) return start;
  const isShort = lead < 0xe0;
  const codePoint = isShort ? decodeTwo(bytes, start) : decodeThree(bytes, start);
  const width = codePoint < 0xa0 ? 0 : widthOf(codePoint);
  if (width === 0) return start;
  if (width === 1) print(state, grid, 1, start);
  else printWide(grid, start, state.insert);
  notePrinted(grid, codePoint, width);
  if (isShort) return start + 2;
  return width === 1 ? skipRepeats(bytes, grid, start) : start + 3;
};

/** Reads the same character of three bytes and one cell again, as lines of boxes and bars have it, as long as the row has room. */
const skipRepeats = (bytes: Uint8Array, grid: Grid, start: number): number => {
  const first = bytes[start];
  const second = bytes[start + 1];
  const third = bytes[start + 2];
  const room = grid.pendingWrap ? 0 : grid.columns - 1 - grid.column;
  const last = Math.min(start + 3 * room, bytes.length - 3);
  let at = start + 3;
  while (at <= last && bytes[at + 2] === third && bytes[at + 1] === second && bytes[at] === first) at += 3;
  grid.column += (at - start) / 3 - 1;
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
  const last = Math.min(bytes.length, start + MAX_PARAMETERS);
  let count = 0;
  let value = 0;
  for (let at = start; at < last && value <= MAX_VALUE; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= DIGIT_0 && byte <= DIGIT_9) value = value * 10 + byte - DIGIT_0;
    else {
      if (count === MAX_VALUES) return -1;
      sequence.values[count++] = value;
      if (byte !== SEMICOLON) {
        sequence.count = count;
        return byte === COLON ? -1 : at;
      }
      value = 0;
    }
  }
  return -1;
};

/** `CSI ? 25 h` and similar, for modes without a rule: cursor visibility and synchronized output. */
const readPrivateMode = (state: FilterState, grid: Grid, start: number): number => {
  const { bytes, sequence, modeTracker } = state;
  const end = readParameters(sequence, bytes, start + 3);
  if (end < 0) return start;
  const final = bytes[end];
  const mode = sequence.values[0] ?? 0;
  if (sequence.count > 1 || (final !== SM && final !== RM) || (mode !== 25 && mode !== 2026)) return start;
  modeTracker.setPrivateMode(mode, final === SM);
  grid.lastWidth = 0;
  return end + 1;
};

/** The offset of the byte after digits and separators; −1 if it is not in this chunk, or they are too many. */
const endOfParameters = (bytes: Uint8Array, start: number): number => {
  const last = Math.min(bytes.length, start + MAX_PARAMETERS);
  for (let at = start; at < last; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte > SEMICOLON || byte < DIGIT_0) return at;
  }
  return -1;
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
      if (first > rows) return false;
      grid.isRowKnown = true;
      return setCursor(grid, first - 1, Math.min(columns, second) - 1);
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

/** CUP to a row below the child's screen, which becomes its last row. */
const positionBelow = (state: FilterState, grid: Grid, start: number, end: number): void => {
  const { values, count } = state.sequence;
  const column = (count > 1 && values[1]) || 1;
  grid.isRowKnown = true;
  setCursor(grid, grid.rows - 1, Math.min(grid.columns, column) - 1);
  if (hasFooter(grid)) replace(state, start, end, `\x1b[${grid.rows};${column}H`);
};

const note = (state: FilterState, start: number, end: number): void => {
  const { noted, bytes, grid, sequence } = state;
  if (noteRendition(noted, bytes, start, end)) return;
  grid.rendition = applyNoted(grid.rendition, noted, sequence, bytes);
  noteRendition(noted, bytes, start, end);
};

const readEscape = (state: FilterState, grid: Grid, start: number): number => {
  const { bytes, sequence } = state;
  const first = start + 2;
  if (first >= bytes.length || bytes[start + 1] !== CSI) return start;
  if (bytes[first] === QUESTION_MARK) return readPrivateMode(state, grid, start);
  const end = endOfParameters(bytes, first);
  if (end < 0) return start;
  const final = bytes[end];
  if (final === SGR) note(state, first, end);
  else if (readParameters(sequence, bytes, first) !== end) return start;
  else if (!applySequence(grid, final, sequence)) {
    if (final !== CUP) return start;
    positionBelow(state, grid, start, end + 1);
  }
  grid.lastWidth = 0;
  return end + 1;
};

/** Reads simple elements from `start` on; returns the offset of the first other element, or of the end. */
export const readFastPath = (state: FilterState, start: number): number => {
  if (!canUseFastPath(state)) return start;
  const { bytes, grid, noted } = state;
  noted.count = 0;
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
  if (noted.count > 0) grid.rendition = applyNoted(grid.rendition, noted, state.sequence, bytes);
  return at;
};
