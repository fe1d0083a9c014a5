import {
  tokensOf,
  windowOf,
  type Conversation,
  type ConversationWriter,
  type Entry,
  type NewSession,
} from '../../core/conversation/conversation.js';
import { getCount, getList, getRecord, getText, type JsonRecord } from '../../core/json.js';
import { formatIsoTime } from '../../core/time.js';
import type { NewSessionForm } from '../agent.js';
import { canGoOn, type Group, groupAdjacent } from '../entries.js';
import { OWN_ESTIMATE } from '../own-estimate.js';
import { chainRecords, replaceIds } from '../records.js';

// New Claude Code sessions (docs/facts/sessions.md#claude-code, #made-up-histories). Of the records that Claude itself wrote, everything
// stays but the session's id and the order; the rest has what was found to be enough.

type Fields = Readonly<Record<string, unknown>>;

/** Writes a Claude Code session file. */
const writeClaudeConversation: ConversationWriter = (conversation, as) => {
  const window = windowOf(conversation).filter(isWritable);
  if (!canGoOn(window)) return undefined;
  const head = window[0]?.kind === 'summary' ? [boundaryRecord(conversation, as)] : [];
  return chainRecords([...head, ...groupsOf(window).map((group) => recordOf(group, as))], as);
};

// Without its signature a thought is refused by the model's server.
const isWritable = (entry: Entry): boolean =>
  recordIn(entry) !== undefined ||
  (entry.kind !== 'reasoning' && (!('text' in entry) || entry.text.trim() !== ''));

const recordIn = ({ native }: Entry): JsonRecord | undefined => {
  const record = getRecord(native, 'record');
  return getText(record, 'uuid') === undefined ? undefined : record;
};

const roleOf = ({ kind }: Entry): 'user' | 'assistant' =>
  kind === 'answer' || kind === 'reasoning' || kind === 'call' ? 'assistant' : 'user';

/** Parts of one record of Claude's; new parts of one answer, and new results, are one record, too. */
const groupsOf = (window: readonly Entry[]): readonly Group[] =>
  groupAdjacent(window, (entry, { first, last }) => {
    const record = recordIn(entry);
    if (recordIn(first) !== record) return false;
    return record !== undefined || (roleOf(entry) === roleOf(last) && joins(last, entry));
  });

const joins = (before: Entry, entry: Entry): boolean =>
  roleOf(entry) === 'assistant' || (before.kind === 'result' && entry.kind === 'result');

const recordOf = (group: Group, as: NewSession): Fields => {
  const [first] = group;
  const record = recordIn(first);
  if (record) return withUsage(withBlocks(record, group), as);
  const role = roleOf(first);
  const summary = first.kind === 'summary' ? { isCompactSummary: true, isVisibleInTranscriptOnly: true } : {};
  const isMeta = first.kind === 'context' ? { isMeta: true } : {};
  return {
    type: role,
    ...summary,
    ...isMeta,
    isSidechain: false,
    userType: 'external',
    cwd: as.cwd,
    timestamp: formatIsoTime(first.source.at ?? as.now),
    message: { role, content: contentOf(group, role) },
  };
};

/** The record with those of its blocks that are still wanted. */
const withBlocks = (record: JsonRecord, entries: readonly Entry[]): Fields => {
  const { logicalParentUuid: _, ...rest } = record;
  const message = getRecord(record, 'message');
  const blocks = getList(message, 'content');
  const wanted = new Set(entries.map(({ native }) => getCount(native, 'block')));
  if (blocks.length === 0 || blocks.length === wanted.size) return rest;
  return { ...rest, message: { ...message, content: blocks.filter((__, index) => wanted.has(index)) } };
};

/** Claude takes the size of the window from the last answer. */
const withUsage = (record: Fields, { usedTokens }: NewSession): Fields => {
  const message = getRecord(record, 'message');
  if (usedTokens === undefined || getRecord(message, 'usage') === undefined) return record;
  const usage = {
    input_tokens: usedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 0,
    ...OWN_ESTIMATE,
  };
  return { ...record, message: { ...message, usage } };
};

const contentOf = (group: Group, role: 'user' | 'assistant'): unknown => {
  const [first] = group;
  if (role === 'user' && 'text' in first) return first.text;
  return group.map((entry) => {
    if (entry.kind === 'call')
      return { type: 'tool_use', id: entry.callId, name: entry.name, input: entry.input };
    if (entry.kind !== 'result') return { type: 'text', text: 'text' in entry ? entry.text : '' };
    const error = entry.isError ? { is_error: true } : {};
    return { type: 'tool_result', tool_use_id: entry.callId, content: entry.output, ...error };
  });
};

/** The boundary before a summary, without what it had kept: that follows in full. */
const boundaryRecord = ({ entries }: Conversation, as: NewSession): Fields => {
  const own = entries.findLast(({ kind }) => kind === 'compaction');
  const record = own && recordIn(own);
  if (record) {
    const {
      preservedSegment: _,
      preservedMessages: __,
      ...compactMetadata
    } = {
      ...getRecord(record, 'compactMetadata'),
    };
    return { ...withBlocks(record, []), compactMetadata };
  }
  return {
    type: 'system',
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    isMeta: false,
    isSidechain: false,
    level: 'info',
    cwd: as.cwd,
    timestamp: formatIsoTime(as.now),
    compactMetadata: { trigger: 'manual', preTokens: as.preTokens ?? tokensOf(entries) },
  };
};

// A copy of the lines before a compaction is a session: Claude follows its records from the last one back. It must be in the folder of the
// same project.
export const claudeNewSessions: NewSessionForm = {
  write: writeClaudeConversation,
  fileName: ({ id }) => `${id}.jsonl`,
  copyLine: (line, from, { id }) => replaceIds(line, ['sessionId'], { from, to: id }),
  switching: { command: (id) => `/resume ${id}` },
};
