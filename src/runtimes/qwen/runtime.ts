import { startsConversation } from '../launch-rules.js';
import type { Runtime } from '../runtime.js';
import { qwenContents } from './contents.js';
import { qwenLadder } from './ladder.js';
import { qwenHome } from './home.js';
import { command, launchRules, npmPackage } from './launch.js';
import { qwenReader } from './log.js';
import { qwenCompaction, usualTrigger } from './own-compaction.js';
import { locateQwen } from './paths.js';
import { qwenRecipe } from './recipe.js';
import { isQwenRecord } from './records.js';
import { qwenScreen } from './screen.js';
import { stateIn } from './status.js';

export const qwen: Runtime = {
  name: 'qwen',
  command,
  npmPackage,
  home: qwenHome,
  isInteractive: (args) => startsConversation(launchRules, args),
  nativeTrigger: () => usualTrigger,
  ownCompaction: qwenCompaction,
  ownLadder: qwenLadder,
  log: {
    locate: locateQwen,
    reader: qwenReader,
    stateIn,
    recognises: isQwenRecord,
    contents: qwenContents,
  },
  recipe: () => qwenRecipe,
  screen: qwenScreen,
};
