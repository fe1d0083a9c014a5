import * as v from 'valibot';
import { ladderOf, type NativeTrigger } from '../build-ladder.js';
import { boundIn, tokensIn, readControlKey, boundText, controlKeyName } from '../format.js';
import { focusText, LONGEST_FOCUS, isRecord } from '../json.js';
import { type Bound, type RungName, grouped } from '../ladder.js';
import { type ValueType, backendCapacity } from './keys.js';
import type { Effective, Problem, Origin } from './merge.js';

// What may stand at a key, as valibot schemas made of the key's type.

/** A value as it is used, or what it must be instead. */
export type CheckedValue = { readonly value: unknown } | { readonly rule: string };

/** Whether a value as a file has it may stand there. */
export const checkValue = (type: ValueType, written: unknown): CheckedValue => {
  const result = v.safeParse(schemaOf(type), written, { abortEarly: true });
  return result.success ? { value: result.output } : { rule: ruleOf(type, written) };
};

/** What must stand there, for a sentence that ends with it. */
export const ruleOf = (type: ValueType, written?: unknown): string => {
  switch (type.kind) {
    case 'choice':
      return `one of ${type.choices.join(', ')}`;
    case 'flag':
      return 'true or false';
    case 'tokens':
      return `a number of tokens from ${type.least} to ${type.most}`;
    case 'bound':
      return 'a percentage from 1% to 100% or a number of tokens from 1k to 10M';
    case 'percent':
      return `a percentage from ${type.least} to ${type.most}`;
    case 'text':
      return `a text of at most ${type.longest} characters`;
    case 'focus':
      return `a text of at most ${LONGEST_FOCUS} characters`;
    case 'path':
      return 'the absolute path of a file, or one that begins with ~/';
    case 'hotkey':
      return hotkeyRule(written);
    case 'list':
      return `a list of ${type.choices.join(', ')}`;
    case 'definitions':
      return 'an object that holds one object for each agent';
  }
};

const hotkeyRule = (written: unknown): string => {
  const key = readControlKey(typeof written === 'string' ? written : '');
  return typeof key === 'object' ? key.rule : 'a key';
};

const schemaOf = (type: ValueType): v.GenericSchema<unknown, unknown> => {
  switch (type.kind) {
    case 'choice':
      return v.picklist(type.choices);
    case 'flag':
      return v.boolean();
    case 'tokens':
      return v.pipe(
        amount,
        v.transform(tokensIn),
        v.integer(),
        v.minValue(type.least),
        v.maxValue(type.most),
      );
    case 'bound':
      return v.pipe(
        amount,
        v.transform(boundIn),
        v.object({ value: v.number(), unit: v.picklist(['percent', 'tokens']) }),
      );
    case 'percent':
      return v.pipe(
        amount,
        v.transform((text) => boundIn(text.replace(/%?$/, '%'))),
        v.object({
          value: v.pipe(v.number(), v.minValue(type.least), v.maxValue(type.most)),
          unit: v.literal('percent'),
        }),
        v.transform((bound) => ({ ...bound, yields: true as const })),
      );
    case 'text':
      return v.pipe(v.string(), v.nonEmpty(), v.maxLength(type.longest));
    case 'focus':
      return v.pipe(
        v.string(),
        v.check((text) => [...text.trim()].length <= LONGEST_FOCUS),
        v.transform(focusText),
        v.string(),
      );
    case 'path':
      return v.pipe(v.string(), v.regex(/^(?:~\/|\/)[^\0]+$/), v.maxLength(LONGEST_PATH));
    case 'hotkey':
      return v.pipe(v.string(), v.transform(readControlKey), v.union([v.number(), v.literal('none')]));
    case 'list':
      return v.pipe(
        v.array(v.picklist(type.choices)),
        v.transform((items) => [...new Set(items)]),
      );
    case 'definitions':
      return v.pipe(v.custom(isRecord), v.record(v.string(), v.custom(isRecord)));
  }
};

