import { renderToString } from 'ink';
import { createElement } from 'react';
import type { FooterItem } from '../core/footer-items.js';
import type { FooterView } from '../core/view.js';
import { Footer } from './Footer.js';
import type { Look } from './look.js';

/** The footer as one row for the painter: no newline, SGR as the only sequences, at most `look.columns` wide. */
export const renderFooter = (view: FooterView, look: Look, items?: readonly FooterItem[]): string =>
  renderToString(createElement(Footer, { view, look, items }), { columns: look.columns });
