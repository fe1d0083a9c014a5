import { askingView, type FooterView } from '../core/footer-view.js';
import { errorStack } from '../core/errors.js';
import { type Look, readLook } from '../core/look.js';
import { present } from '../core/present.js';
import type { Printable } from '../core/printable.js';
import type { WrapSession } from '../session/options.js';
import type { FooterDrawing, FooterPlace } from '../session/thread-messages.js';
import { type FooterRow, footerRow, rowText } from '../ui/footer-row.js';
import { widthOf } from '../ui/text.js';
import type { InkLoader } from './ink-loader.js';

// Draws the footer's row for the main thread, which paints it.

export interface FooterDrawer {
  readonly show: (view: FooterView) => void;
  /** the size or the look of the terminal has changed, or the hint at the hotkey */
  readonly move: (place: FooterPlace) => void;
  /** Ink is loaded */
  readonly redraw: () => void;
}

/** For a row that is cut by characters, each of them is one column wide. */
const oneColumnEach = (text: string): string =>
  Array.from(text, (character) => {
    const columns = widthOf(character);
    return columns === 1 ? character : '_'.repeat(columns);
  }).join('');

/** Whether the user's Enter may be held: only where the row has room for the question, up to what Enter does. */
const enterOf = (
  shown: FooterView,
  row: FooterRow,
  rowFor: (asking: FooterView) => FooterRow,
): FooterDrawing['enter'] => {
  if (!shown.enter) return undefined;
  const { text, isAsked } = shown.enter;
  const asking = isAsked ? row : rowFor(askingView(shown, shown.enter));
  const [clause = ''] = text.split(' · ', 1);
  if (!rowText(asking).includes(clause)) return undefined;
  return isAsked ? 'asked' : 'holds';
};

/** `columns`: of the terminal at the start. `onDrawn` is called only when the drawing has changed. */
export const makeFooterDrawer = (
  { env, values, log }: Pick<WrapSession, 'env' | 'values' | 'log'>,
  ink: Pick<InkLoader, 'loaded'>,
  columns: number,
  onDrawn: (drawing: FooterDrawing) => void,
): FooterDrawer => {
  let place: FooterPlace = { columns };
  let view: FooterView | undefined;
  let drawn = '';
  let hasFailed = false;

  /** Undefined until Ink is loaded, and where it fails: the plain line is enough. */
  const inkRow = (row: FooterRow, shown: FooterView, look: Look): Printable | undefined => {
    try {
      return ink.loaded()?.renderFooter(row, shown, look);
    } catch (error) {
      if (!hasFailed) log.error(`the footer stays plain, drawing it failed: ${errorStack(error)}`);
      hasFailed = true;
      return undefined;
    }
  };
  const drawingOf = (shown: FooterView): FooterDrawing => {
    const { hint, background } = place;
    const look = readLook({ env, isTTY: true, columns: place.columns, theme: values.theme, background });
    const row = footerRow({ ...shown, ...present({ hint }) }, look, values['footer.items']);
    const { tier, due, compactions } = shown;
    const enter = enterOf(shown, row, (asking) => footerRow(asking, look, values['footer.items']));
    return {
      columns: place.columns,
      text: oneColumnEach(rowText(row)),
      compactions,
      ...present({ row: inkRow(row, shown, look), tier, due, enter }),
    };
  };
  const redraw = (): void => {
    if (!view) return;
    const drawing = drawingOf(view);
    const text = JSON.stringify(drawing);
    if (text !== drawn) onDrawn(drawing);
    drawn = text;
  };
  return {
    show: (next) => {
      view = next;
      redraw();
    },
    move: (next) => {
      place = next;
      redraw();
    },
    redraw,
  };
};
