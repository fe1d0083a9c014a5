import {
  WARN_MARGIN_TOKENS,
  adjustWarn,
  groupDigits,
  percentOfTokens,
  percentBoundary,
  tokenBoundary,
  type ExplainedTokens,
  type LimitTokens,
  type TierBoundaries,
  applyCustomBounds,
  explainEffectiveTokens,
  presetPercentBoundaries,
  presetTokenBoundaries,
  type Ladder,
  type LadderChoice,
} from './ladder.js';

// What lowers the boundaries: the agent would compact before us, or the user wants to be earlier.

// We act this much before the agent would, so that it never compacts in the middle of work; in a small window less, or there would be
// nothing left of it.
const LEAD_TOKENS = 5_000;
const LEAD_PERCENT = 2;
const MOST_LEAD_PERCENT = 5; // unless that is less than `LEAD_PERCENT` in tokens
const WARN_MARGIN_PERCENT = 10;
const LEAST_AUTO_PERCENT = 10; // a compaction leaves about this much: below it one would follow the other

/** Lowers auto and warn so that we act before the agent does. `hard` stays: it says how close the end is. */
const beforeNative = (rungs: TierBoundaries, trigger: ExplainedTokens, where: Where): TierBoundaries => {
  const { auto } = rungs;
  const latest = latestBefore(trigger, where);
  if (!auto || latest === undefined || latest.tokens >= auto.value) return rungs;
  return lowered(rungs, latest, where.windowTokens);
};

/** The latest that auto may be to come before the agent; undefined where that would be too early to be of use. */
const latestBefore = (trigger: ExplainedTokens, { agent, windowTokens }: Where): LimitTokens | undefined => {
  const least = percentOfTokens(windowTokens, LEAST_AUTO_PERCENT);
  if (trigger.tokens <= least) return undefined;
  const tokens = Math.max(least, trigger.tokens - leadIn(windowTokens));
  const why = `${groupDigits(trigger.tokens - tokens)} before ${agent} compacts by itself at ${groupDigits(trigger.tokens)}`;
  return { tokens, why };
};

const leadIn = (windowTokens: number): number =>
  Math.max(
    Math.ceil((windowTokens * LEAD_PERCENT) / 100),
    Math.min(LEAD_TOKENS, percentOfTokens(windowTokens, MOST_LEAD_PERCENT)),
  );

/** The same where only a percentage is known: what the agent keeps free in tokens cannot be told then. */
const beforeNativePercent = (rungs: TierBoundaries, native: TriggerRule, agent: string): TierBoundaries => {
  const { auto } = rungs;
  const own = Math.round(native.share * 100);
  const percent = own - LEAD_PERCENT;
  if (!auto || percent < LEAST_AUTO_PERCENT || percent >= auto.value) return rungs;
  const { reserveTokens, leastFreeTokens, mostTokens, mostWindowTokens } = native;
  const isLess = reserveTokens > 0 || (leastFreeTokens ?? mostTokens ?? mostWindowTokens) !== undefined;
  const at = isLess ? `${own}% at the latest` : `${own}%`;
  const why = `${LEAD_PERCENT} points before ${agent} compacts by itself at ${at}`;
  const below = Math.max(0, percent - WARN_MARGIN_PERCENT);
  return loweredPercent(rungs, [percent, why], [below, `${WARN_MARGIN_PERCENT} points before auto`]);
};

type PercentMark = readonly [percent: number, why: string];

const loweredPercent = (
  { warn, hard }: TierBoundaries,
  auto: PercentMark,
  below: PercentMark,
): TierBoundaries => ({
  warn: below[0] >= warn.value ? warn : percentBoundary('warn', ...below),
  auto: percentBoundary('auto', ...auto),
  hard,
});

interface Where {
  readonly agent: string;
  /** as the agent counts it */
  readonly windowTokens: number;
}

/** The user's own cap on auto, in percent of the window. */
const capped = (
  rungs: TierBoundaries,
  percent: number | undefined,
  windowTokens: number | undefined,
): TierBoundaries => {
  const { auto } = rungs;
  if (!auto || percent === undefined) return rungs;
  if (windowTokens !== undefined) {
    const tokens = percentOfTokens(windowTokens, percent);
    const why = `${percent}% of the window of ${groupDigits(windowTokens)}, the most that auto may be`;
    return tokens >= auto.value ? rungs : lowered(rungs, { tokens, why }, windowTokens);
  }
  if (percent >= auto.value) return rungs;
  const margin = Math.min(WARN_MARGIN_PERCENT, percent / 2);
  const why = 'the most that auto may be';
  return loweredPercent(rungs, [percent, why], [percent - margin, `${margin}% before auto`]);
};

