import type { ScreenView } from '../../core/screen-view.js';

/** A part of the screen, by rows. */
export type Region =
  | { readonly kind: 'below-cursor' | 'above-cursor' | 'cursor-row' }
  | { readonly kind: 'last-rows' | 'first-rows'; readonly count: number };

export const regionForms =
  'below-cursor, above-cursor, cursor-row, last-rows:N or first-rows:N (N from 1 to 99)';

export const readRegion = (text: string): Region | undefined => {
  switch (text) {
    case 'below-cursor':
    case 'above-cursor':
    case 'cursor-row':
      return { kind: text };
  }
  const found = /^(last|first)-rows:([1-9]\d?)$/.exec(text);
  return found
    ? { kind: found[1] === 'last' ? 'last-rows' : 'first-rows', count: Number(found[2]) }
    : undefined;
};

/** The rows of the region that hold something. Last and first count rows of the screen, empty ones too. */
export const rowsIn = (screen: ScreenView, region: Region): readonly string[] => {
  const [from, to] = boundsOf(screen, region);
  const rows: string[] = [];
  for (let row = Math.max(0, from); row < Math.min(screen.rows, to); row += 1) rows.push(screen.text(row));
  return rows.filter((text) => text !== '');
};

/** First row, and the one after the last. */
const boundsOf = ({ rows, cursorRow }: ScreenView, region: Region): readonly [number, number] => {
  switch (region.kind) {
    case 'below-cursor':
      return [cursorRow + 1, rows];
    case 'above-cursor':
      return [0, cursorRow];
    case 'cursor-row':
      return [cursorRow, cursorRow + 1];
    case 'last-rows':
      return [rows - region.count, rows];
    case 'first-rows':
      return [0, region.count];
  }
};
