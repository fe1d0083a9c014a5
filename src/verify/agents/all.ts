import type { TriedAgent } from './agent.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import { gemini } from './gemini.js';
import { qwen } from './qwen.js';

/** All that can be tried. */
export const triedAgents: readonly TriedAgent[] = [claude, codex, gemini, qwen];
