import { describe, expect, it } from 'vitest';
import { caseOf } from '../fuzz/case.js';
import { play } from '../fuzz/play.js';

const AT_ONCE = 10; // cases; the emulator takes pauses
const firstSeeds = Array.from({ length: 15 }, (_, index) => 1 + index * AT_ONCE);

/** Differences, by seed: `npm run fuzz -- --runs 1 --seed N` shows the smallest output for it. */
const faultsFrom = async (first: number, isKnown: boolean): Promise<readonly string[]> => {
  const seeds = Array.from({ length: AT_ONCE }, (_, index) => first + index);
  const faults = await Promise.all(seeds.map((seed) => play(caseOf(seed, isKnown))));
  return faults.flatMap((fault, index) => (fault === undefined ? [] : [`seed ${seeds[index]}: ${fault}`]));
};

describe('random output', () => {
  it.each(firstSeeds)(
    'looks and answers as without the footer in a known terminal, from seed %i',
    async (first) => {
      expect(await faultsFrom(first, true)).toEqual([]);
    },
  );

  it.each(firstSeeds)(
    'never writes to the footer row in an unknown terminal, from seed %i',
    async (first) => {
      expect(await faultsFrom(first, false)).toEqual([]);
    },
  );
});
