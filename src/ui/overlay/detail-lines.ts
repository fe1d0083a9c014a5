// The second page: what stands behind the numbers and the last attempt.
import { agoText, durationText } from '../../core/overlay/durations.js';
import type { OverlayDetail, OverlaySource } from '../../core/overlay/detail.js';
import type { OverlayView } from '../../core/overlay/view.js';
import { percentText } from '../../core/figures.js';
import { grouped } from '../../core/rung.js';
import { attemptLines } from './attempt-lines.js';
import { cutLine, padEnd, padStart, paragraph, span, stacked } from './line.js';
import type { Line } from './line.js';
import { resultTitle } from './overview-lines.js';
import { resultLines } from './result-lines.js';

const MOST_RESULTS = 10;

export const detailLines = (view: OverlayView, columns: number): readonly Line[] => {
  const { detail, blank, contents, attempts } = view;
  const { reason, activity, activityMs, asks, witnesses, policy } = detail;
  const [last] = attempts;
  const said = (text: string): readonly Line[] => paragraph(text, columns, 'plain', 2);
  return stacked([
    {
      title: 'Where the number comes from',
      lines: [...said(reason ?? blank ?? ''), ...sourceLines(detail, columns)],
    },
    {
      title: 'What the agent is doing',
      lines: [
        ...said(`${activity} for ${durationText(activityMs)}${asks === undefined ? '' : `: ${asks}`}`),
        ...witnesses.flatMap((each) => paragraph(each, columns, 'quiet', 4)),
      ],
    },
    { title: 'Compacting', lines: policy.flatMap(said) },
    {
      title: 'The last compaction',
      lines: last
        ? [
            ...attemptLines([last], columns),
            ...last.evidence.flatMap((each) => paragraph(each, columns, 'quiet', 4)),
          ]
        : attemptLines([], columns),
    },
    { title: resultTitle(view, columns), lines: resultLines(contents, MOST_RESULTS, columns) },
  ]);
};

const NUMBER_COLUMNS = 11;
const TIER_COLUMNS = 6;

const sourceLines = ({ sources }: OverlayDetail, columns: number): readonly Line[] =>
  sources.map((each) =>
    cutLine(
      [
        span(`  ${padStart(numberText(each), NUMBER_COLUMNS)}  ${padEnd(each.tier ?? '', TIER_COLUMNS)}`),
        span(`${each.name}, ${agoText(each.ageMs)}`, 'quiet'),
      ],
      columns,
    ),
  );

const numberText = ({ usedTokens, usedPercent }: OverlaySource): string => {
  if (usedTokens !== undefined) return grouped(Math.round(usedTokens));
  return usedPercent === undefined ? '' : percentText(usedPercent);
};
