import type { AgentLaunch } from './agent.js';
import { claudeLaunch } from './claude/launch.js';
import { codexLaunch } from './codex/launch.js';
import { copilotLaunch } from './copilot/launch.js';
import { demoLaunch } from './demo/launch.js';
import { geminiLaunch } from './gemini/launch.js';
import { kimiLaunch } from './kimi/launch.js';
import { opencodeLaunch } from './opencode/launch.js';
import { qwenLaunch } from './qwen/launch.js';

// What a launch needs of each agent. What reads its screens and its session files is in index.ts, which no start waits for.

/** Any other command: nothing is known about it. */
export const genericLaunch = { name: 'generic', isInteractive: () => true } as const satisfies AgentLaunch;

/** All built-in runtimes, in the order in which they are listed. */
export const launches: readonly AgentLaunch[] = [
  claudeLaunch,
  codexLaunch,
  geminiLaunch,
  qwenLaunch,
  opencodeLaunch,
  copilotLaunch,
  kimiLaunch,
  demoLaunch,
  genericLaunch,
];

/** The agents that `ctxwrap NAME` starts. */
export const agentWords: readonly string[] = launches.flatMap(({ name, command }) =>
  command === undefined ? [] : [name],
);
