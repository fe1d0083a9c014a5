// What is known of the values in a script that is read and not run. Unknown is undefined.

export type Value =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly Value[]
  | Callable
  | { readonly kind: 'fields'; readonly values: ReadonlyMap<string, Value> }
  /** `condition ? yes : no`: which one is not known */
  | { readonly kind: 'choice'; readonly values: readonly Value[] };

export type Callable =
  | { readonly kind: 'function'; readonly call: (args: readonly Value[]) => Value }
  /** a tool; the object that holds all of them has no name */
  | { readonly kind: 'tool'; readonly name: string };

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

export const isCallable = (value: Value): value is Callable =>
  typeof value === 'object' &&
  value !== null &&
  !isList(value) &&
  (value.kind === 'function' || value.kind === 'tool');

export const fieldsIn = (value: Value): ReadonlyMap<string, Value> =>
  typeof value === 'object' && value !== null && !isList(value) && value.kind === 'fields'
    ? value.values
    : new Map();

const MOST_FORMS = 8; // a script that chooses between results of choices would have twice as many with each line

/**
 * An argument in each form that it can have by the first choice in it, without unknown forms where there are others; of more than a few forms
 * the first ones.
 */
export const formsOf = (value: Value, most = MOST_FORMS): readonly Value[] => {
  if (isChoice(value)) {
    const forms = new Set<Value>();
    for (const each of value.values)
      if (forms.size < most) for (const form of formsOf(each, most - forms.size)) forms.add(form);
    return knownOf([...forms]);
  }
  const open = [...fieldsIn(value)].find(([, each]) => isChoice(each));
  if (!open) return [value];
  return formsOf(open[1], most).map((each) => ({
    kind: 'fields',
    values: new Map([...fieldsIn(value), [open[0], each]]),
  }));
};

/** `condition ? yes : no` */
export const choiceOf = (yes: Value, no: Value): Value => {
  const all = [yes, no].flatMap((each) => (isChoice(each) ? each.values : [each]));
  return { kind: 'choice', values: [...new Set(all)].slice(0, MOST_FORMS) };
};

const isChoice = (value: Value): value is Extract<Value, { readonly kind: 'choice' }> =>
  typeof value === 'object' && value !== null && !isList(value) && value.kind === 'choice';

const knownOf = (values: readonly Value[]): readonly Value[] => {
  const known = values.filter((each) => each !== undefined);
  return known.length === 0 ? values.slice(0, 1) : known;
};

/** `value.name` or `value[index]` */
export const memberOf = (value: Value, name: string | number): Value => {
  if (isList(value)) return name === 'length' ? value.length : value[Number(name)];
  if (isCallable(value)) {
    if (value.kind !== 'tool') return undefined;
    return { kind: 'tool', name: value.name === '' ? String(name) : `${value.name}.${name}` };
  }
  return fieldsIn(value).get(String(name));
};

/** The value as text; undefined for one without a text. */
export const stringOf = (value: Value): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;

/** A part of a sum, and how it is written. */
export interface Term {
  readonly value: Value;
  readonly source: string;
}

/** `left + right`; an unknown part of a text becomes `${source}`. */
export const sumOf = (left: Term, right: Term): Value => {
  if (typeof left.value === 'number' && typeof right.value === 'number') return left.value + right.value;
  if (typeof left.value !== 'string' && typeof right.value !== 'string') return undefined;
  return [left, right].map(({ value, source }) => stringOf(value) ?? `\${${source}}`).join('');
};

/** `[key, value]` of each field. */
export const entriesOf = (value: Value): Value => [...fieldsIn(value)].map(([key, each]) => [key, each]);

/** The result of the few methods that put texts together, if it is not too long. */
export const methodOf = (
  owner: Value,
  name: string,
  [argument, other]: readonly Value[],
  longest: number,
): Value => {
  if (typeof owner === 'string') {
    if (name === 'trim') return owner.trim();
    if (name !== 'replaceAll' || typeof argument !== 'string' || typeof other !== 'string') return undefined;
    return methodOf(owner.split(argument), 'join', [other], longest);
  }
  if (name !== 'join' || !isList(owner)) return undefined;
  const texts = owner.map(stringOf);
  const between = stringOf(argument) ?? ',';
  const length = texts.reduce((sum, text = '') => sum + text.length + between.length, 0);
  return length <= longest && texts.every((text) => text !== undefined) ? texts.join(between) : undefined;
};

const DEEPEST = 20;
const COST = 20; // of a value, in characters

/** As JSON, without what is unknown. Takes its size from the room that is left, and stops where there is none. */
export const jsonOf = (value: Value, left: { room: number }, depth = 0): unknown => {
  left.room -= typeof value === 'string' ? value.length : COST;
  if (isCallable(value) || left.room < 0 || depth > DEEPEST) return undefined;
  if (isList(value)) return value.map((each) => (left.room < 0 ? undefined : jsonOf(each, left, depth + 1)));
  if (isChoice(value)) return undefined;
  if (typeof value !== 'object' || value === null) return value;
  const known = [...value.values].map(([key, each]) => [key, jsonOf(each, left, depth + 1)] as const);
  return Object.fromEntries(known.filter(([, each]) => each !== undefined));
};
