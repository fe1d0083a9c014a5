// How large Claude's context window is. The session file does not say, so it comes from the model's name.
import type { NativeTrigger } from '../../core/ladder.js';
import type { WindowSource } from '../../core/reading.js';
import type { Env } from '../runtime.js';

const STANDARD_TOKENS = 200_000;
const LARGE_TOKENS = 1_000_000;

// Models sold with the standard window only (2026-11). All others may run with one million tokens, which the
// name in the file does not show: the `[1m]` of the model's setting is not in message.model.
const STANDARD_ONLY = /claude-(?:3-|haiku-4-5|opus-4-[015](?!\d)|opus-4-2025)/;

// Claude keeps at most this much for its answer and compacts 13 000 tokens before that (facts/claude.md §2, §10).
const ANSWER_TOKENS = 20_000;
const COMPACT_MARGIN_TOKENS = 13_000;

export interface Window {
  readonly windowTokens: number;
  readonly windowSource: WindowSource;
}

/** More than this many tokens in use cannot be in a standard window. */
export const provesLarge = (tokens: number): boolean => tokens > STANDARD_TOKENS;

export const windowOf = (model: string, provenLarge: boolean, env: Env): Window => {
  if (provenLarge) return { windowTokens: LARGE_TOKENS, windowSource: 'derived' };
  const certain = env['CLAUDE_CODE_DISABLE_1M_CONTEXT'] === '1' || STANDARD_ONLY.test(model);
  return { windowTokens: STANDARD_TOKENS, windowSource: certain ? 'table' : 'default' };
};

/** Claude's own compaction point with the environment variables that move it; none when it is switched off. */
export const nativeTrigger = (env: Env): NativeTrigger | undefined => {
  if (env['DISABLE_AUTO_COMPACT'] === '1' || env['DISABLE_COMPACT'] === '1') return undefined;
  const answer = Math.min(positive(env['CLAUDE_CODE_MAX_OUTPUT_TOKENS']) ?? ANSWER_TOKENS, ANSWER_TOKENS);
  const percent = positive(env['CLAUDE_AUTOCOMPACT_PCT_OVERRIDE']);
  if (percent === undefined || percent >= 90)
    return { share: 1, reserveTokens: answer + COMPACT_MARGIN_TOKENS };
  return { share: percent / 100, reserveTokens: Math.ceil((answer * percent) / 100) };
};

const positive = (text: string | undefined): number | undefined => {
  const value = Number(text);
  return text !== undefined && Number.isFinite(value) && value > 0 ? value : undefined;
};
