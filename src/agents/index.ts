import type { Runtime } from './agent.js';
import { claude } from './claude/agent.js';
import { codex } from './codex/agent.js';
import { demo } from './demo/agent.js';
import { gemini } from './gemini/agent.js';
import { qwen } from './qwen/agent.js';

/** Any other command: nothing is known about it, so nothing is read, and its text is counted. */
const generic: Runtime = {
  name: 'generic',
  isInteractive: () => true,
  nativeTrigger: () => undefined,
  isEstimated: true,
};

/** All runtimes by name. */
export const runtimes = { claude, codex, gemini, qwen, demo, generic } as const satisfies Record<
  string,
  Runtime
>;

/** Ours as the user has changed them, and then the user's own; each name once. */
export const allRuntimes = (own: readonly Runtime[] = []): readonly Runtime[] => {
  const ours = Object.values<Runtime>(runtimes);
  const changed = ours.map((each) => own.find(({ name }) => name === each.name) ?? each);
  return [...changed, ...own.filter((each) => !ours.some(({ name }) => name === each.name))];
};
