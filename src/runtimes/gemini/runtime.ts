import { startsConversation } from '../launch-rules.js';
import type { Runtime } from '../runtime.js';
import { geminiContents } from './contents.js';
import { isDocumentHead } from './document.js';
import { geminiHome } from './home.js';
import { command, launchRules, npmPackage } from './launch.js';
import { geminiReader } from './log.js';
import { geminiCompaction, usualTrigger } from './own-compaction.js';
import { locateGemini } from './paths.js';
import { geminiRecipe } from './recipe.js';
import { isGeminiRecord } from './records.js';
import { geminiScreen } from './screen.js';

export const gemini: Runtime = {
  name: 'gemini',
  command,
  npmPackage,
  home: geminiHome,
  isInteractive: (args) => startsConversation(launchRules, args),
  nativeTrigger: () => usualTrigger,
  ownCompaction: geminiCompaction,
  log: {
    locate: locateGemini,
    reader: geminiReader,
    recognises: isGeminiRecord,
    recognisesDocument: isDocumentHead,
    contents: geminiContents,
  },
  recipe: () => geminiRecipe,
  screen: geminiScreen,
};
