import { getCount, getList, getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import {
  SKIPPED,
  summaryOf,
  type HistoryDetail,
  type HistoryFormat,
  type LineClass,
  type Summary,
} from '../history.js';
import { withoutPrefix } from './log.js';

// Compactions in a rollout of Codex (facts/codex.md §7): `compacted` with the summary and the history that replaces the conversation.

const META: LineClass = { details: 'reduced' };
const FACTS: LineClass = { facts: 'whole' };
const BOTH: LineClass = { facts: 'whole', details: 'whole' };
const PROMPT: LineClass = { message: '', details: 'whole' };
const ANSWER: LineClass = { message: '', mayBeSummary: true };

const events: Readonly<Record<string, LineClass>> = {
  token_count: FACTS,
  task_started: { facts: 'whole', turn: 'begins' },
  turn_aborted: { facts: 'whole', turn: 'ends' },
  user_message: FACTS,
  agent_message: FACTS,
};
const items: Readonly<Record<string, LineClass>> = {
  UserMessage: FACTS,
  AgentMessage: FACTS,
  ContextCompaction: BOTH,
};
const speakers: Readonly<Record<string, LineClass>> = { user: PROMPT, assistant: ANSWER };

const classify: HistoryFormat['classify'] = (line) => {
  const kind = line.get('payload.type') ?? '';
  switch (line.get('type')) {
    case 'compacted':
      return BOTH;
    case 'session_meta':
      return META;
    case 'response_item':
      return kind === 'message' ? (speakers[line.get('payload.role') ?? ''] ?? SKIPPED) : SKIPPED;
    case 'event_msg':
      if (kind === 'item_completed') return items[line.get('payload.item.type') ?? ''] ?? SKIPPED;
      return kind === 'task_complete' ? turnEnd(line.get('payload.duration_ms')) : (events[kind] ?? SKIPPED);
    default:
      return SKIPPED;
  }
};

const turnEnd = (duration: string | undefined): LineClass => ({
  facts: 'whole',
  turn: 'ends',
  turnMs: Number(duration ?? Number.NaN),
});

const details: HistoryFormat['details'] = (record, at) => {
  const payload = getRecord(record, 'payload');
  if (!payload) return [];
  switch (record['type']) {
    case 'session_meta':
      return [sessionIn(payload)];
    case 'compacted':
      return [compacted(payload, at())];
    case 'response_item':
      return [{ kind: 'key', key: keyOf(payload) }];
    case 'event_msg':
      return endIn(payload);
    default:
      return [];
  }
};

/** Subagents and `codex exec` write files of their own. */
const sessionIn = (meta: JsonRecord): HistoryDetail => {
  const { source } = meta;
  const isUsers = (getText(meta, 'thread_source') ?? 'user') === 'user';
  return {
    kind: 'session',
    id: getText(meta, 'id'),
    project: getText(meta, 'cwd'),
    version: getText(meta, 'cli_version'),
    isOther: isRecord(source) || !isUsers,
  };
};

/** The record has no id; newer ones name the window that begins with it, and the item that follows has an id of its own. */
const compacted = (payload: JsonRecord, at: Millis): HistoryDetail => {
  const text = withoutPrefix(getText(payload, 'message') ?? '');
  const history = payload['replacement_history'];
  return {
    kind: 'compacted',
    at,
    isCertain: true,
    uuid: getText(payload, 'window_id'),
    summary: summaryIn(payload, text),
    // without a history only the summary is left, as the first versions had it
    kept: { keys: Array.isArray(history) ? history.filter(isUsers).map(keyOf) : [] },
    requestTokens: requestTokens(payload),
    isSummary: (message) => text !== '' && keyOf(getRecord(message, 'payload')) === text,
  };
};

const requestTokens = (payload: JsonRecord): number =>
  getCount(getRecord(getRecord(payload, 'latest_token_usage_record'), 'usage'), 'total_tokens') ?? 0;

const summaryIn = (payload: JsonRecord, text: string): Summary => {
  const items = getList(payload, 'replacement_history').filter(isRecord);
  const isEncrypted = items.some((item) => getText(item, 'encrypted_content') !== undefined);
  return text.trim() === '' && isEncrypted ? { kind: 'encrypted' } : summaryOf(text);
};

const isUsers = (item: unknown): boolean =>
  isRecord(item) && item['type'] === 'message' && item['role'] === 'user';

/** By its text: the ids of what is kept are new in some versions. */
const keyOf = (item: unknown): string =>
  getText(item, 'content') ??
  getList(item, 'content')
    .map((block) => getText(block, 'text') ?? '')
    .join('\n');

const endIn = (payload: JsonRecord): readonly HistoryDetail[] => {
  const item = getRecord(payload, 'item');
  if (item?.['type'] !== 'ContextCompaction') return [];
  const [from, to] = [getCount(payload, 'started_at_ms'), getCount(payload, 'completed_at_ms')];
  const durationMs = from === undefined || to === undefined || to < from ? undefined : to - from;
  return [{ kind: 'ended', durationMs, uuid: getText(item, 'id') }];
};

export const codexHistory: HistoryFormat = {
  fields: {
    fields: ['type', 'payload.type', 'payload.role', 'payload.item.type', 'payload.duration_ms'],
    bulky: ['payload.base_instructions', 'payload.user_instructions', 'payload.dynamic_tools'],
  },
  classify,
  details,
  messages: 'appended',
};
