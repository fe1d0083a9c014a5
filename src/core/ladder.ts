import { percentUsed, type Reading } from './reading.js';
import { present } from './present.js';

/** The four levels of how full the window is. */
export type Tier = 'safe' | 'warn' | 'auto' | 'hard';

/** `ladder` counts down from the end of the window, `percent` is 70/85/95, `handoff` is 70/85 and never types. */
export type Preset = 'ladder' | 'percent' | 'handoff';

/** The user's choice of boundaries. Every field is optional. */
export interface LadderChoice extends CustomBounds {
  /** `ladder` if absent */
  readonly preset?: Preset;
  /** the highest percentage of the window for auto, unless the user set auto itself */
  readonly maxAutoPercent?: number;
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
  readonly auto?: Bound;
  readonly hard?: Bound;
}

/** A boundary between two tiers: at `value` the higher tier begins. */
export interface TierBoundary extends Bound {
  /** the user set it, so nothing moves it unless it yields */
  readonly custom: boolean;
  /** the tokens that the user set, if the boundary was lowered to precede the agent's own compaction */
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

// Tokens that an agent reserves for its answer and for the summary, as Claude Code does (facts/claude.md §10).
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
    `${groupDigits(margin)} below the effective ${groupDigits(effective)}`;
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

// The user's boundaries: they replace those of the preset. Only another boundary of the user can move them.

/** What custom boundaries depend on. */
export interface CustomBoundsContext {
  readonly windowTokens?: number;
  /** the highest value that still precedes the agent's own compaction */
  readonly latest?: LimitTokens | undefined;
}

/** Replaces preset boundaries by the user's, and orders them: warn ≤ auto ≤ hard. */
export const applyCustomBounds = (
  rungs: TierBoundaries,
  bounds: CustomBounds,
  { windowTokens, latest }: CustomBoundsContext,
): TierBoundaries => {
  const placed = (name: TierBoundaryName, preset: TierBoundary | undefined): TierBoundary | undefined => {
    const bound = bounds[name];
    if (!bound) return preset;
    const rung = customRung(name, bound, windowTokens);
    return bound.yields ? yielded(name, rung, latest) : rung;
  };
  const auto = placed('auto', rungs.auto);
  const ordered = inOrder({
    warn: placed('warn', rungs.warn) ?? rungs.warn,
    ...present({ auto }),
    hard: placed('hard', rungs.hard) ?? rungs.hard,
  });
  return { ...ordered, warn: adjustWarn(ordered.warn, rungs.auto, ordered.auto) };
};

const customRung = (
  name: TierBoundaryName,
  { value, unit }: Bound,
  windowTokens: number | undefined,
): TierBoundary => {
  if (unit === 'percent' && windowTokens !== undefined) {
    const tokens = percentOfTokens(windowTokens, value);
    const why = `custom, ${value}% of the window of ${groupDigits(windowTokens)}`;
    return { value: tokens, unit: 'tokens', custom: true, reason: `${name} ${groupDigits(tokens)}: ${why}` };
  }
  if (unit === 'percent') return { value, unit, custom: true, reason: `${name} ${value}%: custom` };
  const beyond = windowTokens !== undefined && value > windowTokens;
  const note = beyond ? `, more than the window of ${groupDigits(windowTokens)}` : '';
  return { value, unit, custom: true, reason: `${name} ${groupDigits(value)}: custom${note}` };
};

const yielded = (
  name: TierBoundaryName,
  rung: TierBoundary,
  latest: LimitTokens | undefined,
): TierBoundary => {
  if (!latest || rung.unit !== 'tokens' || rung.value <= latest.tokens) return rung;
  const { tokens, why } = latest;
  return {
    ...rung,
    value: tokens,
    asked: rung.value,
    reason: `${name} ${groupDigits(tokens)}: ${why}; you asked for ${groupDigits(rung.value)}`,
  };
};

/** A preset boundary yields to a custom one; of two contradicting custom ones the lower one counts. */
const inOrder = ({ warn, auto, hard }: TierBoundaries): TierBoundaries => {
  const raised = auto && warn.custom && !auto.custom ? atLeast('auto', auto, ['warn', warn]) : auto;
  const top = hard.custom ? hard : atLeast('hard', hard, raised ? ['auto', raised] : ['warn', warn]);
  if (!raised) return { warn: atMost('warn', warn, ['hard', top]), hard: top };
  const middle = atMost('auto', raised, ['hard', top]);
  return { warn: atMost('warn', warn, ['auto', middle]), auto: middle, hard: top };
};

type Named = readonly [TierBoundaryName, TierBoundary];

// A percentage and a number of tokens cannot be compared while the window is unknown.
const atMost = (name: TierBoundaryName, rung: TierBoundary, [otherName, other]: Named): TierBoundary =>
  rung.unit !== other.unit || rung.value <= other.value
    ? rung
    : moved(name, rung, other, `lowered to ${otherName}`);

const atLeast = (name: TierBoundaryName, rung: TierBoundary, [otherName, other]: Named): TierBoundary =>
  rung.unit !== other.unit || rung.value >= other.value
    ? rung
    : moved(name, rung, other, `raised to ${otherName}`);

const moved = (name: TierBoundaryName, rung: TierBoundary, to: TierBoundary, what: string): TierBoundary => {
  const text = (value: number): string => (rung.unit === 'percent' ? `${value}%` : groupDigits(value));
  const was = rung.custom ? `custom ${text(rung.value)}` : text(rung.value);
  return { ...rung, value: to.value, reason: `${name} ${text(to.value)}: ${was} ${what}` };
};

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
 * All numbers of a ladder in ascending order: the effective window if the boundaries depend on it, the boundaries, and the agent's own
 * compaction point.
 */
export const listThresholds = ({ effective, warn, auto, hard, native }: Ladder): readonly Threshold[] => [
  ...(effective && [warn, auto, hard].every((rung) => !rung || keepsTo(effective, rung))
    ? [inTokens('effective', effective)]
    : []),
  { name: 'warn', ...numberOf(warn) },
  ...(auto ? [{ name: 'auto', ...numberOf(auto) } as const] : []),
  { name: 'hard', ...numberOf(hard) },
  ...(native ? [inTokens('native', native)] : []),
];

// In a small window the boundaries are percentages of the whole, and the user's own are where the user set them.
const keepsTo = ({ tokens }: ExplainedTokens, { custom, unit, value }: TierBoundary): boolean =>
  tokens > 0 && (custom || (unit === 'tokens' && value <= tokens));

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
