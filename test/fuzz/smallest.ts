import type { Case, Step } from './case.js';
import { play } from './play.js';

const PATIENCE = 500; // plays

const withSteps = (each: Case, steps: readonly Step[]): Case => ({ ...each, steps });

/** The smallest case that can be found by leaving out steps, cuts and paints, and that still has a fault. */
export const smallest = async (found: Case): Promise<Case> => {
  let best = found;
  let plays = 0;
  const isBetter = async (candidate: Case): Promise<boolean> => {
    plays += 1;
    if (plays > PATIENCE || (await play(candidate).catch(String)) === undefined) return false;
    best = candidate;
    return true;
  };
  for (let size = best.steps.length; size >= 1; size = Math.floor(size / 2))
    for (let from = 0; from < best.steps.length;) {
      const steps = best.steps.filter((_, index) => index < from || index >= from + size);
      if (!(await isBetter(withSteps(best, steps)))) from += size;
    }
  for (const key of ['isPainted', 'isEnd'] as const)
    for (let index = 0; index < best.steps.length; index += 1)
      if (best.steps[index]?.[key] === true)
        await isBetter(
          withSteps(
            best,
            best.steps.map((step, at) => (at === index ? { ...step, [key]: false } : step)),
          ),
        );
  if (best.isOverdue) await isBetter({ ...best, isOverdue: false });
  return best;
};
