// Where the boundaries are before anything lowers them or the user sets them.
import type { Preset } from './ladder.js';
import { grouped, percentOfTokens, percentRung, tokenRung } from './rung.js';
import type { Figure, Rungs } from './rung.js';

// What an agent keeps free for its answer and for the summary, as Claude Code does (facts/claude.md §10).
const RESERVED_TOKENS = 20_000;
const AUTO_MARGIN_TOKENS = 13_000;
const HARD_MARGIN_TOKENS = 3_000;
/** From warn to auto: time to finish a thought. */
export const WARN_MARGIN_TOKENS = 20_000;

const percents = {
  percent: { warn: 70, auto: 85, hard: 95 },
  handoff: { warn: 70, auto: undefined, hard: 85 },
} as const;

/** The window less what is kept free for the agent's own answer, in tokens, never negative. */
export const effectiveTokens = (windowTokens: number): number => Math.max(0, windowTokens - RESERVED_TOKENS);

export const effectiveFigure = (windowTokens: number): Figure => {
  const tokens = effectiveTokens(windowTokens);
  const why = `the window of ${grouped(windowTokens)} less ${grouped(RESERVED_TOKENS)} kept free for the answer`;
  return { tokens, reason: `effective ${grouped(tokens)}: ${why}` };
};

/** The boundaries where no window is known: of whatever percentage there is. */
export const presetPercents = (preset: Preset): Rungs => {
  const { warn, auto, hard } = percents[preset === 'handoff' ? 'handoff' : 'percent'];
  const why = preset === 'ladder' ? 'the window is not known in tokens' : `preset ${preset}`;
  return {
    warn: percentRung('warn', warn, why),
    ...(auto === undefined ? {} : { auto: percentRung('auto', auto, why) }),
    hard: percentRung('hard', hard, why),
  };
};

/** The boundaries in a known window. */
export const presetTokens = (preset: Preset, windowTokens: number): Rungs => {
  if (preset === 'ladder') return ladderTokens(windowTokens);
  const { warn, auto, hard } = percents[preset];
  const why = (percent: number): string =>
    `${percent}% of the window of ${grouped(windowTokens)}, preset ${preset}`;
  const part = (percent: number): number => percentOfTokens(windowTokens, percent);
  return {
    warn: tokenRung('warn', part(warn), why(warn)),
    ...(auto === undefined ? {} : { auto: tokenRung('auto', part(auto), why(auto)) }),
    hard: tokenRung('hard', part(hard), why(hard)),
  };
};

const ladderTokens = (windowTokens: number): Rungs => {
  const effective = effectiveTokens(windowTokens);
  const below = (margin: number): string => `${grouped(margin)} below the effective ${grouped(effective)}`;
  const part = (percent: number) => ({
    tokens: percentOfTokens(windowTokens, percent),
    why: `${percent}% of the window of ${grouped(windowTokens)}`,
  });
  const auto = higher({ tokens: effective - AUTO_MARGIN_TOKENS, why: below(AUTO_MARGIN_TOKENS) }, part(70));
  const warn = higher(
    {
      tokens: auto.tokens - WARN_MARGIN_TOKENS,
      why: `${grouped(WARN_MARGIN_TOKENS)} before auto ${grouped(auto.tokens)}`,
    },
    part(60),
  );
  const hard = higher(
    { tokens: effective - HARD_MARGIN_TOKENS, why: below(HARD_MARGIN_TOKENS) },
    part(70), // where auto is in a window this small
  );
  return {
    warn: tokenRung('warn', warn.tokens, warn.why),
    auto: tokenRung('auto', auto.tokens, auto.why),
    hard: tokenRung('hard', hard.tokens, hard.why),
  };
};

interface Mark {
  readonly tokens: number;
  readonly why: string;
}

const higher = (first: Mark, second: Mark): Mark => (first.tokens >= second.tokens ? first : second);
