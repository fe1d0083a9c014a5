import type { Mode } from '../../core/compaction/state.js';
import { type PartName, partNames } from '../../core/context-report.js';
import { shareText, tokensText, agoText, durationText } from '../../core/format.js';
import { usageCells, type UsageCell } from '../../core/history.js';
import { grouped, reasonOnly, thresholdNames } from '../../core/ladder.js';
import type { BarMark, OverlayFill, OverlayThreshold } from '../../core/overlay-fill.js';
import type { OverlayView, OverlayAttempt } from '../../core/overlay-view.js';
import type { ToolResult } from '../../core/reading.js';
import { wrapped } from '../text.js';
import {
  lineWidth,
  padEnd,
  padStart,
  span,
  type Line,
  type Span,
  type Tone,
  cutLine,
  paragraph,
  labelled,
  stacked,
} from './lines.js';

// The bar: what is used, cached, free and kept by the agent, with our boundaries marked under it.

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
  return `${shareText(usedPercent, isOver, isEstimated ? '~' : '')}${windowInferred ? '?' : ''}`;
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

const AGO_COLUMNS = 15;
const SIZE_COLUMNS = 6;
const DURATION_COLUMNS = 9;
const BY_COLUMNS = 16;
const ATTEMPT_LINES_WIDE_COLUMNS = 66; // with less, each one has a second row

/** The last compactions: when, from what to what, how long, by whom, and how it ended. */
export const attemptLines = (attempts: readonly OverlayAttempt[], columns: number): readonly Line[] =>
  attempts.length === 0
    ? [[span('  None in this session.', 'quiet')]]
    : attempts.flatMap((each) => attemptRows(each, columns).map((line) => cutLine(line, columns)));

const attemptRows = (attempt: OverlayAttempt, columns: number): readonly Line[] => {
  const { agoMs, durationMs, by, outcome, isGood } = attempt;
  const ago = padEnd(agoText(agoMs), AGO_COLUMNS);
  const duration = durationMs === undefined ? '' : durationText(durationMs);
  const tone = isGood ? 'plain' : 'strong';
  if (columns < ATTEMPT_LINES_WIDE_COLUMNS)
    return [
      [span(`  ${ago}`), span(sizes(attempt))],
      ...paragraph(`${duration === '' ? by : `${by}, ${duration}`}: ${outcome}`, columns, tone, 4),
    ];
  return [
    [
      span(`  ${ago}`),
      span(sizes(attempt)),
      span(`${padStart(duration, DURATION_COLUMNS)}   `, 'quiet'),
      span(padEnd(by, BY_COLUMNS), 'quiet'),
      span(outcome, tone),
    ],
  ];
};

/** `166k → 12k`, each number below those above it; `~` before one that came with the next turn. */
const sizes = ({ before, after, isNext }: OverlayAttempt): string => {
  if (before === undefined && after === undefined) return ' '.repeat(2 * SIZE_COLUMNS + 3);
  const to = after === undefined ? '' : `→ ${isNext ? '~' : ''}${after}`;
  return `${padStart(before ?? '?', SIZE_COLUMNS)} ${padEnd(to, SIZE_COLUMNS + 2)}`;
};

const TOKEN_COLUMNS = 9;

/** What the largest tool results put into the window, by an estimate of their text. */
export const resultLines = (
  results: readonly ToolResult[] | undefined,
  most: number,
  columns: number,
): readonly Line[] => {
  if (!results) return [[span('  Not reported by the agent.', 'quiet')]];
  if (results.length === 0) return [[span('  None yet.', 'quiet')]];
  return results
    .slice(0, most)
    .map(({ tokens, name, label }) =>
      cutLine(
        [
          span(`  ${padStart(`~${grouped(Math.round(tokens))}`, TOKEN_COLUMNS)}  `),
          span(name, 'strong'),
          span(label === '' ? '' : ` ${label}`),
        ],
        columns,
      ),
    );
};

// How full the window was over the session, as a filled line of braille dots: two samples a column, four levels a row.

const ROWS = 2;
const LEAST_SPAN_MS = 60_000; // a span of seconds says nothing, and would change with each of them
const LEVELS = 4; // dots of a character from bottom to top

const usageTitle = ({ usage, now }: OverlayView): string => {
  const spanMs = now - (usage.samples[0]?.at ?? now);
  return spanMs < LEAST_SPAN_MS ? 'Usage' : `Usage over ${durationText(spanMs)}`;
};

