import type { LabAgent } from './agent.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { copilot } from './copilot.js';
import { gemini } from './gemini.js';
import { kimi } from './kimi.js';
import { opencode } from './opencode.js';
import { qwen } from './qwen.js';

export const agents: readonly LabAgent[] = [claude, codex, gemini, qwen, opencode, copilot, kimi];
