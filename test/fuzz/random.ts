/** Chance that can be had again: the same seed gives the same choices. */
export interface Random {
  /** from 0 to below 1 */
  readonly next: () => number;
  /** a whole number, both ends included */
  readonly between: (least: number, most: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly one: <T>(choices: readonly T[]) => T;
}

/** Mulberry32, by Tommy Ettinger: 32 bits of state are enough for a few million cases. */
export const makeRandom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    one: (choices) => {
      const index = between(0, choices.length - 1);
      if (choices.length === 0) throw new Error('nothing to choose from');
      return choices[index] as (typeof choices)[number];
    },
  };
};
