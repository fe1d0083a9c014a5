import { posix } from 'node:path';
import {
  windowOf,
  type Conversation,
  type ConversationWriter,
  type Entry,
  type NewSession,
  type Result,
} from '../../core/conversation/conversation.js';
import { getList, getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import { formatIsoTime } from '../../core/time.js';
import type { NewSessionForm, NewFile } from '../agent.js';
import type { Group } from '../entries.js';
import { callPart, groupsOf, resultPart, writtenText } from '../gemini-family.js';
import { replaceIds } from '../records.js';
import { OWN_ESTIMATE } from '../own-estimate.js';
import { messageText } from './message.js';

// New Gemini sessions (docs/facts/sessions.md#gemini-cli, #made-up-histories): messages, each with its tool calls and their results in it.

type Fields = Readonly<Record<string, unknown>>;

/** Writes a Gemini session file. */
const writeGeminiConversation: ConversationWriter = (conversation, as) => {
  const messages = messagesOf(windowOf(conversation), as);
  if (messages.length === 0) return undefined;
  const time = formatIsoTime(as.now);
  const head = {
    sessionId: as.id,
    projectHash: hashIn(conversation) ?? 'unknown', // must not be empty, and is not checked
    startTime: time,
    lastUpdated: time,
    kind: 'main',
  };
  return [head, ...messages].map((record) => JSON.stringify(record));
};

const hashIn = ({ entries }: Conversation): string | undefined =>
  entries.map(({ native }) => getText(getRecord(native, 'session'), 'projectHash')).find(Boolean);

const isModels = ({ kind }: Entry): boolean =>
  kind === 'answer' || kind === 'reasoning' || kind === 'call' || kind === 'result';

const messageIn = ({ native }: Entry): JsonRecord | undefined => getRecord(native, 'message');

/** New parts of the model's are one message until the user says something. */
const areOne = (first: Entry, entry: Entry): boolean =>
  isModels(first) && isModels(entry) && !(entry.kind === 'answer' && first.kind === 'call');

const messagesOf = (window: readonly Entry[], as: NewSession): readonly Fields[] =>
  groupsOf(window.filter(isWritable), messageIn, areOne).map((group) => {
    const [first] = group;
    const own = messageIn(first);
    const base = {
      id: getText(own, 'id') ?? as.newUuid(),
      timestamp: getText(own, 'timestamp') ?? formatIsoTime(first.source.at ?? as.now),
    };
    if (own) return withParts(withTokens({ ...own, ...base }, as), group);
    return isModels(first) ? answerOf(base, group) : { ...base, type: 'user', content: contentOf(first) };
  });

// Gemini adds its own context to every session, and leaves out a message that begins with it.
const CONTEXT = /^\s*<session_context>/;

const isWritable = (entry: Entry): boolean =>
  !('text' in entry && entry.text === '') && !(entry.kind === 'context' && CONTEXT.test(entry.text));

/** Gemini takes the size of the window from the last answer. */
const withTokens = (message: Fields, { usedTokens }: NewSession): Fields => {
  const tokens = getRecord(message, 'tokens');
  return usedTokens === undefined || tokens === undefined
    ? message
    : { ...message, tokens: { ...tokens, input: usedTokens, cached: 0, total: usedTokens, ...OWN_ESTIMATE } };
};

const contentOf = (entry: Entry): readonly Fields[] => [{ text: writtenText(entry) }];

/** Gemini's own message, with those of its parts that are still wanted. */
const withParts = (message: Fields, group: Group): Fields => {
  const [first] = group;
  if (!isModels(first))
    return isAll(message, group) ? message : { ...message, content: group.flatMap(contentOf) };
  const calls = getList(message, 'toolCalls');
  const wanted = new Set(group.flatMap((entry) => (entry.kind === 'call' ? [entry.callId] : [])));
  const isWhole =
    calls.length === wanted.size && group.some(({ kind }) => kind === 'answer' || kind === 'call');
  if (isWhole) return message;
  const kept = calls.filter((call) => wanted.has(getText(call, 'id') ?? ''));
  const { toolCalls: _, ...rest } = message;
  return {
    ...rest,
    ...(group.some(({ kind }) => kind === 'answer') ? {} : { content: '' }),
    ...(kept.length === 0 ? {} : { toolCalls: kept }),
  };
};

/** Whether nothing of this message of the user's is left out, such as the files that it names. */
const isAll = (message: Fields, group: Group): boolean =>
  messageText(message['content']) === group.map((entry) => ('text' in entry ? entry.text : '')).join('');

const answerOf = (base: Fields, group: Group): Fields => {
  const texts = group.flatMap((entry) => (entry.kind === 'answer' ? [entry.text] : []));
  const results = new Map(group.flatMap((each) => (each.kind === 'result' ? [[each.callId, each]] : [])));
  const toolCalls = group.flatMap((entry): readonly Fields[] => {
    if (entry.kind !== 'call') return [];
    const { callId: id, name, input } = entry;
    const result = results.get(id);
    return [
      {
        id,
        name,
        args: isRecord(input) ? input : {},
        result: [resultPart(result ?? { callId: id, output: '' }, name)],
        status: result?.isError ? 'error' : 'success',
      },
    ];
  });
  return {
    ...base,
    type: 'gemini',
    content: texts.join('\n\n'),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
  };
};

// A running Gemini takes a conversation from a checkpoint, beside the folder of its session files: the history of the model's API.

const checkpoint = (conversation: Conversation, sessionPath: string, name: string): NewFile => {
  const history = groupsOf(windowOf(conversation).filter(isInHistory), messageIn, areOne).flatMap(contentsOf);
  return {
    path: posix.join(posix.dirname(posix.dirname(sessionPath)), `checkpoint-${name}.json`),
    text: JSON.stringify({ history }),
  };
};

/** The context, too: Gemini takes this history as it is. */
const isInHistory = (entry: Entry): boolean => !('text' in entry && entry.text === '');

const contentsOf = (group: Group): readonly Fields[] => {
  const [first] = group;
  const message = messageIn(first);
  if (!isModels(first)) {
    const parts = message && isAll(message, group) ? getList(message, 'content').filter(isRecord) : [];
    return [{ role: 'user', parts: parts.length > 0 ? parts : group.flatMap(contentOf) }];
  }
  const answers = group.flatMap((each) => (each.kind === 'answer' ? [{ text: each.text }] : []));
  const calls = group.flatMap((each) => (each.kind === 'call' ? [callPart(each)] : []));
  const names = new Map(group.flatMap((each) => (each.kind === 'call' ? [[each.callId, each.name]] : [])));
  const responses = group.flatMap((each) =>
    each.kind === 'result' ? responsesOf(each, names.get(each.callId) ?? each.name ?? '') : [],
  );
  return [
    ...(answers.length + calls.length === 0 ? [] : [{ role: 'model', parts: [...answers, ...calls] }]),
    ...(responses.length === 0 ? [] : [{ role: 'user', parts: responses }]),
  ];
};

const responsesOf = (entry: Result, name: string): readonly object[] => {
  const call = getList(messageIn(entry), 'toolCalls').find((each) => getText(each, 'id') === entry.callId);
  const own = getList(call, 'result').filter(isRecord);
  return own.length > 0 ? own : [resultPart(entry, name)];
};

// A copy of the lines before a compaction is a session under another id. Gemini finds it by the id in it. The name has the whole id: where
// Gemini is resumed in a later minute than that of the name, it begins another file first, with a name of its own, takes that for damaged at
// its next start, and removes every file whose name ends with the same eight characters.

export const geminiNewSessions: NewSessionForm = {
  write: writeGeminiConversation,
  fileName: ({ id, now }) =>
    `session-${formatIsoTime(now).slice(0, 'YYYY-MM-DDTHH:MM'.length).replace(':', '-')}-${id}.jsonl`,
  copyLine: (line, from, { id }) => replaceIds(line, ['sessionId'], { from, to: id }),
  switching: {
    command: (name) => `/chat resume ${name}`,
    listedAs: (name) => `/${name}`,
    restores: (line) => line.startsWith('{"$set":{"messages":'),
    checkpoint,
  },
};
