// Process trees on Linux.
import { readdirSync, readFileSync } from 'node:fs';

/** A process and its descendants. */
export const processTree = (pid: number): readonly number[] => {
  const parents = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), parent: parentOf(name) }));
  const below = (from: number): readonly number[] => [
    from,
    ...parents.filter(({ parent }) => parent === from).flatMap((each) => below(each.pid)),
  ];
  return below(pid);
};

const parentOf = (name: string): number | undefined => {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1]);
  } catch {
    return undefined; // it has ended meanwhile
  }
};
