import { parameterOrOne, parameterText, parameterOrZero, type ControlSequence } from './bytes.js';
import {
  hasFooter,
  hasRowsBelowRegion,
  markSlotOverwritten,
  type Grid,
  type Charsets,
  resetGrid,
} from './grid.js';
import {
  addressColumn,
  clearWrap,
  lowestRow,
  moveBy,
  moveDown,
  moveLeft,
  moveRight,
  moveTo,
  moveToAddress,
  moveUp,
  noteErased,
  tabBackward,
  tabForward,
  eraseFooter,
  isFooterOnMain,
  setRegion,
  cursorPositionSequence,
  restoreCursor,
  saveCursor,
  carriageReturn,
  index,
  isBetweenSideMargins,
  isBlockedBelow,
  reverseIndex,
  alignScreen,
  regionSequence,
} from './motion.js';
import { moveBack } from './reverse-wrap.js';

// What control and escape sequences do to the cursor and margins, and what to send instead to protect the footer row.

/** Changes the grid as the sequence does; returns what to send instead, or undefined to send the sequence unchanged. */
export type Rule = (grid: Grid, sequence: ControlSequence) => string | undefined;

/** A movement that cannot leave the child's rows. */
const staysAbove =
  (move: (grid: Grid, count: number) => void): Rule =>
  (grid, sequence) => {
    move(grid, parameterOrOne(sequence, 0));
    return undefined;
  };

/** CUB. */
const left: Rule = (grid, sequence) => {
  const count = parameterOrOne(sequence, 0);
  if (!grid.quirks.isXtermJs) return moveBack(grid, count);
  moveLeft(grid, count); // it wraps backwards only with BS
  return undefined;
};

const addressRow = (grid: Grid): number => (grid.origin ? grid.row - grid.top : grid.row) + 1;

/** CUP, HVP: a row below the child's screen becomes its last row. */
const position: Rule = (grid, sequence) => {
  const row = parameterOrOne(sequence, 0);
  const column = parameterOrOne(sequence, 1);
  moveToAddress(grid, row - 1, column - 1);
  return hasFooter(grid) && !grid.origin && row > grid.rows ? `\x1b[${grid.rows};${column}H` : undefined;
};

/** VPA. */
const row: Rule = (grid, sequence) => {
  const line = parameterOrOne(sequence, 0);
  moveTo(grid, line - 1 + (grid.origin ? grid.top : 0), grid.column);
  return hasFooter(grid) && !grid.origin && line > grid.rows ? `\x1b[${grid.rows}d` : undefined;
};

/** CUD: below the region the last row stops the cursor; two terminals move through the margin (docs/facts/terminals.md#paint). */
const down: Rule = (grid, sequence) => {
  const count = parameterOrOne(sequence, 0);
  const isBelow = grid.row > grid.bottom;
  const beyond =
    count >= (isBelow ? grid.rows - grid.row : grid.rows - 1) && grid.row + count > lowestRow(grid);
  moveDown(grid, count);
  return hasFooter(grid) && beyond ? `\x1b[${addressRow(grid)}d` : undefined;
};

/** VPR ignores margins and stops at the last row; if the region ends there, CUD does the same and cannot reach the footer. */
const rowRelative: Rule = (grid, sequence) => {
  const count = parameterOrOne(sequence, 0);
  if (hasFooter(grid) && !hasRowsBelowRegion(grid)) return down(grid, sequence) ?? `\x1b[${count}B`;
  const beyond = grid.row + count > grid.rows - 1;
  moveBy(grid, count, 0);
  return hasFooter(grid) && !grid.origin && beyond ? `\x1b[${grid.rows}d` : undefined;
};

const firstColumn = (grid: Grid): void => {
  const toMargin = grid.sideMargins && (grid.origin || grid.column >= grid.left);
  grid.column = toMargin ? grid.left : 0;
};

/** CNL. */
const nextLine: Rule = (grid, sequence) => {
  const instead = down(grid, sequence);
  firstColumn(grid);
  return instead === undefined ? undefined : `${instead}\r`;
};

/** CPL. */
const previousLine: Rule = (grid, sequence) => {
  moveUp(grid, parameterOrOne(sequence, 0));
  firstColumn(grid);
  return undefined;
};

/** CHA, HPA. */
const column: Rule = (grid, sequence) => {
  moveBy(grid, 0, addressColumn(grid, parameterOrOne(sequence, 0) - 1) - grid.column);
  return undefined;
};

