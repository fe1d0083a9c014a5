import type { Ledger } from '../ledger.js';
import type { Grid } from './grid.js';
import { home } from './motion.js';
import type { Sequence } from './sequence.js';
import { switchBuffer, switchColumns } from './region.js';
import { restoreCursor, saveCursor } from './saved-cursor.js';

const setSideMargins = (grid: Grid, on: boolean): void => {
  Object.assign(grid, { sideMargins: on, left: 0, right: grid.columns - 1 });
};

type ModeRule = (grid: Grid, on: boolean) => string | undefined;

/** A mode that the terminal switches by itself: we only have to know. */
const known =
  (apply: (grid: Grid, on: boolean) => void): ModeRule =>
  (grid, on) => {
    apply(grid, on);
    return undefined;
  };

const saveOrRestore: ModeRule = (grid, on) => {
  if (!on) return restoreCursor(grid);
  saveCursor(grid);
  return undefined;
};

const setOrigin = (grid: Grid, on: boolean): void => {
  grid.origin = on;
  home(grid);
};

/** DEC private modes that matter to the cursor (xterm ctlseqs). Each returns what to send for it, or undefined to send it as it is. */
const rules: Readonly<Record<number, ModeRule>> = {
  2: known((grid, on) => (grid.vt52 = !on)),
  3: switchColumns,
  6: known(setOrigin),
  7: known((grid, on) => (grid.autowrap = on)),
  40: known((grid, on) => (grid.columnSwitch = on)),
  45: known((grid, on) => (grid.reverseWrap = on)),
  69: known(setSideMargins),
  47: (grid, on) => switchBuffer(grid, 47, on),
  1047: (grid, on) => switchBuffer(grid, 1047, on),
  1048: saveOrRestore,
  1049: (grid, on) => switchBuffer(grid, 1049, on),
};

/** How the child has the mode. */
export const isPrivateModeOn = (grid: Grid, ledger: Ledger, mode: number): boolean => {
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
    ...modes.map((mode) => [mode, isPrivateModeOn(grid, ledger, mode)] as const),
  ]);
  return undefined;
};

/** XTRESTORE: the terminal does it by itself, except that a switch of the buffer is one like any other. */
export const restorePrivateModes = (grid: Grid, ledger: Ledger, sequence: Sequence): string | undefined => {
  if (grid.quirks.ignoresModeSaving) return undefined;
  let instead: string | undefined;
  for (const mode of sequence.values.subarray(0, sequence.count)) {
    const saved = grid.savedModes.get(mode);
    if (saved === undefined || saved === isPrivateModeOn(grid, ledger, mode)) continue;
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
    const instead = rules[mode]?.(grid, on);
    rewritten ||= instead !== undefined;
    output += instead ?? `\x1b[?${mode}${final}`;
  }
  return rewritten ? output : undefined;
};
