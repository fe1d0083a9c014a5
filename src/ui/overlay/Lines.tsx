import { Box, Text } from 'ink';
import { asciiText } from './safe-text.js';
import type { Line } from './line.js';
import type { Paints } from './tones.js';

export interface LinesProps {
  readonly lines: readonly Line[];
  readonly paints: Paints;
  readonly ascii: boolean;
}

/** Rows of measured text, each exactly one row high. */
export const Lines = ({ lines, paints, ascii }: LinesProps) => (
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
