import { startsConversation } from '../launch-rules.js';
import type { Runtime } from '../runtime.js';
import { codexContents } from './contents.js';
import { codexHome } from './home.js';
import { command, launchRules, npmPackage } from './launch.js';
import { codexReader } from './log.js';
import { locateCodex } from './paths.js';
import { recipe } from './recipe.js';
import { isCodexRecord } from './records.js';
import { screen } from './screen.js';
import { stateIn } from './status.js';

// Codex compacts at 90 % of the raw window and reports 95 % of it as the window; no setting switches that off.
const NATIVE = { share: 0.9 / 0.95, reserveTokens: 0 };

export const codex: Runtime = {
  name: 'codex',
  command,
  npmPackage,
  home: codexHome,
  isInteractive: (args) => startsConversation(launchRules, args),
  nativeTrigger: () => NATIVE,
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
