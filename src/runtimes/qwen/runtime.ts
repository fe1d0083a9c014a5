import { startsConversation } from '../launch-rules.js';
import type { Runtime } from '../runtime.js';
import { qwenContents } from './contents.js';
import { qwenLadder } from './ladder.js';
import { qwenHome } from './home.js';
import { command, launchRules, npmPackage } from './launch.js';
import { qwenReader } from './log.js';
import { locateQwen } from './paths.js';
import { qwenRecipe } from './recipe.js';
import { isQwenRecord } from './records.js';
import { qwenScreen } from './screen.js';
import { stateIn } from './status.js';

// context.autoCompactThreshold and what Qwen keeps free for the summary and itself (facts/qwen.md); it acts at the lower one.
const NATIVE = { share: 0.85, reserveTokens: 0, leastFreeTokens: 33_000 };

export const qwen: Runtime = {
  name: 'qwen',
  command,
  npmPackage,
  home: qwenHome,
  isInteractive: (args) => startsConversation(launchRules, args),
  nativeTrigger: () => NATIVE,
  ownLadder: (windowTokens) => qwenLadder(windowTokens),
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
