import { posix } from 'node:path';
import type { AgentHome } from '../agent-home.js';
import { geminiFolder } from './paths.js';
import { geminiWindowTokens } from './window.js';

export const geminiHome: AgentHome = {
  played: ['0.61.0', '0.58.0'],
  usualWindowTokens: geminiWindowTokens(''),
  sessions: (where) => posix.join(geminiFolder(where), 'tmp'),
};
