// The first page: how full the window is, what happens next, and the lists below.
import { partNames } from '../../core/context-parts.js';
import { shareText } from '../../core/figures.js';
import { agoText } from '../../core/overlay/durations.js';
import type { OverlayFill, OverlayThreshold } from '../../core/overlay/fill.js';
import type { OverlayView } from '../../core/overlay/view.js';
import type { Mode } from '../../core/compaction/state.js';
import { grouped } from '../../core/rung.js';
import { reasonOnly, thresholdNames } from '../../core/thresholds.js';
import { wrapped } from '../plain-text.js';
import { barLines, partLooks } from './bar-lines.js';
import { attemptLines } from './attempt-lines.js';
import { labelled, padEnd, padStart, paragraph, span, stacked } from './line.js';
import type { Line } from './line.js';
import { resultLines } from './result-lines.js';
import { usageLines, usageTitle } from './usage-lines.js';

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
      ? `${mark}${shareText(usedPercent ?? 0, fill.isOver)} ${basis}`
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
