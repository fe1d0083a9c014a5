import { buildLadder, nativeTriggerNotice, type NativeTrigger } from '../build-ladder.js';
import { valueBefore } from '../custom-bounds.js';
import { formatBound } from '../format.js';
import { type Bound, type TierBoundaryName, groupDigits } from '../ladder.js';
import { backendCapacity } from './backends.js';
import { defaultValueOf, toValues } from './keys.js';
import type { EffectiveValue } from './merge.js';
import { fixAt, problemAt, type Problem } from './problem.js';
import { findSummariserFault } from './summariser.js';

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

/** The ladder lowers a boundary that is higher than the next one; warn must come before it. */
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
    const given = formatBound(lower.bound);
    const used = formatBound(name === 'warn' ? warnFor([set('auto'), set('hard')]) : upper.bound);
    return [
      problemAt(origin, {
        kind: 'order',
        level: 'warning',
        key: name,
        what: `${name} is ${given}, which is higher than ${above}`,
        why: `each tier must begin before the next: it counts as ${used}`,
        fix: fixAt(origin, used),
      }),
    ];
  });
  // one of each is enough
  return found.filter(({ origin }, index) => found.findIndex((each) => each.origin === origin) === index);
};

/** Warn before the lower of two boundaries. */
const warnFor = (next: readonly ({ readonly bound: Bound } | undefined)[]): Bound => {
  const bounds = next.flatMap((each) => each?.bound ?? []);
  const lowest = bounds.reduce((a, b) => (a.unit === b.unit && b.value < a.value ? b : a));
  return { ...lowest, value: valueBefore(lowest) };
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
    problemAt(origin, {
      kind: 'capacity',
      level: 'warning',
      key: 'window',
      what: `window is ${String(value)}, but ${String(backend?.value)} has at most ${most}`,
      why: 'yours is used; if the agent reports another number, change one of them',
      fix: fixAt(origin, String(most)),
    }),
  ];
};

/** A key that opens the overview cannot also say "not now": there Esc does. Between options of the command line the user has to choose. */
export const withUsableNotNow = (
  effective: readonly EffectiveValue[],
): { readonly effective: readonly EffectiveValue[]; readonly problems: readonly Problem[] } => {
  const of = (key: EffectiveValue['key']) => effective.find((each) => each.key === key);
  const [hotkey, notNow] = [of('hotkey'), of('notNow')];
  if (!hotkey || !notNow || hotkey.value !== notNow.value) return { effective, problems: [] };
  if ([hotkey, notNow].some(({ origin }) => origin.layer === 'flag')) return { effective, problems: [] };
  const { key, value, origin, overrides } = notNow;
  const usual: EffectiveValue = {
    key,
    value: defaultValueOf(key),
    origin: { layer: 'default' },
    overrides: [{ key, value, origin }, ...overrides],
  };
  return {
    effective: effective.map((each) => (each === notNow ? usual : each)),
    problems: [
      problemAt(origin, {
        kind: 'unusable',
        level: 'error',
        key,
        what: 'notNow is the same key as hotkey',
        why: 'it opens the overview and cannot also say "not now"; it is ignored, and Esc is used',
        fix: fixAt(origin, 'Esc'),
      }),
    ],
  };
};

const summariserProblems = (effective: Values): readonly Problem[] => {
  const fault = findSummariserFault(toValues(effective.map(({ key, value }) => [key, value])));
  const origin = effective.find(({ key }) => key === fault?.key)?.origin;
  if (!fault || !origin) return [];
  const { key, reason: why, fix } = fault;
  return [
    problemAt(origin, { kind: 'unusable', level: 'warning', key, what: `${key} is not used`, why, fix }),
  ];
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
    const windowTokens = window ?? usualTokens;
    const ladder = buildLadder({
      agent: name,
      windowTokens,
      byUser: window === undefined ? undefined : { ownTokens: usualTokens },
      native: trigger,
      choice: { auto },
    });
    const { auto: rung, native } = ladder;
    if (!rung || !native || nativeTriggerNotice(ladder, name) === undefined) return [];
    const ours = rung.asked === undefined ? 'yours is used' : `it counts as ${groupDigits(rung.value)}`;
    const [at, usual] = [groupDigits(native.tokens), groupDigits(usualTokens)];
    const why = `${name} compacts on its own at ${at} in its usual window of ${usual}; there ${ours}`;
    return [{ name, why }];
  });
  if (first.length === 0) return [];
  const names = first.map(({ name }) => name).join(', ');
  return [
    problemAt(origin, {
      kind: 'native',
      level: 'warning',
      key: 'auto',
      what: `auto is ${formatBound(auto)}, but ${names} may compact first`,
      why: first.map(({ why }) => why).join('; '),
    }),
  ];
};
