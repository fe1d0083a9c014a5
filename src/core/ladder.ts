import { percentUsed, type Reading } from './reading.js';

/** The four levels of how full the window is. */
export type Tier = 'safe' | 'warn' | 'auto' | 'hard';

/** `ladder` counts down from the end of the window, `percent` is 70/85/95, `handoff` is 70/85 and never types. */
export type Preset = 'ladder' | 'percent' | 'handoff';

/** The user's choice of boundaries. Every field is optional. */
export interface LadderChoice extends CustomBounds {
  /** `ladder` if absent */
  readonly preset?: Preset;
  /** limits in place of `auto` for the models whose names match, by pattern; the first match counts */
  readonly limits?: Readonly<Record<string, Bound>>;
}

/**
 * The boundaries between the tiers, each with a sentence that explains it: in tokens if the window is known, otherwise in percent. A custom
 * boundary in tokens stays in tokens.
 */
export interface Ladder extends TierBoundaries {
  readonly preset: Preset;
  /** absent if unknown */
  readonly windowTokens?: number;
  /** what the window leaves besides the agent's answer; only with a known window */
  readonly effective?: ExplainedTokens;
  /** where the agent compacts by itself; only if that point and its own window are known */
  readonly native?: ExplainedTokens;
}

/** The tier of a reading; undefined if the reading lacks the unit of the ladder. */
export const tierOf = (reading: Reading, ladder: TierBoundaries): Tier | undefined => {
  const reached = (rung: TierBoundary | undefined): boolean | undefined => {
    const used = rung?.unit === 'tokens' ? reading.usedTokens : percentUsed(reading);
    return rung && used !== undefined ? used >= rung.value : undefined;
  };
  if (isOwnHard(ladder) && reached(ladder.hard)) return 'hard';
  if (reached(ladder.auto)) return 'auto';
  const isWarn = reached(ladder.warn);
  if (isWarn) return 'warn';
  // without a window, warn in percent cannot be checked, and auto can be the user's own in tokens
  return isWarn === false || reached(ladder.auto) === false ? 'safe' : undefined;
};

/** In a small window hard equals auto, so reaching it means no more than auto does. A hard set by the user counts. */
const isOwnHard = ({ auto, hard }: TierBoundaries): boolean =>
  hard.custom || !auto || hard.unit !== auto.unit || hard.value > auto.value;

// Elements of a ladder and the numbers in their sentences.

/** A boundary as the user writes it: `80%` of the window, or `150k` tokens. */
export interface Bound {
  /** 0…100, or tokens */
  readonly value: number;
  readonly unit: 'percent' | 'tokens';
  /** it may be lowered if the agent would compact first, because it was not set for ctxwrap alone */
  readonly yields?: true;
}

/** Boundaries set by the user; absent ones come from the preset. */
export interface CustomBounds {
  readonly warn?: Bound;
  /** a limit: where the window or the agent does not let it be reached, the preset's auto holds */
  readonly auto?: Bound;
  readonly hard?: Bound;
}

/** A boundary between two tiers: at `value` the higher tier begins. */
export interface TierBoundary extends Bound {
  /** the user set it */
  readonly custom: boolean;
  /** the user's limit, in the same unit, where it cannot be reached and this boundary holds in its place */
  readonly asked?: number;
  /** a sentence of facts and numbers: `auto 162,000: 5,000 before claude compacts by itself at 167,000` */
  readonly reason: string;
}

/** `auto` is absent if nothing is ever typed (preset `handoff`). */
export interface TierBoundaries {
  readonly warn: TierBoundary;
  readonly auto?: TierBoundary;
  readonly hard: TierBoundary;
}

export type TierBoundaryName = keyof TierBoundaries;

/** A number of tokens with the reason for it. */
export interface LimitTokens {
  readonly tokens: number;
  readonly why: string;
}

/** A number of tokens with the sentence that explains it. */
export interface ExplainedTokens {
  readonly tokens: number;
  readonly reason: string;
}

export const tokenBoundary = (name: TierBoundaryName, tokens: number, why: string): TierBoundary => ({
  value: tokens,
  unit: 'tokens',
  custom: false,
  reason: `${name} ${groupDigits(tokens)}: ${why}`,
});

export const percentBoundary = (name: TierBoundaryName, percent: number, why: string): TierBoundary => ({
  value: percent,
  unit: 'percent',
  custom: false,
  reason: `${name} ${percent}%: ${why}`,
});

/** Adapts warn's sentence if auto was moved away from the value that warn is calculated from. */
export const adjustWarn = (
  warn: TierBoundary,
  usual: TierBoundary | undefined,
  auto: TierBoundary | undefined,
): TierBoundary =>
  usual?.value === auto?.value
    ? warn
    : { ...warn, reason: warn.reason.replace('before auto', 'before the usual auto') };

/** 162000 as `162,000`, in every locale; rounded. */
export const groupDigits = (tokens: number): string =>
  String(Math.round(tokens)).replace(/\B(?=(?:\d{3})+$)/g, ',');

/** Integer arithmetic: 0.7 · w in floating point could miss a boundary by one. */
export const percentOfTokens = (tokens: number, percent: number): number =>
  Math.floor((tokens * percent) / 100);

// The presets: boundaries before anything lowers them and before the user's own are applied.

