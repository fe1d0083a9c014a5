// Options and keys are two forms of the same settings.
import { keyNames, keyOf } from '../../core/config/keys.js';
import type { KeyName, Values } from '../../core/config/keys.js';
import type { Effective, Setting } from '../../core/config/setting.js';
import type { Options } from '../request.js';

/** An option as commander names it: `--no-footer` is `footer`. */
const attributeOf = (flag: string): string =>
  flag.replace(/^--(?:no-)?/, '').replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

const pairs: readonly (readonly [KeyName, string, string])[] = keyNames.flatMap((key) => {
  const { flag } = keyOf(key);
  return flag === undefined ? [] : [[key, flag, attributeOf(flag)] as const];
});

/** What stands on the command line. */
export const flagSettings = (options: Partial<Options>, given: readonly string[]): readonly Setting[] => {
  const found: Readonly<Record<string, unknown>> = { ...options };
  return pairs
    .filter(([, , attribute]) => given.includes(attribute))
    .map(([key, flag, attribute]) => ({
      key,
      value: found[attribute],
      origin: { layer: 'flag', place: flag },
    }));
};

/** The options with everything that holds. */
export const withSettings = (
  options: Options,
  { values, effective }: { readonly values: Values; readonly effective: readonly Effective[] },
): Options => {
  const set = pairs.flatMap(([key, , attribute]) => {
    const value = values[key];
    return value === undefined ? [] : [[attribute, value] as const];
  });
  return { ...options, ...Object.fromEntries(set), ...(isModeGiven(effective) ? { isModeGiven: true } : {}) };
};

// Whoever wrote a folder's file is not the user.
export const isModeGiven = (effective: readonly Effective[]): boolean => {
  const layer = effective.find(({ key }) => key === 'mode')?.origin.layer;
  return layer === 'flag' || layer === 'env' || layer === 'user';
};
