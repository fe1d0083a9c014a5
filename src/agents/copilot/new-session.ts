import {
  type Call,
  type ConversationWriter,
  type Entry,
  type NewSession,
  windowOf,
} from '../../core/conversation/conversation.js';
import { getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import { formatIsoTime } from '../../core/time.js';
import type { NewSessionForm } from '../agent.js';
import { canGoOn, type Group, groupAdjacent } from '../entries.js';
import { replaceIds } from '../records.js';

// New sessions of GitHub Copilot CLI (docs/facts/copilot.md): a folder with the session's id, and events.jsonl in it. Each record names the one
// before.

type Fields = Readonly<Record<string, unknown>>;

const VERSION = '1.0.102'; // of the form, where the conversation does not come from such a file

/** Writes a session file of Copilot's. A summary becomes a message of the user's. */
const writeCopilotConversation: ConversationWriter = (conversation, as) => {
  const { head } = conversation;
  const window = windowOf(conversation);
  if (!canGoOn(window)) return undefined;
  let parentId: string | null = null;
  const link = (type: string, data: Fields, at = as.now): string => {
    const id = as.newUuid();
    const line = JSON.stringify({ type, data, id, timestamp: formatIsoTime(at), parentId });
    parentId = id;
    return line;
  };
  const start = {
    sessionId: as.id,
    version: 1,
    producer: 'copilot-agent',
    copilotVersion: head.version ?? VERSION,
    startTime: formatIsoTime(as.now),
    ...present({ selectedModel: head.model }),
    context: { cwd: as.cwd },
  };
  return [
    link('session.start', start),
    ...groupsOf(window).flatMap((group) =>
      recordsOf(group, as).map(([type, data]) => link(type, data, group[0].source.at)),
    ),
  ];
};

/** Entries of one record: an answer with its calls, or a single one. */
const groupsOf = (window: readonly Entry[]): readonly Group[] =>
  groupAdjacent(window, (entry, { last }) => entry.kind === 'call' && belongsTo(last, entry));

const belongsTo = (last: Entry, call: Call): boolean =>
  (last.kind === 'answer' || last.kind === 'call') && originOf(last) === originOf(call);

const originOf = ({ native }: Entry): JsonRecord | undefined => getRecord(native, 'record');

const recordsOf = (group: Group, as: NewSession): readonly (readonly [string, Fields])[] => {
  const [first] = group;
  const own = getRecord(originOf(first), 'data') ?? {};
  switch (first.kind) {
    case 'prompt':
      return [['user.message', { messageId: as.newUuid(), ...own, content: first.text }]];
    case 'context':
      return [['user.message', { messageId: as.newUuid(), ...own, content: first.text }]];
    case 'summary':
      return first.text === ''
        ? []
        : [
            [
              'user.message',
              { messageId: as.newUuid(), content: first.text, transformedContent: first.text },
            ],
          ];
    case 'answer':
    case 'call':
      return [['assistant.message', { messageId: as.newUuid(), ...own, ...answerOf(group) }]];
    case 'result': {
      const { callId: toolCallId, output: content, isError } = first;
      const result = { toolCallId, success: isError !== true, result: { content } };
      return [['tool.execution_complete', isRecord(own['result']) ? { ...own, ...result } : result]];
    }
    case 'reasoning':
    case 'notice':
    case 'compaction':
      return [];
  }
};

const answerOf = (group: Group): Fields => {
  const answer = group.find(({ kind }) => kind === 'answer');
  const toolRequests = group.flatMap((entry) =>
    entry.kind === 'call'
      ? [{ toolCallId: entry.callId, name: entry.name, arguments: entry.input ?? {}, type: 'function' }]
      : [],
  );
  return { content: getText(answer, 'text') ?? '', toolRequests };
};

export const copilotNewSessions: NewSessionForm = {
  write: writeCopilotConversation,
  fileName: ({ id }) => `../${id}/events.jsonl`,
  copyLine: (line, from, { id }) => replaceIds(line, ['sessionId', 'sourceSessionId'], { from, to: id }),
  switching: { command: (id) => `/resume ${id}` },
};
