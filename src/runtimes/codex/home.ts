import { posix } from 'node:path';
import type { AgentHome } from '../agent-home.js';
import { codexFolder } from './paths.js';

// 95 % of the 272 000 of its usual model, as it reports them (facts/codex.md §10)
const USUAL_TOKENS = 258_400;

export const codexHome: AgentHome = {
  played: ['0.169.0', '0.154.0'],
  usualWindowTokens: USUAL_TOKENS,
  sessions: (where) => posix.join(codexFolder(where), 'sessions'),
};
