// Qwen's input: between two lines over the whole width, the upper one perhaps with a label, around the row with the cursor. Before 0.16
// the cursor is drawn as an inverse cell, and the terminal's own stands below the footer.
import type { ScreenView } from '../../core/screen-view.js';
import type { Composer } from '../compress-screen.js';

export const INPUT_COLUMN = 2;
const TALLEST = 30; // rows; a longer draft scrolls
const TOP = /^─{10,}(?: .{1,80} ──)?$/;
const BOTTOM = /^─{10,}$/;
const FOOTER_ROWS = 4; // at most, between the input and a cursor that is parked
const INVISIBLE = /\u200b/g; // behind a cursor that is drawn
const PREFIX = /^(?:([>*!])|\(r:\))(?: |$)/;

/** A row without the scrollbar, which Qwen draws over the last column. */
export const textOf = (screen: ScreenView, row: number): string => {
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

/** The cursor stands where nothing is typed: these versions show in their title nothing of what they do. */
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