const lowered = (
  { warn, auto: usual, hard }: TierBoundaries,
  auto: LimitTokens,
  windowTokens: number,
): TierBoundaries => {
  const margin = Math.min(
    WARN_MARGIN_TOKENS,
    Math.ceil((windowTokens * WARN_MARGIN_PERCENT) / 100),
    Math.floor(auto.tokens / 2), // a warning from the first token on says nothing
  );
  const tokens = auto.tokens - margin;
  const why = `${groupDigits(margin)} before auto ${groupDigits(auto.tokens)}`;
  const rung = tokenBoundary('auto', auto.tokens, auto.why);
  return {
    warn: tokens < warn.value ? tokenBoundary('warn', tokens, why) : adjustWarn(warn, usual, rung),
    auto: rung,
    hard,
  };
};

// Where an agent compacts by itself, as data, so that the core knows no agent.

/** `share` of the agent's own window, less `reserveTokens`. */
export interface TriggerRule {
  /** 0…1 of the window */
  readonly share: number;
  readonly reserveTokens: number;
  /** it also compacts when no more than this much of the window is left; a window that is not larger has no such point */
  readonly leastFreeTokens?: number;
  /** it counts a larger window as one of this size */
  readonly mostWindowTokens?: number;
  /** it does not wait for more tokens than this, however large the window is */
  readonly mostTokens?: number;
}

export interface NativeTrigger extends TriggerRule {
  /** the first that fits counts */
  readonly exceptions?: readonly TriggerException[];
}

/** Models that the agent treats in another way. */
export interface TriggerException {
  /** a pattern that fits the model's name as readings have it */
  readonly model: string;
  /** only where the window is larger */
  readonly aboveTokens?: number;
  /** absent where it never begins by itself */
  readonly rule?: TriggerRule;
}

/** The rule for a model in a window of the agent's own; undefined where it does not compact by itself. A model nobody has named is no exception. */
export const triggerRuleFor = (
  { exceptions = [], ...usual }: NativeTrigger,
  model: string | undefined,
  windowTokens: number,
): TriggerRule | undefined => {
  const found =
    model === undefined
      ? undefined
      : exceptions.find(
          (each) => new RegExp(each.model).test(model) && windowTokens > (each.aboveTokens ?? 0),
        );
  return found ? found.rule : usual;
};

/** The window as the agent counts it, in tokens. */
const countedTokens = (windowTokens: number, { mostWindowTokens = Infinity }: TriggerRule): number =>
  Math.min(windowTokens, mostWindowTokens);

/** The tokens at which the agent compacts by itself; undefined where the window is smaller than what it keeps free. */
export const nativeTriggerTokens = (windowTokens: number, rule: TriggerRule): number | undefined => {
  const { mostTokens = Infinity } = rule;
  const tokens = Math.min(sharedTokens(windowTokens, rule), freeTokens(windowTokens, rule), mostTokens);
  return tokens > 0 ? tokens : undefined;
};

const sharedTokens = (windowTokens: number, rule: TriggerRule): number =>
  Math.floor(countedTokens(windowTokens, rule) * rule.share) - rule.reserveTokens;

const freeTokens = (windowTokens: number, rule: TriggerRule): number => {
  const { leastFreeTokens } = rule;
  const counted = countedTokens(windowTokens, rule);
  return leastFreeTokens === undefined || counted <= leastFreeTokens ? Infinity : counted - leastFreeTokens;
};

/** The same with the sentence that explains it. */
const nativeFigure = (
  agent: string,
  windowTokens: number,
  rule: TriggerRule,
): ExplainedTokens | undefined => {
  const tokens = nativeTriggerTokens(windowTokens, rule);
  if (tokens === undefined) return undefined;
  return {
    tokens,
    reason: `native ${groupDigits(tokens)}: ${agent} compacts by itself at ${placeOf(windowTokens, rule)}`,
  };
};

