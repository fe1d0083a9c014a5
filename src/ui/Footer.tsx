import { Box } from 'ink';
import type { FooterView } from '../core/footer-view.js';
import type { Look } from '../core/look.js';
import { own, type Printable } from '../core/printable.js';
import { type FooterRow, MARGIN } from './footer-row.js';
import { drawRows, Line } from './Line.js';
import { makeTheme } from './theme.js';

// The footer: one row below the agent.

interface FooterProps {
  readonly row: FooterRow;
  readonly view: Pick<FooterView, 'tier' | 'stale'>;
  readonly look: Look;
}

const Footer = ({ row: { cells, gap }, view: { tier, stale }, look }: FooterProps) => {
  const theme = makeTheme(tier, look, stale);
  return (
    <Box height={1} paddingLeft={MARGIN} columnGap={gap}>
      {cells.map(({ name, text, rest, paint }) => (
        <Box key={name} flexShrink={name === 'words' ? 1 : 0}>
          <Line
            wrap="truncate-end"
            text={rest === undefined ? theme[paint](text) : [theme[paint](text), theme.quiet(rest)]}
          />
        </Box>
      ))}
    </Box>
  );
};

/** The footer as one row: no newline, SGR as the only sequences, at most `look.columns` wide; '' for a row without cells. */
export const renderFooter = (
  row: FooterRow,
  view: Pick<FooterView, 'tier' | 'stale'>,
  look: Look,
): Printable =>
  row.cells.length === 0
    ? own``
    : (drawRows(<Footer row={row} view={view} look={look} />, look.columns, look.ascii)[0] ?? own``);
