import type { ScreenView } from '../../core/reading.js';
import type { Composer, InputKind } from '../compress.js';

// Where Gemini's input box is. Versions draw it differently: ▄ above and ▀ below (0.33 and later), ▀ above and ▄ below (0.29…0.32), a line
// with NO_COLOR, a round box before. The same frames also surround the user's messages, so the cursor decides.

const TALLEST = 30; // rows; a longer draft scrolls inside the box
const FOOTER_ROWS = 3; // at most, in old versions, which leave the cursor below their footer
const PREFIX = /^ (?:([>*!])|\(r:\))(?: |$)/;
const INPUT_COLUMN = 3;
const EDGES: readonly (readonly [RegExp, RegExp])[] = [
  [/^▄{10,}$/, /^▀{10,}$/],
  [/^▀{10,}$/, /^▄{10,}$/],
  [/^─{10,}$/, /^─{10,}$/],
];
const ROUND_TOP = /^╭─{10,}╮$/;
const ROUND_BOTTOM = /^╰─{10,}╯$/;
const PANEL_TOP = /^[╭┌]─{10,}[╮┐]$/;
const PANEL_BOTTOM = /^[╰└]─{10,}[╯┘]?$/; // cut off when the screen has just become narrower
const CONSOLE = /^│ Debug Console \(/;
const ABOVE_SCREEN = -1;

/** A row without the scrollbar, which Gemini draws over the last column of its alternate screen for a while after scrolling. */
export const rowText = (screen: ScreenView, row: number): string => screen.text(row).replace(/ *█$/, '');

export const findComposer = (screen: ScreenView): Composer | undefined =>
  aroundCursor(screen) ?? aboveParkedCursor(screen);

const aroundCursor = (screen: ScreenView): Composer | undefined => {
  const { cursorRow, cursorColumn } = screen;
  const isEdge = (row: number): boolean => EDGES.some(([top]) => top.test(screen.text(row)));
  const top = seek(cursorRow - 1, -1, isEdge);
  const bottom = seek(cursorRow + 1, 1, isEdge);
  if (top === undefined || bottom === undefined) return undefined;
  const isPair = EDGES.some(
    ([above, below]) => above.test(screen.text(top)) && below.test(screen.text(bottom)),
  );
  if (!isPair) return undefined;
  const rows = between(top, bottom, (row) => screen.text(row));
  return compose({ top, bottom }, rows, cursorRow === top + 1 && cursorColumn === INPUT_COLUMN);
};

/**
 * The upper edge of a panel between the conversation and the input, given the row of its lower edge: the debug console, which touches the
 * input, or the background tasks. -1 when it is above the screen; undefined for any other row and box.
 */
export const panelTop = (screen: ScreenView, row: number, inputTop: number): number | undefined => {
  const edge = rowText(screen, row);
  if (!PANEL_BOTTOM.test(edge)) return undefined;
  const isEdge = (each: number): boolean => PANEL_TOP.test(rowText(screen, each));
  const top = seek(row - 1, -1, isEdge, screen.rows) ?? ABOVE_SCREEN;
  const isConsole = top === ABOVE_SCREEN ? row === inputTop - 1 : CONSOLE.test(screen.text(top + 1));
  return isConsole || edge.startsWith('└') ? top : undefined;
};

// Before 0.29 the cursor is drawn as an inverse cell, and the terminal's own is below the footer.
const aboveParkedCursor = (screen: ScreenView): Composer | undefined => {
  if (screen.cursorColumn !== 0) return undefined;
  const isBottom = (row: number): boolean => ROUND_BOTTOM.test(screen.text(row));
  const bottom = seek(screen.cursorRow - 1, -1, isBottom, FOOTER_ROWS + 1);
  if (bottom === undefined) return undefined;
  const top = seek(bottom - 1, -1, (row) => ROUND_TOP.test(screen.text(row)));
  if (top === undefined) return undefined;
  const rows = between(top, bottom, (row) => screen.text(row).replace(/^│/, '').replace(/ *│$/, ''));
  return compose({ top, bottom }, rows, screen.styleAt(top + 1, INPUT_COLUMN + 1)?.inverse === true);
};

const compose = (
  { top, bottom }: { readonly top: number; readonly bottom: number },
  framed: readonly string[],
  atStart: boolean,
): Composer | undefined => {
  const prefix = PREFIX.exec(framed[0] ?? '');
  if (!prefix) return undefined;
  return { top, bottom, mode: prefix[1] ?? '', rows: framed.map((row) => row.slice(INPUT_COLUMN)), atStart };
};

const seek = (
  from: number,
  step: 1 | -1,
  isWanted: (row: number) => boolean,
  most = TALLEST,
): number | undefined => {
  for (let row = from; row >= 0 && Math.abs(row - from) < most; row += step) if (isWanted(row)) return row;
  return undefined;
};

const between = (top: number, bottom: number, rowText: (row: number) => string): readonly string[] =>
  Array.from({ length: bottom - top - 1 }, (_, index) => rowText(top + 1 + index));

// The text in Gemini's input box, without the placeholder, which also shows vim's mode.

const PLACEHOLDERS = ['  Type your message or @path/to/file', "  Press 'Esc' for NORMAL mode."];
const VIM_NORMAL_HINT = "  Press 'i' for INSERT mode.";
const VIM_NORMAL_FOOTER = /^ *\[NORMAL\](?: |$)/;

export const inputKind = (screen: ScreenView, { mode, rows, bottom, atStart }: Composer): InputKind => {
  if (mode === '!') return 'shell';
  if (mode === '') return 'search';
  const isHinted = atStart && rows[0] === VIM_NORMAL_HINT;
  return isHinted || hasNormalFooter(screen, bottom) ? 'vim-normal' : 'message';
};

/** '' where only the placeholder is visible; undefined in the middle of a redraw, where there is neither it nor a text. */
export const inputText = (screen: ScreenView, { top, rows, atStart }: Composer): string | undefined => {
  const [first = ''] = rows;
  if (rows.length > 1) return rows.join('\n');
  if (first === '') return undefined;
  const isPlaceholder = atStart && PLACEHOLDERS.includes(first) && !isPathTyped(screen, top + 1);
  return isPlaceholder ? '' : first;
};

/**
 * The first command in the list below a typed command. The list follows the text with a delay, and Enter takes its first entry (seen: a
 * typed `/permissions` ran `/clear`). Without a list the footer is there, which names no command.
 */
export const listedBelow = (
  screen: ScreenView,
  { bottom }: Composer,
  text: string,
): { readonly listed?: string } => {
  const name = text.startsWith('/') ? /^ (\S+)/.exec(screen.text(bottom + 1))?.[1] : undefined;
  return name === undefined ? {} : { listed: `/${name}` };
};

const hasNormalFooter = (screen: ScreenView, bottom: number): boolean => {
  for (let row = bottom + 1; row < screen.rows; row += 1)
    if (VIM_NORMAL_FOOTER.test(screen.text(row))) return true;
  return false;
};

// A typed path has a colour of its own; one in the placeholder does not.
const isPathTyped = (screen: ScreenView, row: number): boolean => {
  const text = screen.text(row);
  const [word, path] = ['Type', '@'].map((each) => screen.styleAt(row, text.indexOf(each))?.foreground);
  return word !== path;
};