const LONGEST_PATH = 4_096; // bytes that systems take

/** A number, or a text that stands for one. */
const amount = v.pipe(
  v.union([v.string(), v.pipe(v.number(), v.finite())]),
  v.transform((given) => String(given)),
);

/** A value as a file would hold it; the reverse of `checkValue`. */
export const writtenOf = (type: ValueType, value: unknown): unknown => {
  switch (type.kind) {
    case 'bound':
    case 'percent':
      return isBound(value) && value.unit === 'percent'
        ? boundText(value)
        : isBound(value)
          ? value.value
          : value;
    case 'hotkey':
      return typeof value === 'number' || value === 'none' ? controlKeyName(value) : value;
    default:
      return value;
  }
};

const isBound = (value: unknown): value is Bound =>
  typeof value === 'object' && value !== null && 'unit' in value && 'value' in value;

// Settings that are right by themselves and contradict each other.

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

/** Of one kind in one file. Whoever has more looks at the file anyway, and each takes time to be put into words. */
const MOST_TOLD = 10;

/** The first problems of each kind and file, and behind all of them how many more there are. */
export const fewOf = (problems: readonly Problem[]): readonly Problem[] => {
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
      of: kindOf(first),
      count: count - MOST_TOLD,
      origin: withoutPlace(first.origin),
    })),
  ];
};

/** How many there are, those that are only counted included. */
export const countOf = (problems: readonly Problem[]): number =>
  problems.reduce((sum, problem) => sum + (problem.kind === 'more' ? problem.count : 1), 0);

/** What is wrong, also where it is only counted. */
export const kindOf = (problem: Problem): Exclude<Problem['kind'], 'more'> =>
  problem.kind === 'more' ? problem.of : problem.kind;

const groupOf = (problem: Problem): string => {
  const { layer, file, place } = problem.origin;
  return JSON.stringify([layer, layer === 'env' ? file : place, kindOf(problem)]);
};

/** A name of the environment is that of one problem only, as is a position. */
const withoutPlace = ({ layer, file, place }: Origin): Origin => {
  if (layer !== 'env') return { layer, ...(place === undefined ? {} : { place }) };
  return file === undefined ? { layer } : { layer, file };
};

// Where auto stands that the user has configured, against where the agents compact by themselves.

/** An agent that may be started. */
export interface KnownAgent {
  readonly name: string;
  /** its usual window in tokens: which one it has is known when it runs */
  readonly usualTokens: number;
  readonly trigger: NativeTrigger;
}

/** What is told of auto. What stands on the command line is meant for this once, and nothing is told of it. */
export const nativeProblems = (
  effective: readonly Pick<Effective, 'key' | 'value' | 'origin'>[],
  agents: readonly KnownAgent[],
): readonly Problem[] => {
  const of = (key: Effective['key']) => effective.find((each) => each.key === key);
  const { value, origin } = of('auto') ?? {};
  const auto = value as Bound | undefined; // as the key's type says
  if (!auto || !origin || origin.layer === 'flag') return [];
  const window = of('window')?.value as number | undefined;
  const first = agents.flatMap(({ name, usualTokens, trigger }) => {
    const { auto: rung, native } = ladderOf({
      runtime: name,
      windowTokens: window ?? usualTokens,
      byUser: window === undefined ? undefined : { ownTokens: usualTokens },
      native: trigger,
      choice: { auto },
    });
    if (!rung || !native || (rung.asked === undefined && rung.value < native.tokens)) return [];
    const used = rung.asked === undefined ? {} : { used: grouped(rung.value) };
    return [{ agent: name, at: grouped(native.tokens), usual: grouped(usualTokens), ...used }];
  });
  if (first.length === 0) return [];
  return [{ kind: 'native', level: 'warning', key: 'auto', given: boundText(auto), agents: first, origin }];
};
