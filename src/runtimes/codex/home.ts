import { posix } from 'node:path';
import { ownSettingIn } from '../agent-home.js';
import type { AgentHome } from '../agent-home.js';
import { codexFolder } from './paths.js';

// 95 % of the 272 000 of its usual model, as it reports them (facts/codex.md §10)
const USUAL_TOKENS = 258_400;

export const codexHome: AgentHome = {
  played: ['0.169.0', '0.154.0'],
  usualWindowTokens: USUAL_TOKENS,
  sessions: (where) => posix.join(codexFolder(where), 'sessions'),
  ownSetting: (port, where) =>
    ownSettingIn(port, [
      {
        file: posix.join(codexFolder(where), 'config.toml'),
        name: 'model_auto_compact_token_limit',
        pattern: /^\s*model_auto_compact_token_limit\s*=\s*([\d_]+)/m,
        triggerOf: (value) => {
          const tokens = Number(value.replaceAll('_', ''));
          return tokens > 0 ? { trigger: { share: tokens / USUAL_TOKENS, reserveTokens: 0 } } : undefined;
        },
      },
    ]),
};
