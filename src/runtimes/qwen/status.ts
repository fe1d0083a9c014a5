// What a Qwen session file says that the agent is doing. A turn begins with what the user said and ends with an answer that calls no tool,
// or with a tool that was refused. One that was cancelled before its answer leaves no mark: nothing is known then.
import { isRecord, listAt, parseRecord, recordAt, textAt } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import type { FilePort } from '../file-port.js';
import type { Place } from '../place.js';
import type { AgentStatus } from '../seen.js';
import { grownChats } from './paths.js';

const TELLING = /"(?:assistant|user|tool_result|slash_command)"/;
const BUSY: AgentStatus = { state: 'busy' };
const IDLE: AgentStatus = { state: 'idle' };

/** `busy` from what the user said on, `idle` from the last answer on. */
export const stateIn = (line: string): AgentStatus | undefined => {
  if (!TELLING.test(line)) return undefined;
  const record = parseRecord(line);
  if (!record || record['isSidechain'] === true) return undefined;
  switch (record['type']) {
    case 'user':
      return BUSY;
    case 'assistant':
      return callsTool(record) ? BUSY : IDLE;
    case 'tool_result':
      return textAt(recordAt(record, 'toolCallResult'), 'status') === 'cancelled' ? IDLE : BUSY;
    case 'system':
      return textAt(recordAt(record, 'systemPayload'), 'phase') === 'result' ? IDLE : undefined;
    default:
      return undefined;
  }
};

const callsTool = (record: JsonRecord): boolean =>
  listAt(recordAt(record, 'message'), 'parts').some(
    (part) => isRecord(part) && recordAt(part, 'functionCall') !== undefined,
  );

/** Of all files of this folder that have grown since the start, for each may be ours: one that is at work, or unclear, speaks for all. */
export const readStatus = async (port: FilePort, place: Place): Promise<AgentStatus | undefined> => {
  const chats = await grownChats(port, place);
  if (chats.length === 0) return { state: 'new' };
  const told = await Promise.all(
    chats.map(async ({ path }) => lastStateIn((await port.lastPart(path)) ?? '')),
  );
  return told.find(({ state }) => state !== 'idle') ?? IDLE;
};

const lastStateIn = (text: string): AgentStatus => {
  const lines = text.split('\n');
  const isWhole = lines.at(-1) === '';
  return (isWhole ? lines.toReversed().map(stateIn).find(Boolean) : undefined) ?? { state: 'unclear' };
};
