import type { NativeTrigger } from '../../core/build-ladder.js';
import { getRecord, getText, type JsonRecord } from '../../core/json.js';
import type { Agent, CompactRecipe } from '../agent.js';
import type { AgentHome } from '../home.js';
import {
  type LaunchRules,
  optionsForRestart,
  type RestartRules,
  splitWords,
  startsConversation,
} from '../launch.js';
import { copilotSessions, idInPath, locateCopilot, parseStatus, sessionFile } from './files.js';
import { copilotNewSessions } from './new-session.js';
import { copilotScreen } from './screen.js';
import { copilotReader, copilotSession } from './session.js';

const copilotHome: AgentHome = {
  played: ['1.0.102', '1.0.92'],
  usualWindowTokens: 128_000,
  sessions: copilotSessions,
  sessionFile,
  idInPath,
};

/** GitHub Copilot CLI 1.0.102, from its --help; a bare word is a subcommand, `-i` opens a conversation with a prompt. */
const launchRules: LaunchRules = {
  plainFlags: splitWords('-p --prompt -h --help -v --version --acp --environment-host'),
  plainCommands: splitWords(`
    app login help init config update version workflow sessions memories plugin mcp skill instruction lsp sandbox
    completion
  `),
  valueFlags: splitWords(`
    -i --interactive -p --prompt --model --reasoning-effort --context --auto-tier --agent -r --resume -n --name
    --session-id --connect -C --log-dir --extension-sdk-path --log-level --stream --output-format --share --add-dir
    --attachment --disable-mcp-server --add-github-mcp-toolset --add-github-mcp-tool --plugin-dir
    --additional-mcp-config --mcp-github-auth --allow-tool --deny-tool --available-tools --excluded-tools
    --secret-env-vars --allow-url --deny-url --max-autopilot-continues --mode --bash-env --mouse
    --environment-compute-id --dynamic-retrieval --enable-mcp-server --max-ai-credits --usage-output-file
  `),
};

const restartRules: RestartRules = {
  sessionFlags: splitWords('-r --resume --continue -n --name --session-id -i --interactive --fleet'),
  listFlags: splitWords(`
    --allow-tool --deny-tool --available-tools --excluded-tools --secret-env-vars --allow-url --deny-url
  `),
  elsewhereFlags: splitWords('-C --worktree --connect'),
};

/** In the background, when a request is at least so full (docs/facts/copilot.md). It has no setting for it. */
const usualTrigger: NativeTrigger = { share: 0.8, reserveTokens: 0 };

/** docs/facts/copilot.md. Typed during a turn it would be sent to the model, so the end is waited for. */
const copilotRecipe: CompactRecipe = {
  command: '/compact',
  takesFocus: true,
  isPasted: false,
  pauseMs: 150,
  submit: '\r',
  startMs: 10_000,
  finishMs: 300_000, // a real compaction takes 10 to 120 s; longer is reported as a timeout
  isListed: true,
};

/** A record that only Copilot CLI writes. */
const isCopilotRecord = (record: JsonRecord): boolean =>
  typeof record['id'] === 'string' &&
  'parentId' in record &&
  getRecord(record, 'data') !== undefined &&
  /^(?:session|user|assistant|system|tool|permission|model|abort)(?:\.|$)/.test(
    getText(record, 'type') ?? '',
  );

export const copilot: Agent = {
  name: 'copilot',
  command: 'copilot',
  npmPackage: '@github/copilot',
  home: copilotHome,
  isInteractive: (args) => startsConversation(launchRules, args),
  nativeTrigger: () => usualTrigger,
  log: {
    locate: locateCopilot,
    reader: copilotReader,
    stateIn: parseStatus,
    recognises: isCopilotRecord,
    conversation: copilotSession,
  },
  newSessions: copilotNewSessions,
  restarting: {
    exitCommand: '/exit',
    options: (args) => optionsForRestart({ ...launchRules, ...restartRules }, args),
  },
  recipe: () => copilotRecipe,
  screen: copilotScreen,
};
