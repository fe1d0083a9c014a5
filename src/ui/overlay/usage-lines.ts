// How full the window was over the session, as a filled line of braille dots: two samples a column, four levels a row.
import { durationText } from '../../core/overlay/durations.js';
import type { OverlayView } from '../../core/overlay/view.js';
import { usageCells } from '../../core/usage-history.js';
import type { UsageCell } from '../../core/usage-history.js';
import { span } from './line.js';
import type { Line } from './line.js';

const ROWS = 2;
const LEAST_SPAN_MS = 60_000; // a span of seconds says nothing, and would change with each of them
const LEVELS = 4; // dots of a character from bottom to top

export const usageTitle = ({ usage, now }: OverlayView): string => {
  const spanMs = now - (usage.samples[0]?.at ?? now);
  return spanMs < LEAST_SPAN_MS ? 'Usage' : `Usage over ${durationText(spanMs)}`;
};

export const usageLines = ({ usage, now }: OverlayView, columns: number): readonly Line[] => {
  const width = Math.max(1, columns - 2);
  const cells = usageCells(usage, now, width * 2);
  if (cells.length === 0) return [[span('  No number has been seen yet.', 'quiet')]];
  const rows = Array.from({ length: ROWS }, (_, index) => ROWS - 1 - index);
  const marks = Array.from({ length: width }, (_, column) =>
    cells[2 * column]?.isMarked || cells[2 * column + 1]?.isMarked ? '⟳' : ' ',
  );
  const hasMarks = marks.includes('⟳');
  return [
    ...rows.map((row): Line => [span('  '), span(rowOf(cells, width, row), 'accent')]),
    ...(hasMarks ? [[span(`  ${marks.join('').trimEnd()}`, 'quiet')]] : []),
  ];
};

const rowOf = (cells: readonly UsageCell[], width: number, row: number): string =>
  Array.from({ length: width }, (_, column) =>
    braille(dots(cells[2 * column], row), dots(cells[2 * column + 1], row)),
  ).join('');

/** Filled dots of one half of a character; what is known is never nothing. */
const dots = (cell: UsageCell | undefined, row: number): number => {
  if (cell?.share === undefined) return 0;
  const level = Math.max(1, Math.round(cell.share * ROWS * LEVELS));
  return Math.min(LEVELS, Math.max(0, level - row * LEVELS));
};

// The dots of a column from bottom to top, as Unicode numbers them.
const leftBits = [0x40, 0x04, 0x02, 0x01];
const rightBits = [0x80, 0x20, 0x10, 0x08];

const braille = (left: number, right: number): string => {
  const bits = [...leftBits.slice(0, left), ...rightBits.slice(0, right)];
  return String.fromCodePoint(0x2800 + bits.reduce((sum, bit) => sum + bit, 0));
};