// Tokens that an agent reserves for its answer and for the summary, as Claude Code does (docs/facts/claude.md#windows-and-reserves).
const RESERVED_TOKENS = 20_000;
const AUTO_MARGIN_TOKENS = 13_000;
const HARD_MARGIN_TOKENS = 3_000;
/** Tokens from warn to auto: time to finish a thought. */
export const WARN_MARGIN_TOKENS = 20_000;

const percents = {
  percent: { warn: 70, auto: 85, hard: 95 },
  handoff: { warn: 70, auto: undefined, hard: 85 },
} as const;

/** The window without the tokens reserved for the agent's answer; never negative. */
export const effectiveTokens = (windowTokens: number): number => Math.max(0, windowTokens - RESERVED_TOKENS);

export const explainEffectiveTokens = (windowTokens: number): ExplainedTokens => {
  const tokens = effectiveTokens(windowTokens);
  const why = `the window of ${groupDigits(windowTokens)} less ${groupDigits(RESERVED_TOKENS)} kept free for the answer`;
  return { tokens, reason: `effective ${groupDigits(tokens)}: ${why}` };
};

/** The boundaries for an unknown window, in percent. */
export const presetPercentBoundaries = (preset: Preset): TierBoundaries => {
  const { warn, auto, hard } = percents[preset === 'handoff' ? 'handoff' : 'percent'];
  const why = preset === 'ladder' ? 'the window is not known in tokens' : `preset ${preset}`;
  return {
    warn: percentBoundary('warn', warn, why),
    ...(auto === undefined ? {} : { auto: percentBoundary('auto', auto, why) }),
    hard: percentBoundary('hard', hard, why),
  };
};

/** The boundaries in a known window. */
export const presetTokenBoundaries = (preset: Preset, windowTokens: number): TierBoundaries => {
  if (preset === 'ladder') return ladderTokens(windowTokens);
  const { warn, auto, hard } = percents[preset];
  const why = (percent: number): string =>
    `${percent}% of the window of ${groupDigits(windowTokens)}, preset ${preset}`;
  const part = (percent: number): number => percentOfTokens(windowTokens, percent);
  return {
    warn: tokenBoundary('warn', part(warn), why(warn)),
    ...(auto === undefined ? {} : { auto: tokenBoundary('auto', part(auto), why(auto)) }),
    hard: tokenBoundary('hard', part(hard), why(hard)),
  };
};

const ladderTokens = (windowTokens: number): TierBoundaries => {
  const effective = effectiveTokens(windowTokens);
  const below = (margin: number): string =>
    `${groupDigits(margin)} less than the effective window of ${groupDigits(effective)}`;
  const part = (percent: number) => ({
    tokens: percentOfTokens(windowTokens, percent),
    why: `${percent}% of the window of ${groupDigits(windowTokens)}`,
  });
  const auto = higher({ tokens: effective - AUTO_MARGIN_TOKENS, why: below(AUTO_MARGIN_TOKENS) }, part(70));
  const warn = higher(
    {
      tokens: auto.tokens - WARN_MARGIN_TOKENS,
      why: `${groupDigits(WARN_MARGIN_TOKENS)} before auto ${groupDigits(auto.tokens)}`,
    },
    part(60),
  );
  const hard = higher(
    { tokens: effective - HARD_MARGIN_TOKENS, why: below(HARD_MARGIN_TOKENS) },
    part(70), // auto's share in a window this small
  );
  return {
    warn: tokenBoundary('warn', warn.tokens, warn.why),
    auto: tokenBoundary('auto', auto.tokens, auto.why),
    hard: tokenBoundary('hard', hard.tokens, hard.why),
  };
};

const higher = (first: LimitTokens, second: LimitTokens): LimitTokens =>
  first.tokens >= second.tokens ? first : second;

/** One number of a ladder, with the sentence that explains it. */
export interface Threshold {
  readonly name: 'effective' | 'warn' | 'auto' | 'hard' | 'native';
  /** tokens, or 0…100 of the window */
  readonly value: number;
  readonly unit: 'tokens' | 'percent';
  readonly reason: string;
}

/** The names for users. */
export const thresholdNames: Readonly<Record<Threshold['name'], string>> = {
  effective: 'Effective window',
  warn: 'Warn',
  auto: 'Auto',
  hard: 'Hard',
  native: "Agent's own",
};

/** The reason without the leading name and number, for a row that already shows both. */
export const shortReason = ({ reason }: Pick<Threshold, 'reason'>): string => reason.replace(/^[^:]*: /, '');

/**
 * All numbers of a ladder: the effective window, also where the tiers of a small window lie beyond it, the boundaries in ascending order, and
 * the agent's own compaction point.
 */
export const listThresholds = ({ effective, warn, auto, hard, native }: Ladder): readonly Threshold[] => [
  ...(effective && effective.tokens > 0 ? [inTokens('effective', effective)] : []),
  { name: 'warn', ...numberOf(warn) },
  ...(auto ? [{ name: 'auto', ...numberOf(auto) } as const] : []),
  { name: 'hard', ...numberOf(hard) },
  ...(native ? [inTokens('native', native)] : []),
];

const numberOf = ({ value, unit, reason }: TierBoundary): Omit<Threshold, 'name'> => ({
  value,
  unit,
  reason,
});

const inTokens = (name: Threshold['name'], { tokens, reason }: ExplainedTokens): Threshold => ({
  name,
  value: tokens,
  unit: 'tokens',
  reason,
});

/** The agent's own boundaries in tokens, which are displayed but never acted on. */
export interface OwnLadder {
  readonly effective: number;
  readonly warn: number;
  readonly auto: number;
  readonly hard: number;
}
