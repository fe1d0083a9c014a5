import type { OverlayAbilities, OverlayView } from '../../core/overlay/view.js';
import { padEnd, span, stacked } from './line.js';
import type { Line } from './line.js';
import { wrapped } from '../plain-text.js';

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
