import { posix } from 'node:path';
import type { AgentHome } from '../agent-home.js';
import { configFolder } from './paths.js';
import { STANDARD_TOKENS } from './window.js';

export const claudeHome: AgentHome = {
  played: ['2.1.330', '2.1.263', '2.1.197'],
  usualWindowTokens: STANDARD_TOKENS,
  sessions: (where) => posix.join(configFolder(where), 'projects'),
};
