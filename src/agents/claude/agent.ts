import { posix } from 'node:path';
import type { JsonRecord } from '../../core/json.js';
import type { Agent } from '../agent.js';
import type { AgentHome } from '../home.js';
import { splitWords } from '../launch.js';
import { type PrintMode, SUMMARISER_ROLE } from '../print-mode.js';
import { claudeNewSessions } from './new-session.js';
import { sessionFile } from './files.js';
import { contextFile, hooksText } from './hooks.js';
import { claudeLaunch } from './launch.js';
import { locateClaude } from './locate.js';
import { claudeSession } from './outline.js';
import { claudeReader } from './session.js';
import { claudeScreen } from './screen.js';
import { claudeCompaction, claudeRetention, configFolder } from './settings.js';
import { readStatusReport } from './status-report.js';
import { LARGE_TOKENS, STANDARD_TOKENS, deriveWindow, limitsWindows, nativeTrigger } from './window.js';

const claudeHome: AgentHome = {
  played: ['2.1.332', '2.1.331', '2.1.330', '2.1.263', '2.1.197'],
  usualWindowTokens: STANDARD_TOKENS,
  largeWindowTokens: LARGE_TOKENS,
  sessions: (where) => posix.join(configFolder(where), 'projects'),
  sessionFile,
  retention: claudeRetention,
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

export const claude: Agent = {
  ...claudeLaunch,
  home: claudeHome,
  nativeTrigger,
  ownCompaction: claudeCompaction,
  log: {
    leavesOutFixed: true,
    locate: locateClaude,
    reader: claudeReader,
    recognises: isClaudeRecord,
    conversation: claudeSession,
  },
  official: { ...claudeLaunch.official, contextFile, read: readStatusReport },
  newSessions: claudeNewSessions,
  readsMentions: true,
  foldsPastes: { lines: 3, characters: 800 },
  printMode,
  screen: claudeScreen,
  hooks: hooksText,
  limitsWindows,
  derivedWindow: deriveWindow,
};