const usageLines = ({ usage, now }: OverlayView, columns: number): readonly Line[] => {
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

// The first page: how full the window is, what happens next, and the lists below.

const SHOWN_RESULTS = 5;

export const overviewLines = (view: OverlayView, columns: number): readonly Line[] => {
  const { fill, tier, blank } = view;
  const head = fill ? barLines(fill, tier, columns) : paragraph(blank ?? '', columns, 'strong');
  return stacked([
    { lines: head },
    {
      lines: [
        ...nowLines(view, columns),
        ...(fill ? fillLines(fill, columns) : []),
        ...modeLines(view, columns),
      ],
    },
    { title: 'What fills it', lines: partLines(fill, columns) },
    { title: 'Thresholds', lines: thresholdLines(view, columns) },
    { title: usageTitle(view), lines: usageLines(view, columns) },
    { title: `Compactions: ${view.compactions}`, lines: attemptLines(view.attempts, columns) },
    { title: resultTitle(view, columns), lines: resultLines(view.contents, SHOWN_RESULTS, columns) },
  ]);
};

export const resultTitle = ({ compactions }: OverlayView, columns: number): string => {
  const title = 'Largest tool results';
  const since = `${title} since the last compaction`;
  return compactions > 0 && since.length <= columns ? since : title;
};

const nowLines = ({ next, notice }: OverlayView, columns: number): readonly Line[] => [
  ...labelled('Next', next, columns, 'strong'),
  ...(notice === undefined ? [] : labelled('', notice, columns, 'accent')),
];

const fillLines = (fill: OverlayFill, columns: number): readonly Line[] => {
  const { usedTokens, windowTokens, usedPercent, windowSource, source, ageMs, basis } = fill;
  const mark = fill.isEstimated ? '~' : '';
  const used =
    usedTokens === undefined
      ? `${shareText(usedPercent ?? 0, fill.isOver, mark)} ${basis}`
      : `${mark}${grouped(Math.round(usedTokens))} tokens`;
  const window =
    windowTokens === undefined
      ? windowText(usedPercent)
      : `${grouped(windowTokens)}${fill.windowInferred ? '?' : ''} tokens, ${windowSource ?? 'assumed'}`;
  return [
    ...labelled('Used', `${used}, ${source}, ${agoText(ageMs)}`, columns),
    ...(fill.isOver ? labelled('', 'More is used than the window holds.', columns, 'tier') : []),
    ...(fill.isStale
      ? labelled('', 'The agent has written for minutes, and the number has not moved.', columns)
      : []),
    ...labelled('Window', window, columns),
  ];
};

const windowText = (usedPercent: number | undefined): string =>
  usedPercent === undefined ? 'not known: --window says how large it is' : 'not known in tokens';

const modeTexts: Readonly<Record<Mode, string>> = {
  auto: 'auto, compacts at a safe moment',
  ask: 'ask, compacts when you say so',
  warn: 'warn, only shows',
  off: 'off',
};

const modeLines = ({ mode, isProactive }: OverlayView, columns: number): readonly Line[] => [
  ...labelled('Mode', modeTexts[mode], columns),
  ...(mode === 'auto' || mode === 'ask'
    ? labelled(
        '',
        `proactive ${isProactive ? 'on: at warn, text since the last number counts' : 'off'}`,
        columns,
      )
    : []),
];

const NAME_COLUMNS = 20;
const VALUE_COLUMNS = 10;
const SHARE_COLUMNS = 7;
const WIDE_COLUMNS = 50; // with more, the numbers stand farther apart

const partLines = (fill: OverlayFill | undefined, columns: number): readonly Line[] => {
  const { parts = [], totalTokens } = fill ?? {};
  if (parts.length === 0 || totalTokens === undefined) return [];
  const share = columns < WIDE_COLUMNS ? SHARE_COLUMNS : SHARE_COLUMNS + 2;
  const name = Math.min(NAME_COLUMNS, columns - VALUE_COLUMNS - share - 4);
  const numbers = (tokens: number, percent: number): string =>
    padStart(grouped(Math.round(tokens)), VALUE_COLUMNS) + padStart(`${percent.toFixed(1)}%`, share);
  return [
    ...parts.map((part): Line => {
      const { cell, tone } = partLooks[part.name];
      const label = padEnd(` ${partNames[part.name]}`, name + 1);
      return [span('  '), span(cell, tone), span(label + numbers(part.tokens, part.percent))];
    }),
    [span(`   ${padEnd(' Total', name + 1)}${numbers(totalTokens, 100)}`, 'quiet')],
  ];
};

const REASON_COLUMNS = 30; // where there is less room, the reason gets rows of its own

const thresholdLines = (view: OverlayView, columns: number): readonly Line[] => {
  const { thresholds, tier, isHardAuto } = view;
  if (thresholds.length === 0) return [];
  return [
    ...thresholds.flatMap((each) => thresholdRow(each, columns)),
    ...(tier === 'safe' ? paragraph('No boundary is reached: the tier is safe.', columns, 'quiet', 2) : []),
    ...(isHardAuto ? paragraph('Hard is where auto is.', columns, 'quiet', 2) : []),
  ];
};

const thresholdRow = (each: OverlayThreshold, columns: number): readonly Line[] => {
  const { name, value, unit, current } = each;
  const number = unit === 'percent' ? `${value}%` : grouped(value);
  const tone = current ? 'tier' : 'plain';
  const label = Math.min(NAME_COLUMNS, columns - VALUE_COLUMNS - 4);
  const head = `${current ? '▶' : ' '} ${padEnd(thresholdNames[name], label)}${padStart(number, VALUE_COLUMNS)}`;
  const indent = 2 + 2 + label + VALUE_COLUMNS;
  const room = columns - indent - 2;
  const reason = reasonOnly(each);
  if (room < REASON_COLUMNS)
    return [[span('  '), span(head, tone)], ...paragraph(reason, columns, 'quiet', 6)];
  const [first = '', ...rest] = wrapped(reason, room);
  const under = (text: string): Line => [span(' '.repeat(indent + 2)), span(text, 'quiet')];
  return [[span('  '), span(head, tone), span('  '), span(first, 'quiet')], ...rest.map(under)];
};
