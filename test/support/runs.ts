import fc from 'fast-check';

const fuzz = Number(process.env['FUZZ'] ?? 1);

/**
 * How often a property is tried: as often as it says, with the seed it says, so that a failure is caused by the change. `FUZZ=20` tries
 * new cases, twenty times as many. A failure prints its seed.
 */
export const runs = (count: number, seed?: number) => ({
  numRuns: count * fuzz,
  ...(seed === undefined || fuzz > 1 ? {} : { seed }),
});

// for the properties that say nothing
if (fuzz > 1) fc.configureGlobal(runs(100));
