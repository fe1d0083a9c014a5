import { Box } from 'ink';
import { present } from '../core/present.js';
import { type Styled } from '../core/printable.js';
import type { Fill } from '../core/compaction/outcome.js';
import { formatTokens } from '../core/format.js';
import type { UsageHistory, UsageSample } from '../core/report/history.js';
import type { Millis } from '../core/reading.js';
import type { Section } from '../core/report/report-sections.js';
import { Line } from './Line.js';
import type { Theme } from './theme.js';

// How full the window was over the session, as a filled line of braille dots: two samples per column, four levels per row. There is a scale at
// its left, and in a chart of some height a dotted line where each tier begins, at the height of its number.

const LEVELS = 4; // dots of a character from bottom to top
const LEAST_LINED = 4; // rows; in a lower chart several tiers begin in one row
const LEAST_SCALED = 40; // columns; a narrower chart has no room for a scale
const SCALE_COLUMNS = 6; // `100% `, ` 1.0M `
const NAME_COLUMNS = 5; // ` auto`

export interface UsageChartProps {
  readonly usage: NonNullable<Section['usage']>;
  readonly columns: number;
  readonly rows: number;
  readonly paints: Theme;
}

export const UsageChart = ({ usage, columns, rows, paints }: UsageChartProps) => {
  const { history, now, marks: tiers } = usage;
  const isScaled = columns >= LEAST_SCALED;
  const isOfWindow = history.samples.some(({ fill }) => fill?.usedPercent !== undefined);
  const lines = isScaled && rows >= LEAST_LINED && isOfWindow ? tiers : [];
  const width = columns - (isScaled ? SCALE_COLUMNS : 0) - (lines.length > 0 ? NAME_COLUMNS : 0);
  const cells = usageCells(history, now, width * 2);
  const pairs = Array.from({ length: width }, (_, column) => cells.slice(2 * column, 2 * column + 2));
  const marks = pairs.map((pair) => (pair.some(({ isMarked }) => isMarked) ? '⟳' : ' ')).join('');
  const indent = ' '.repeat(isScaled ? SCALE_COLUMNS : 0);
  const most = isOfWindow ? '100%' : formatTokens(highestTokens(history.samples));
  const scale = (row: number): string => {
    const text = row === rows - 1 ? most : row === 0 ? '0' : '';
    return isScaled ? `${text.padStart(SCALE_COLUMNS - 1)} ` : '';
  };
  return (
    <Box flexDirection="column">
      {Array.from({ length: rows }, (_, index) => {
        const row = rows - 1 - index;
        const line = lineIn(lines, row, rows);
        const dots = pairs.map((pair) => braille(pair, row, rows)).join('');
        return (
          <Line
            key={index}
            text={[
              paints.quiet(scale(row)),
              chartRow(dots, line && levelOf(line.share, rows) % LEVELS, paints),
              line ? paints.quiet(` ${line.name}`) : '',
            ]}
          />
        );
      })}
      {marks.trim() !== '' && <Line text={paints.quiet(indent + marks.trimEnd())} />}
    </Box>
  );
};

/** The dots of a chart that a share of the window is high, from 0 at its bottom: what a line is drawn through. */
const levelOf = (share: number, rows: number): number =>
  Math.min(rows * LEVELS - 1, Math.floor(share * rows * LEVELS));

/** The tier that begins in a row of the chart: of several, auto, because that is where something happens. */
const lineIn = (lines: UsageChartProps['usage']['marks'], row: number, rows: number) => {
  const begun = lines.filter(({ share }) => Math.floor(levelOf(share, rows) / LEVELS) === row);
  return begun.find(({ name }) => name === 'auto') ?? begun.at(-1);
};

const NO_DOTS = 0x2800;
const characterOf = (bits: number): string => String.fromCodePoint(NO_DOTS + bits);

/** The dots of a row, with those of the line at this of its levels, which is quiet where it meets no value. */
const chartRow = (dots: string, lineLevel: number | undefined, paints: Theme): Styled => {
  if (lineLevel === undefined) return paints.accent(dots);
  const line = dotBits.reduce((bits, column) => bits | (column[lineLevel] ?? 0), 0);
  const withLine = (part: string): string =>
    part.replaceAll(/./gu, (dot) => characterOf(((dot.codePointAt(0) ?? 0) - NO_DOTS) | line));
  return dots
    .split(/(\u2800+)/)
    .map((part) => (part.startsWith(characterOf(0)) ? paints.quiet : paints.accent)(withLine(part)));
};

// The dots of a column from bottom to top, in Unicode's numbering.
const dotBits = [
  [0x40, 0x04, 0x02, 0x01],
  [0x80, 0x20, 0x10, 0x08],
];

/** The dots of two samples in a row; `row` 0 is the lowest of `rows`, and a known value always has at least one dot. */
const braille = (pair: readonly UsageCell[], row: number, rows: number): string => {
  const bits = dotBits.flatMap((column, index) => {
    const share = pair[index]?.share;
    if (share === undefined) return [];
    const level = Math.max(1, Math.round(share * rows * LEVELS));
    return column.slice(0, Math.max(0, level - row * LEVELS));
  });
  return characterOf(bits.reduce((sum, bit) => sum + bit, 0));
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
    ...present({ share }),
    isMarked: marked.has(cell),
  }));
};

const scaled = (samples: readonly UsageSample[]): ((fill: Fill) => number | undefined) => {
  const hasPercent = samples.some(({ fill }) => fill?.usedPercent !== undefined);
  if (hasPercent) return ({ usedPercent }) => usedPercent && Math.min(1, usedPercent / 100);
  const most = highestTokens(samples);
  return ({ usedTokens }) => usedTokens && usedTokens / most;
};

const highestTokens = (samples: readonly UsageSample[]): number =>
  Math.max(1, ...samples.map(({ fill }) => fill?.usedTokens ?? 0));
