import type { ModeTracker } from '../mode-tracker.js';
import { type ControlSequence, parameterText, parameterOrZero } from './bytes.js';
import type { Rule } from './cursor-rules.js';
import { asciiCharsets, type Grid, hasFooter } from './grid.js';
import {
  home,
  moveTo,
  switchBuffer,
  switchColumns,
  cursorPositionSequence,
  restoreCursor,
  saveCursor,
  softReset,
  softResetModes,
  moveDown,
  moveRight,
  moveUp,
  reverseIndex,
  VT52_ORIGIN,
  vt52Address,
} from './motion.js';
import { moveBack } from './reverse-wrap.js';

// What modes, window operations, rectangle operations and VT52 sequences do to the grid.

const setSideMargins = (grid: Grid, on: boolean): void => {
  if (grid.quirks.sideMargins === 'no') return;
  Object.assign(grid, { sideMargins: on, left: 0, right: grid.columns - 1 });
};

type ModeRule = (grid: Grid, on: boolean) => string | undefined;

/** A mode that the terminal switches itself: only the grid changes. */
const trackOnly =
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

/** DECANM. The sequence is dropped if it is unknown whether the terminal supports it, since VT52 mode would break the wrapper's output. */
const switchVt52: ModeRule = (grid, on) => {
  if (grid.quirks.isXtermJs && on)
    grid.charsets = { ...grid.charsets, designations: asciiCharsets.designations };
  if (grid.quirks.vt52 === 'yes') grid.vt52 = !on;
  return grid.quirks.vt52 === 'unknown' && !on ? '' : undefined;
};

/** DEC private modes that matter to the cursor (xterm ctlseqs). Each rule returns what to send instead, or undefined to send it unchanged. */
const rules: Readonly<Record<number, ModeRule>> = {
  2: switchVt52,
  3: switchColumns,
  6: trackOnly(setOrigin),
  7: trackOnly((grid, on) => (grid.autowrap = on)),
  40: trackOnly((grid, on) => (grid.isColumnModeAllowed = on)),
  45: trackOnly((grid, on) => (grid.reverseWrap = on)),
  1045: trackOnly((grid, on) => (grid.extendedReverseWrap = on)),
  69: trackOnly(setSideMargins),
  47: (grid, on) => switchBuffer(grid, 47, on),
  1047: (grid, on) => switchBuffer(grid, 1047, on),
  1048: saveOrRestore,
  1049: (grid, on) => switchBuffer(grid, 1049, on),
};

/** Whether the child has the mode on. */
export const isPrivateModeOn = (grid: Grid, modeTracker: ModeTracker, mode: number): boolean => {
  if (mode === 6) return grid.origin;
  if (mode === 7) return grid.autowrap;
  if (mode === 69) return grid.sideMargins;
  return mode === 47 || mode === 1047 || mode === 1049 ? grid.alternate : modeTracker.isModeSet(mode);
};

/** XTSAVE. */
export const savePrivateModes = (
  grid: Grid,
  modeTracker: ModeTracker,
  sequence: ControlSequence,
): undefined => {
  if (grid.quirks.ignoresModeSaving) return undefined;
  const modes = [...sequence.values.subarray(0, sequence.count)];
  grid.savedModes = new Map([
    ...grid.savedModes,
    ...modes.map((mode) => [mode, isPrivateModeOn(grid, modeTracker, mode)] as const),
  ]);
  return undefined;
};

/** Unlike setting the mode, this does not move the cursor. */
const restoreOrigin = (grid: Grid, on: boolean): string => {
  const { row, column } = grid;
  grid.origin = on;
  moveTo(grid, row, column);
  return cursorPositionSequence(grid);
};

