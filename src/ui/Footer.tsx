import { Box, Text } from 'ink';
import type { FooterItem } from '../core/footer-items.js';
import type { FooterView } from '../core/view.js';
import type { Look } from './look.js';
import { margin, rowOf, type Part } from './row.js';
import { staleTheme, themeOf, type Theme } from './theme.js';

export interface FooterProps {
  readonly view: FooterView;
  readonly look: Look;
  /** what it shows and in which order; the usual where nobody has chosen */
  readonly items?: readonly FooterItem[] | undefined;
}

/** The one row under the agent: runtime, bar, percent, used/window, tier, compactions, and what is done. */
export const Footer = ({ view, look, items }: FooterProps) => {
  const row = rowOf(view, look, items);
  const theme = view.stale ? staleTheme(look.colorLevel) : themeOf(view.tier, look);
  return (
    <Box height={1} paddingLeft={margin} columnGap={row.gap}>
      {row.parts.map((part) => (
        <Box key={part.name} flexShrink={0}>
          <Text>{painted(part, theme)}</Text>
        </Box>
      ))}
    </Box>
  );
};

const painted = (part: Part, theme: Theme): string => {
  switch (part.name) {
    case 'bar':
      return theme.bar(part.text) + theme.quiet(part.rest ?? '');
    case 'percent':
      return theme.percent(part.text);
    case 'tier':
      return theme.tier(part.text);
    default:
      return theme.quiet(part.text);
  }
};
