import type { ScreenView } from '../../core/reading.js';
import { type Composer, type InputKind, joinWrappedRows } from '../compress.js';

// Qwen's input: between two lines across the whole width, the upper one perhaps with a label, around the row with the cursor. Before 0.16
// the cursor is drawn as an inverse cell, and the terminal's own is below the footer.

const INPUT_COLUMN = 2;
const TALLEST = 30; // rows; a longer draft scrolls
const TOP = /^─{10,}(?: .{1,80} ──)?$/;
const BOTTOM = /^─{10,}$/;
const FOOTER_ROWS = 4; // at most, between the input and the terminal's own cursor
const INVISIBLE = /\u200b/g; // after a drawn cursor
const PREFIX = /^(?:([>*!])|\(r:\))(?: |$)/;

/** A row without the scrollbar, which Qwen draws over the last column. */
export const rowText = (screen: ScreenView, row: number): string => {
  const text = screen.text(row);
  return /[│█]$/.test(text) && !text.startsWith('│') ? text.slice(0, -1).trimEnd() : text;
};

export const findComposer = (screen: ScreenView): Composer | undefined =>
  aroundCursor(screen) ?? aboveParkedCursor(screen);

const aroundCursor = (screen: ScreenView): Composer | undefined => {
  const { cursorRow, cursorColumn } = screen;
  const top = seek(screen, cursorRow, { step: -1, edge: TOP });
  const bottom = seek(screen, cursorRow, { step: 1, edge: BOTTOM });
  if (top === undefined || bottom === undefined) return undefined;
  return compose(screen, { top, bottom }, cursorRow === top + 1 && cursorColumn === INPUT_COLUMN);
};

const aboveParkedCursor = (screen: ScreenView): Composer | undefined => {
  if (!isParked(screen)) return undefined;
  const bottom = seek(screen, screen.cursorRow, { step: -1, edge: BOTTOM, most: FOOTER_ROWS + 1 });
  const top = bottom === undefined ? undefined : seek(screen, bottom, { step: -1, edge: TOP });
  if (top === undefined || bottom === undefined || !hasDrawnCursor(screen, top, bottom)) return undefined;
  return compose(screen, { top, bottom }, screen.styleAt(top + 1, INPUT_COLUMN)?.inverse === true);
};

const hasDrawnCursor = (screen: ScreenView, top: number, bottom: number): boolean => {
  for (let row = top + 1; row < bottom; row += 1)
    for (let column = INPUT_COLUMN; column < screen.columns; column += 1)
      if (screen.styleAt(row, column)?.inverse === true) return true;
  return false;
};

/** The terminal's cursor is outside the input: these versions do not show their activity in the title. */
export const isParked = ({ cursorColumn }: ScreenView): boolean => cursorColumn === 0;

const compose = (
  screen: ScreenView,
  { top, bottom }: { readonly top: number; readonly bottom: number },
  atStart: boolean,
): Composer | undefined => {
  const framed = Array.from({ length: bottom - top - 1 }, (_, index) =>
    screen
      .text(top + 1 + index)
      .replace(INVISIBLE, '')
      .trimEnd(),
  );
  const prefix = PREFIX.exec(framed[0] ?? '');
  if (!prefix) return undefined;
  return { top, bottom, mode: prefix[1] ?? '', rows: framed.map((row) => row.slice(INPUT_COLUMN)), atStart };
};

interface Direction {
  readonly step: 1 | -1;
  readonly edge: RegExp;
  /** rows, at most */
  readonly most?: number;
}

const seek = (
  screen: ScreenView,
  from: number,
  { step, edge, most = TALLEST }: Direction,
): number | undefined => {
  for (let row = from + step; row >= 0 && Math.abs(row - from) <= most; row += step)
    if (edge.test(screen.text(row))) return row;
  return undefined;
};

// The text in Qwen's input, without the placeholder and, after an answer, the suggestion of what to ask next.

const PROMPT_FOOTER_ROWS = 8;
// Qwen wraps its input at this share of the columns.
const TEXT_SHARE = 0.9;
const TEXT_MARGIN = 6;
const PLACEHOLDER = '  Type your message or @path/to/file';
const VIM_PLACEHOLDER = "  Press 'i' for INSERT mode";
const VIM_NORMAL = '  -- NORMAL --';
const VIM_INSERT = '  -- INSERT --';
const ENTRY = /^( {2,6})([a-z][\w-]*)(?: [[(][^\])]*[\])])?(?: {2,}\S|$)/i;
const HINT = /\(shift \+ tab to cycle\)|\? for shortcuts/;

