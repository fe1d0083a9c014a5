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
  explainEffectiveTokens,
  presetPercentBoundaries,
  presetTokenBoundaries,
  type Ladder,
  type LadderChoice,
  type Preset,
} from './ladder.js';
import { applyCustomBounds } from './custom-bounds.js';
import { present } from './present.js';

// Builds a ladder: lowers the preset's boundaries so that ctxwrap compacts before the agent does, or earlier if the user wants.

// ctxwrap acts this much before the agent would, so that the agent never compacts in the middle of work. In a small window it is less, or
// nothing would remain of it.
const LEAD_TOKENS = 5_000;
const LEAD_PERCENT = 2;
const MOST_LEAD_PERCENT = 5; // of the window, if that is fewer tokens than `LEAD_TOKENS`
const WARN_MARGIN_PERCENT = 10;
const LEAST_AUTO_PERCENT = 10; // a compaction leaves about this much: with a lower boundary compactions would follow one another

/** Lowers auto and warn so that ctxwrap acts before the agent. `hard` stays: it marks the end of the window. */
const beforeNative = (boundaries: TierBoundaries, trigger: ExplainedTokens, where: Where): TierBoundaries => {
  const { auto } = boundaries;
  const latest = latestBefore(trigger, where);
  if (!auto || latest === undefined || latest.tokens >= auto.value) return boundaries;
  return lowered(boundaries, latest, where.windowTokens);
};

/** The highest auto that precedes the agent's compaction; undefined if that would be too low to be useful. */
const latestBefore = (trigger: ExplainedTokens, { agent, windowTokens }: Where): LimitTokens | undefined => {
  const least = percentOfTokens(windowTokens, LEAST_AUTO_PERCENT);
  if (trigger.tokens <= least) return undefined;
  const tokens = Math.max(least, trigger.tokens - leadIn(windowTokens));
  const why = `${groupDigits(trigger.tokens - tokens)} before ${agent} compacts on its own at ${groupDigits(trigger.tokens)}`;
  return { tokens, why };
};

const leadIn = (windowTokens: number): number =>
  Math.max(
    Math.ceil((windowTokens * LEAD_PERCENT) / 100),
    Math.min(LEAD_TOKENS, percentOfTokens(windowTokens, MOST_LEAD_PERCENT)),
  );

