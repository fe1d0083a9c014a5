// Codex's own percentage (facts/codex.md §2.3): the first 12 000 tokens, which every conversation has, count as empty.
const BASELINE_TOKENS = 12_000;

/** Tokens that are 100 % on Codex's basis. */
export const roomOf = (windowTokens: number): number => Math.max(0, windowTokens - BASELINE_TOKENS);

/** Used percent exactly as Codex shows it, 0…100: it rounds what is left. */
export const codexPercent = (usedTokens: number, windowTokens: number): number => {
  const room = roomOf(windowTokens);
  if (room === 0) return 100;
  const left = Math.max(0, room - Math.max(0, usedTokens - BASELINE_TOKENS));
  return 100 - Math.round((left * 100) / room);
};
