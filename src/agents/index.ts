import type { Agent } from './agent.js';
import { claude } from './claude/agent.js';
import { codex } from './codex/agent.js';
import { copilot } from './copilot/agent.js';
import { demo } from './demo/agent.js';
import { gemini } from './gemini/agent.js';
import { kimi } from './kimi/agent.js';
import { genericLaunch } from './launches.js';
import { opencode } from './opencode/agent.js';
import { qwen } from './qwen/agent.js';

/** Any other command: nothing is known about it, so nothing is read and its text is counted. */
const generic: Agent = {
  ...genericLaunch,
  nativeTrigger: () => undefined,
  isEstimated: true,
};

/** All built-in runtimes by name. */
export const agents = {
  claude,
  codex,
  gemini,
  qwen,
  opencode,
  copilot,
  kimi,
  demo,
  generic,
} as const satisfies Record<string, Agent>;

/** The built-in agents with the user's changes, then the user's own; each name once. */
export const allAgents = (own: readonly Agent[] = []): readonly Agent[] => {
  const ours = Object.values<Agent>(agents);
  const changed = ours.map((each) => own.find(({ name }) => name === each.name) ?? each);
  return [...changed, ...own.filter((each) => !ours.some(({ name }) => name === each.name))];
};
