import { hasFooter, type Grid } from './grid.js';
import { home, moveDown, moveLeft, moveRight, moveTo, moveUp, reverseIndex } from './motion.js';

const ORIGIN = 0x20; // rows and columns of `ESC Y` are sent with this added

/** How many bytes after ESC a VT52 sequence has. */
export const vt52Length = (first: number): number => (first === 0x59 ? 3 : 1); // Y row column

/** VT52 mode (xterm ctlseqs, "VT52 Mode"): `bytes` follow ESC. Returns what to send instead, if anything. */
export const vt52Escape = (grid: Grid, bytes: Uint8Array): string | undefined => {
  switch (String.fromCharCode(bytes[0] ?? 0)) {
    case 'A': {
      moveUp(grid, 1);
      return undefined;
    }
    case 'B': {
      moveDown(grid, 1);
      return undefined;
    }
    case 'C': {
      moveRight(grid, 1);
      return undefined;
    }
    case 'D': {
      moveLeft(grid, 1);
      return undefined;
    }
    case 'H': {
      home(grid);
      return undefined;
    }
    case 'I': {
      reverseIndex(grid);
      return undefined;
    }
    case 'J': {
      grid.footerDirty = true;
      return undefined;
    }
    case '<': {
      grid.vt52 = false;
      return undefined;
    }
    case 'Y': {
      return address(grid, (bytes[1] ?? ORIGIN) - ORIGIN, (bytes[2] ?? ORIGIN) - ORIGIN);
    }
    default: {
      return undefined;
    }
  }
};

const address = (grid: Grid, row: number, column: number): string | undefined => {
  moveTo(grid, row, column);
  if (!hasFooter(grid) || row < grid.rows) return undefined;
  return `\x1bY${String.fromCharCode(grid.rows - 1 + ORIGIN, column + ORIGIN)}`;
};
