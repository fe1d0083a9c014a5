import { parseDisplayedAmount, type DisplayedAmount } from '../core/format.js';
import type { Reading } from '../core/reading.js';

// Messages with which an agent refuses to continue because the window is full (docs/facts/claude.md#activities,
// docs/facts/gemini.md#a-message-that-does-not-fit, docs/facts/qwen.md#boundaries). They count as a number, too; the caller must know that
// they are the agent's own and not part of the conversation.

/** How full the window is, according to the refusal. */
export type Refusal = Pick<Reading, 'usedPercent' | 'basis'>;

/** The message did not fit, even without an answer. */
export const FULL: Refusal = { usedPercent: 100, basis: 'effective' };

/**
 * Full when the user's last message was refused and no message followed. The conversation is given as items with a glyph; `isOwn`
 * selects the glyphs of the agent's own messages, and `refusalIn` finds the refusals among those.
 */
export const findRefusalAtEnd = (
  items: readonly { readonly text: string }[],
  isOwn: RegExp,
  refusalIn: (words: string) => Refusal | undefined,
): Refusal | undefined => {
  for (const { text } of items.toReversed()) {
    if (!isOwn.test(text)) return undefined;
    const refusal = refusalIn(text.replace(isOwn, ''));
    if (refusal) return refusal;
  }
  return undefined;
};

// Common phrases for how full the window is, for an agent without known wordings. They are searched only in the rows that a definition
// names, because a conversation may contain them, too.

/** How full the window is, as a row shows it. */
export interface ShownContext extends DisplayedAmount {
  readonly unit: 'percent' | 'tokens';
  /** absent if no word shows which */
  readonly polarity?: 'used' | 'left';
}

const DIGITS = String.raw`(?<![\d.,_-])(?<number>\d[\d,_]{0,15}(?:\.\d{1,6})?`;
const NUMBER = `${DIGITS}(?: ?[kmb](?![a-z]))?)`;
const LARGE = `${DIGITS} ?[kmb])`; // a number without a unit letter could mean anything
const CONTEXT = '(?<![a-z])(?:context|ctx)(?: window)?';
const SIDE = '(?<side>used|full|left|remaining)(?![a-z])';

const wordings: readonly { readonly pattern: RegExp; readonly unit: ShownContext['unit'] }[] = [
  // `context: 42%`, `ctx 42% used`
  { pattern: new RegExp(`${CONTEXT}:? ${NUMBER}%(?: ${SIDE})?`, 'gi'), unit: 'percent' },
  // `Context left: 42%`
  { pattern: new RegExp(`${CONTEXT} ${SIDE}:? ${NUMBER}%`, 'gi'), unit: 'percent' },
  // `42% ctx`, `42% context left`, `42% of context used`
  { pattern: new RegExp(`${NUMBER}% (?:of )?${CONTEXT}(?: ${SIDE})?(?![a-z])`, 'gi'), unit: 'percent' },
  // `42% left`
  { pattern: new RegExp(`${NUMBER}% ${SIDE}`, 'gi'), unit: 'percent' },
  // `1M context left`, `150K tokens context left`, `12,345 tokens left`
  { pattern: new RegExp(`${NUMBER}(?: tokens?)? (?:context|ctx|tokens?) ${SIDE}`, 'gi'), unit: 'tokens' },
  // `500K left`
  { pattern: new RegExp(`${LARGE} ${SIDE}`, 'gi'), unit: 'tokens' },
];

/** The number in the row; undefined where there is none, or several that differ. */
export const parseShownContext = (row: string): ShownContext | undefined => {
  for (const { pattern, unit } of wordings) {
    const [first, ...others] = [...row.matchAll(pattern)].flatMap((match) => contextIn(match, unit) ?? []);
    if (first) return others.every((each) => isSameFill(first, each)) ? first : undefined;
  }
  return undefined;
};

const contextIn = ({ groups }: RegExpExecArray, unit: ShownContext['unit']): ShownContext | undefined => {
  const amount = parseDisplayedAmount(groups?.['number']);
  const side = groups?.['side']?.toLowerCase();
  if (!amount || (unit === 'percent' && amount.value > 100)) return undefined;
  if (side === undefined) return { ...amount, unit };
  return { ...amount, unit, polarity: side === 'left' || side === 'remaining' ? 'left' : 'used' };
};

/** `54% left` and `46% used` are the same. */
const isSameFill = (a: ShownContext, b: ShownContext): boolean =>
  a.polarity === b.polarity
    ? a.value === b.value
    : a.unit === 'percent' && Math.abs(a.value + b.value - 100) <= a.step;
