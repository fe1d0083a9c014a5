import type { Charsets } from './charsets.js';
import { hasFooter, resetGrid, type Grid } from './grid.js';
import {
  backspace,
  carriageReturn,
  clearWrap,
  index,
  isBlockedBelow,
  reverseIndex,
  tabForward,
} from './motion.js';
import { alignScreen, eraseFooter, isFooterOnMain, regionSequence } from './region.js';
import { placeSequence, restoreCursor, saveCursor } from './saved-cursor.js';

/** In the child's last row below its region an index does nothing but end a pending wrap: VPA to the same row does that. */
const stay = (grid: Grid): string => `\x1b[${grid.rows}d`;

const indexed = (grid: Grid): string | undefined => {
  if (isBlockedBelow(grid)) {
    index(grid);
    return stay(grid);
  }
  index(grid);
  return undefined;
};

const nextLine = (grid: Grid): string | undefined => {
  const instead = indexed(grid);
  carriageReturn(grid);
  return instead === undefined ? undefined : `${instead}\r`;
};

/** LF, VT, FF. */
const lineFeed = (grid: Grid): string | undefined => (grid.newLine ? nextLine(grid) : indexed(grid));

const shift = (grid: Grid, shifted: Charsets['shifted']): undefined => {
  grid.charsets = { ...grid.charsets, shifted };
  return undefined;
};

/** LS1R, LS2R, LS3R: nothing to UTF-8, but xterm.js takes them for LS1, LS2 and LS3. */
const shiftRight = (grid: Grid, shifted: Charsets['shifted']): string | undefined =>
  grid.quirks.isXtermJs ? shift(grid, shifted) : '';

/** ISO 2022's return to character sets: xterm.js makes G0 ASCII; elsewhere it may end UTF-8, which the footer is in. */
const leaveUtf8 = (grid: Grid): string | undefined => {
  if (!grid.quirks.isXtermJs) return '';
  designate(grid, 0, '(B');
  return shift(grid, 0);
};

/** BS. How it wraps backwards differs from terminal to terminal, so that the place is spelled out. */
const backward = (grid: Grid): string | undefined => {
  if (grid.reverseWrap && grid.quirks.isXtermJs && grid.column === 0) return ''; // where it goes hangs on what was printed
  if (grid.reverseWrap && grid.quirks.isXtermJs && grid.pendingWrap) {
    const instead = grid.wrapLost ? '' : undefined;
    clearWrap(grid);
    return instead;
  }
  backspace(grid);
  return grid.reverseWrap && !grid.quirks.isXtermJs ? placeSequence(grid) : undefined;
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
      return backward(grid);
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
  const newLine = grid.newLine && !grid.quirks.isXtermJs ? '\x1b[20l' : ''; // some keep it
  resetGrid(grid);
  return hasFooter(grid) ? `${before}\x1bc${newLine}${regionSequence(grid)}` : undefined;
};

const setTab = (grid: Grid): undefined => {
  grid.tabs[grid.column] = 1;
  return undefined;
};

/** Memory lock of HP terminals moves the top margin only, and leaves two rows at least. */
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
  D: indexed,
  E: nextLine,
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
const largeDesignators = ' -.'; // sets of 96 characters; G0 can't have one, and `/` is not known everywhere

const designate = (grid: Grid, slot: number, name: string): undefined => {
  const [g0, g1, g2, g3] = grid.charsets.designations;
  const designations: [string, string, string, string] = [g0, g1, g2, g3];
  designations[slot] = name;
  grid.charsets = { ...grid.charsets, designations };
  return undefined;
};

/** `ESC` + intermediates + final. Returns what to send instead, or undefined to send it as it is. */
export const escape = (grid: Grid, name: string): string | undefined => {
  if (name.length === 1) return rules[name]?.(grid);
  const slot = Math.max(designators.indexOf(name.charAt(0)), largeDesignators.indexOf(name.charAt(0)));
  return slot >= 0 ? designate(grid, slot, name) : rules[name]?.(grid);
};
