import { hasFooter, resetGrid, type Grid } from './grid.js';
import { backspace, carriageReturn, index, isBlockedBelow, reverseIndex, tabForward } from './motion.js';
import { alignScreen, eraseFooter, isFooterOnMain, regionSequence } from './region.js';
import { restoreCursor, saveCursor } from './saved-cursor.js';

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

const shift = (grid: Grid, shiftedOut: boolean): undefined => {
  grid.charsets = { ...grid.charsets, shiftedOut };
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
      backspace(grid);
      return undefined;
    }
    case 0x09: {
      tabForward(grid, 1);
      return undefined;
    }
    case 0x0e: {
      return shift(grid, true);
    }
    case 0x0f: {
      return shift(grid, false);
    }
    default: {
      return undefined;
    }
  }
};

const fullReset = (grid: Grid): string | undefined => {
  const before = isFooterOnMain(grid) ? eraseFooter(grid) : '';
  resetGrid(grid);
  return hasFooter(grid) ? `${before}\x1bc${regionSequence(grid)}` : undefined;
};

const setTab = (grid: Grid): undefined => {
  grid.tabs[grid.column] = 1;
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
  // memory lock of HP terminals moves the top margin only
  l: (grid) => {
    grid.top = grid.row;
    return undefined;
  },
  m: (grid) => {
    grid.top = 0;
    return undefined;
  },
  '#8': alignScreen,
};

const designators = '()*+';

/** `ESC` + intermediates + final. Returns what to send instead, or undefined to send it as it is. */
export const escape = (grid: Grid, name: string): string | undefined => {
  const slot = designators.indexOf(name.charAt(0));
  if (slot >= 0 && name.length > 1) {
    const [g0, g1, g2, g3] = grid.charsets.designations;
    const designations: [string, string, string, string] = [g0, g1, g2, g3];
    designations[slot] = name;
    grid.charsets = { ...grid.charsets, designations };
    return undefined;
  }
  return rules[name]?.(grid);
};
