import fc from 'fast-check';

const fuzz = Number(process.env['FUZZ'] ?? 1);

/**
 * How often a property is tried: as often as it says, with the same cases each time, so that a failure is caused by the change. `FUZZ=20`
 * tries new cases, twenty times as many. A failure prints its seed.
 */
export const runs = (count: number, seed?: number) => ({
  numRuns: count * fuzz,
  ...(seed === undefined || fuzz > 1 ? {} : { seed }),
});

const SEED = 20_261_128; // any fixed number: a property that names no seed tries the same cases every time

// for what a property does not say itself
fc.configureGlobal(fuzz > 1 ? runs(100) : { seed: SEED });
