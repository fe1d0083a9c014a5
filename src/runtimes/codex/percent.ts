// Codex's own percentage (facts/codex.md §2.3): the first 12 000 tokens, which every conversation has, count as empty.
const BASELINE_TOKENS = 12_000;

/** Used percent as Codex computes it, 0…100, not rounded (Codex rounds what is left). */
export const codexPercent = (usedTokens: number, windowTokens: number): number => {
  const room = windowTokens - BASELINE_TOKENS;
  if (room <= 0) return 100;
  return Math.min(100, (Math.max(0, usedTokens - BASELINE_TOKENS) * 100) / room);
};
