import { claude } from './claude.js';
import { codex } from './codex.js';
import { copilot } from './copilot.js';
import { gemini } from './gemini.js';
import { kimi } from './kimi.js';
import type { AgentCommands } from './known.js';
import { opencode } from './opencode.js';
import { qwen } from './qwen.js';

/** By the agent's name. */
export const commands: Readonly<Record<string, AgentCommands>> = {
  claude,
  codex,
  gemini,
  qwen,
  opencode,
  copilot,
  kimi,
};
