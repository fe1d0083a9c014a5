// What stays while the contents scroll: whose window it is, and the keys.
import type { OverlayPage } from '../../core/overlay/keys.js';
import { durationText } from '../../core/overlay/durations.js';
import type { OverlayView } from '../../core/overlay/view.js';
import { shortened, widthOf } from '../plain-text.js';
import { cutLine, lineWidth, span, spread } from './line.js';
import type { Line } from './line.js';

const LEAST_NAME = 8; // columns: less of a conversation's name says nothing

/** `claude  model` at one end; the conversation and its age at the other, as far as there is room. */
export const headLine = ({ runtime, model, name, ageMs }: OverlayView, columns: number): Line => {
  const left = cutLine(
    [span(runtime, 'strong'), ...(model === undefined ? [] : [span(`  ${model}`)])],
    columns,
  );
  const age = durationText(ageMs);
  const room = columns - lineWidth(left) - widthOf(age) - 4;
  const shown = name !== undefined && room >= LEAST_NAME ? `${shortened(name, room)}  ` : '';
  return spread(left, [span(`${shown}${age}`, 'quiet')], columns);
};

interface KeyHint {
  readonly key: string;
  readonly word: string;
  /** the highest goes first where there is no room */
  readonly rank: number;
}

const GAP = '  ';

/** The keys that do something now, and which part of the contents is shown. */
export const keyLine = (
  { can }: OverlayView,
  page: OverlayPage,
  extent: string | undefined,
  columns: number,
): Line => {
  const right = extent === undefined ? [] : [span(extent, 'quiet')];
  const room = columns - (extent === undefined ? 0 : extent.length + 2);
  let hints = hintsFor(page, can);
  while (hints.length > 1 && widthOf(hintText(hints)) > room) {
    const last = Math.max(...hints.map(({ rank }) => rank));
    hints = hints.filter(({ rank }) => rank !== last);
  }
  const left = hints.flatMap(({ key, word }, index): Line => [
    span(`${index === 0 ? '' : GAP}${key}`, 'accent'),
    span(` ${word}`, 'quiet'),
  ]);
  return spread(left, right, columns);
};

const hintText = (hints: readonly KeyHint[]): string =>
  hints.map(({ key, word }) => `${key} ${word}`).join(GAP);

const hintsFor = (page: OverlayPage, can: OverlayView['can']): readonly KeyHint[] => [
  { key: 'c', word: 'compact', rank: 1 },
  { key: 'a', word: 'mode', rank: 4 },
  ...(can.postpone ? [{ key: 'p', word: 'postpone', rank: 5 }] : []),
  ...(can.undo ? [{ key: 'u', word: 'undo', rank: 6 }] : []),
  ...(can.handoff ? [{ key: 'h', word: 'handoff', rank: 7 }] : []),
  { key: 'n', word: 'proactive', rank: 8 },
  ...(page === 'detail' ? [] : [{ key: 'd', word: 'detail', rank: 3 }]),
  ...(page === 'help' ? [] : [{ key: '?', word: 'help', rank: 2 }]),
  ...(page === 'overview' ? [] : [{ key: 'Esc', word: 'back', rank: 2 }]),
  { key: 'q', word: 'close', rank: 0 },
];
