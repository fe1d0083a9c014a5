import { Box, Text } from 'ink';
import type { Fill } from '../core/compaction/outcome.js';
import type { UsageHistory, UsageSample } from '../core/history.js';
import type { Millis } from '../core/reading.js';
import type { Section } from '../core/report-sections.js';
import type { ReportPaints } from './theme.js';

// How full the window was over the session, as a filled line of braille dots: two samples per column, four levels per row.

const CHART_ROWS = 2;
const LEVELS = 4; // dots of a character from bottom to top

export interface UsageChartProps {
  readonly usage: NonNullable<Section['usage']>;
  readonly columns: number;
  readonly paints: ReportPaints;
}

export const UsageChart = ({ usage: { history, now }, columns, paints }: UsageChartProps) => {
  const cells = usageCells(history, now, columns * 2);
  const pairs = Array.from({ length: columns }, (_, column) => cells.slice(2 * column, 2 * column + 2));
  const marks = pairs.map((pair) => (pair.some(({ isMarked }) => isMarked) ? '⟳' : ' ')).join('');
  return (
    <Box flexDirection="column">
      {Array.from({ length: CHART_ROWS }, (_, index) => (
        <Text key={index}>
          {paints.accent(pairs.map((pair) => braille(pair, CHART_ROWS - 1 - index)).join(''))}
        </Text>
      ))}
      {marks.trim() !== '' && <Text>{paints.quiet(marks.trimEnd())}</Text>}
    </Box>
  );
};

// The dots of a column from bottom to top, in Unicode's numbering.
const dotBits = [
  [0x40, 0x04, 0x02, 0x01],
  [0x80, 0x20, 0x10, 0x08],
];

/** `row` 0 is the lowest; a known value always has at least one dot. */
const braille = (pair: readonly UsageCell[], row: number): string => {
  const bits = dotBits.flatMap((column, index) => {
    const share = pair[index]?.share;
    if (share === undefined) return [];
    const level = Math.max(1, Math.round(share * CHART_ROWS * LEVELS));
    return column.slice(0, Math.max(0, level - row * LEVELS));
  });
  return String.fromCodePoint(0x2800 + bits.reduce((sum, bit) => sum + bit, 0));
};

/** One cell of the line. */
export interface UsageCell {
  /** 0…1 of the window, or of the highest usage where the window is unknown; absent without a number */
  readonly share?: number;
  /** the conversation was compacted in this cell's time */
  readonly isMarked: boolean;
}

/** The history from its beginning until now in this many cells, each with its maximum, because peaks matter most. */
export const usageCells = (
  { samples, marks }: UsageHistory,
  now: Millis,
  count: number,
): readonly UsageCell[] => {
  const from = samples[0]?.at;
  if (from === undefined || count < 1) return [];
  const cellMs = Math.max(1, now - from) / count;
  const cellOf = (at: Millis): number => Math.min(count - 1, Math.max(0, Math.floor((at - from) / cellMs)));
  const shareOf = scaled(samples);
  const shares: (number | undefined)[] = Array.from({ length: count });
  samples.forEach(({ at, fill }, index) => {
    const share = fill && shareOf(fill);
    const first = cellOf(at);
    const next = samples[index + 1];
    // a value holds until the next sample
    const last = Math.max(first, next ? cellOf(next.at) - 1 : count - 1);
    for (let cell = first; cell <= last; cell += 1) {
      const held = shares[cell];
      shares[cell] = share === undefined ? held : Math.max(held ?? 0, share);
    }
  });
  const marked = new Set(marks.map(cellOf));
  return shares.map((share, cell) => ({
    ...(share === undefined ? {} : { share }),
    isMarked: marked.has(cell),
  }));
};

const scaled = (samples: readonly UsageSample[]): ((fill: Fill) => number | undefined) => {
  const hasPercent = samples.some(({ fill }) => fill?.usedPercent !== undefined);
  if (hasPercent) return ({ usedPercent }) => usedPercent && Math.min(1, usedPercent / 100);
  const most = Math.max(1, ...samples.map(({ fill }) => fill?.usedTokens ?? 0));
  return ({ usedTokens }) => usedTokens && usedTokens / most;
};