const placeOf = (windowTokens: number, rule: TriggerRule): string => {
  const [shared, free] = [sharedTokens(windowTokens, rule), freeTokens(windowTokens, rule)];
  if (rule.mostTokens !== undefined && rule.mostTokens <= Math.min(shared, free))
    return 'the number of tokens that its settings name';
  const counted = countedTokens(windowTokens, rule);
  const name = counted < windowTokens ? 'what it takes for its window' : 'the window';
  const whole = `${name}${counted < windowTokens ? ',' : ' of'} ${groupDigits(counted)}`;
  if (free < shared) return `${whole} less ${groupDigits(rule.leastFreeTokens ?? 0)}`;
  const share = rule.share === 1 ? whole : `${percentText(rule.share)} of ${whole}`;
  return rule.reserveTokens > 0 ? `${share} less ${groupDigits(rule.reserveTokens)}` : share;
};

const percentText = (share: number): string => `${Math.round(share * 1000) / 10}%`;

export interface LadderRequest {
  /** the agent's name, for the sentences */
  readonly agent: string;
  readonly windowTokens?: number | undefined;
  readonly native?: NativeTrigger | undefined;
  /** the one that runs, as readings name it */
  readonly model?: string | undefined;
  /**
   * the window is the user's word: the agent goes on compacting where its own has it, as far as that one is known. Where both are the same
   * the user has overridden nothing
   */
  readonly byUser?: { readonly ownTokens: number | undefined } | undefined;
  readonly choice?: LadderChoice | undefined;
}

const LEAST_WINDOW_TOKENS = 1_000; // a smaller number is no window but a slip

/** The ladder for a window, or for percentages when the window is not known. */
export const buildLadder = (request: LadderRequest): Ladder => {
  const { agent, windowTokens, native, model, byUser, choice = {} } = request;
  const preset = choice.preset ?? 'ladder';
  if (windowTokens === undefined || windowTokens < LEAST_WINDOW_TOKENS) {
    const rule = native && triggerRuleFor(native, model, Infinity);
    const plain = presetPercentBoundaries(preset);
    const early = rule ? beforeNativePercent(plain, rule, agent) : plain;
    const rungs = capped(early, choice.maxAutoPercent, undefined);
    return { preset, ...applyCustomBounds(rungs, choice, {}) };
  }
  const own = nativePoint(request);
  const plain = presetTokenBoundaries(preset, windowTokens);
  const isOverride = byUser !== undefined && byUser.ownTokens !== windowTokens;
  const early = own && !isOverride ? beforeNative(plain, own.native, own.where) : plain;
  const rungs = capped(early, choice.maxAutoPercent, windowTokens);
  return {
    preset,
    windowTokens,
    effective: explainEffectiveTokens(windowTokens),
    ...(own ? { native: own.native } : {}),
    ...applyCustomBounds(rungs, choice, { windowTokens, latest: own && latestBefore(own.native, own.where) }),
  };
};

/** Where the agent compacts by itself, and the window as it counts it. */
const nativePoint = ({ agent, windowTokens, native, model, byUser }: LadderRequest) => {
  const ownTokens = byUser ? byUser.ownTokens : windowTokens;
  const rule = native && ownTokens !== undefined ? triggerRuleFor(native, model, ownTokens) : undefined;
  if (!rule || ownTokens === undefined) return undefined;
  const figure = nativeFigure(agent, ownTokens, rule);
  return figure && { native: figure, where: { agent: agent, windowTokens: countedTokens(ownTokens, rule) } };
};

/**
 * What the user should know of auto and of where the agent compacts by itself: that auto gave way, or that the agent comes first. One
 * line; undefined where auto is where it was wanted, and comes first.
 */
export const nativeTriggerNotice = (
  { auto, native }: Pick<Ladder, 'auto' | 'native'>,
  agent: string,
): string | undefined => {
  if (!auto || !native || auto.unit !== 'tokens') return undefined;
  const own = `${agent} compacts by itself at ${groupDigits(native.tokens)}`;
  if (auto.asked !== undefined)
    return `auto ${groupDigits(auto.value)}, not ${groupDigits(auto.asked)}: ${own}`;
  if (auto.value < native.tokens) return undefined;
  return auto.value === native.tokens
    ? `${own}, where auto is`
    : `${own}, before auto at ${groupDigits(auto.value)}`;
};
