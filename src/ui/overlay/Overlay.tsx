import { Box } from 'ink';
import type { Line } from './line.js';
import { Lines } from './Lines.js';
import type { Paints } from './tones.js';

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
export const Overlay = ({ head, body, foot, rows, paints, ascii }: OverlayProps) => (
  <Box flexDirection="column" height={rows}>
    <Lines lines={head} paints={paints} ascii={ascii} />
    <Box flexGrow={1} flexDirection="column">
      <Lines lines={body} paints={paints} ascii={ascii} />
    </Box>
    <Lines lines={foot} paints={paints} ascii={ascii} />
  </Box>
);
