import {
  windowOf,
  type ConversationWriter,
  type Entry,
  type NewSession,
  type Conversation,
} from '../../core/conversation/conversation.js';
import { getRecord, getText, isRecord, parseRecord, type JsonRecord } from '../../core/json.js';
import { formatIsoTime } from '../../core/time.js';
import type { NewSessionForm } from '../agent.js';
import { canGoOn } from '../entries.js';
import { replaceIds } from '../records.js';

// New Codex rollouts (docs/facts/sessions.md#codex, #made-up-histories). Written ones have the older form without ordinals, which needs no
// index. Codex takes its model's service from the first record, so one without it is not written.

const VERSION = '0.169.0'; // of the form, where the conversation does not come from a rollout

/** Writes a Codex rollout. */
const writeCodexConversation: ConversationWriter = (conversation, as) => {
  const window = windowOf(conversation);
  const meta = metaOf(conversation, as);
  if (!meta || !canGoOn(window)) return undefined;
  const lineOf = (type: string, payload: JsonRecord, at = as.now): string =>
    JSON.stringify({ timestamp: formatIsoTime(at), type, payload });
  // all that a compaction left is in one record
  const left = window.slice(0, window.findLastIndex(({ kind }) => kind === 'summary') + 1);
  const compacted = left.length === 0 ? [] : [lineOf('compacted', compactedOf(left))];
  const rest = window.slice(left.length).flatMap((entry): readonly string[] => {
    const at = entry.source.at ?? as.now;
    const settings = settingsIn(entry);
    if (settings)
      return settings['type'] === 'session_meta'
        ? []
        : [lineOf(getText(settings, 'type') ?? '', payloadOf(settings, as), at)];
    const item = itemOf(entry);
    if (!item) return [];
    const shown = shownAs(entry);
    return [lineOf('response_item', item, at), ...(shown ? [lineOf('event_msg', shown, at)] : [])];
  });
  return [lineOf('session_meta', meta), ...compacted, ...rest];
};

/** A record with settings, as `turn_context`. */
const settingsIn = ({ native }: Entry): JsonRecord | undefined =>
  isRecord(native) && isRecord(native['payload']) ? native : undefined;

const payloadOf = (settings: JsonRecord, as: NewSession): JsonRecord => {
  const payload = getRecord(settings, 'payload') ?? {};
  return 'thread_id' in payload ? { ...payload, thread_id: as.id } : payload;
};

/** The first record of the rollout that the conversation comes from, under the new id; made up where there is none. */
const metaOf = ({ entries, head }: Conversation, as: NewSession): JsonRecord | undefined => {
  const records = entries.map(settingsIn);
  const own = getRecord(
    records.find((record) => record?.['type'] === 'session_meta'),
    'payload',
  );
  const provider = getText(own, 'model_provider') ?? head.provider;
  if (provider === undefined) return undefined;
  const { history_mode: _mode, history_base: _base, ...kept } = { ...own };
  const time = formatIsoTime(as.now);
  return {
    originator: 'codex-tui',
    cli_version: VERSION,
    source: 'cli',
    thread_source: 'user',
    ...kept,
    ...('session_id' in kept ? { session_id: as.id } : {}),
    id: as.id,
    timestamp: time,
    cwd: as.cwd,
    model_provider: provider,
  };
};

const compactedOf = (left: readonly Entry[]): JsonRecord => {
  const summary = left.findLast(({ kind }) => kind === 'summary');
  const message = summary?.kind === 'summary' ? summary.text : '';
  return { message, replacement_history: left.flatMap((entry) => itemOf(entry) ?? []) };
};

/** The item of the history that this entry is; undefined for one that the model does not get. */
const itemOf = (entry: Entry): JsonRecord | undefined => {
  const { native } = entry;
  if (isRecord(native)) return typeof native['type'] === 'string' && !settingsIn(entry) ? native : undefined;
  switch (entry.kind) {
    case 'prompt':
    case 'context':
    case 'summary':
      return entry.text === '' ? undefined : messageOf('user', 'input_text', entry.text);
    case 'answer':
      return entry.text === '' ? undefined : messageOf('assistant', 'output_text', entry.text);
    case 'call':
      return callOf(entry);
    case 'result':
      return { type: 'function_call_output', call_id: entry.callId, output: entry.output };
    case 'reasoning': // without its encrypted text the model's server does not take it
    case 'notice':
    case 'compaction':
      return undefined;
  }
};

const messageOf = (role: string, type: string, text: string): JsonRecord => ({
  type: 'message',
  role,
  content: [{ type, text }],
});

const callOf = ({ callId, name, input }: Extract<Entry, { kind: 'call' }>): JsonRecord => ({
  type: 'function_call',
  name,
  call_id: callId,
  arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}),
});

/** What the screen shows of it: Codex draws no items, only these. */
const shownAs = (entry: Entry): JsonRecord | undefined => {
  if (!('text' in entry) || entry.text === '' || entry.isCopy) return undefined;
  if (entry.kind === 'prompt') return { type: 'user_message', message: entry.text, kind: 'plain' };
  return entry.kind === 'answer' ? { type: 'agent_message', message: entry.text } : undefined;
};

// A copy of the lines before a compaction is a session as soon as its first record has another id. After a rewind the file continues another
// one of the same id: its copy would continue itself.

const REWOUND = 'the conversation was rewound, and Codex does not take a copy of its rollout';

const obstacle = (firstLine: string): string | undefined => {
  const payload = getRecord(parseRecord(firstLine), 'payload');
  const base = getText(getRecord(payload, 'history_base'), 'thread_id');
  return base !== undefined && base === getText(payload, 'id') ? REWOUND : undefined;
};

const HEAD = /^\{[^{]*"type"\s*:\s*"session_meta"/;

export const codexNewSessions: NewSessionForm = {
  write: writeCodexConversation,
  fileName: ({ id, now }) =>
    `rollout-${formatIsoTime(now).slice(0, 'YYYY-MM-DDTHH:MM:SS'.length).replaceAll(':', '-')}-${id}.jsonl`,
  copyLine: (line, from, { id }) =>
    replaceIds(line, HEAD.test(line) ? ['id', 'session_id'] : ['thread_id', 'session_id'], { from, to: id }),
  obstacle,
  // Enter, as it was tried; TAB would queue it during a turn
  switching: { command: (id) => `/resume ${id}`, typing: { pauseMs: 250, submit: '\r' }, keepsOpen: true },
};
