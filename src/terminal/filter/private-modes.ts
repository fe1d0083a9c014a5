import type { Ledger } from '../ledger.js';
import { asciiCharsets } from './charsets.js';
import type { Grid } from './grid.js';
import { home, moveTo } from './motion.js';
import type { Sequence } from './sequence.js';
import { switchBuffer, switchColumns } from './region.js';
import { placeSequence, restoreCursor, saveCursor } from './saved-cursor.js';

const setSideMargins = (grid: Grid, on: boolean): void => {
  if (grid.quirks.sideMargins === 'no') return;
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

/** DECANM. A terminal that may not know it is not told to leave the mode in which we speak to it. */
const setAnsi: ModeRule = (grid, on) => {
  if (grid.quirks.isXtermJs && on)
    grid.charsets = { ...grid.charsets, designations: asciiCharsets.designations };
  if (grid.quirks.vt52 === 'yes') grid.vt52 = !on;
  return grid.quirks.vt52 === 'unknown' && !on ? '' : undefined;
};

/** DEC private modes that matter to the cursor (xterm ctlseqs). Each returns what to send for it, or undefined to send it as it is. */
const rules: Readonly<Record<number, ModeRule>> = {
  2: setAnsi,
  3: switchColumns,
  6: known(setOrigin),
  7: known((grid, on) => (grid.autowrap = on)),
  40: known((grid, on) => (grid.columnSwitch = on)),
  45: known((grid, on) => (grid.reverseWrap = on)),
  1045: known((grid, on) => (grid.reverseWrap = on && !grid.quirks.isXtermJs)),
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

/** Unlike a switch of the mode this leaves the cursor where it is. */
const restoreOrigin = (grid: Grid, on: boolean): string => {
  const { row, column } = grid;
  grid.origin = on;
  moveTo(grid, row, column);
  return placeSequence(grid);
};

/** XTRESTORE, spelled out where something changes, since not every terminal knows it; a switch of the buffer is one like any other. */
export const restorePrivateModes = (grid: Grid, ledger: Ledger, sequence: Sequence): string | undefined => {
  if (grid.quirks.ignoresModeSaving) return undefined;
  let instead = '';
  const others: number[] = [];
  for (const mode of sequence.values.subarray(0, sequence.count)) {
    const saved = grid.savedModes.get(mode);
    if (saved === undefined || saved === isPrivateModeOn(grid, ledger, mode)) continue;
    ledger.privateMode(mode, saved);
    const sequence = `\x1b[?${mode}${saved ? 'h' : 'l'}`;
    if (mode === 6) instead += sequence + restoreOrigin(grid, saved);
    else if (mode === 7 || mode === 69) instead += rules[mode]?.(grid, saved) ?? sequence;
    else if (mode === 47 || mode === 1047 || mode === 1049)
      instead += switchBuffer(grid, mode, saved) ?? sequence;
    else others.push(mode);
  }
  if (instead === '') return undefined;
  return others.length > 0 ? `\x1b[?${others.join(';')}r${instead}` : instead;
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
