import {
  adjustWarn,
  groupDigits,
  percentBoundary,
  percentOfTokens,
  tokenBoundary,
  WARN_MARGIN_TOKENS,
  type Bound,
  type LadderChoice,
  type TierBoundaries,
  type TierBoundary,
  type TierBoundaryName,
} from './ladder.js';
import { present } from './present.js';

// The user's own boundaries. `auto` is a limit that the conversation does not grow beyond; warn and hard follow it unless they are set, too.

/** What the user's boundaries depend on, besides the usual ones. */
export interface CustomBoundsContext {
  readonly windowTokens?: number;
  readonly model?: string | undefined;
  /** where the agent compacts by itself */
  readonly own?: OwnPoint;
  /** the user set the window, so the agent's own point is not what limits it */
  readonly isOverride?: boolean;
  /** false where a boundary in tokens cannot be compared with the number */
  readonly isCounted: boolean;
}

interface OwnPoint {
  readonly agent: string;
  readonly value: number;
  readonly unit: Bound['unit'];
  /** the highest value that precedes it in time, for a limit that yields */
  readonly latest?: number;
}

/** Applies the user's boundaries to the usual ones, and orders them: warn ≤ auto ≤ hard, with warn below auto where that is possible. */
export const applyCustomBounds = (
  usual: TierBoundaries,
  choice: LadderChoice,
  context: CustomBoundsContext,
): TierBoundaries => {
  const limit = limitFor(choice, context.model);
  const { warn, auto, hard } = limit ? withLimit(usual, limit, context) : usual;
  const placed = (name: 'warn' | 'hard', boundary: TierBoundary): TierBoundary => {
    const bound = choice[name];
    return bound && isComparable(bound, context) ? customBoundary(name, bound, context) : boundary;
  };
  return inOrder({ warn: placed('warn', warn), ...present({ auto }), hard: placed('hard', hard) });
};

// The limit: which one is meant, and whether it can be reached.

/** The user's limit, as it was set. */
export interface Limit {
  readonly bound: Bound;
  /** the pattern of models that it is for; absent if it is for all */
  readonly pattern?: string;
}

/** The limit for a model: of the first pattern that matches its name, otherwise the one for all. */
export const limitFor = (
  { auto, limits = {} }: LadderChoice,
  model: string | undefined,
): Limit | undefined => {
  const found =
    model === undefined
      ? undefined
      : Object.entries(limits).find(([pattern]) => matchesModel(pattern, model));
  if (found) return { pattern: found[0], bound: found[1] };
  return auto && { bound: auto };
};

/** True if the pattern describes the whole name, in any case; `*` stands for any characters. */
export const matchesModel = (pattern: string, model: string): boolean => {
  const parts = pattern.toLowerCase().split('*');
  const name = model.toLowerCase();
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  // each part at its first place behind the one before: a later place could only leave less room
  const end = rest.reduce((from, part) => {
    const at = from < 0 ? -1 : name.indexOf(part, from);
    return at < 0 ? -1 : at + part.length;
  }, first.length);
  return end >= 0 && name.length - last.length >= end && name.endsWith(last);
};

const withLimit = (usual: TierBoundaries, limit: Limit, context: CustomBoundsContext): TierBoundaries => {
  const { auto } = usual;
  const last = auto ?? usual.hard; // `handoff` types nothing, so there hard is the limit
  const boundary = customBoundary(auto ? 'auto' : 'hard', limit.bound, context, limitText(limit));
  const obstacle = obstacleTo(boundary, last, context);
  if (obstacle === undefined)
    return auto ? following(boundary, usual.hard) : { warn: warnBefore(boundary, 'hard'), hard: boundary };
  const note = `${limitText(limit)} of ${valueText(boundary)} ${obstacle}`;
  const asked = last.unit === boundary.unit ? boundary.value : undefined;
  const kept = { ...last, ...present({ asked }), reason: `${last.reason}; ${note}` };
  return auto ? { ...usual, auto: kept } : { ...usual, hard: kept };
};

const limitText = ({ pattern }: Limit): string =>
  pattern === undefined ? 'your limit' : `your limit for ${pattern}`;

/** Why the limit cannot be reached; undefined if it can, or if the usual auto lies above it. */
const obstacleTo = (
  { value, unit, yields }: TierBoundary,
  usual: TierBoundary,
  context: CustomBoundsContext,
): string | undefined => {
  const { windowTokens, own, isOverride } = context;
  if (!isComparable({ unit }, context)) return 'cannot be compared with a percentage';
  if (usual.unit === unit && value <= usual.value) return undefined;
  if (own?.unit === unit && (!isOverride || yields)) {
    const isReached = yields && own.latest !== undefined ? value <= own.latest : value < own.value;
    if (!isReached) return `comes too late for ${own.agent}'s own ${valueText(own)}`;
  }
  if (unit === 'tokens' && windowTokens !== undefined && value >= windowTokens) return 'is beyond the window';
  return undefined;
};

const isComparable = ({ unit }: Pick<Bound, 'unit'>, { isCounted }: CustomBoundsContext): boolean =>
  unit === 'percent' || isCounted;

/** Warn and hard at the same distance from the limit; hard no higher than usual. */
const following = (auto: TierBoundary, usualHard: TierBoundary): TierBoundaries => {
  const margin = marginOf(auto);
  const hard = auto.value + margin;
  const isUsual = usualHard.unit === auto.unit && usualHard.value <= hard;
  const capped =
    isUsual && usualHard.value < auto.value ? moved('hard', usualHard, auto, 'raised to auto') : usualHard;
  return {
    warn: warnBefore(auto),
    auto,
    hard: isUsual
      ? capped
      : boundaryAt(
          'hard',
          { ...auto, value: hard },
          `${marginText(margin, auto)} beyond auto ${valueText(auto)}`,
        ),
  };
};

