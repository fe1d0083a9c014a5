import { posix } from 'node:path';
import { ownSettingIn } from '../agent-home.js';
import type { AgentHome, Homestead } from '../agent-home.js';
import { configFolder } from './paths.js';
import { STANDARD_TOKENS } from './window.js';

// `autoCompactEnabled` is kept in ~/.claude.json, `autoCompactWindow` in the settings (facts/claude.md §6)
const stateFile = ({ env, home }: Homestead): string =>
  posix.join(env['CLAUDE_CONFIG_DIR'] || home, '.claude.json');

export const claudeHome: AgentHome = {
  played: ['2.1.330', '2.1.263', '2.1.197'],
  usualWindowTokens: STANDARD_TOKENS,
  sessions: (where) => posix.join(configFolder(where), 'projects'),
  ownSetting: (port, where) =>
    ownSettingIn(port, [
      {
        file: stateFile(where),
        name: 'autoCompactEnabled',
        pattern: /"autoCompactEnabled"\s*:\s*(false)/,
        triggerOf: () => ({ trigger: undefined }),
      },
    ]),
};
