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
const DEFAULT_AUTO_SHARE = 0.85;

export const qwenLadder = (windowTokens: number, autoShare = DEFAULT_AUTO_SHARE): QwenLadder => {
  const effective = windowTokens - SUMMARY_RESERVE_TOKENS;
  const shared = windowTokens * autoShare;
  const buffered = effective - AUTO_BUFFER_TOKENS;
  const auto = buffered > 0 ? Math.min(shared, buffered) : shared;
  return {
    effective,
    warn: Math.max(0, auto - WARN_BUFFER_TOKENS),
    auto,
    hard: Math.min(windowTokens, Math.max(effective - HARD_BUFFER_TOKENS, auto + HARD_BUFFER_TOKENS)),
  };
};
