import { getList, getRecord, getText, isRecord } from '../../core/json.js';
import type { ChannelContext, ChannelUndo, ServerCall, ServerChannel } from '../channel.js';
import { opencodeLaunch } from './launch.js';
import { showsCompactionLast } from './screen.js';
import { GIVEN_MARK, isGivenPart } from './session.js';

// opencode's own server (docs/facts/opencode.md): its screen is a client of it, and takes commands from it as from its own list of commands.

const USER = 'opencode';

/** A message and everything after it is taken back, as with `/undo`; the rows go with the next message, and `/redo` brings them back until then. */
const undo: ChannelUndo<ServerCall> = {
  looks: (sessionId) => [
    { method: 'GET', path: pathOf(sessionId) },
    { method: 'GET', path: `${pathOf(sessionId)}/message?limit=${MOST_LOOKED}` },
  ],
  find: ({ answers: [session, messages], seen }) => {
    if (!isRecord(session) || !Array.isArray(messages)) return undefined;
    if (getRecord(session, 'revert')) return { refusal: 'messages were already taken back: see /redo' };
    const id = askedBy(messages);
    if (id === undefined) return { refusal: OTHER_LAST };
    return seen && showsCompactionLast(seen) ? { id } : { refusal: UNSEEN };
  },
  undo: (sessionId, messageID) => ({
    method: 'POST',
    path: `${pathOf(sessionId)}/revert`,
    body: { messageID },
  }),
  isUndone: (answer, id) => getText(getRecord(answer, 'revert'), 'messageID') === id,
};

const pathOf = (sessionId: string): string => `/session/${encodeURIComponent(sessionId)}`;

const OTHER_LAST = "something was said since the compaction: use opencode's own /undo";
const UNSEEN = 'the compaction is not the last that the screen shows';

/** The summary, the message that asks for it, and what ctxwrap may have given since: behind more than that the compaction is not found. */
const MOST_LOOKED = 8;

/** The message that asks for a compaction, where its summary is the last message but for what ctxwrap has given. */
const askedBy = (messages: readonly unknown[]): string | undefined => {
  const last = messages.findLastIndex((message) => !isGivenContext(message));
  const [asking, summary] = messages.slice(Math.max(0, last - 1), last + 1);
  const [request, answer] = [getRecord(asking, 'info'), getRecord(summary, 'info')];
  const asks = getList(asking, 'parts').some((part) => getText(part, 'type') === 'compaction');
  const isDone = answer?.['summary'] === true && !getRecord(answer, 'error') && getText(answer, 'finish');
  const id = getText(request, 'id');
  return asks && isDone && getText(answer, 'parentID') === id ? id : undefined;
};

const isGivenContext = (message: unknown): boolean => {
  const parts = getList(message, 'parts');
  return parts.length > 0 && parts.every(isGivenPart);
};

/** A message that opencode does not answer and does not show. */
const context: ChannelContext<ServerCall> = {
  give: (sessionId, text) => ({
    method: 'POST',
    path: `${pathOf(sessionId)}/message`,
    body: { noReply: true, parts: [{ type: 'text', text, synthetic: true, metadata: GIVEN_MARK }] },
  }),
  isGiven: (answer) => getText(getRecord(answer, 'info'), 'id') !== undefined,
};

export const opencodeChannel: ServerChannel = {
  ...opencodeLaunch.channel,
  user: USER,
  state: { method: 'GET', path: '/session/status' },
  stateIn: (answer) => {
    if (!isRecord(answer)) return undefined;
    return Object.values(answer).some(isAtWork) ? 'busy' : 'resting';
  },
  compact: { method: 'POST', path: '/tui/execute-command', body: { command: 'session_compact' } },
  isTaken: (answer) => answer === true,
  undo,
  context,
};

/** Only sessions that do something are listed: `busy`, or `retry` between two requests. */
const isAtWork = (status: unknown): boolean => getText(status, 'type') !== 'idle';
