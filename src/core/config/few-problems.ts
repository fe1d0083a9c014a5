import type { Origin, Problem } from './setting.js';

/** Of one kind in one file. Whoever has more looks at the file anyway, and each takes time to be put into words. */
const MOST_TOLD = 10;

/** The first problems of each kind and file, and behind all of them how many more there are. */
export const fewOf = (problems: readonly Problem[]): readonly Problem[] => {
  const groups = new Map<string, { count: number; first: Problem; isError: boolean }>();
  const told = problems.filter((problem) => {
    const name = groupOf(problem);
    const group = groups.get(name) ?? { count: 0, first: problem, isError: false };
    group.count += problem.kind === 'more' ? problem.count : 1;
    if (group.count > MOST_TOLD) group.isError ||= problem.level === 'error';
    groups.set(name, group);
    return group.count <= MOST_TOLD;
  });
  const untold = [...groups.values()].filter(({ count }) => count > MOST_TOLD);
  return [
    ...told,
    ...untold.map(({ count, first, isError }): Problem => ({
      kind: 'more',
      level: isError ? 'error' : 'warning',
      of: kindOf(first),
      count: count - MOST_TOLD,
      origin: withoutPlace(first.origin),
    })),
  ];
};

/** How many there are, those that are only counted included. */
export const countOf = (problems: readonly Problem[]): number =>
  problems.reduce((sum, problem) => sum + (problem.kind === 'more' ? problem.count : 1), 0);

/** What is wrong, also where it is only counted. */
export const kindOf = (problem: Problem): Exclude<Problem['kind'], 'more'> =>
  problem.kind === 'more' ? problem.of : problem.kind;

const groupOf = (problem: Problem): string => {
  const { layer, file, place } = problem.origin;
  return JSON.stringify([layer, layer === 'env' ? file : place, kindOf(problem)]);
};

/** A name of the environment is that of one problem only, as is a position. */
const withoutPlace = ({ layer, file, place }: Origin): Origin => {
  if (layer !== 'env') return { layer, ...(place === undefined ? {} : { place }) };
  return file === undefined ? { layer } : { layer, file };
};