/** As `beforeNative`, if only a percentage is known: then the agent's reserve in tokens cannot be converted. */
const beforeNativePercent = (
  boundaries: TierBoundaries,
  native: TriggerRule,
  agent: string,
): TierBoundaries => {
  const { auto } = boundaries;
  const own = Math.round(native.share * 100);
  const percent = own - LEAD_PERCENT;
  if (!auto || percent < LEAST_AUTO_PERCENT || percent >= auto.value) return boundaries;
  const { reserveTokens, leastFreeTokens, mostTokens, mostWindowTokens } = native;
  const isLess = reserveTokens > 0 || (leastFreeTokens ?? mostTokens ?? mostWindowTokens) !== undefined;
  const at = isLess ? `${own}% at the latest` : `${own}%`;
  const why = `${LEAD_PERCENT} points before ${agent} compacts on its own at ${at}`;
  const below = Math.max(0, percent - WARN_MARGIN_PERCENT);
  return loweredPercent(boundaries, [percent, why], [below, `${WARN_MARGIN_PERCENT} points before auto`]);
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

const lowered = (
  { warn, auto: usual, hard }: TierBoundaries,
  auto: LimitTokens,
  windowTokens: number,
): TierBoundaries => {
  const margin = Math.min(
    WARN_MARGIN_TOKENS,
    Math.ceil((windowTokens * WARN_MARGIN_PERCENT) / 100),
    Math.floor(auto.tokens / 2), // a warning from the first token would mean nothing
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

// The agent's own compaction point, as data, so that the core does not depend on any agent.

/** `share` of the agent's own window minus `reserveTokens`. */
export interface TriggerRule {
  /** 0…1 of the window */
  readonly share: number;
  readonly reserveTokens: number;
  /** it also compacts when no more than this is left of the window; a smaller window has no such point */
  readonly leastFreeTokens?: number;
  /** it treats a larger window as one of this size */
  readonly mostWindowTokens?: number;
  /** it compacts at this number of tokens at the latest, however large the window is */
  readonly mostTokens?: number;
}

export interface NativeTrigger extends TriggerRule {
  /** the first match counts */
  readonly exceptions?: readonly TriggerException[];
}

/** A rule for models that the agent treats differently. */
export interface TriggerException {
  /** a regular expression for the model's name in readings */
  readonly model: string;
  /** only in larger windows */
  readonly aboveTokens?: number;
  /** absent if the agent does not compact by itself with this model */
  readonly rule?: TriggerRule;
}

/** The rule for a model in a window of the agent; undefined if the agent does not compact by itself. An unknown model is no exception. */
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

/** The tokens at which the agent compacts by itself; undefined if the window is smaller than the agent's reserve. */
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

/** As `nativeTriggerTokens`, with the sentence that explains the number. */
const nativeFigure = (
  agent: string,
  windowTokens: number,
  rule: TriggerRule,
): ExplainedTokens | undefined => {
  const tokens = nativeTriggerTokens(windowTokens, rule);
  if (tokens === undefined) return undefined;
  return {
    tokens,
    reason: `native ${groupDigits(tokens)}: ${agent} compacts on its own ${placeOf(windowTokens, rule)}`,
  };
};

const placeOf = (windowTokens: number, rule: TriggerRule): string => {
  const [shared, free] = [sharedTokens(windowTokens, rule), freeTokens(windowTokens, rule)];
  if (rule.mostTokens !== undefined && rule.mostTokens <= Math.min(shared, free))
    return 'at the number of tokens that its settings name';
  const counted = countedTokens(windowTokens, rule);
  const name = counted < windowTokens ? 'what it takes for its window' : 'the window';
  const whole = `${name}${counted < windowTokens ? ',' : ' of'} ${groupDigits(counted)}`;
  if (free < shared) return `${groupDigits(rule.leastFreeTokens ?? 0)} below ${whole}`;
  const share = rule.share === 1 ? whole : `${percentText(rule.share)} of ${whole}`;
  return rule.reserveTokens > 0 ? `${groupDigits(rule.reserveTokens)} below ${share}` : `at ${share}`;
};

const percentText = (share: number): string => `${Math.round(share * 1000) / 10}%`;

export interface LadderRequest {
  /** the agent's name for the sentences */
  readonly agent: string;
  readonly windowTokens?: number | undefined;
  readonly native?: NativeTrigger | undefined;
  /** the current model, as named in readings */
  readonly model?: string | undefined;
  /**
   * the window was set by the user: the agent still compacts at the point of its own window, if that is known. If both are equal, the user
   * has changed nothing
   */
  readonly byUser?: { readonly ownTokens: number | undefined } | undefined;
  readonly choice?: LadderChoice | undefined;
  /** false for a number that is only a percentage, which cannot be compared with tokens */
  readonly isCounted?: boolean;
}

const LEAST_WINDOW_TOKENS = 1_000; // a smaller number must be a mistake

/** Builds the ladder for a window, or in percent if the window is unknown. */
export const buildLadder = (request: LadderRequest): Ladder => {
  const { windowTokens, choice = {} } = request;
  const preset = choice.preset ?? 'ladder';
  return windowTokens === undefined || windowTokens < LEAST_WINDOW_TOKENS
    ? percentLadder(request, preset)
    : tokenLadder({ ...request, windowTokens }, preset);
};

const percentLadder = (
  { agent, native, model, choice = {}, isCounted = true }: LadderRequest,
  preset: Preset,
): Ladder => {
  const rule = native && triggerRuleFor(native, model, Infinity);
  const plain = presetPercentBoundaries(preset);
  const usual = rule ? beforeNativePercent(plain, rule, agent) : plain;
  const own = rule && ({ value: Math.round(rule.share * 100), unit: 'percent', agent } as const);
  return { preset, ...applyCustomBounds(usual, choice, { model, isCounted, ...present({ own }) }) };
};

const tokenLadder = (request: LadderRequest & { readonly windowTokens: number }, preset: Preset): Ladder => {
  const { agent, windowTokens, model, byUser, choice = {} } = request;
  const point = nativePoint(request);
  const plain = presetTokenBoundaries(preset, windowTokens);
  const isOverride = byUser !== undefined && byUser.ownTokens !== windowTokens;
  const usual = point && !isOverride ? beforeNative(plain, point.native, point.where) : plain;
  const own =
    point &&
    ({
      value: point.native.tokens,
      unit: 'tokens',
      agent,
      ...present({ latest: latestBefore(point.native, point.where)?.tokens }),
    } as const);
  return {
    preset,
    windowTokens,
    effective: explainEffectiveTokens(windowTokens),
    ...present({ native: point?.native }),
    ...applyCustomBounds(usual, choice, {
      windowTokens,
      model,
      isOverride,
      isCounted: true,
      ...present({ own }),
    }),
  };
};

/** The agent's own compaction point, and its window as the agent counts it. */
const nativePoint = ({ agent, windowTokens, native, model, byUser }: LadderRequest) => {
  const ownTokens = byUser ? byUser.ownTokens : windowTokens;
  const rule = native && ownTokens !== undefined ? triggerRuleFor(native, model, ownTokens) : undefined;
  if (!rule || ownTokens === undefined) return undefined;
  const figure = nativeFigure(agent, ownTokens, rule);
  return figure && { native: figure, where: { agent: agent, windowTokens: countedTokens(ownTokens, rule) } };
};

/**
 * One line for the user if the agent compacts before the user's limit, or before auto; undefined if auto comes first, where the user
 * wanted it.
 */
export const nativeTriggerNotice = (
  { auto, native, windowTokens = Infinity }: Pick<Ladder, 'auto' | 'native' | 'windowTokens'>,
  agent: string,
): string | undefined => {
  if (!auto || !native || auto.unit !== 'tokens') return undefined;
  const own = `${agent} compacts on its own at ${groupDigits(native.tokens)}`;
  // a limit for larger windows is not meant for this one
  if (auto.asked !== undefined && auto.asked >= windowTokens) return undefined;
  if (auto.asked !== undefined)
    return `auto ${groupDigits(auto.value)}, not ${groupDigits(auto.asked)}: ${own}`;
  if (auto.value < native.tokens) return undefined;
  return auto.value === native.tokens
    ? `${own}, where auto is`
    : `${own}, before auto at ${groupDigits(auto.value)}`;
};