export const inputKind = (screen: ScreenView, composer: Composer): InputKind => {
  if (composer.mode === '!') return 'shell';
  if (composer.mode === '') return 'search';
  const footer = footerRows(screen, composer);
  if (footer.some((row) => row.startsWith(VIM_NORMAL))) return 'vim-normal';
  // A note replaces the mode for a while; only the placeholder then shows that vim mode is on.
  const isVim = composer.rows[0]?.startsWith(VIM_PLACEHOLDER) === true;
  return isVim && !footer.some((row) => row.startsWith(VIM_INSERT)) ? 'vim-normal' : 'message';
};

export const footerRows = (screen: ScreenView, { bottom }: Composer): readonly string[] =>
  Array.from({ length: PROMPT_FOOTER_ROWS }, (_, index) => screen.text(bottom + 1 + index));

/**
 * The selected command in the list below a typed command, which Enter takes. It is marked; before 0.16 only by colour, which says nothing
 * in a list with one entry.
 */
export const listedBelow = (
  screen: ScreenView,
  composer: Composer,
  text: string,
): { readonly listed?: string } => {
  if (!text.startsWith('/')) return {};
  const marked = footerRows(screen, composer).map((row) => /^ {2}> (\S+)/.exec(row)?.[1]);
  const name = marked.find((each) => each !== undefined) ?? colouredEntry(screen, composer);
  return name === undefined ? {} : { listed: `/${name}` };
};

const colouredEntry = (screen: ScreenView, composer: Composer): string | undefined => {
  if (!isParked(screen)) return undefined;
  const entries = footerRows(screen, composer).flatMap((row, index) => {
    const [, indent = '', name] = ENTRY.exec(row) ?? [];
    const colour = screen.styleAt(composer.bottom + 1 + index, indent.length)?.foreground;
    return name === undefined ? [] : [{ name, colour }];
  });
  const others = (colour: number | undefined): number =>
    entries.filter((each) => each.colour === colour).length;
  const chosen = entries.filter(({ colour }) => others(colour) === 1);
  return chosen.length === 1 ? chosen[0]?.name : undefined; // with two entries it is ambiguous
};

/** '' where nothing was typed. `ghostColour`: the colour of the placeholder; without it the hint in the footer shows an empty input. */
export const inputText = (
  screen: ScreenView,
  composer: Composer,
  ghostColour?: number,
): string | undefined => {
  const { rows } = composer;
  if (rows.length === 1 && rows[0] === '') return undefined;
  return isEmpty(screen, composer, ghostColour ?? hintColour(screen, composer))
    ? ''
    : joinWrappedRows(rows, Math.floor(screen.columns * TEXT_SHARE) - TEXT_MARGIN);
};

const isEmpty = (screen: ScreenView, { top, rows, atStart }: Composer, ghostColour?: number): boolean => {
  const [first = ''] = rows;
  if (!atStart || rows.length > 1) return false;
  // The first cell is the cursor's own; the rest of a placeholder has one colour, while a typed path stands out.
  const cells = Array.from({ length: first.length - 1 }, (_, index) =>
    screen.styleAt(top + 1, INPUT_COLUMN + 1 + index),
  );
  const colour = cells[0]?.foreground;
  if (!cells.every((cell) => cell?.foreground === colour)) return false;
  if (first === PLACEHOLDER || first.startsWith(VIM_PLACEHOLDER)) return true;
  // A suggestion has the placeholder's colour, typed text does not.
  return ghostColour !== undefined && cells.length > 0 && colour === ghostColour;
};

/** The colour of the placeholder, while it is visible. */
export const placeholderColour = (screen: ScreenView, composer: Composer | undefined): number | undefined => {
  if (!composer?.atStart || composer.rows[0] !== PLACEHOLDER) return undefined;
  return screen.styleAt(composer.top + 1, INPUT_COLUMN + 2)?.foreground;
};

// The hint below the input has the same colour as the placeholder.
const hintColour = (screen: ScreenView, composer: Composer): number | undefined => {
  const rows = footerRows(screen, composer);
  const index = rows.findIndex((row) => HINT.test(row));
  const column = rows[index]?.search(HINT);
  return column === undefined ? undefined : screen.styleAt(composer.bottom + 1 + index, column)?.foreground;
};
