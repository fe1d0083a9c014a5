import { posix } from 'node:path';
import type { AgentHome } from '../agent-home.js';
import { runtimeFolder } from './paths.js';

const USUAL_TOKENS = 1_000_000; // of its usual coder model (facts/qwen.md)

export const qwenHome: AgentHome = {
  played: ['0.24.4', '0.15.10'],
  usualWindowTokens: USUAL_TOKENS,
  sessions: (where) => posix.join(runtimeFolder(where), 'projects'),
};
