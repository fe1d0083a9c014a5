import { agoText, durationText, percentText } from '../../core/format.js';
import { grouped } from '../../core/ladder.js';
import type { OverlayPage } from '../../core/overlay-keys.js';
import type { OverlayDetail, OverlaySource, OverlayView, OverlayAbilities } from '../../core/overlay-view.js';
import { wrapped, shortened, widthOf } from '../text.js';
import {
  cutLine,
  padEnd,
  padStart,
  paragraph,
  span,
  stacked,
  type Line,
  lineWidth,
  spread,
} from './lines.js';
import { attemptLines, resultTitle, resultLines } from './overview.js';

// The second page: what stands behind the numbers and the last attempt.

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

const KEY_COLUMNS = 13;

export const helpLines = ({ can, hotkey }: OverlayView, columns: number): readonly Line[] => {
  const rows = (all: readonly (readonly [string, string])[]): readonly Line[] =>
    all.flatMap(([key, text]) => explained(key, text, columns));
  return stacked([
    { title: 'Keys', lines: rows([...actionKeys(can), ...pageKeys(hotkey)]) },
    { title: 'Signs', lines: rows(signs) },
    { title: 'Tiers', lines: rows(tiers) },
  ]);
};

const actionKeys = (can: OverlayAbilities): readonly (readonly [string, string])[] => [
  ['c', 'compact now; what holds it back is said as Next'],
  ['a', 'the mode: auto, ask, warn'],
  ...(can.postpone ? [['p', 'compact no sooner than in 5 minutes'] as const] : []),
  ...(can.undo ? [['u', 'undo the last compaction'] as const] : []),
  ...(can.handoff ? [['h', 'write a handoff'] as const] : []),
  ['n', 'proactive, on and off: whether text since the last number counts at warn'],
];

const pageKeys = (hotkey: string | undefined): readonly (readonly [string, string])[] => [
  ['d', 'sources, evidence and the last compaction'],
  ['Up Down', 'scroll, as do Page Up, Page Down, Home, End and the wheel'],
  ['Esc', 'back, or close'],
  [hotkey === undefined ? 'q' : `q ${hotkey}`, 'close'],
];

const signs: readonly (readonly [string, string])[] = [
  ['~', 'an estimate, or after a compaction the first number that came'],
  ['?', 'a window that is assumed'],
  ['▶', 'the boundary that is reached'],
  ['⟳', 'a compaction'],
];

const tiers: readonly (readonly [string, string])[] = [
  ['safe', 'below every boundary'],
  ['warn', 'shown'],
  ['auto', 'compacted at the next safe moment, in the mode auto'],
  ['hard', 'the same, whatever has failed before'],
];

const explained = (key: string, text: string, columns: number): readonly Line[] =>
  wrapped(text, Math.max(1, columns - KEY_COLUMNS - 2)).map((row, index) => [
    span('  '),
    span(padEnd(index === 0 ? key : '', KEY_COLUMNS), 'accent'),
    span(row),
  ]);

// What stays while the contents scroll: whose window it is, and the keys.

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
