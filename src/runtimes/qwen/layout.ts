// Qwen's input: between two lines over the whole width, the upper one perhaps with a label, around the row with the cursor.
import type { ScreenView } from '../../core/screen-view.js';
import type { Composer } from '../compress-screen.js';

export const INPUT_COLUMN = 2;
const TALLEST = 30; // rows; a longer draft scrolls
const TOP = /^─{10,}(?: .{1,80} ──)?$/;
const BOTTOM = /^─{10,}$/;
const PREFIX = /^(?:([>*!])|\(r:\))(?: |$)/;

/** A row without the scrollbar, which Qwen draws over the last column. */
export const textOf = (screen: ScreenView, row: number): string => {
  const text = screen.text(row);
  return /[│█]$/.test(text) && !text.startsWith('│') ? text.slice(0, -1).trimEnd() : text;
};

export const findComposer = (screen: ScreenView): Composer | undefined => {
  const { cursorRow, cursorColumn } = screen;
  const top = seek(screen, cursorRow, -1, TOP);
  const bottom = seek(screen, cursorRow, 1, BOTTOM);
  if (top === undefined || bottom === undefined) return undefined;
  const framed = Array.from({ length: bottom - top - 1 }, (_, index) => screen.text(top + 1 + index));
  const prefix = PREFIX.exec(framed[0] ?? '');
  if (!prefix) return undefined;
  const atStart = cursorRow === top + 1 && cursorColumn === INPUT_COLUMN;
  return { top, bottom, mode: prefix[1] ?? '', rows: framed.map((row) => row.slice(INPUT_COLUMN)), atStart };
};

const seek = (screen: ScreenView, from: number, step: 1 | -1, edge: RegExp): number | undefined => {
  for (let row = from + step; row >= 0 && Math.abs(row - from) <= TALLEST; row += step)
    if (edge.test(screen.text(row))) return row;
  return undefined;
};
