// The bar: what is used, cached, free and kept by the agent, with our boundaries marked under it.
import type { PartName } from '../../core/context-parts.js';
import { shareText, tokensText } from '../../core/figures.js';
import type { BarMark, OverlayFill } from '../../core/overlay/fill.js';
import type { OverlayView } from '../../core/overlay/view.js';
import { lineWidth, padEnd, padStart, span } from './line.js';
import type { Line, Span } from './line.js';
import type { Tone } from './tones.js';

export interface PartLook {
  readonly cell: string;
  readonly tone: Tone;
}

/** All of one column in every locale, as the signs of the footer are. */
export const partLooks: Readonly<Record<PartName, PartLook>> = {
  used: { cell: '▰', tone: 'bar' },
  cached: { cell: '▰', tone: 'bar' },
  fresh: { cell: '▮', tone: 'bar' },
  answer: { cell: '▮', tone: 'bar' },
  free: { cell: '▱', tone: 'quiet' },
  buffer: { cell: '▯', tone: 'quiet' },
};

const PERCENT_COLUMNS = 5; // `>100%`, `~100%`
const TIER_COLUMNS = 4;
const GAP = 1;

export const barLines = (fill: OverlayFill, tier: OverlayView['tier'], columns: number): readonly Line[] => {
  const percent = fillPercent(fill);
  const hasTier = tier !== undefined;
  // without a window there is no share to draw
  if (percent === undefined && fill.windowTokens === undefined)
    return [[span(`${tokensText(fill.usedTokens ?? 0)} tokens`, 'percent'), ...tierSpans(tier)]];
  const beside =
    percent === undefined
      ? 0
      : GAP + Math.max(PERCENT_COLUMNS, percent.length) + (hasTier ? GAP + 1 + TIER_COLUMNS : 0);
  const cells = Math.max(1, columns - beside);
  const bar = [
    ...cellSpans(fill, cells),
    ...(percent === undefined ? [] : [span(' '.repeat(GAP) + padStart(percent, PERCENT_COLUMNS), 'percent')]),
    ...(percent === undefined ? [] : tierSpans(tier)),
  ];
  const marks = markLine(fill.marks, cells, columns);
  return marks ? [bar, marks] : [bar];
};

const tierSpans = (tier: OverlayView['tier']): readonly Span[] =>
  tier === undefined ? [] : [span(`${' '.repeat(GAP + 1)}${padEnd(tier, TIER_COLUMNS)}`, 'tier')];

/** `>100%` where more is used than there is room for. */
const fillPercent = ({
  usedPercent,
  isOver,
  isEstimated,
  windowInferred,
}: OverlayFill): string | undefined => {
  if (usedPercent === undefined) return undefined;
  return `${isEstimated ? '~' : ''}${shareText(usedPercent, isOver)}${windowInferred ? '?' : ''}`;
};

/** The cells of all parts together are the bar; a part that is there has a cell where there is room for it. */
const cellSpans = (fill: OverlayFill, cells: number): readonly Span[] => {
  const { parts, totalTokens, share } = fill;
  if (totalTokens === undefined || totalTokens === 0) {
    const used = share > 0 ? Math.min(cells, Math.max(1, Math.round(share * cells))) : 0;
    return [span('▰'.repeat(used), 'bar'), span('▱'.repeat(cells - used), 'quiet')];
  }
  let tokens = 0;
  let drawn = 0;
  return parts.map(({ name, tokens: size }) => {
    tokens += size;
    const upTo = Math.round((tokens * cells) / totalTokens);
    const count = Math.max(drawn, upTo) - drawn;
    drawn += count;
    const { cell, tone } = partLooks[name];
    return span(cell.repeat(count), tone);
  });
};

/** Where auto and hard begin: `auto╵ ╵hard`. */
const markLine = (marks: readonly BarMark[], cells: number, columns: number): Line | undefined => {
  const at = (name: BarMark['name']): number | undefined => {
    const mark = marks.find((each) => each.name === name);
    return mark && Math.min(cells - 1, Math.floor(mark.share * cells));
  };
  const auto = at('auto');
  const hard = at('hard');
  const first = auto ?? hard;
  if (first === undefined) return undefined;
  const before = auto === undefined ? '' : 'auto';
  const lead = Math.max(0, first - before.length);
  const line = [span(' '.repeat(lead)), span(`${first < before.length ? '' : before}╵`, 'quiet')];
  if (hard === undefined || auto === undefined) {
    const name = hard === undefined ? '' : 'hard';
    return lineWidth(line) + name.length <= columns ? [...line, span(name, 'quiet')] : line;
  }
  const tick = hard > auto ? `${' '.repeat(hard - auto - 1)}╵` : '';
  const width = lineWidth(line) + tick.length;
  return [...line, span(`${tick}${width + TIER_COLUMNS <= columns ? 'hard' : ''}`, 'quiet')];
};
