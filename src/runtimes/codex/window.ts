// What a `token_count` record of a rollout holds (facts/codex.md §7).
import { countAt, recordAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';

/** A total without input and output is Codex's own estimate of what it kept. */
export const guessOf = (payload: JsonRecord): number | undefined => {
  const last = recordAt(recordAt(payload, 'info'), 'last_token_usage');
  const isGuess = countAt(last, 'input_tokens') === 0 && countAt(last, 'output_tokens') === 0;
  return isGuess ? countAt(last, 'total_tokens') : undefined;
};

// A refused turn is recorded as a total of exactly one window without any input; its `last` is nonsense.
export const isFullMark = (info: JsonRecord | undefined, windowTokens: number | undefined): boolean => {
  const total = recordAt(info, 'total_token_usage');
  return countAt(total, 'input_tokens') === 0 && countAt(total, 'total_tokens') === windowTokens;
};

/** In tokens, as Codex counts with it. */
export const windowIn = (from: JsonRecord | undefined): { readonly windowTokens?: number } => {
  const windowTokens = countAt(from, 'model_context_window');
  return windowTokens ? { windowTokens } : {};
};
