import { buildLadder, type NativeTrigger } from '../build-ladder.js';
import { formatBound } from '../format.js';
import { type Bound, type TierBoundaryName, groupDigits } from '../ladder.js';
import { backendCapacity } from './backends.js';
import { toValues } from './keys.js';
import type { EffectiveValue, Problem, Origin } from './merge.js';
import { findSummariserFault } from './summariser.js';
import { present } from '../present.js';

// Finds settings that are valid on their own and contradict each other.

const pairs: readonly (readonly [TierBoundaryName, TierBoundaryName])[] = [
  ['warn', 'auto'],
  ['auto', 'hard'],
  ['warn', 'hard'],
];

type Values = readonly Pick<EffectiveValue, 'key' | 'value' | 'origin'>[];

/** Warnings about contradictions. Options on the command line are a one-time choice, so they cause no warnings. */
export const findContradictions = (effective: Values): readonly Problem[] => [
  ...boundProblems(effective),
  ...windowProblems(effective),
  ...summariserProblems(effective),
];

/** The ladder lowers a boundary that is higher than the next one. */
const boundProblems = (effective: Values): readonly Problem[] => {
  const set = (name: TierBoundaryName) => {
    const { value, origin } = effective.find(({ key }) => key === name) ?? {};
    const bound = value as Bound | undefined; // guaranteed by the key's type
    return bound && origin && origin.layer !== 'flag' ? { bound, origin } : undefined;
  };
  const found = pairs.flatMap(([name, above]): readonly Problem[] => {
    const [lower, upper] = [set(name), set(above)];
    if (!lower || !upper || lower.bound.unit !== upper.bound.unit) return [];
    if (lower.bound.value <= upper.bound.value) return [];
    const { origin } = lower;
    const [given, used] = [formatBound(lower.bound), formatBound(upper.bound)];
    return [{ kind: 'order', level: 'warning', key: name, above, given, used, origin }];
  });
  // one of each is enough
  return found.filter(({ origin }, index) => found.findIndex((each) => each.origin === origin) === index);
};

/** The user's window is used; the configured backend may be a mistake. */
const windowProblems = (effective: Values): readonly Problem[] => {
  const of = (key: EffectiveValue['key']) => effective.find((each) => each.key === key);
  const [window, backend] = [of('window'), of('backend')];
  const most = backendCapacity(backend?.value);
  if (!window || window.origin.layer === 'flag' || most === undefined || !(Number(window.value) > most))
    return [];
  const { origin, value } = window;
  return [
    {
      kind: 'capacity',
      level: 'warning',
      key: 'window',
      given: String(value),
      backend: String(backend?.value),
      most,
      origin,
    },
  ];
};

const summariserProblems = (effective: Values): readonly Problem[] => {
  const fault = findSummariserFault(toValues(effective.map(({ key, value }) => [key, value])));
  const origin = effective.find(({ key }) => key === fault?.key)?.origin;
  return fault && origin ? [{ kind: 'unusable', level: 'warning', ...fault, origin }] : [];
};

/** Per kind and file. A user with more problems opens the file anyway, and each one takes time to format. */
const MOST_TOLD = 10;

/** The first problems of each kind and file, followed by the number of the others. */
export const limitProblems = (problems: readonly Problem[]): readonly Problem[] => {
  const groups = new Map<string, { count: number; first: Problem; isError: boolean }>();
  const told = problems.filter((problem) => {
    const name = groupOf(problem);
    const group = groups.get(name) ?? { count: 0, first: problem, isError: false };
    group.count += problem.kind === 'more' ? problem.count : 1;
    if (group.count > MOST_TOLD) group.isError ||= problem.level === 'error';
    groups.set(name, group);
    return group.count <= MOST_TOLD;
  });
  const untold = [...groups.values()].filter(({ count }) => count > MOST_TOLD);
  return [
    ...told,
    ...untold.map(({ count, first, isError }): Problem => ({
      kind: 'more',
      level: isError ? 'error' : 'warning',
      of: problemKind(first),
      count: count - MOST_TOLD,
      origin: withoutPlace(first.origin),
    })),
  ];
};

/** The number of problems, including those that are only counted. */
export const countProblems = (problems: readonly Problem[]): number =>
  problems.reduce((sum, problem) => sum + (problem.kind === 'more' ? problem.count : 1), 0);

/** The kind of a problem, also if it is only counted. */
export const problemKind = (problem: Problem): Exclude<Problem['kind'], 'more'> =>
  problem.kind === 'more' ? problem.of : problem.kind;

const groupOf = (problem: Problem): string => {
  const { layer, file, place } = problem.origin;
  return JSON.stringify([layer, layer === 'env' ? file : place, problemKind(problem)]);
};

/** An environment variable belongs to one problem only, and so does a position. */
const withoutPlace = ({ layer, file, place }: Origin): Origin => {
  if (layer !== 'env') return { layer, ...present({ place }) };
  return file === undefined ? { layer } : { layer, file };
};

// Compares the configured auto with the points at which the agents compact by themselves.

/** An installed agent that the settings apply to. */
export interface KnownAgent {
  readonly name: string;
  /** its usual window in tokens; the actual one is known only when it runs */
  readonly usualTokens: number;
  readonly trigger: NativeTrigger;
}

/** Warnings about auto. Options on the command line are a one-time choice, so they cause no warnings. */
export const findNativeProblems = (
  effective: readonly Pick<EffectiveValue, 'key' | 'value' | 'origin'>[],
  agents: readonly KnownAgent[],
): readonly Problem[] => {
  const of = (key: EffectiveValue['key']) => effective.find((each) => each.key === key);
  const { value, origin } = of('auto') ?? {};
  const auto = value as Bound | undefined; // guaranteed by the key's type
  if (!auto || !origin || origin.layer === 'flag') return [];
  const window = of('window')?.value as number | undefined;
  const first = agents.flatMap(({ name, usualTokens, trigger }) => {
    const { auto: rung, native } = buildLadder({
      agent: name,
      windowTokens: window ?? usualTokens,
      byUser: window === undefined ? undefined : { ownTokens: usualTokens },
      native: trigger,
      choice: { auto },
    });
    if (!rung || !native || (rung.asked === undefined && rung.value < native.tokens)) return [];
    const used = rung.asked === undefined ? {} : { used: groupDigits(rung.value) };
    return [{ agent: name, at: groupDigits(native.tokens), usual: groupDigits(usualTokens), ...used }];
  });
  if (first.length === 0) return [];
  return [{ kind: 'native', level: 'warning', key: 'auto', given: formatBound(auto), agents: first, origin }];
};
