import { posix } from 'node:path';
import type { NativeTrigger } from '../../core/build-ladder.js';
import { isRecord, type JsonRecord } from '../../core/json.js';
import type { Agent } from '../agent.js';
import type { AgentHome } from '../home.js';
import { splitWords } from '../launch.js';
import {
  parseCommentedJson,
  findLastNumber,
  readSettingsFiles,
  type OwnCompactionSource,
} from '../own-compaction.js';
import { type PrintMode, SUMMARISER_ROLE } from '../print-mode.js';
import { geminiLaunch } from './launch.js';
import { geminiNewSessions } from './new-session.js';
import { isDocumentHead } from './document.js';
import { foldersOf, geminiFolder, idInPath, locateGemini, projectOf, sessionFile } from './files.js';
import { geminiWindowTokens } from './message.js';
import { geminiScreen } from './screen.js';
import { geminiReader, geminiSession } from './session.js';

const geminiHome: AgentHome = {
  played: ['0.61.0', '0.58.0'],
  usualWindowTokens: geminiWindowTokens(''),
  sessions: (where) => posix.join(geminiFolder(where), 'tmp'),
  sessionFile,
  idInPath,
  projectOf,
};

// Gemini's own compaction (docs/facts/gemini.md#compaction): at `model.compressionThreshold` of the window, 0.5 by default.

const usualTrigger: NativeTrigger = { share: 0.5, reserveTokens: 0 };

// the current name, and those of older versions
const NAMES = [
  'chatCompression.contextPercentageThreshold',
  'model.chatCompression.contextPercentageThreshold',
  'model.compressionThreshold',
];

const geminiCompaction: OwnCompactionSource = {
  isReadOnce: true,
  read: async (port, where) => {
    const { env, cwd } = where;
    const paths = [
      env['GEMINI_CLI_SYSTEM_DEFAULTS_PATH'] || '/etc/gemini-cli/system-defaults.json',
      posix.join(geminiFolder(where), 'settings.json'),
      posix.join(cwd, '.gemini', 'settings.json'),
      env['GEMINI_CLI_SYSTEM_SETTINGS_PATH'] || '/etc/gemini-cli/settings.json',
    ];
    const files = await readSettingsFiles(port, paths, parseCommentedJson);
    const found = findLastNumber(files, NAMES, (share) => Number.isFinite(share) && share >= 0);
    if (!found || found.number === 0) return { trigger: usualTrigger, settings: [] }; // Gemini treats 0 as not set
    const { number: share, ...setting } = found;
    return { trigger: share < 1 ? { share, reserveTokens: 0 } : undefined, settings: [setting] };
  },
};

const NO_TOOLS = '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n';

/**
 * Seen with 0.61.0 and 0.58.0: no tool in the request, no hook and no MCP server started. Its records cannot be switched off. The settings of
 * a folder count only if it is trusted, and without trust Gemini does not answer at all. `--admin-policy` is ignored where the machine has
 * policies of its own; `--policy` is not.
 */
const printMode: PrintMode = {
  args: splitWords(`
    --policy none.toml --admin-policy none.toml --approval-mode default -e none --allowed-mcp-server-names none -o text
  `),
  env: { GEMINI_CLI_TRUST_WORKSPACE: 'true', GEMINI_SYSTEM_MD: 'true' },
  files: {
    'none.toml': NO_TOOLS,
    '.gemini/settings.json': JSON.stringify({
      hooksConfig: { enabled: false },
      tools: { enableHooks: false },
    }),
    '.gemini/system.md': `${SUMMARISER_ROLE}\n`,
  },
  leftovers: foldersOf,
};

const OWN_TYPES = /^(?:user|gemini|info|error|warning)$/;

/** A record that only Gemini CLI writes: the head of the document, a patch of it, or a message with an id and content. */
const isGeminiRecord = (record: JsonRecord): boolean => {
  const { type, id, content, uuid, message } = record;
  if (isRecord(record['$set']) || record['$rewindTo'] !== undefined) return true;
  if (record['projectHash'] !== undefined && record['sessionId'] !== undefined) return true;
  const isMessage = typeof type === 'string' && OWN_TYPES.test(type) && typeof id === 'string';
  return isMessage && content !== undefined && uuid === undefined && message === undefined;
};

export const gemini: Agent = {
  ...geminiLaunch,
  home: geminiHome,
  nativeTrigger: () => usualTrigger,
  ownCompaction: geminiCompaction,
  log: {
    leavesOutFixed: true,
    locate: locateGemini,
    reader: geminiReader,
    recognises: isGeminiRecord,
    recognisesDocument: isDocumentHead,
    conversation: geminiSession,
  },
  newSessions: geminiNewSessions,
  readsMentions: true,
  foldsPastes: { lines: 5, characters: 500 },
  printMode,
  screen: geminiScreen,
};
