import type { Ledger } from '../ledger.js';
import type { Grid } from './grid.js';
import { home } from './motion.js';
import type { Sequence } from './sequence.js';
import { switchBuffer, switchColumns } from './region.js';
import { restoreCursor, saveCursor } from './saved-cursor.js';

const setSideMargins = (grid: Grid, on: boolean): void => {
  Object.assign(grid, { sideMargins: on, left: 0, right: grid.columns - 1 });
};

/** One DEC private mode (DECSET, DECRST). Returns what to send for it, or undefined where the terminal gets it as it is. */
const setMode = (grid: Grid, mode: number, on: boolean): string | undefined => {
  switch (mode) {
    case 2: {
      grid.vt52 = !on;
      return undefined;
    }
    case 3: {
      return switchColumns(grid, on);
    }
    case 6: {
      grid.origin = on;
      home(grid);
      return undefined;
    }
    case 7: {
      grid.autowrap = on;
      return undefined;
    }
    case 40: {
      grid.columnSwitch = on;
      return undefined;
    }
    case 45: {
      grid.reverseWrap = on;
      return undefined;
    }
    case 69: {
      setSideMargins(grid, on);
      return undefined;
    }
    case 47:
    case 1047:
    case 1049: {
      return switchBuffer(grid, mode, on);
    }
    case 1048: {
      if (!on) return restoreCursor(grid);
      saveCursor(grid);
      return undefined;
    }
    default: {
      return undefined;
    }
  }
};

/** `CSI ? … h` and `CSI ? … l`: sent mode by mode as soon as one of them needs more than the terminal does by itself. */
export const setPrivateModes = (
  grid: Grid,
  ledger: Ledger,
  sequence: Sequence,
  on: boolean,
): string | undefined => {
  const final = on ? 'h' : 'l';
  let rewritten = false;
  let output = '';
  for (let index = 0; index < sequence.count; index += 1) {
    const mode = sequence.values[index] ?? 0;
    ledger.privateMode(mode, on);
    const instead = setMode(grid, mode, on);
    rewritten ||= instead !== undefined;
    output += instead ?? `\x1b[?${mode}${final}`;
  }
  return rewritten ? output : undefined;
};