/** ED, DECSED: erase everything below the cursor, including the footer. */
const eraseDisplay: Rule = (grid, sequence) => {
  const part = parameterOrZero(sequence, 0);
  if (part === 3 && grid.quirks.isXtermJs && !grid.alternate) grid.scrolled = 0; // the saved cursor does not move with the lines
  if (part <= 2) noteErased(grid);
  if (part === 1 || part === 3) return undefined;
  grid.footerDirty = true;
  const isWhole = part !== 0 || (grid.row === 0 && grid.column === 0);
  if (!isWhole || sequence.prefix !== 0 || !isFooterOnMain(grid)) return undefined;
  return `${eraseFooter(grid)}\x1b[${parameterText(sequence)}J`;
};

/** EL, DECSEL. */
const eraseLine: Rule = (grid, sequence) => {
  if (parameterOrZero(sequence, 0) <= 2) noteErased(grid);
  return undefined;
};

/** IL, DL: move the cursor to the first column if it is between the margins. */
const shiftLines: Rule = (grid) => {
  clearWrap(grid);
  const isBetween = grid.row >= grid.top && grid.row <= grid.bottom && isBetweenSideMargins(grid);
  if (isBetween) grid.column = grid.sideMargins ? grid.left : 0;
  return undefined;
};

/** ICH, DCH, ECH: clear the last-column flag; the cursor stays. */
const shiftCells: Rule = (grid) => {
  clearWrap(grid);
  return undefined;
};

/** CBT: xterm.js does not move while its last-column flag is set. */
const backTab: Rule = (grid, sequence) => {
  const wasPending = grid.pendingWrap;
  const wasLost = grid.wrapLost;
  const place = wasPending ? cursorPositionSequence(grid) : '';
  tabBackward(grid, parameterOrOne(sequence, 0));
  if (!wasPending) return undefined;
  if (grid.quirks.isXtermJs) return wasLost ? '' : undefined;
  return `${place}\x1b[${parameterOrOne(sequence, 0)}Z`;
};

const clearTab: Rule = (grid, sequence) => {
  const part = parameterOrZero(sequence, 0);
  if (part === 0) grid.tabs[grid.column] = 0;
  if (part === 3) grid.tabs.fill(0);
  return undefined;
};

/** DECSTBM. */
const region: Rule = (grid, sequence) =>
  setRegion(grid, parameterOrZero(sequence, 0), parameterOrZero(sequence, 1));

/** `CSI s`: DECSLRM while mode 69 is on, else SCOSC. */
const sideMarginsOrSave: Rule = (grid, sequence) => {
  if (!grid.sideMargins) {
    saveCursor(grid);
    return undefined;
  }
  const left = parameterOrOne(sequence, 0) - 1;
  const right = Math.min(grid.columns, parameterOrZero(sequence, 1) || grid.columns) - 1;
  if (left >= right) return grid.quirks.sideMargins === 'yes' ? undefined : '';
  Object.assign(grid, { left, right });
  moveToAddress(grid, 0, 0);
  if (grid.quirks.sideMargins === 'yes') return undefined;
  markSlotOverwritten(grid); // it is SCOSC for a terminal without such margins
  return `\x1b[${left + 1};${right + 1}s\x1b[H`;
};

const horizontalRelative: Rule = (grid, sequence) => {
  moveBy(grid, 0, parameterOrOne(sequence, 0));
  return undefined;
};

/** Finals of sequences without prefix and intermediate (ECMA-48 8.3, xterm ctlseqs). */
export const cursorRules: Readonly<Record<string, Rule>> = {
  '@': shiftCells,
  A: staysAbove(moveUp),
  B: down,
  C: staysAbove(moveRight),
  D: left,
  E: nextLine,
  F: previousLine,
  G: column,
  H: position,
  I: staysAbove(tabForward),
  J: eraseDisplay,
  K: eraseLine,
  L: shiftLines,
  M: shiftLines,
  P: shiftCells,
  X: shiftCells,
  Z: backTab,
  '`': column,
  a: horizontalRelative,
  d: row,
  e: rowRelative,
  f: position,
  g: clearTab,
  r: region,
  s: sideMarginsOrSave,
  u: (grid) => restoreCursor(grid),
  '?J': eraseDisplay,
  '?K': eraseLine,
};

/** In the child's last row below its region an index only ends a pending wrap; VPA to the same row does that too. */
const stayOnRow = (grid: Grid): string => `\x1b[${grid.rows}d`;

const indexRule = (grid: Grid): string | undefined => {
  if (isBlockedBelow(grid)) {
    index(grid);
    return stayOnRow(grid);
  }
  index(grid);
  return undefined;
};

const nextLineInEscape = (grid: Grid): string | undefined => {
  const instead = indexRule(grid);
  carriageReturn(grid);
  return instead === undefined ? undefined : `${instead}\r`;
};

/** LF, VT, FF. */
const lineFeed = (grid: Grid): string | undefined =>
  grid.newLine ? nextLineInEscape(grid) : indexRule(grid);

