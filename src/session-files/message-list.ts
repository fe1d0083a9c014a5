import type { MessageRange } from '../core/conversation/boundary-record.js';
import { hashOf } from './id-table.js';

// The messages of a conversation, by their place in the file and by a hash of their keys: a long file has hundreds of thousands.

/** Keys of messages, or the first and the last of a row. */
export type KeptMessages =
  | { readonly keys: readonly string[] }
  | { readonly from: string; readonly to: string };

export interface Messages {
  /** `line`: of its record, from 1 */
  readonly add: (key: string, line?: number) => void;
  /** the last one gets another key */
  readonly rename: (key: string) => void;
  readonly dropLast: () => void;
  /** those of this line and after it are gone */
  readonly dropFrom: (line: number) => void;
  readonly count: () => number;
  /** the messages that leave the window, when only these stay; undefined where what stays is not known */
  readonly replace: (kept: KeptMessages | undefined) => readonly MessageRange[] | undefined;
  readonly rewrite: (keys: readonly string[]) => void;
  readonly cutBack: (key: string) => void;
}

export const makeMessageList = (): Messages => {
  let keys = new Float64Array(1024);
  let lines = new Float64Array(1024);
  let count = 0;
  /** the first message after the last compaction, and those before it that are still in the window; undefined where not known */
  let begin = 1;
  let carried: readonly number[] | undefined = [];

  const inWindow = (): readonly number[] => [
    ...(carried ?? []),
    ...Array.from({ length: count - begin + 1 }, (_, index) => begin + index),
  ];
  const lastOf = (hash: number, taken: ReadonlySet<number>): number | undefined => {
    for (let number = count; number >= begin; number--)
      if (keys[number - 1] === hash && !taken.has(number)) return number;
    return carried?.findLast((number) => keys[number - 1] === hash && !taken.has(number));
  };
  const keptNumbers = (kept: KeptMessages): ReadonlySet<number> | undefined => {
    const numbers = new Set<number>();
    if ('from' in kept) {
      const from = lastOf(hashOf(kept.from), numbers);
      const to = lastOf(hashOf(kept.to), numbers);
      if (from === undefined || to === undefined) return undefined;
      for (let number = from; number <= to; number++) numbers.add(number);
      return numbers;
    }
    for (const key of kept.keys.toReversed()) {
      const number = lastOf(hashOf(key), numbers);
      if (number !== undefined) numbers.add(number);
    }
    return numbers;
  };

  return {
    add: (key, line = 0) => {
      if (count === keys.length) [keys, lines] = [twiceAsLong(keys), twiceAsLong(lines)];
      keys[count] = hashOf(key);
      lines[count] = line;
      count += 1;
    },
    rename: (key) => void (keys[count - 1] = hashOf(key)),
    dropLast: () => void (count = Math.max(begin - 1, count - 1)),
    dropFrom: (line) => {
      while (count >= begin && (lines[count - 1] ?? 0) >= line) count -= 1;
    },
    count: () => count,
    replace: (kept) => {
      const numbers = kept && carried ? keptNumbers(kept) : undefined;
      const replaced = numbers && rangesOf(inWindow().filter((number) => !numbers.has(number)));
      carried = numbers && [...numbers].toSorted((a, b) => a - b);
      begin = count + 1;
      return replaced;
    },
    rewrite: () => undefined,
    cutBack: () => undefined,
  };
};

const twiceAsLong = (numbers: Float64Array): Float64Array<ArrayBuffer> => {
  const more = new Float64Array(numbers.length * 2);
  more.set(numbers);
  return more;
};

/** For agents that write a message again when it has changed, and the whole conversation after a compaction. */
export const makeMessagesById = (): Messages => {
  let order: number[] = [];
  let known = new Set<number>();
  const put = (key: string): void => {
    const hash = hashOf(key);
    if (key !== '' && known.has(hash)) return;
    known.add(hash);
    order.push(hash);
  };
  return {
    add: put,
    rename: () => undefined,
    dropLast: () => undefined,
    dropFrom: () => undefined,
    count: () => order.length,
    replace: () => undefined,
    rewrite: (keys) => {
      order = [];
      known = new Set();
      keys.forEach(put);
    },
    cutBack: (key) => {
      const at = order.indexOf(hashOf(key));
      order = at < 0 ? [] : order.slice(0, at); // for an unknown id the agent drops everything
      known = new Set(order);
    },
  };
};

const rangesOf = (numbers: readonly number[]): readonly MessageRange[] => {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] + 1 === number) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
};
