import { runtimes } from '../runtimes/index.js';
import type { Runtime } from '../runtimes/runtime.js';

/** Ours as the user has changed them, and then the user's own; each name once. */
export const allRuntimes = (own: readonly Runtime[] = []): readonly Runtime[] => {
  const ours = Object.values<Runtime>(runtimes);
  const changed = ours.map((each) => own.find(({ name }) => name === each.name) ?? each);
  return [...changed, ...own.filter((each) => !ours.some(({ name }) => name === each.name))];
};
