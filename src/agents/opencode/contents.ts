import {
  getCount,
  getList,
  getRecord,
  getText,
  isRecord,
  type JsonRecord,
  parseRecord,
} from '../../core/json.js';
import { formatIsoTime } from '../../core/time.js';
import { type Content, type ContentReader, makeContentReader, type ToolEvent } from '../records.js';
import { boundaryIn } from './log.js';

// Tool results of a session of opencode's, in the parts of its answers: a call and its result in one (docs/facts/opencode.md).

const CONTENTS_TELLING = /"type":"tool"|"summary":true/;

export const opencodeContents = (): ContentReader =>
  inWindow({
    read: makeContentReader(CONTENTS_TELLING, (record) =>
      boundaryIn(record, undefined) ? [{ kind: 'cleared' }] : partsIn(record).flatMap(toolEvents),
    ),
    since: [],
  });

interface WindowContents {
  readonly read: ContentReader;
  /** the user has gone back: this message and all after it are out of the window */
  readonly cutFrom?: string | undefined;
  /** messages with contents since the last compaction */
  readonly since: readonly { readonly id: string; readonly contents: readonly Content[] }[];
}

const MOST_SINCE = 500; // messages; what stays after a compaction is at most 15,000 tokens, unless the user has set more

/** Without what was taken back, and after a compaction with what it kept. The ids of messages ascend. */
const inWindow = (state: WindowContents): ContentReader => {
  const reader: ContentReader = (line, now) => {
    if (line.startsWith(SESSION_START)) {
      const cutFrom = getText(parseRecord(line), 'cutFrom');
      return { contents: [], next: inWindow({ ...state, cutFrom }) };
    }
    const { contents, next: read } = state.read(line, now);
    const record = contents.length === 0 ? undefined : parseRecord(line);
    const id = getText(record, 'id');
    if (id === undefined)
      return { contents, next: read === state.read ? reader : inWindow({ ...state, read }) };
    if (state.cutFrom !== undefined && id >= state.cutFrom) return { contents: [], next: reader };
    if (contents.every(({ kind }) => kind !== 'cleared')) {
      const since = [...state.since, { id, contents }].slice(-MOST_SINCE);
      return { contents, next: inWindow({ ...state, read, since }) };
    }
    const keptFrom = getText(record, 'keptFrom');
    const since = keptFrom === undefined ? [] : state.since.filter((each) => each.id >= keptFrom);
    return {
      contents: [...contents, ...since.flatMap((each) => each.contents)],
      next: inWindow({ ...state, read, since }),
    };
  };
  return reader;
};

const SESSION_START = '{"type":"session"';

/** The parts of a message, where the line holds them. */
export const partsIn = (record: JsonRecord): readonly JsonRecord[] =>
  getList(record, 'parts').filter(isRecord);

const REMOVED = '[Old tool result content cleared]'; // what opencode sends in its place

/** The call and the result in a part that has them. */
export const toolEvents = (part: JsonRecord): readonly ToolEvent[] => {
  const state = getRecord(part, 'state');
  if (part['type'] !== 'tool' || !state) return [];
  const call = { id: getText(part, 'callID') ?? '', name: getText(part, 'tool'), input: state['input'] };
  const isRefused = state['status'] === 'error';
  if (!isRefused && state['status'] !== 'completed') return [{ kind: 'call', ...call }];
  const isRemoved = getCount(getRecord(state, 'time'), 'compacted') !== undefined;
  const output = isRemoved ? REMOVED : isRefused ? (getText(state, 'error') ?? '') : state['output'];
  const isError = isRefused || (getCount(getRecord(state, 'metadata'), 'exit') ?? 0) > 0;
  const endedAt = getCount(getRecord(state, 'time'), 'end');
  const when = endedAt === undefined ? {} : { timestamp: formatIsoTime(endedAt) };
  return [{ kind: 'call-with-result', ...call, output, isError, ...when }];
};
