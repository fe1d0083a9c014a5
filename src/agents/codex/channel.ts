import { posix } from 'node:path';
import { getRecord, getText, isRecord } from '../../core/json.js';
import type { ChannelState, DaemonChannel } from '../channel.js';
import { codexFolder } from './files.js';

// Codex's background server (docs/facts/codex-background-server.md), which plain `codex` starts and uses. ctxwrap asks it for one thread and
// takes part in nothing else: `thread/resume`, `fork` and `revert` would send it the user's approvals, too.

/** Options with which Codex does without it, as it says itself. */
const EMBEDDED =
  /^(?:--no-daemon|--config(?:=.*)?|-c.*|--enable(?:=.*)?|--disable(?:=.*)?|--search|-p.*|--profile(?:=.*)?|--remote(?:=.*)?)$/;

export const codexChannel: DaemonChannel = {
  via: 'daemon',
  name: "Codex's background server",
  needsSession: true,
  refusal: (args) => {
    const option = args.find((each) => EMBEDDED.test(each));
    return option === undefined ? undefined : `with ${option} Codex does without its background server`;
  },
  socket: (where) => posix.join(codexFolder(where), 'app-server-control', 'app-server-control.sock'),
  greeting: {
    method: 'initialize',
    params: { clientInfo: { name: 'ctxwrap', title: null, version: '0' }, capabilities: null },
  },
  greeted: 'initialized',
  state: (threadId) => ({ method: 'thread/read', params: { threadId } }),
  stateIn: (answer, sessionId) =>
    stateOf(isRecord(answer) ? getRecord(answer, 'thread') : undefined, sessionId),
  compact: (threadId) => ({ method: 'thread/compact/start', params: { threadId } }),
  isTaken: isRecord,
};

/** `systemError`: the last turn has failed; `notLoaded`: another process has the thread. A helper's thread is no conversation of the user's. */
const stateOf = (thread: ReturnType<typeof getRecord>, sessionId: string | undefined): ChannelState => {
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