/** XTRESTORE. Changed modes are sent one by one, since not every terminal supports XTRESTORE; the buffer is switched like any time. */
export const restorePrivateModes = (
  grid: Grid,
  modeTracker: ModeTracker,
  sequence: ControlSequence,
): string | undefined => {
  if (grid.quirks.ignoresModeSaving) return undefined;
  let instead = '';
  const others: number[] = [];
  for (const mode of sequence.values.subarray(0, sequence.count)) {
    const isReverseWrap = mode === 45 || mode === 1045;
    const unsaved = isReverseWrap && grid.quirks.reverseWrap !== 'unknown' ? false : undefined; // xterm turns it off
    const saved = grid.savedModes.get(mode) ?? unsaved;
    if (saved === undefined || saved === isPrivateModeOn(grid, modeTracker, mode)) continue;
    modeTracker.setPrivateMode(mode, saved);
    const sequence = `\x1b[?${mode}${saved ? 'h' : 'l'}`;
    if (mode === 6) instead += sequence + restoreOrigin(grid, saved);
    else if (mode === 7 || mode === 69) instead += rules[mode]?.(grid, saved) ?? sequence;
    else if (mode === 47 || mode === 1047 || mode === 1049)
      instead += switchBuffer(grid, mode, saved) ?? sequence;
    else {
      if (isReverseWrap) rules[mode]?.(grid, saved);
      others.push(mode);
    }
  }
  if (instead === '') return undefined;
  return others.length > 0 ? `\x1b[?${others.join(';')}r${instead}` : instead;
};

/** `CSI ? … h` and `CSI ? … l`: sent mode by mode if one of the modes needs a replacement. */
export const setPrivateModes = (
  grid: Grid,
  modeTracker: ModeTracker,
  sequence: ControlSequence,
  on: boolean,
): string | undefined => {
  const final = on ? 'h' : 'l';
  let rewritten = false;
  let output = '';
  for (let index = 0; index < sequence.count; index += 1) {
    const mode = sequence.values[index] ?? 0;
    modeTracker.setPrivateMode(mode, on);
    const instead = rules[mode]?.(grid, on);
    rewritten ||= instead !== undefined;
    output += instead ?? `\x1b[?${mode}${final}`;
  }
  return rewritten ? output : undefined;
};

const LINES_PER_PAGE = 24; // `CSI n t` with n >= 24 is DECSLPP, smaller ones are window operations (xterm ctlseqs)

/** XTWINOPS 8 and DECSLPP: for a child that asks for r rows the terminal needs r + 1. */
const resizeWindow: Rule = (grid, sequence) => {
  const operation = parameterOrZero(sequence, 0);
  if (!hasFooter(grid)) return undefined;
  const extra = grid.terminalRows - grid.rows;
  if (operation >= LINES_PER_PAGE) return `\x1b[${operation + extra}t`;
  const rows = parameterOrZero(sequence, 1);
  if (operation !== 8 || rows === 0) return undefined;
  const columns = parameterText(sequence).split(';').slice(2); // an absent parameter keeps the width, 0 means the whole display
  return `\x1b[${[8, rows + extra, ...columns].join(';')}t`;
};

/** DECSNLS. */
const linesPerScreen: Rule = (grid, sequence) => {
  const lines = parameterOrZero(sequence, 0);
  return hasFooter(grid) && lines > 0 ? `\x1b[${lines + grid.terminalRows - grid.rows}*|` : undefined;
};

const parameterTexts = (sequence: ControlSequence, length: number): string[] =>
  Array.from(
    { length: Math.max(length, sequence.count) },
    (_, index) => `${parameterOrZero(sequence, index) || ''}`,
  );

/** A rectangle with its top at parameter `top`, its bottom at `top + 2`: an absent or too low bottom becomes the child's last row. */
const rectangle =
  (top: number, suffix: string): Rule =>
  (grid, sequence) => {
    const bottom = top + 2;
    const asked = parameterOrZero(sequence, bottom);
    const inside = asked !== 0 && asked <= grid.rows && parameterOrZero(sequence, top) <= grid.rows;
    if (!hasFooter(grid) || grid.origin || inside) return undefined;
    const parameters = parameterTexts(sequence, bottom + 1);
    parameters[bottom] = `${grid.rows}`;
    if (parameterOrZero(sequence, top) > grid.rows) parameters[top] = `${grid.rows}`;
    return `\x1b[${parameters.join(';')}${suffix}`;
  };

