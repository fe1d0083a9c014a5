import { percentUsed, type Reading } from './reading.js';

/** How full the window is, in four steps. */
export type Tier = 'safe' | 'warn' | 'auto' | 'hard';

/** `ladder` counts down from the window's end, `percent` is 70/85/95, `handoff` is 70/85 and never types. */
export type Preset = 'ladder' | 'percent' | 'handoff';

/** How the user wants the boundaries. Every field may be left out. */
export interface LadderChoice extends CustomBounds {
  /** `ladder` when absent */
  readonly preset?: Preset;
  /** auto is never above this percentage of the window, unless the user set auto itself */
  readonly maxAutoPercent?: number;
}

/**
 * The boundaries between the tiers, each with the sentence that explains it. In tokens where the window is known, otherwise in percent
 * of whatever percentage there is; a custom bound in tokens stays in tokens.
 */
export interface Ladder extends TierBoundaries {
  readonly preset: Preset;
  /** absent where it is not known */
  readonly windowTokens?: number;
  /** what the window leaves beside the agent's own answer; only where the window is known */
  readonly effective?: ExplainedTokens;
  /** where the agent compacts by itself; only where that and its own window are known */
  readonly native?: ExplainedTokens;
}

/** The tier of a reading; undefined when it does not hold the numbers the ladder asks for. */
export const tierOf = (reading: Reading, ladder: TierBoundaries): Tier | undefined => {
  const reached = (rung: TierBoundary | undefined): boolean | undefined => {
    const used = rung?.unit === 'tokens' ? reading.usedTokens : percentUsed(reading);
    return rung && used !== undefined ? used >= rung.value : undefined;
  };
  if (isOwnHard(ladder) && reached(ladder.hard)) return 'hard';
  if (reached(ladder.auto)) return 'auto';
  const isWarn = reached(ladder.warn);
  if (isWarn) return 'warn';
  // without a window warn can be a percentage of nothing, and auto the user's own in tokens
  return isWarn === false || reached(ladder.auto) === false ? 'safe' : undefined;
};

/** In a small window hard is where auto is: reaching it asks for no more than auto does. The user's own word stands. */
const isOwnHard = ({ auto, hard }: TierBoundaries): boolean =>
  hard.custom || !auto || hard.unit !== auto.unit || hard.value > auto.value;

// The pieces a ladder is made of, and the figures in their sentences.

/** A boundary as the user writes it: `80%` of the window, or `150k` tokens. */
export interface Bound {
  /** 0…100, or tokens */
  readonly value: number;
  readonly unit: 'percent' | 'tokens';
  /** it gives way where the agent would compact first: a word that was not meant for this program alone */
  readonly yields?: true;
}

/** The bounds a user may set; what is absent is the preset's. */
export interface CustomBounds {
  readonly warn?: Bound;
  readonly auto?: Bound;
  readonly hard?: Bound;
}

/** One boundary between two tiers, inclusive: at `value` the higher tier has begun. */
export interface TierBoundary extends Bound {
  /** the user set it, so nothing moves it unless it yields */
  readonly custom: boolean;
  /** the user asked for so many tokens, and it gave way to the agent's own compaction */
  readonly asked?: number;
  /** one sentence of facts and figures: `auto 162,000: 5,000 before claude compacts by itself at 167,000` */
  readonly reason: string;
}

/** `auto` is absent where nothing is ever typed (preset `handoff`). */
export interface TierBoundaries {
  readonly warn: TierBoundary;
  readonly auto?: TierBoundary;
  readonly hard: TierBoundary;
}

export type TierBoundaryName = keyof TierBoundaries;

/** A number of tokens with why it is there. */
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

/** Warn where auto is no longer the one that warn counts from: its sentence says so. */
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

/** Whole-number arithmetic: 0.7 · w in floating point would miss a boundary by one. */
export const percentOfTokens = (tokens: number, percent: number): number =>
  Math.floor((tokens * percent) / 100);

// Where the boundaries are before anything lowers them or the user sets them.

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

export const explainEffectiveTokens = (windowTokens: number): ExplainedTokens => {
  const tokens = effectiveTokens(windowTokens);
  const why = `the window of ${groupDigits(windowTokens)} less ${groupDigits(RESERVED_TOKENS)} kept free for the answer`;
  return { tokens, reason: `effective ${groupDigits(tokens)}: ${why}` };
};

/** The boundaries where no window is known: of whatever percentage there is. */
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
    part(70), // where auto is in a window this small
  );
  return {
    warn: tokenBoundary('warn', warn.tokens, warn.why),
    auto: tokenBoundary('auto', auto.tokens, auto.why),
    hard: tokenBoundary('hard', hard.tokens, hard.why),
  };
};

const higher = (first: LimitTokens, second: LimitTokens): LimitTokens =>
  first.tokens >= second.tokens ? first : second;

// Boundaries the user sets: they replace those of the preset and nothing moves them, except each other.

/** What custom bounds are put into. */
export interface CustomBoundsContext {
  readonly windowTokens?: number;
  /** the latest that still comes before the agent's own compaction */
  readonly latest?: LimitTokens | undefined;
}

/** The rungs with the user's own in their places and in order: warn ≤ auto ≤ hard. */
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
    ...(auto ? { auto } : {}),
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

/** A preset's rung gives way to a custom one; of two custom ones that contradict each other the lower one holds. */
const inOrder = ({ warn, auto, hard }: TierBoundaries): TierBoundaries => {
  const raised = auto && warn.custom && !auto.custom ? atLeast('auto', auto, ['warn', warn]) : auto;
  const top = hard.custom ? hard : atLeast('hard', hard, raised ? ['auto', raised] : ['warn', warn]);
  if (!raised) return { warn: atMost('warn', warn, ['hard', top]), hard: top };
  const middle = atMost('auto', raised, ['hard', top]);
  return { warn: atMost('warn', warn, ['auto', middle]), auto: middle, hard: top };
};

type Named = readonly [TierBoundaryName, TierBoundary];

// A percentage and a number of tokens cannot be put in order while the window is not known.
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

/** As people read them. */
export const thresholdNames: Readonly<Record<Threshold['name'], string>> = {
  effective: 'Effective window',
  warn: 'Warn',
  auto: 'Auto',
  hard: 'Hard',
  native: "Agent's own",
};

/** The reason without the name and the number that it begins with, for a row that shows both already. */
export const shortReason = ({ reason }: Pick<Threshold, 'reason'>): string => reason.replace(/^[^:]*: /, '');

/**
 * All numbers of a ladder: what the window leaves, where that is what the boundaries keep to, the boundaries upwards, and where the agent
 * compacts by itself.
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

// A small window is shared out in percent of the whole, and the user's own boundaries are where they are.
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

/** An agent's own boundaries in tokens, to be shown beside ours and never acted upon. */
export interface OwnLadder {
  readonly effective: number;
  readonly warn: number;
  readonly auto: number;
  readonly hard: number;
}
