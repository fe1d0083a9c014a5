import { hasFooter, type Grid } from './grid.js';
import { home, moveDown, moveLeft, moveRight, moveTo, moveUp, reverseIndex } from './motion.js';

const ORIGIN = 0x20; // rows and columns of `ESC Y` are sent with this added

const ADDRESS = 0x59; // Y

/** How many bytes after ESC a VT52 sequence has. */
export const vt52Length = (first: number): number => (first === ADDRESS ? 3 : 1); // Y row column

/** The sequences that move the cursor or leave the mode (xterm ctlseqs, "VT52 Mode"). */
const rules: Readonly<Record<string, (grid: Grid) => void>> = {
  A: (grid) => moveUp(grid, 1),
  B: (grid) => moveDown(grid, 1),
  C: (grid) => moveRight(grid, 1),
  D: (grid) => moveLeft(grid, 1),
  H: home,
  I: reverseIndex,
  J: (grid) => {
    grid.footerDirty = true;
  },
  '<': (grid) => {
    grid.vt52 = false;
  },
};

/** `bytes` follow ESC in VT52 mode. Returns what to send instead of the sequence, if anything. */
export const vt52Escape = (grid: Grid, bytes: Uint8Array): string | undefined => {
  const [first = 0, row = ORIGIN, column = ORIGIN] = bytes;
  if (first === ADDRESS) return address(grid, row - ORIGIN, column - ORIGIN);
  rules[String.fromCharCode(first)]?.(grid);
  return undefined;
};

const address = (grid: Grid, row: number, column: number): string | undefined => {
  moveTo(grid, row, column);
  if (!hasFooter(grid) || row < grid.rows) return undefined;
  return `\x1bY${String.fromCharCode(grid.rows - 1 + ORIGIN, column + ORIGIN)}`;
};
