import { isRecord } from '../../core/json.js';

/** Where a value is in a record: `usage.input`, `parts.0.tokens`; `*` stands for all fields or items. */
export type FieldPath = readonly string[];

const MOST_VALUES = 1_000; // that a path with `*` may give

export const readFieldPath = (text: string): FieldPath | undefined => {
  const steps = text.split('.');
  return text.length <= 200 && steps.every((step) => step !== '' && (step === '*' || !step.includes('*')))
    ? steps
    : undefined;
};

/** All values at the path, which are at most one without a `*`. */
export const valuesAt = (record: unknown, path: FieldPath): readonly unknown[] =>
  path.reduce<readonly unknown[]>(
    (values, step) => values.flatMap((value) => inside(value, step)).slice(0, MOST_VALUES),
    [record],
  );

const inside = (value: unknown, step: string): readonly unknown[] => {
  if (Array.isArray(value)) {
    if (step === '*') return value;
    const index = /^\d+$/.test(step) ? Number(step) : value.length;
    return value.slice(index, index + 1);
  }
  if (!isRecord(value)) return [];
  if (step === '*') return Object.values(value);
  return Object.hasOwn(value, step) ? [value[step]] : [];
};
