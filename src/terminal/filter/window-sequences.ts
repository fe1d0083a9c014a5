import { hasFooter, type Grid } from './grid.js';
import type { Rule } from './cursor-sequences.js';
import { softReset, softResetModes } from './region.js';
import { parameterText, valueAt, type Sequence } from './sequence.js';

const LINES_PER_PAGE = 24; // `CSI n t` with n >= 24 is DECSLPP, smaller ones are window operations (xterm ctlseqs)

/** XTWINOPS 8 and DECSLPP: a child that asks for r rows shall get r rows, so the terminal needs one more. */
const resizeWindow: Rule = (grid, sequence) => {
  const operation = valueAt(sequence, 0);
  if (!hasFooter(grid)) return undefined;
  const extra = grid.terminalRows - grid.rows;
  if (operation >= LINES_PER_PAGE) return `\x1b[${operation + extra}t`;
  const rows = valueAt(sequence, 1);
  if (operation !== 8 || rows === 0) return undefined;
  const columns = parameterText(sequence).split(';').slice(2); // an absent one keeps the width, a 0 takes the whole display
  return `\x1b[${[8, rows + extra, ...columns].join(';')}t`;
};

/** DECSNLS. */
const linesPerScreen: Rule = (grid, sequence) => {
  const lines = valueAt(sequence, 0);
  return hasFooter(grid) && lines > 0 ? `\x1b[${lines + grid.terminalRows - grid.rows}*|` : undefined;
};

const textOf = (sequence: Sequence, length: number): string[] =>
  Array.from({ length: Math.max(length, sequence.count) }, (_, index) => `${valueAt(sequence, index) || ''}`);

/** A rectangle whose top and bottom stand at these places: an absent bottom, or one below the child, is its last row. */
const rectangle =
  (top: number, suffix: string): Rule =>
  (grid, sequence) => {
    const bottom = top + 2;
    const asked = valueAt(sequence, bottom);
    const inside = asked !== 0 && asked <= grid.rows && valueAt(sequence, top) <= grid.rows;
    if (!hasFooter(grid) || grid.origin || inside) return undefined;
    const parameters = textOf(sequence, bottom + 1);
    parameters[bottom] = `${grid.rows}`;
    if (valueAt(sequence, top) > grid.rows) parameters[top] = `${grid.rows}`;
    return `\x1b[${parameters.join(';')}${suffix}`;
  };

/** DECCRA: what is copied below the child's last row is cut off, as at the edge of a screen. */
const copyRectangle: Rule = (grid, sequence) => {
  if (!hasFooter(grid) || grid.origin) return undefined;
  const top = valueAt(sequence, 0) || 1;
  const target = valueAt(sequence, 5) || 1;
  const bottom = Math.min(valueAt(sequence, 2) || grid.rows, grid.rows, top + grid.rows - target);
  if (bottom === valueAt(sequence, 2)) return undefined;
  if (bottom < top) return '';
  const parameters = textOf(sequence, 3);
  parameters[2] = `${bottom}`;
  return `\x1b[${parameters.join(';')}$v`;
};

const softResetRule = (grid: Grid): string | undefined => softReset(grid, '\x1b[!p');

/** DECSCL: xterm does a soft reset with it; levels outside 61–65 do nothing. */
const conformanceLevel: Rule = (grid, sequence) => {
  const level = valueAt(sequence, 0);
  if (grid.quirks.ignoresConformanceLevel || level < 61 || level > 65) return undefined;
  const parameters = sequence.count > 1 ? `${level};${valueAt(sequence, 1)}` : `${level}`;
  const all = `\x1b[${parameters}"p${softResetModes(grid)}`;
  return softReset(grid, all) ?? all;
};

/** DECST8C. */
const everyEighth: Rule = (grid, sequence) => {
  if (grid.quirks.eighthTabs === 'unknown') return '';
  if (grid.quirks.eighthTabs === 'yes' && valueAt(sequence, 0) === 5)
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
  '?W': everyEighth,
};
