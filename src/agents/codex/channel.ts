import { getCount, getList, getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import type { ChannelContext, ChannelState, ChannelUndo, DaemonChannel, RpcCall } from '../channel.js';
import { codexLaunch } from './launch.js';

// Codex's background server (docs/facts/codex-background-server.md), which plain `codex` starts and uses. ctxwrap asks it for one thread, and
// not by `thread/resume`, which would have it sent the user's approvals, too.

/**
 * The turn of the compaction and all later ones are taken back; Codex writes another file of the same thread. The caller then hears the
 * thread's approvals, so it must hang up at once.
 */
const undo: ChannelUndo<RpcCall> = {
  looks: (threadId) => [
    { method: 'thread/turns/list', params: { threadId, limit: 1, sortDirection: 'desc' } },
  ],
  find: ({ answers: [turns], compactedAt }) => {
    if (!isRecord(turns) || !Array.isArray(turns['data'])) return undefined;
    const [last] = getList(turns, 'data');
    const [id, startedAt, completedAt] = [
      getText(last, 'id'),
      getCount(last, 'startedAt'),
      getCount(last, 'completedAt'),
    ];
    if (id === undefined || startedAt === undefined) return { refusal: OTHER_LAST };
    // in seconds, of the clock that the record has, too
    const isCompaction =
      completedAt !== undefined &&
      compactedAt !== undefined &&
      compactedAt >= startedAt * SECOND_MS &&
      compactedAt < (completedAt + 1) * SECOND_MS;
    return isCompaction ? { id } : { refusal: OTHER_LAST };
  },
  undo: (threadId, beforeTurnId) => ({ method: 'thread/revert', params: { threadId, beforeTurnId } }),
  isUndone: (answer) => getRecord(answer, 'thread') !== undefined,
};

/** It is no turn, so that the compaction before it can still be taken back. */
const context: ChannelContext<RpcCall> = {
  give: (threadId, text) => ({
    method: 'thread/inject_items',
    params: {
      threadId,
      items: [{ type: 'message', role: 'developer', content: [{ type: 'input_text', text }] }],
    },
  }),
  isGiven: isRecord,
};

const SECOND_MS = 1_000;
const OTHER_LAST = 'something was said since the compaction';

export const codexChannel: DaemonChannel = {
  ...codexLaunch.channel,
  greeting: {
    method: 'initialize',
    params: { clientInfo: { name: 'ctxwrap', title: null, version: '0' }, capabilities: null },
  },
  greeted: 'initialized',
  state: (threadId) => ({ method: 'thread/read', params: { threadId } }),
  stateIn: (answer, sessionId) => stateOf(getRecord(answer, 'thread'), sessionId),
  compact: (threadId) => ({ method: 'thread/compact/start', params: { threadId } }),
  isTaken: isRecord,
  undo,
  context,
};

/** `systemError`: the last turn has failed; `notLoaded`: another process has the thread. A helper's thread is no conversation of the user's. */
const stateOf = (thread: JsonRecord | undefined, sessionId: string | undefined): ChannelState => {
  if (!thread) return undefined;
  if (getText(thread, 'id') !== sessionId || thread['ephemeral'] !== false) return 'elsewhere';
  switch (getText(getRecord(thread, 'status'), 'type')) {
    case 'idle':
    case 'systemError':
      return 'resting';
    case 'active':
      return 'busy';
    case 'notLoaded':
      return 'elsewhere';
    default:
      return undefined;
  }
};
