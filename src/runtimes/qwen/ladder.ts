// Qwen Code's own three boundaries (facts/qwen.md), to be shown beside ours and never acted upon.

/** In tokens; at `warn` Qwen says so in `/context`, at `auto` it compacts, at `hard` it refuses to send. */
export interface QwenLadder {
  readonly effective: number;
  readonly warn: number;
  readonly auto: number;
  readonly hard: number;
}

const SUMMARY_RESERVE_TOKENS = 20_000;
const AUTO_BUFFER_TOKENS = 13_000;
const WARN_BUFFER_TOKENS = 20_000;
const HARD_BUFFER_TOKENS = 3_000;
/** `context.autoCompactThreshold` unless the user set it */
export const DEFAULT_AUTO_SHARE = 0.85;
/** What it keeps free of a window that is larger. */
export const OWN_FREE_TOKENS = SUMMARY_RESERVE_TOKENS + AUTO_BUFFER_TOKENS;

/** `nativeTokens`: where it compacts by itself, as its settings have it. */
export const qwenLadder = (windowTokens: number, nativeTokens?: number): QwenLadder => {
  const effective = Math.max(0, windowTokens - SUMMARY_RESERVE_TOKENS);
  const shared = windowTokens * DEFAULT_AUTO_SHARE;
  const buffered = windowTokens - OWN_FREE_TOKENS;
  const auto = nativeTokens ?? (buffered > 0 ? Math.min(shared, buffered) : shared);
  return {
    effective,
    warn: Math.max(0, auto - WARN_BUFFER_TOKENS),
    auto,
    hard: Math.min(windowTokens, Math.max(effective - HARD_BUFFER_TOKENS, auto + HARD_BUFFER_TOKENS)),
  };
};
