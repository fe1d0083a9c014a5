import { startsConversation } from '../launch-rules.js';
import type { Runtime } from '../runtime.js';
import { geminiContents } from './contents.js';
import { isDocumentHead } from './document.js';
import { geminiHome } from './home.js';
import { command, launchRules, npmPackage } from './launch.js';
import { geminiReader } from './log.js';
import { locateGemini } from './paths.js';
import { geminiRecipe } from './recipe.js';
import { isGeminiRecord } from './records.js';
import { geminiScreen } from './screen.js';

// model.compressionThreshold, 0.5 unless the user set it (facts/gemini.md §6.2).
const NATIVE = { share: 0.5, reserveTokens: 0 };

export const gemini: Runtime = {
  name: 'gemini',
  command,
  npmPackage,
  home: geminiHome,
  isInteractive: (args) => startsConversation(launchRules, args),
  nativeTrigger: () => NATIVE,
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
