import { Box, Text } from 'ink';
import type { FooterView } from '../core/view.js';
import type { Look } from './look.js';
import { margin, rowOf, type Part } from './row.js';
import { staleTheme, themeOf, type Theme } from './theme.js';

export interface FooterProps {
  readonly view: FooterView;
  readonly look: Look;
}

/** The one row under the agent: runtime, bar, percent, used/window, tier, compactions. */
export const Footer = ({ view, look }: FooterProps) => {
  const row = rowOf(view, look);
  const theme = view.stale ? staleTheme(look.colorLevel) : themeOf(view.tier, look.colorLevel);
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
