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

const isOn = (grid: Grid, ledger: Ledger, mode: number): boolean => {
  if (mode === 6) return grid.origin;
  if (mode === 7) return grid.autowrap;
  if (mode === 69) return grid.sideMargins;
  return mode === 47 || mode === 1047 || mode === 1049 ? grid.alternate : ledger.isSet(mode);
};

/** XTSAVE. */
export const savePrivateModes = (grid: Grid, ledger: Ledger, sequence: Sequence): undefined => {
  if (grid.quirks.ignoresModeSaving) return undefined;
  const modes = [...sequence.values.subarray(0, sequence.count)];
  grid.savedModes = new Map([
    ...grid.savedModes,
    ...modes.map((mode) => [mode, isOn(grid, ledger, mode)] as const),
  ]);
  return undefined;
};

/** XTRESTORE: the terminal does it by itself, except that a switch of the buffer is one like any other. */
export const restorePrivateModes = (grid: Grid, ledger: Ledger, sequence: Sequence): string | undefined => {
  if (grid.quirks.ignoresModeSaving) return undefined;
  let instead: string | undefined;
  for (const mode of sequence.values.subarray(0, sequence.count)) {
    const saved = grid.savedModes.get(mode);
    if (saved === undefined || saved === isOn(grid, ledger, mode)) continue;
    ledger.privateMode(mode, saved);
    if (mode === 7) grid.autowrap = saved;
    else if (mode === 6) grid.origin = saved;
    else if (mode === 69) setSideMargins(grid, saved);
    else if (mode === 47 || mode === 1047 || mode === 1049) instead = switchBuffer(grid, mode, saved);
  }
  return instead;
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
