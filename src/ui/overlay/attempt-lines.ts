import { agoText, durationText } from '../../core/overlay/durations.js';
import type { OverlayAttempt } from '../../core/overlay/attempts.js';
import { cutLine, padEnd, padStart, paragraph, span } from './line.js';
import type { Line } from './line.js';

const AGO_COLUMNS = 15;
const SIZE_COLUMNS = 6;
const DURATION_COLUMNS = 9;
const BY_COLUMNS = 16;
const WIDE_COLUMNS = 66; // with less, each one has a second row

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
  if (columns < WIDE_COLUMNS)
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
