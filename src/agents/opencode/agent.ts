import { posix } from 'node:path';
import type { NativeTrigger } from '../../core/build-ladder.js';
import { isRecord } from '../../core/json.js';
import type { Agent } from '../agent.js';
import type { AgentHome } from '../home.js';
import { type OwnCompactionSource, parseCommentedJson, readSettingsFiles } from '../own-compaction.js';
import { opencodeChannel } from './channel.js';
import { isOpencodeLine, locateOpencode, opencodeDatabase, opencodeFolder } from './files.js';
import { opencodeLaunch } from './launch.js';
import { opencodeScreen } from './screen.js';
import { opencodeReader, opencodeSession } from './session.js';

const opencodeHome: AgentHome = {
  played: ['1.18.33', '1.17.19'],
  usualWindowTokens: 200_000,
  sessions: opencodeFolder,
};

const MOST_ANSWER_TOKENS = 32_000; // what it keeps free for an answer, or less where the model allows less

/** It compacts after a turn that leaves less than an answer's room (docs/facts/opencode.md). */
const usualTrigger: NativeTrigger = { share: 1, reserveTokens: MOST_ANSWER_TOKENS };

const opencodeCompaction: OwnCompactionSource = {
  isReadOnce: true,
  read: async (port, { env, home, cwd }) => {
    const off = env['OPENCODE_DISABLE_AUTOCOMPACT'];
    if (off === '1' || off === 'true')
      return {
        trigger: undefined,
        settings: [{ name: 'OPENCODE_DISABLE_AUTOCOMPACT', value: off, place: 'the environment' }],
      };
    const folder = posix.join(env['XDG_CONFIG_HOME'] || posix.join(home, '.config'), 'opencode');
    const paths = [
      ...['config.json', 'opencode.json', 'opencode.jsonc'].map((name) => posix.join(folder, name)),
      ...(env['OPENCODE_CONFIG'] ? [posix.resolve(cwd, env['OPENCODE_CONFIG'])] : []),
      ...['opencode.json', 'opencode.jsonc'].map((name) => posix.join(cwd, name)),
    ];
    const files = await readSettingsFiles(port, paths, parseCommentedJson);
    const settings = files.flatMap(({ place, settings: { compaction } }) =>
      isRecord(compaction) && typeof compaction['auto'] === 'boolean'
        ? [{ name: 'compaction.auto', value: String(compaction['auto']), place }]
        : [],
    );
    const last = settings.at(-1);
    return last?.value === 'false'
      ? { trigger: undefined, settings: [last] }
      : { trigger: usualTrigger, settings: last ? [last] : [] };
  },
};

export const opencode: Agent = {
  ...opencodeLaunch,
  home: opencodeHome,
  nativeTrigger: () => usualTrigger,
  ownCompaction: opencodeCompaction,
  log: {
    locate: locateOpencode,
    database: opencodeDatabase,
    reader: opencodeReader,
    recognises: isOpencodeLine,
    conversation: opencodeSession,
  },
  channel: opencodeChannel,
  screen: opencodeScreen,
};