/** DECCRA: rows copied below the child's last row are cut off, as at the edge of a screen. */
const copyRectangle: Rule = (grid, sequence) => {
  if (!hasFooter(grid) || grid.origin) return undefined;
  const top = parameterOrZero(sequence, 0) || 1;
  const target = parameterOrZero(sequence, 5) || 1;
  const bottom = Math.min(parameterOrZero(sequence, 2) || grid.rows, grid.rows, top + grid.rows - target);
  if (bottom === parameterOrZero(sequence, 2)) return undefined;
  if (bottom < top) return '';
  const parameters = parameterTexts(sequence, 3);
  parameters[2] = `${bottom}`;
  return `\x1b[${parameters.join(';')}$v`;
};

const softResetRule = (grid: Grid): string | undefined => softReset(grid, '\x1b[!p');

/** DECSCL: xterm does a soft reset with it; levels outside 61–65 do nothing. */
const conformanceLevel: Rule = (grid, sequence) => {
  const level = parameterOrZero(sequence, 0);
  if (grid.quirks.ignoresConformanceLevel || level < 61 || level > 65) return undefined;
  const parameters = sequence.count > 1 ? `${level};${parameterOrZero(sequence, 1)}` : `${level}`;
  const all = `\x1b[${parameters}"p${softResetModes(grid)}`;
  return softReset(grid, all) ?? all;
};

/** DECST8C. */
const resetTabs: Rule = (grid, sequence) => {
  if (grid.quirks.eighthTabs === 'unknown') return '';
  if (grid.quirks.eighthTabs === 'yes' && parameterOrZero(sequence, 0) === 5)
    grid.tabs.forEach((_, column) => (grid.tabs[column] = column % 8 === 0 ? 1 : 0));
  return undefined;
};

/** Sequences about the window, the page and rectangles of it (VT420 manual, xterm ctlseqs), keyed prefix + intermediate + final. */
export const windowRules: Readonly<Record<string, Rule>> = {
  t: resizeWindow,
  '*|': linesPerScreen,
  $r: rectangle(0, '$r'),
  $t: rectangle(0, '$t'),
  $x: rectangle(1, '$x'),
  $z: rectangle(0, '$z'),
  '${': rectangle(0, '${'),
  '*y': rectangle(2, '*y'),
  $v: copyRectangle,
  '!p': softResetRule,
  '"p': conformanceLevel,
  '?W': resetTabs,
};

const ADDRESS = 0x59; // Y
const CURSOR_LEFT = 0x44; // D

/** How many bytes after ESC a VT52 sequence has. */
export const vt52Length = (first: number): number => (first === ADDRESS ? 3 : 1); // Y row column

/** The sequences that move the cursor or leave the mode (xterm ctlseqs, "VT52 Mode"). */
const vt52Rules: Readonly<Record<string, (grid: Grid) => void>> = {
  A: (grid) => moveUp(grid, 1),
  B: (grid) => moveDown(grid, 1),
  C: (grid) => moveRight(grid, 1),
  H: home,
  I: reverseIndex,
  J: (grid) => {
    grid.footerDirty = true;
  },
  '<': (grid) => {
    grid.vt52 = false;
  },
};

/** `bytes` follow ESC in VT52 mode. Returns what to send instead, or undefined. */
export const vt52Escape = (grid: Grid, bytes: Uint8Array): string | undefined => {
  const [first = 0, row = VT52_ORIGIN, column = VT52_ORIGIN] = bytes;
  if (first === ADDRESS) return address(grid, row - VT52_ORIGIN, column - VT52_ORIGIN);
  if (first === CURSOR_LEFT) return moveBack(grid, 1);
  vt52Rules[String.fromCharCode(first)]?.(grid);
  return undefined;
};

const address = (grid: Grid, row: number, column: number): string | undefined => {
  moveTo(grid, row, column);
  if (!hasFooter(grid) || row < grid.rows) return undefined;
  return vt52Address(grid.rows - 1, column);
};
