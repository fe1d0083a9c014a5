// The footer as the worker draws it.
import type { FooterView } from '../../src/core/footer-view.js';
import type { FooterItem } from '../../src/core/format.js';
import type { Look } from '../../src/core/look.js';
import { present } from '../../src/core/present.js';
import type { Printable } from '../../src/core/printable.js';
import type { FooterDrawing } from '../../src/session/thread-messages.js';
import { renderFooter } from '../../src/ui/Footer.js';
import { footerRow, rowText } from '../../src/ui/footer-row.js';

/** The row that Ink draws for a view. */
export const drawnFooter = (view: FooterView, look: Look, items?: readonly FooterItem[]): Printable =>
  renderFooter(footerRow(view, look, items), view, look);

/** What the worker posts for a view before Ink is loaded. */
export const plainDrawing = (view: FooterView, columns: number): FooterDrawing => {
  const { compactions, tier, due } = view;
  const text = rowText(footerRow(view, { columns, colorLevel: 0, ascii: false }));
  return { columns, text, compactions, ...present({ tier, due }) };
};