const shift = (grid: Grid, shifted: Charsets['shifted']): undefined => {
  grid.charsets = { ...grid.charsets, shifted };
  return undefined;
};

/** LS1R, LS2R, LS3R: no effect in UTF-8, but xterm.js treats them as LS1, LS2 and LS3. */
const shiftRight = (grid: Grid, shifted: Charsets['shifted']): string | undefined =>
  grid.quirks.isXtermJs ? shift(grid, shifted) : '';

/** ISO 2022's return to character sets: xterm.js makes G0 ASCII; other terminals may leave UTF-8, which the footer needs. */
const leaveUtf8 = (grid: Grid): string | undefined => {
  if (!grid.quirks.isXtermJs) return '';
  designate(grid, 0, '(B');
  return shift(grid, 0);
};

/** BS. */
const backspaceRule = (grid: Grid): string | undefined => {
  if (!grid.quirks.isXtermJs) return moveBack(grid, 1);
  if (grid.reverseWrap && grid.pendingWrap) {
    const instead = grid.wrapLost ? '' : undefined;
    clearWrap(grid);
    return instead;
  }
  if (grid.reverseWrap && grid.column === 0) grid.isCursorUnsure = true; // it goes up if the row above ends in a wrap
  moveLeft(grid, 1);
  return undefined;
};

/** Moves the grid as a C0 control does; returns what to send instead of it, if anything. */
export const control = (grid: Grid, byte: number): string | undefined => {
  switch (byte) {
    case 0x0a:
    case 0x0b:
    case 0x0c: {
      return lineFeed(grid);
    }
    case 0x0d: {
      carriageReturn(grid);
      return undefined;
    }
    case 0x08: {
      return backspaceRule(grid);
    }
    case 0x09: {
      tabForward(grid, 1);
      return undefined;
    }
    case 0x0e: {
      return shift(grid, 1);
    }
    case 0x0f: {
      return shift(grid, 0);
    }
    default: {
      return undefined;
    }
  }
};

const fullReset = (grid: Grid): string | undefined => {
  const before = isFooterOnMain(grid) ? eraseFooter(grid) : '';
  const newLine = grid.newLine && !grid.quirks.isXtermJs ? '\x1b[20l' : ''; // some terminals keep LNM
  resetGrid(grid);
  return hasFooter(grid) ? `${before}\x1bc${newLine}${regionSequence(grid)}` : undefined;
};

const setTab = (grid: Grid): undefined => {
  grid.tabs[grid.column] = 1;
  return undefined;
};

/** The memory lock of HP terminals only moves the top margin and leaves at least two rows. */
const lockMemory = (grid: Grid, top: number): string | undefined => {
  if (grid.quirks.memoryLock === 'unknown') return '';
  if (grid.quirks.memoryLock === 'yes' && top < grid.bottom) grid.top = top;
  return undefined;
};

type EscapeRule = (grid: Grid) => string | undefined;

/** Escape sequences without parameters, keyed intermediate + final (ECMA-48, VT510 manual, xterm ctlseqs). */
const rules: Readonly<Record<string, EscapeRule>> = {
  '7': (grid) => {
    saveCursor(grid);
    return undefined;
  },
  '8': restoreCursor,
  D: indexRule,
  E: nextLineInEscape,
  H: setTab,
  M: (grid) => {
    reverseIndex(grid);
    return undefined;
  },
  c: fullReset,
  l: (grid) => lockMemory(grid, grid.row),
  m: (grid) => lockMemory(grid, 0),
  n: (grid) => shift(grid, 2),
  o: (grid) => shift(grid, 3),
  '|': (grid) => shiftRight(grid, 3),
  '}': (grid) => shiftRight(grid, 2),
  '~': (grid) => shiftRight(grid, 1),
  '%@': leaveUtf8,
  '%G': (grid) => (grid.quirks.isXtermJs ? leaveUtf8(grid) : undefined),
  '#8': alignScreen,
};

const designators = '()*+';
const largeDesignators = ' -.'; // sets of 96 characters; not possible for G0, and `/` is not supported everywhere

const designate = (grid: Grid, slot: number, name: string): undefined => {
  const [g0, g1, g2, g3] = grid.charsets.designations;
  const designations: [string, string, string, string] = [g0, g1, g2, g3];
  designations[slot] = name;
  grid.charsets = { ...grid.charsets, designations };
  return undefined;
};

/** `ESC` + intermediates + final. Returns what to send instead, or undefined to send it unchanged. */
export const escape = (grid: Grid, name: string): string | undefined => {
  if (name.length === 1) return rules[name]?.(grid);
  const slot = Math.max(designators.indexOf(name.charAt(0)), largeDesignators.indexOf(name.charAt(0)));
  return slot >= 0 ? designate(grid, slot, name) : rules[name]?.(grid);
};