const MARGIN_PERCENT = 10;

/** From warn to a limit, and from there to hard: time to finish a thought; more for a large limit, because there turns are larger, too. */
const marginOf = ({ value, unit }: Bound): number =>
  unit === 'percent' ? MARGIN_PERCENT : Math.max(WARN_MARGIN_TOKENS, percentOfTokens(value, MARGIN_PERCENT));

/** Where warn begins before a limit. A warning from the first token would mean nothing. */
export const valueBefore = (limit: Bound): number =>
  limit.value -
  Math.min(marginOf(limit), limit.unit === 'percent' ? limit.value / 2 : Math.floor(limit.value / 2));

const warnBefore = (next: TierBoundary, name: TierBoundaryName = 'auto'): TierBoundary => {
  const value = valueBefore(next);
  return boundaryAt(
    'warn',
    { ...next, value },
    `${marginText(next.value - value, next)} before ${name} ${valueText(next)}`,
  );
};

const boundaryAt = (name: TierBoundaryName, { value, unit }: Bound, why: string): TierBoundary =>
  unit === 'percent' ? percentBoundary(name, value, why) : tokenBoundary(name, value, why);

const valueText = ({ value, unit }: Bound): string => (unit === 'percent' ? `${value}%` : groupDigits(value));

const marginText = (margin: number, { unit }: Bound): string =>
  unit === 'percent' ? `${margin} points` : groupDigits(margin);

/** A boundary of the user's, in tokens where the window is known. */
const customBoundary = (
  name: TierBoundaryName,
  bound: Bound,
  { windowTokens }: CustomBoundsContext,
  what = 'custom',
): TierBoundary => {
  const { value, unit } = bound;
  if (unit === 'percent' && windowTokens !== undefined) {
    const tokens = percentOfTokens(windowTokens, value);
    const why = `${what}, ${value}% of the window of ${groupDigits(windowTokens)}`;
    return {
      ...bound,
      value: tokens,
      unit: 'tokens',
      custom: true,
      reason: `${name} ${groupDigits(tokens)}: ${why}`,
    };
  }
  const beyond = unit === 'tokens' && windowTokens !== undefined && value > windowTokens;
  const note = beyond ? `, more than the window of ${groupDigits(windowTokens)}` : '';
  return { ...bound, custom: true, reason: `${name} ${valueText(bound)}: ${what}${note}` };
};

// The order: a usual boundary yields to one of the user's; of two of the user's that contradict each other the lower one counts.

const inOrder = ({ warn, auto, hard }: TierBoundaries): TierBoundaries => {
  const isLimited = auto?.custom === true || auto?.asked !== undefined;
  const raised = auto && warn.custom && !isLimited ? atLeast('auto', auto, ['warn', warn]) : auto;
  const top = hard.custom ? hard : atLeast('hard', hard, raised ? ['auto', raised] : ['warn', warn]);
  // a usual boundary that was raised to warn, or stood there already, does not push it away
  const isWarnKept = warn.custom && !(auto ? isLimited : hard.custom) && isAt(raised ?? top, warn);
  if (!raised) return { warn: isWarnKept ? warn : below(warn, ['hard', top]), hard: top };
  const middle = atMost('auto', raised, ['hard', top]);
  return {
    warn: isWarnKept && middle === raised ? warn : warnIn(warn, raised, middle),
    auto: middle,
    hard: top,
  };
};

const isAt = (boundary: TierBoundary, other: TierBoundary): boolean =>
  boundary.unit === other.unit && boundary.value === other.value;

/** Warn, before an auto that hard may have lowered. */
const warnIn = (warn: TierBoundary, auto: TierBoundary, lowered: TierBoundary): TierBoundary => {
  const isFollowing = auto.custom && !warn.custom && warn.unit === auto.unit;
  if (isFollowing && lowered !== auto) return warnBefore(lowered);
  return below(adjustWarn(warn, auto, lowered), ['auto', lowered]);
};

type Named = readonly [TierBoundaryName, TierBoundary];

/** A warn that would come no sooner than the next tier is put before it. */
const below = (warn: TierBoundary, [name, next]: Named): TierBoundary => {
  if (warn.unit !== next.unit || warn.value < next.value) return warn;
  const before = warnBefore(next, name);
  return warn.custom ? { ...before, reason: `${before.reason}; you asked for ${valueText(warn)}` } : before;
};

// A percentage and a number of tokens cannot be compared while the window is unknown.
const atMost = (name: TierBoundaryName, boundary: TierBoundary, [otherName, other]: Named): TierBoundary =>
  boundary.unit !== other.unit || boundary.value <= other.value
    ? boundary
    : moved(name, boundary, other, `lowered to ${otherName}`);

const atLeast = (name: TierBoundaryName, boundary: TierBoundary, [otherName, other]: Named): TierBoundary =>
  boundary.unit !== other.unit || boundary.value >= other.value
    ? boundary
    : moved(name, boundary, other, `raised to ${otherName}`);

const moved = (
  name: TierBoundaryName,
  boundary: TierBoundary,
  to: TierBoundary,
  what: string,
): TierBoundary => {
  const was = boundary.custom ? `custom ${valueText(boundary)}` : valueText(boundary);
  return {
    ...boundary,
    value: to.value,
    reason: `${name} ${valueText({ ...boundary, value: to.value })}: ${was} ${what}`,
  };
};
