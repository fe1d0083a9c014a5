import { startsConversation } from '../launch-rules.js';
import type { Runtime } from '../runtime.js';
import { codexContents } from './contents.js';
import { codexHome } from './home.js';
import { command, launchRules, npmPackage } from './launch.js';
import { codexReader } from './log.js';
import { codexCompaction, usualTrigger } from './own-compaction.js';
import { locateCodex } from './paths.js';
import { recipe } from './recipe.js';
import { isCodexRecord } from './records.js';
import { screen } from './screen.js';
import { stateIn } from './status.js';

export const codex: Runtime = {
  name: 'codex',
  command,
  npmPackage,
  home: codexHome,
  isInteractive: (args) => startsConversation(launchRules, args),
  nativeTrigger: () => usualTrigger,
  ownCompaction: codexCompaction,
  log: {
    locate: locateCodex,
    reader: codexReader,
    stateIn,
    recognises: isCodexRecord,
    contents: codexContents,
  },
  recipe,
  screen,
};
