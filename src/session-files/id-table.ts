// Ids of records, by a hash of each: a long file has hundreds of thousands.

/** FNV-1a, twice 26 bits of it: enough to tell apart the records of one file. */
export const hashOf = (text: string): number => {
  let [low, high] = [0x811c9dc5, 0x1000193];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ (unit + index), 0x85ebca6b);
  }
  return (low >>> 6) * 0x4000000 + (high >>> 6);
};

/** Which ids have been seen, and since when. */
export interface IdTable {
  /** the era in which it was added first; undefined for one that was not */
  readonly eraOf: (hash: number) => number | undefined;
  /** a hash that is not in it */
  readonly add: (hash: number, era: number) => void;
}

const FIRST_SLOTS = 1024;
const FREE = -1;

/** A table with open addressing: a fourth of the memory of a Map of numbers. */
export const makeIdTable = (): IdTable => {
  let keys = new Float64Array(FIRST_SLOTS).fill(FREE);
  let eras = new Int32Array(FIRST_SLOTS);
  let count = 0;

  /** where it is, or would be */
  const slotOf = (hash: number): number => {
    const mask = keys.length - 1;
    let slot = (hash ^ (hash / 0x4000000)) & mask;
    while (keys[slot] !== FREE && keys[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
  };
  const put = (hash: number, era: number): void => {
    const slot = slotOf(hash);
    keys[slot] = hash;
    eras[slot] = era;
  };
  const grow = (): void => {
    const [oldKeys, oldEras] = [keys, eras];
    keys = new Float64Array(oldKeys.length * 2).fill(FREE);
    eras = new Int32Array(keys.length);
    for (const [slot, hash] of oldKeys.entries()) if (hash !== FREE) put(hash, oldEras[slot] ?? 0);
  };

  return {
    eraOf: (hash) => {
      const slot = slotOf(hash);
      return keys[slot] === hash ? eras[slot] : undefined;
    },
    add: (hash, era) => {
      count += 1;
      if (count * 4 > keys.length * 3) grow();
      put(hash, era);
    },
  };
};
