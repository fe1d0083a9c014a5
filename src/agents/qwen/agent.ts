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
import { qwenLaunch } from './launch.js';
import { qwenNewSessions } from './new-session.js';
import { qwenRuntimeFolder, qwenFolder, locateQwen, parseStatus, sessionFile } from './files.js';
import { qwenScreen } from './screen.js';
import { qwenReader, qwenSession } from './session.js';

// Qwen Code's own three boundaries (docs/facts/qwen.md#boundaries): shown beside ctxwrap's, never acted upon.

/** In tokens: at `warn` Qwen says so in `/context`, at `auto` it compacts, at `hard` it refuses to send. */
export interface QwenLadder {
  readonly effective: number;
  readonly warn: number;
  readonly auto: number;
  readonly hard: number;
}

const SUMMARY_RESERVE_TOKENS = 20_000;
const AUTO_BUFFER_TOKENS = 13_000;
const WARN_BUFFER_TOKENS = 20_000;
const HARD_BUFFER_TOKENS = 3_000;
/** `context.autoCompactThreshold` by default */
const DEFAULT_AUTO_SHARE = 0.85;
/** The tokens it keeps free in a larger window. */
const OWN_FREE_TOKENS = SUMMARY_RESERVE_TOKENS + AUTO_BUFFER_TOKENS;

/** `nativeTokens`: where it compacts by itself, from its settings. */
export const qwenLadder = (windowTokens: number, nativeTokens?: number): QwenLadder => {
  const effective = Math.max(0, windowTokens - SUMMARY_RESERVE_TOKENS);
  const shared = windowTokens * DEFAULT_AUTO_SHARE;
  const buffered = windowTokens - OWN_FREE_TOKENS;
  const auto = nativeTokens ?? (buffered > 0 ? Math.min(shared, buffered) : shared);
  return {
    effective,
    warn: Math.max(0, auto - WARN_BUFFER_TOKENS),
    auto,
    hard: Math.min(windowTokens, Math.max(effective - HARD_BUFFER_TOKENS, auto + HARD_BUFFER_TOKENS)),
  };
};

const USUAL_TOKENS = 1_000_000; // of its usual coder model (docs/facts/qwen.md#boundaries)

const qwenHome: AgentHome = {
  played: ['0.24.4', '0.15.10'],
  usualWindowTokens: USUAL_TOKENS,
  sessions: (where) => posix.join(qwenRuntimeFolder(where), 'projects'),
  sessionFile,
};

// Qwen's own compaction (docs/facts/qwen.md#boundaries): at `context.autoCompactThreshold` of the window, or where only its reserve for the
// summary and itself is left.

/** The lower of the two. */
const triggerAt = (share: number): NativeTrigger => ({
  share,
  reserveTokens: 0,
  leastFreeTokens: OWN_FREE_TOKENS,
});

const usualTrigger = triggerAt(DEFAULT_AUTO_SHARE);

const qwenCompaction: OwnCompactionSource = {
  isReadOnce: true, // from its package's code (0.24.4), although its settings claim that no restart is needed
  read: async (port, where) => {
    const { env, cwd } = where;
    const paths = [
      env['QWEN_CODE_SYSTEM_DEFAULTS_PATH'] || '/etc/qwen-code/system-defaults.json',
      posix.join(qwenFolder(where), 'settings.json'),
      posix.join(cwd, '.qwen', 'settings.json'),
      env['QWEN_CODE_SYSTEM_SETTINGS_PATH'] || '/etc/qwen-code/settings.json',
    ];
    const files = await readSettingsFiles(port, paths, parseCommentedJson);
    const found = findLastNumber(files, ['context.autoCompactThreshold'], (share) => share > 0 && share <= 1);
    if (!found) return { trigger: usualTrigger, settings: [] };
    const { number: share, ...setting } = found;
    return { trigger: triggerAt(share), settings: [setting] };
  },
};

// Its tools have to be named one by one: those of 0.24.4 and 0.15.10, without `structured_output`, which nobody asks for.
const TOOLS = splitWords(`
  exec edit write_file read_file zoom_image grep_search glob run_shell_command todo_write save_memory agent skill exit_plan_mode
  enter_plan_mode web_fetch web_search image_gen list_directory lsp ask_user_question cron_create cron_list cron_delete loop_wakeup
  create_sub_session list_agents task_stop task_create task_update task_list team_create team_delete team_plan_approval
  request_shutdown send_message monitor notebook_edit tool_call tool_search read_mcp_resource enter_worktree exit_worktree workflow
  artifact record_artifact record_source report_findings get_goal update_goal propose_goal
`);

/**
 * Seen with 0.24.4 and 0.15.10: no tool in the request, no session file, no hook and no MCP server started. `--bare` would also leave out the
 * user's login; the variable stands for `--safe-mode`, which 0.15.10 does not know.
 */
const printMode: PrintMode = {
  args: [
    ...splitWords(
      '--chat-recording=false --approval-mode default -e none --allowed-mcp-server-names none -o text',
    ),
    '--core-tools',
    'none',
    '--exclude-tools',
    TOOLS.join(','),
    '--system-prompt',
    SUMMARISER_ROLE,
  ],
  env: { QWEN_CODE_SAFE_MODE: '1' },
  files: { '.qwen/settings.json': JSON.stringify({ disableAllHooks: true }) },
};

/** A record that only Qwen Code writes: an id, and a message in Gemini API parts or a system payload. */
const isQwenRecord = ({ uuid, sessionId, isSidechain, message, systemPayload }: JsonRecord): boolean =>
  typeof uuid === 'string' &&
  typeof sessionId === 'string' &&
  isSidechain === undefined &&
  (isRecord(systemPayload) || (isRecord(message) && Array.isArray(message['parts'])));

export const qwen: Agent = {
  ...qwenLaunch,
  home: qwenHome,
  nativeTrigger: () => usualTrigger,
  ownCompaction: qwenCompaction,
  ownLadder: qwenLadder,
  log: {
    locate: locateQwen,
    reader: qwenReader,
    stateIn: parseStatus,
    recognises: isQwenRecord,
    conversation: qwenSession,
  },
  newSessions: qwenNewSessions,
  readsMentions: true,
  printMode,
  screen: qwenScreen,
};
