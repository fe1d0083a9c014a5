import { posix } from 'node:path';
import type { NativeTrigger } from '../../core/build-ladder.js';
import { isRecord, type JsonRecord } from '../../core/json.js';
import type { CompactRecipe, Agent } from '../agent.js';
import { familyRecipe } from '../gemini-family.js';
import type { AgentHome } from '../home.js';
import {
  splitWords,
  type LaunchRules,
  optionsForRestart,
  type RestartRules,
  startsConversation,
} from '../launch.js';
import {
  parseCommentedJson,
  findLastNumber,
  readSettingsFiles,
  type OwnCompactionSource,
} from '../own-compaction.js';
import { type PrintMode, SUMMARISER_ROLE } from '../print-mode.js';
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

const command = 'gemini';
const npmPackage = '@google/gemini-cli';

/** Gemini CLI 0.61.0, from its --help; `-i` and a bare prompt stay in the terminal (docs/facts/gemini.md#ends-and-starts-without-a-terminal). */
const launchRules: LaunchRules = {
  plainFlags: splitWords(`
    -p --prompt -h --help -v --version --acp --experimental-acp
    -l --list-extensions --list-sessions --delete-session
  `),
  plainCommands: splitWords('mcp extensions extension skills skill hooks hook gemma'),
  valueFlags: splitWords(`
    -m --model -i --prompt-interactive -w --worktree --approval-mode --policy
    --admin-policy --allowed-mcp-server-names --allowed-tools -e --extensions -r --resume
    --session-file --session-id --include-directories -o --output-format
  `),
};

/** From the same --help: a new start with a session takes no prompt and no other session. */
const restartRules: RestartRules = {
  sessionFlags: splitWords('-r --resume --session-id --session-file -i --prompt-interactive'),
  elsewhereFlags: splitWords('-w --worktree'),
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

/** docs/facts/gemini.md#keys: Enter within 30 ms of a key is a newline, hence the pause; text after the command is ignored. */
const geminiRecipe: CompactRecipe = { ...familyRecipe, takesFocus: false };

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
  name: 'gemini',
  command,
  npmPackage,
  home: geminiHome,
  isInteractive: (args) => startsConversation(launchRules, args),
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
  restarting: {
    exitCommand: '/quit',
    options: (args) => optionsForRestart({ ...launchRules, ...restartRules }, args),
  },
  readsMentions: true,
  foldsPastes: { lines: 5, characters: 500 },
  printMode,
  recipe: () => geminiRecipe,
  screen: geminiScreen,
};
