import type { JsonRecord } from '../../core/json.js';

const OWN_TYPES =
  /^(?:mode|permission-mode|file-history-snapshot|ai-title|last-prompt|summary|queue-operation)$/;

/** A record as only Claude Code writes it: it marks every message as the main conversation's or a subagent's. */
export const isClaudeRecord = ({ type, isSidechain, sessionId, snapshot }: JsonRecord): boolean =>
  typeof isSidechain === 'boolean' ||
  (typeof type === 'string' && OWN_TYPES.test(type) && (sessionId ?? snapshot) !== undefined);
