import { startsConversation } from '../launch-rules.js';
import type { Runtime } from '../runtime.js';
import { claudeContents } from './contents.js';
import { claudeHome } from './home.js';
import { command, launchRules, npmPackage } from './launch.js';
import { claudeReader } from './log.js';
import { official } from './official.js';
import { locateClaude } from './paths.js';
import { recipe } from './recipe.js';
import { isClaudeRecord } from './records.js';
import { screen } from './screen.js';
import { titleSigns } from './title-signs.js';
import { claudeCompaction } from './own-compaction.js';
import { derivedWindow, nativeTrigger } from './window.js';

export const claude: Runtime = {
  name: 'claude',
  command,
  npmPackage,
  home: claudeHome,
  isInteractive: (args) => startsConversation(launchRules, args),
  nativeTrigger,
  ownCompaction: claudeCompaction,
  log: { locate: locateClaude, reader: claudeReader, recognises: isClaudeRecord, contents: claudeContents },
  official,
  recipe,
  screen,
  titleSigns,
  derivedWindow,
};
