import type { Ladder } from './ladder.js';
import type { Figure, Rung } from './rung.js';

/** One number of a ladder, with the sentence that explains it. */
export interface Threshold {
  readonly name: 'effective' | 'warn' | 'auto' | 'hard' | 'native';
  /** tokens, or 0…100 of the window */
  readonly value: number;
  readonly unit: 'tokens' | 'percent';
  readonly reason: string;
}

/** As people read them. */
export const thresholdNames: Readonly<Record<Threshold['name'], string>> = {
  effective: 'Effective window',
  warn: 'Warn',
  auto: 'Auto',
  hard: 'Hard',
  native: "Agent's own",
};

/** The reason without the name and the number that it begins with, for a row that shows both already. */
export const reasonOnly = ({ reason }: Pick<Threshold, 'reason'>): string => reason.replace(/^[^:]*: /, '');

/**
 * All numbers of a ladder: what the window leaves, where that is what the boundaries keep to, the boundaries upwards, and where the agent
 * compacts by itself.
 */
export const thresholdsOf = ({ effective, warn, auto, hard, native }: Ladder): readonly Threshold[] => [
  ...(effective && [warn, auto, hard].every((rung) => !rung || keepsTo(effective, rung))
    ? [inTokens('effective', effective)]
    : []),
  threshold('warn', warn),
  ...(auto ? [threshold('auto', auto)] : []),
  threshold('hard', hard),
  ...(native ? [inTokens('native', native)] : []),
];

// A small window is shared out in percent of the whole, and the user's own boundaries are where they are.
const keepsTo = ({ tokens }: Figure, { custom, unit, value }: Rung): boolean =>
  tokens > 0 && (custom || (unit === 'tokens' && value <= tokens));

const threshold = (name: Threshold['name'], { value, unit, reason }: Omit<Threshold, 'name'>): Threshold => ({
  name,
  value,
  unit,
  reason,
});

const inTokens = (
  name: Threshold['name'],
  { tokens, reason }: { readonly tokens: number; readonly reason: string },
): Threshold => ({ name, value: tokens, unit: 'tokens', reason });

/** An agent's own boundaries in tokens, to be shown beside ours and never acted upon. */
export interface OwnLadder {
  readonly effective: number;
  readonly warn: number;
  readonly auto: number;
  readonly hard: number;
}
