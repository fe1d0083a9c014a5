// Gemini's tokenLimit() of 0.61 (facts/gemini.md §10): a table in the agent itself, so it is what the agent counts with.
const DEFAULT_TOKENS = 1_048_576;
const GEMMA_TOKENS = 256_000;
const GEMMA = ['gemma-4-31b-it', 'gemma-4-26b-a4b-it'];

export const geminiWindowTokens = (model: string): number =>
  GEMMA.includes(model) ? GEMMA_TOKENS : DEFAULT_TOKENS;
