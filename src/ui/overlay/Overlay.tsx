import { Box, Text, renderToString } from 'ink';
import { createElement } from 'react';
import type { OverlayExtent, OverlayPage } from '../../core/overlay-keys.js';
import type { OverlayView } from '../../core/overlay-view.js';
import type { Look } from '../look.js';
import { asciiText, withSafeTexts } from '../text.js';
import { type Line, type Paints, blankLine, cutLine, paintsOf } from './lines.js';
import { overviewLines } from './overview.js';
import { detailLines, headLine, keyLine, helpLines } from './pages.js';

export interface LinesProps {
  readonly lines: readonly Line[];
  readonly paints: Paints;
  readonly ascii: boolean;
}

/** Rows of measured text, each exactly one row high. */
const Lines = ({ lines, paints, ascii }: LinesProps) => (
  <Box flexDirection="column">
    {lines.map((line, row) => (
      <Box key={row} height={1}>
        <Text wrap="truncate-end">
          {line.map(({ text, tone = 'plain' }) => paints[tone](ascii ? asciiText(text) : text)).join('')}
        </Text>
      </Box>
    ))}
  </Box>
);

export interface OverlayProps {
  readonly head: readonly Line[];
  /** the part of the contents that is shown */
  readonly body: readonly Line[];
  readonly foot: readonly Line[];
  readonly rows: number;
  readonly paints: Paints;
  readonly ascii: boolean;
}

/** The whole screen: whose window it is, what is said of it, and the keys at the bottom. */
const Overlay = ({ head, body, foot, rows, paints, ascii }: OverlayProps) => (
  <Box flexDirection="column" height={rows}>
    <Lines lines={head} paints={paints} ascii={ascii} />
    <Box flexGrow={1} flexDirection="column">
      <Lines lines={body} paints={paints} ascii={ascii} />
    </Box>
    <Lines lines={foot} paints={paints} ascii={ascii} />
  </Box>
);

export interface OverlayRequest {
  /** `look.columns` is the width of the terminal */
  readonly look: Look;
  readonly rows: number;
  readonly page: OverlayPage;
  /** the first row of the contents that is wanted */
  readonly scroll: number;
}

/** A drawn overlay; its extent is what `drawnOverlay` is told. */
export interface OverlayFrame extends OverlayExtent {
  /** one for each row of the terminal, a few hundred at most: no newline, SGR as the only sequences, none wider than the terminal */
  readonly rows: readonly string[];
}

const WIDEST = 100; // longer lines are not easier to read
const LEAST_MARGINS = 20; // columns
const MOST_ROWS = 300; // of a terminal whose size is beyond every screen: Ink takes time for each
const AIRY_ROWS = 14; // with less, no row is left empty above and below the contents

export const renderOverlay = (view: OverlayView, request: OverlayRequest): OverlayFrame => {
  const { look, page } = request;
  const rows = Math.min(MOST_ROWS, request.rows);
  const { usage, ...texts } = view;
  const safe: OverlayView = { ...withSafeTexts(texts), usage };
  const { columns, margin } = place(look.columns);
  const isAiry = rows >= AIRY_ROWS;
  const lines = contentLines(safe, page, columns);
  const shown = Math.max(0, rows - (isAiry ? 4 : 2));
  const most = Math.max(0, lines.length - shown);
  const scroll = Math.max(0, Math.min(most, request.scroll));
  const extent = most === 0 ? undefined : `${scroll + 1}-${scroll + shown}/${lines.length}`;
  const air = isAiry ? [blankLine] : [];
  const fitted = (all: readonly Line[]): readonly Line[] => all.map((line) => cutLine(line, columns));
  const text = renderToString(
    createElement(Overlay, {
      head: [...fitted([headLine(safe, columns)]), ...air],
      body: fitted(lines.slice(scroll, scroll + shown)),
      foot: [...air, ...fitted([keyLine(safe, page, extent, columns)])],
      rows,
      paints: paintsOf(safe.tier, look, safe.fill?.isStale === true),
      ascii: look.ascii,
    }),
    { columns }, // Ink's work grows with every cell, so that the margin is not its own
  );
  const indent = ' '.repeat(margin);
  const drawn = text
    .split('\n')
    .slice(0, rows)
    .map((row) => (row === '' ? '' : indent + row));
  return { rows: [...drawn, ...Array.from({ length: rows - drawn.length }, () => '')], scroll, most, shown };
};

const contentLines = (view: OverlayView, page: OverlayPage, columns: number): readonly Line[] => {
  switch (page) {
    case 'overview':
      return overviewLines(view, columns);
    case 'detail':
      return detailLines(view, columns);
    case 'help':
      return helpLines(view, columns);
  }
};

/** In a wide terminal the contents stand in the middle. */
const place = (columns: number): { readonly columns: number; readonly margin: number } => {
  const least = columns < LEAST_MARGINS ? 0 : columns < 60 ? 1 : 2;
  const inner = Math.max(1, Math.min(WIDEST, columns - 2 * least));
  return { columns: inner, margin: Math.max(least, Math.floor((columns - inner) / 2)) };
};
