// Settings that are right by themselves and contradict each other.
import { boundText } from '../amount.js';
import { backendCapacity } from './backends.js';
import type { Bound, RungName } from '../rung.js';

import type { Effective, Problem } from './setting.js';

const pairs: readonly (readonly [RungName, RungName])[] = [
  ['warn', 'auto'],
  ['auto', 'hard'],
  ['warn', 'hard'],
];

type Values = readonly Pick<Effective, 'key' | 'value' | 'origin'>[];

/** What is told of them. What stands on the command line is meant for this once, and nothing is told of it. */
export const contradictions = (effective: Values): readonly Problem[] => [
  ...boundProblems(effective),
  ...windowProblems(effective),
];

/** The ladder lowers a boundary that is higher than the next. */
const boundProblems = (effective: Values): readonly Problem[] => {
  const set = (name: RungName) => {
    const { value, origin } = effective.find(({ key }) => key === name) ?? {};
    const bound = value as Bound | undefined; // as the key's type says
    return bound && origin && origin.layer !== 'flag' ? { bound, origin } : undefined;
  };
  const found = pairs.flatMap(([name, above]): readonly Problem[] => {
    const [lower, upper] = [set(name), set(above)];
    if (!lower || !upper || lower.bound.unit !== upper.bound.unit) return [];
    if (lower.bound.value <= upper.bound.value) return [];
    const { origin } = lower;
    const [given, used] = [boundText(lower.bound), boundText(upper.bound)];
    return [{ kind: 'order', level: 'warning', key: name, above, given, used, origin }];
  });
  // one of each is enough
  return found.filter(({ origin }, index) => found.findIndex((each) => each.origin === origin) === index);
};

/** The user's window holds; the backend may be the one that was meant otherwise. */
const windowProblems = (effective: Values): readonly Problem[] => {
  const of = (key: Effective['key']) => effective.find((each) => each.key === key);
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
