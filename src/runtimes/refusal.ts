// An agent that sends no more because the window is full says so in words (facts/claude.md §5, gemini.md §2.6, qwen.md). They are a
// number, too; who reads them must know that they are the agent's own and not of the conversation.
import type { Reading } from '../core/reading.js';

/** How full the window is by these words. */
export type Refusal = Pick<Reading, 'usedPercent' | 'basis'>;

// It does not fit although nothing of the answer is in it yet.
const FULL: Refusal = { usedPercent: 100, basis: 'effective' };

const CLAUDE = /^(?:Prompt is too long|Context limit reached)(?: ·|$)/;
const QWEN = /^\[API Error: Context is too large to send safely\b/;
const GEMINI =
  /^Sending this message \([\d,]+ tokens\) might exceed the context window limit \((-?[\d,]+) tokens left\)/;
const ROUNDED_TO_FULL = 1_280; // tokens left that are half a percent of Gemini's smallest window; with more the message was too long

/** Undefined for all other words. */
export const refusalIn = (words: string): Refusal | undefined => {
  if (CLAUDE.test(words) || QWEN.test(words)) return FULL;
  const left = GEMINI.exec(words)?.[1]?.replaceAll(',', '');
  return left !== undefined && Number(left) < ROUNDED_TO_FULL ? { usedPercent: 100 } : undefined;
};

/** A conversation as items with a glyph before each: full where the last thing the user said was refused, and nothing was said since. */
export const refusalAtEnd = (
  items: readonly { readonly text: string }[],
  isOwn: RegExp,
): Refusal | undefined => {
  for (const { text } of items.toReversed()) {
    if (!isOwn.test(text)) return undefined;
    const refusal = refusalIn(text.replace(isOwn, ''));
    if (refusal) return refusal;
  }
  return undefined;
};
