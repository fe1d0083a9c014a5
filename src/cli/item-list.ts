import { badValue, unknownItem } from './messages.js';
import { nearest } from './nearest.js';

/** The first name that is none of the items, and the item it may have been meant for. */
export interface WrongItem<T extends string> {
  readonly wrong: string;
  readonly nearest: T | undefined;
}

/** Items in the order they were named; one that is named twice stands where it was first. */
export const readItems = <T extends string>(
  names: readonly string[],
  items: readonly T[],
): readonly T[] | WrongItem<T> => {
  const isItem = (name: string): name is T => items.some((item) => item === name);
  const wrong = names.find((name) => !isItem(name));
  if (wrong === undefined) return [...new Set(names.filter(isItem))];
  const close = nearest(wrong, items);
  return { wrong, nearest: items.find((item) => item === close) };
};

/** A list as it is written behind an option: `bar,percent`. */
export const parseItems =
  <T extends string>(flag: string, items: readonly T[], example: string) =>
  (text: string): readonly T[] => {
    const names = text
      .split(',')
      .map((name) => name.trim())
      .filter((name) => name !== '');
    if (names.length === 0) throw badValue(flag, `a list of ${items.join(', ')}`, text, example);
    const read = readItems(names, items);
    if ('wrong' in read) throw unknownItem(flag, read, items);
    return read;
  };
