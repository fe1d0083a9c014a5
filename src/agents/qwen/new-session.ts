import {
  tokensOf,
  windowOf,
  type Conversation,
  type ConversationWriter,
  type Entry,
  type NewSession,
} from '../../core/conversation/conversation.js';
import { getCount, getList, getRecord, isRecord, type JsonRecord } from '../../core/json.js';
import { formatIsoTime } from '../../core/time.js';
import type { NewSessionForm } from '../agent.js';
import { canGoOn, type Group } from '../entries.js';
import { callPart, groupsOf, resultPart, writtenText } from '../gemini-family.js';
import { chainRecords, replaceIds } from '../records.js';
import { OWN_ESTIMATE } from '../own-estimate.js';

// New Qwen Code sessions. Each record names the one before; what a compaction left is one record with the whole history in it. The folder of
// the first record must be the one that Qwen runs in.

type Fields = Readonly<Record<string, unknown>>;

/** Writes a Qwen Code session file. */
const writeQwenConversation: ConversationWriter = (conversation, as) => {
  const window = windowOf(conversation).filter(({ kind, ...rest }) => kind !== 'reasoning' && !isBlank(rest));
  if (!canGoOn(window)) return undefined;
  // a copy, or the answer that Qwen makes up for the summary, is in no record of its own
  const isLeft = (entry: Entry): boolean => entry.isCopy === true || entry.kind === 'summary';
  const left = window.slice(0, window.findLastIndex(isLeft) + 1);
  const version = conversation.head.version ?? VERSION;
  const base = { cwd: as.cwd, version };
  const records = [
    ...(left.length === 0 ? [] : [compressionOf(conversation, window, left.length, as)]),
    ...groupsOf(window.slice(left.length), originOf, areOne).map((group) => recordOf(group, as)),
  ].map((record) => ({ ...base, ...record }));
  return chainRecords(records, as);
};

const VERSION = '0.24.4'; // of the form, where the conversation does not come from such a file

const isBlank = (part: object): boolean => 'text' in part && part.text === '';

type Role = 'model' | 'user';

const roleOf = ({ kind }: Entry): Role => (kind === 'answer' || kind === 'call' ? 'model' : 'user');

/** The record of Qwen's, or the message in the record of a compaction, that the entry comes from. */
const originOf = ({ native }: Entry): JsonRecord | undefined =>
  getRecord(native, 'record') ?? getRecord(native, 'message');

const areOne = (first: Entry, entry: Entry): boolean =>
  roleOf(first) === roleOf(entry) &&
  (roleOf(first) === 'model' || (first.kind === 'result' && entry.kind === 'result'));

/** The parts of the message that are still wanted, as Qwen wrote them. */
const wantedParts = (group: Group): readonly object[] =>
  group.flatMap((entry): readonly object[] => {
    const { native } = entry;
    const origin = originOf(entry);
    const message = getRecord(native, 'record') ? getRecord(origin, 'message') : origin;
    const own = getList(message, 'parts')[getCount(native, 'part') ?? -1];
    return [isRecord(own) ? own : partOf(entry)];
  });

const partOf = (entry: Entry): object => {
  if (entry.kind === 'call') return callPart(entry);
  return entry.kind === 'result' ? resultPart(entry, entry.name ?? '') : { text: writtenText(entry) };
};

const recordOf = (group: Group, as: NewSession): Fields => {
  const [first] = group;
  const record = getRecord(first.native, 'record');
  const role = roleOf(first);
  const message = { role, parts: wantedParts(group) };
  if (record)
    return {
      ...withUsage(record, as),
      cwd: as.cwd,
      message: { ...getRecord(record, 'message'), ...message },
    };
  const type = first.kind === 'result' ? 'tool_result' : role === 'model' ? 'assistant' : 'user';
  return { timestamp: formatIsoTime(first.source.at ?? as.now), type, message };
};

/** Qwen takes the size of the window from the last answer. */
const withUsage = (record: JsonRecord, { usedTokens }: NewSession): Fields =>
  usedTokens === undefined || getRecord(record, 'usageMetadata') === undefined
    ? record
    : {
        ...record,
        usageMetadata: { promptTokenCount: usedTokens, totalTokenCount: usedTokens, ...OWN_ESTIMATE },
      };

/** The record of a compaction that left so many entries of the window. */
const compressionOf = (
  { entries }: Conversation,
  window: readonly Entry[],
  count: number,
  as: NewSession,
): Fields => {
  const left = window.slice(0, count);
  const next = window[count];
  const messages = groupsOf(left, originOf, areOne).map((group) => ({
    role: roleOf(group[0]),
    parts: wantedParts(group),
  }));
  // work that goes on answers for itself
  const isAnswered = messages.some(({ role }) => role === 'model') || (next && roleOf(next) === 'model');
  const compressedHistory = isAnswered
    ? messages
    : [...messages, { role: 'model', parts: [{ text: ANSWER }] }];
  const own = getRecord(entries.findLast(({ kind }) => kind === 'compaction')?.native, 'record');
  if (own)
    return {
      ...own,
      cwd: as.cwd,
      systemPayload: { ...getRecord(own, 'systemPayload'), compressedHistory },
    };
  return {
    timestamp: formatIsoTime(as.now),
    type: 'system',
    subtype: 'chat_compression',
    systemPayload: {
      info: {
        originalTokenCount: as.preTokens ?? tokensOf(entries),
        newTokenCount: as.usedTokens ?? tokensOf(left),
        compressionStatus: 1,
        triggerReason: 'manual',
      },
      compressedHistory,
    },
  };
};

const ANSWER = 'Got it. Thanks for the additional context!'; // as Qwen itself answers for the model

export const qwenNewSessions: NewSessionForm = {
  write: writeQwenConversation,
  fileName: ({ id }) => `${id}.jsonl`,
  copyLine: (line, from, { id }) => replaceIds(line, ['sessionId'], { from, to: id }),
  switching: { command: (id) => `/resume ${id}` },
};
