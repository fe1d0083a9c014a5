import { posix } from 'node:path';
import {
  type ConversationWriter,
  type Entry,
  type NewSession,
  windowOf,
} from '../../core/conversation/conversation.js';
import { getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import type { NewSessionForm } from '../agent.js';
import { canGoOn, type Group, groupAdjacent } from '../entries.js';

// New sessions of Kimi Code (docs/facts/kimi.md): a folder with the session's id, `agents/main/wire.jsonl` in it, and `state.json`, without which Kimi
// does not find it. Answers and tool calls stand in steps, which belong to a turn.

type Fields = Readonly<Record<string, unknown>>;

const PROTOCOL = '1.5';
const agentId = 'main';

/** Writes a session file of Kimi's. A summary becomes a message of that origin. */
const writeKimiConversation: ConversationWriter = (conversation, as) => {
  const window = windowOf(conversation).filter(isWanted);
  if (!canGoOn(window)) return undefined;
  let [turn, step, time] = [-1, 0, as.now];
  const end = (): readonly Fields[] => (turn < 0 ? [] : [{ ...ENDED, turnId: turn, time }]);
  const records = groupsOf(window).flatMap((group): readonly Fields[] => {
    const [first] = group;
    const before = first.kind === 'prompt' ? end() : [];
    time = first.source.at ?? time;
    if (first.kind === 'prompt') [turn, step] = [turn + 1, 0];
    if (!isPart(first)) return [...before, ...messageRecords(first, turn, as).map(at(time))];
    [turn, step] = [Math.max(0, turn), step + 1];
    return stepRecords(group, { turnId: String(turn), step }, as).map(at(time));
  });
  const metadata = { type: 'metadata', protocol_version: PROTOCOL, created_at: as.now };
  return [metadata, ...records, ...end()].map((record) => JSON.stringify(record));
};

const at =
  (time: Millis) =>
  (record: Fields): Fields => ({ ...record, time });

const ENDED = { type: 'turn.ended', agentId, reason: 'completed', durationMs: 0 };

/** A thought can only be given back as Kimi wrote it; a message without text can be a picture. */
const isWanted = (entry: Entry): boolean => {
  if (entry.kind === 'reasoning') return recordOf(entry) !== undefined;
  return !('text' in entry && entry.text === '') || getRecord(recordOf(entry), 'message') !== undefined;
};

const recordOf = ({ native }: Entry): JsonRecord | undefined => getRecord(native, 'record');

const isPart = (entry: Entry): boolean =>
  ['answer', 'reasoning', 'call', 'result'].includes(entry.kind) &&
  getRecord(recordOf(entry), 'message') === undefined;

/** Entries of one step: an answer with its calls and their results; or a single message. */
const groupsOf = (window: readonly Entry[]): readonly Group[] =>
  groupAdjacent(window, (entry, { last }) => isSameStep(last, entry));

const isSameStep = (last: Entry, entry: Entry): boolean => {
  if (!isPart(last) || !isPart(entry)) return false;
  if (entry.kind === 'result') return true;
  if (last.kind === 'result') return false;
  return stepIn(last) === stepIn(entry);
};

const eventOf = (entry: Entry): JsonRecord | undefined => getRecord(recordOf(entry), 'event');

const stepIn = (entry: Entry): string | undefined => getText(eventOf(entry), 'stepUuid');

const messageRecords = (entry: Entry, turnId: number, as: NewSession): readonly Fields[] => {
  const message = messageOf(entry, as);
  const { content: input, origin, id: promptId } = message;
  const appended = { type: 'context.append_message', agentId, message };
  return entry.kind === 'prompt'
    ? [{ type: 'turn.prompt', agentId, input, origin, promptId, turnId }, appended]
    : [appended];
};

const messageOf = (entry: Entry, as: NewSession): Fields => {
  const own = getRecord(recordOf(entry), 'message');
  if (own) return own;
  const text = 'text' in entry ? entry.text : '';
  const made = { role: 'user', content: [{ type: 'text', text }], toolCalls: [] };
  switch (entry.kind) {
    case 'prompt':
      return { ...made, id: `msg_${as.newUuid()}`, origin: { kind: 'user' } };
    case 'summary':
      return { ...made, origin: { kind: 'compaction_summary' } };
    default:
      return { ...made, origin: { kind: 'injection', variant: 'ctxwrap' } };
  }
};

interface Step {
  readonly turnId: string;
  readonly step: number;
}

const stepRecords = (group: Group, place: Step, as: NewSession): readonly Fields[] => {
  const stepUuid = as.newUuid();
  const calls = new Map<string, string>();
  const events = group.map((entry): Fields => {
    const own = eventOf(entry) ?? {};
    const uuid = as.newUuid();
    switch (entry.kind) {
      case 'call': {
        calls.set(entry.callId, uuid);
        const { callId: toolCallId, name } = entry;
        const args = isRecord(entry.input) ? entry.input : {};
        return { ...own, type: 'tool.call', uuid, ...place, stepUuid, toolCallId, name, args };
      }
      case 'result': {
        const { callId: toolCallId, output, isError } = entry;
        const result = getRecord(own, 'result') ?? { output, ...(isError ? { isError } : {}) };
        return { type: 'tool.result', parentUuid: calls.get(toolCallId) ?? uuid, toolCallId, result };
      }
      default: {
        const part = entry.kind === 'reasoning' ? own['part'] : { type: 'text', text: entryText(entry) };
        return { type: 'content.part', uuid, ...place, stepUuid, part };
      }
    }
  });
  const finishReason = calls.size > 0 ? 'tool_use' : 'end_turn';
  return [
    { type: 'step.begin', uuid: stepUuid, ...place },
    ...events,
    { type: 'step.end', uuid: stepUuid, ...place, finishReason },
  ].map((event) => ({ type: 'context.append_loop_event', agentId, event }));
};

const entryText = (entry: Entry): string => ('text' in entry ? entry.text : '');

/** What Kimi finds a session by. */
const stateFile: NonNullable<NewSessionForm['beside']> = (path, { id, cwd, now }) => {
  const folder = posix.dirname(path);
  const state = {
    id: `session_${id}`,
    version: 2,
    cwd,
    createdAt: now,
    updatedAt: now,
    archived: false,
    agents: { main: { homedir: folder, type: 'main' } },
    custom: {},
  };
  return [{ path: posix.join(folder, '../../state.json'), text: JSON.stringify(state) }];
};

/** A picture or other media: its type, and its name in the folder `blobs`. */
const BLOB = /"blobref:[^";]*;([0-9a-f]{64})"/g;

export const kimiNewSessions: NewSessionForm = {
  write: writeKimiConversation,
  fileName: ({ id }) => `../../../session_${id}/agents/main/wire.jsonl`,
  beside: stateFile,
  filesOf: (line) => [...line.matchAll(BLOB)].map(([, name = '']) => `blobs/${name}`),
  copyLine: (line) => line, // it names no session
};
