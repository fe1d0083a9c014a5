// Where an agent compacts by itself, as data, so that the core knows no agent.
import { grouped } from './rung.js';
import type { Figure } from './rung.js';

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
export const ruleFor = (
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
export const countedTokens = (windowTokens: number, { mostWindowTokens = Infinity }: TriggerRule): number =>
  Math.min(windowTokens, mostWindowTokens);

/** The tokens at which the agent compacts by itself; undefined where the window is smaller than what it keeps free. */
export const nativeTokens = (windowTokens: number, rule: TriggerRule): number | undefined => {
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
export const nativeFigure = (
  runtime: string,
  windowTokens: number,
  rule: TriggerRule,
): Figure | undefined => {
  const tokens = nativeTokens(windowTokens, rule);
  if (tokens === undefined) return undefined;
  return {
    tokens,
    reason: `native ${grouped(tokens)}: ${runtime} compacts by itself at ${placeOf(windowTokens, rule)}`,
  };
};

const placeOf = (windowTokens: number, rule: TriggerRule): string => {
  const [shared, free] = [sharedTokens(windowTokens, rule), freeTokens(windowTokens, rule)];
  if (rule.mostTokens !== undefined && rule.mostTokens <= Math.min(shared, free))
    return 'the number of tokens that its settings name';
  const counted = countedTokens(windowTokens, rule);
  const name = counted < windowTokens ? 'what it takes for its window' : 'the window';
  const whole = `${name}${counted < windowTokens ? ',' : ' of'} ${grouped(counted)}`;
  if (free < shared) return `${whole} less ${grouped(rule.leastFreeTokens ?? 0)}`;
  const share = rule.share === 1 ? whole : `${percentText(rule.share)} of ${whole}`;
  return rule.reserveTokens > 0 ? `${share} less ${grouped(rule.reserveTokens)}` : share;
};

const percentText = (share: number): string => `${Math.round(share * 1000) / 10}%`;
