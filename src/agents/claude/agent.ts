import { posix } from 'node:path';
import type { JsonRecord } from '../../core/json.js';
import type { TitleSigns } from '../../core/reading.js';
import type { CompactRecipe, Env, Agent } from '../agent.js';
import type { AgentHome } from '../home.js';
import {
  splitWords,
  type LaunchRules,
  optionsForRestart,
  type RestartRules,
  startsConversation,
} from '../launch.js';
import { type PrintMode, SUMMARISER_ROLE } from '../print-mode.js';
import { parseAgentState } from '../tested.js';
import { meaningOfState } from './activity.js';
import { claudeNewSessions } from './new-session.js';
import { configFolder, sessionFile } from './files.js';
import { locateClaude } from './locate.js';
import { claudeSession } from './outline.js';
import { claudeReader } from './session.js';
import { claudeScreen } from './screen.js';
import { claudeCompaction, claudeRetention } from './settings.js';
import { hooksText } from './hooks.js';
import { official } from './status-line.js';
import { LARGE_TOKENS, STANDARD_TOKENS, isOn, deriveWindow, limitsWindows, nativeTrigger } from './window.js';

const claudeHome: AgentHome = {
  played: ['2.1.332', '2.1.331', '2.1.330', '2.1.263', '2.1.197'],
  usualWindowTokens: STANDARD_TOKENS,
  largeWindowTokens: LARGE_TOKENS,
  sessions: (where) => posix.join(configFolder(where), 'projects'),
  sessionFile,
  retention: claudeRetention,
};

const command = 'claude';
const npmPackage = '@anthropic-ai/claude-code';

/** Claude Code 2.1.197, from its --help (docs/facts/claude.md#ends-and-starts-without-a-terminal). */
const launchRules: LaunchRules = {
  plainFlags: splitWords('-p --print -h --help -v --version --bg --background --json'), // the last one of `agents`
  plainCommands: splitWords(`
    auth auto-mode doctor gateway install mcp plugin plugins
    project setup-token ultrareview update upgrade import logs stop kill rm respawn purge daemon
  `),
  valueFlags: splitWords(`
    --add-dir --agent --agents --allowedTools --allowed-tools --append-system-prompt
    --betas -d --debug --debug-file --disallowedTools --disallowed-tools --effort
    --fallback-model --file --from-pr --input-format --json-schema --max-budget-usd
    --mcp-config --model -n --name --output-format --permission-mode --plugin-dir
    --plugin-url --remote-control --remote-control-session-name-prefix -r --resume
    --session-id --setting-sources --settings --system-prompt --tools -w --worktree
  `),
};

/** From the same --help: a new start with a session takes no prompt and no other session. */
const restartRules: RestartRules = {
  sessionFlags: splitWords('-r --resume -c --continue --session-id --fork-session --from-pr'),
  listFlags: splitWords(`
    --add-dir --allowedTools --allowed-tools --betas --disallowedTools --disallowed-tools --file --mcp-config --tools
  `),
  elsewhereFlags: splitWords('-w --worktree --tmux --teleport --remote'),
};

// Enter may come at once, but the row is drawn only 100 to 150 ms after it on a busy machine (docs/facts/claude.md#keys).
const PAUSE_MS = 120;
const STASH_PAUSE_MS = 100;

/** `/compact`, or none where the user has disabled it. */
const recipe = (env: Env): CompactRecipe | undefined =>
  isOn(env['DISABLE_COMPACT'])
    ? undefined
    : {
        command: '/compact',
        takesFocus: true,
        isPasted: false,
        pauseMs: PAUSE_MS,
        submit: '\r',
        startMs: 5_000,
        finishMs: 300_000, // a real compaction takes 10 to 120 s; longer is reported as a timeout
        stash: { keys: '\x13', pauseMs: STASH_PAUSE_MS }, // written together with the command, the draft would go to the model
      };

/**
 * Seen with 2.1.331, 2.1.263 and 2.1.197: no tool in the request, no session file, no hook and no MCP server started, no CLAUDE.md; the
 * user's login, model and environment settings stay.
 */
const printMode: PrintMode = {
  args: [
    ...splitWords('-p --output-format text --no-session-persistence --safe-mode --tools'),
    '',
    '--system-prompt',
    SUMMARISER_ROLE,
  ],
};

const OWN_TYPES =
  /^(?:mode|permission-mode|file-history-snapshot|ai-title|last-prompt|summary|queue-operation)$/;

/** A record that only Claude Code writes: every message is marked as the main conversation's or a subagent's. */
const isClaudeRecord = ({ type, isSidechain, sessionId, snapshot }: JsonRecord): boolean =>
  typeof isSidechain === 'boolean' ||
  (typeof type === 'string' && OWN_TYPES.test(type) && (sessionId ?? snapshot) !== undefined);

/*
 * The sign before the name in the title of Claude Code 2.1.330. Seen: `✳ ` at rest and in dialogs, `◐ ` and `◑ ` alternating every 960 ms
 * while it works, as long as the terminal has the focus; in a multiplexer always `✳ `. Read in its program: `* ` and `> ` where it draws
 * with ASCII. Once its question `OSC 7501;?` is answered, it sets the name alone.
 */

const FRAME_MS = 960;

const isInMultiplexer = (env: Env): boolean =>
  ['TMUX', 'STY', 'ZELLIJ'].some((name) => (env[name] ?? '') !== '');

export const titleSigns = (env: Env): TitleSigns => ({
  sets: [
    { rest: '✳', busy: isInMultiplexer(env) ? ['✳'] : ['◐', '◑'] },
    { rest: '*', busy: isInMultiplexer(env) ? ['*'] : ['>'] },
  ],
  frameMs: FRAME_MS,
  isWorking: (text) => {
    const report = text.includes(':id=') ? undefined : parseAgentState(text); // a state with an id is a helper's
    return report && meaningOfState(report) === 'busy';
  },
});

export const claude: Agent = {
  name: 'claude',
  command,
  npmPackage,
  home: claudeHome,
  isInteractive: (args) => startsConversation(launchRules, args),
  nativeTrigger,
  ownCompaction: claudeCompaction,
  log: {
    leavesOutFixed: true,
    locate: locateClaude,
    reader: claudeReader,
    recognises: isClaudeRecord,
    conversation: claudeSession,
  },
  official,
  newSessions: claudeNewSessions,
  restarting: {
    exitCommand: '/exit',
    options: (args) => optionsForRestart({ ...launchRules, ...restartRules }, args),
  },
  readsMentions: true,
  foldsPastes: { lines: 3, characters: 800 },
  printMode,
  recipe,
  screen: claudeScreen,
  titleSigns,
  suspendedText: 'suspended. Run `fg`', // "has been suspended" in old versions, "is suspended" since 2.1.331
  hooks: hooksText,
  limitsWindows,
  derivedWindow: deriveWindow,
};
