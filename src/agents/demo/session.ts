import type { Compaction, Entry, SourceRecord } from '../../core/conversation/conversation.js';
import type { Boundary } from '../../core/event.js';
import { getCount, getText, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis } from '../../core/reading.js';
import { uuidInPath } from '../files.js';
import { recordStep, textEntry, toolEntries, type Tools } from '../entries.js';
import {
  makeSessionReader,
  type LineClass,
  type RecordMeaning,
  type RecordPlace,
  type SessionFormat,
  type StartReader,
} from '../session-format.js';

// The demo agent's session file: the conversation, how full the window is after each turn, and compactions with their summaries.

export const demoReader: StartReader = (_, wanted) =>
  makeSessionReader({ name: 'demo', read: readRecord }, {}, wanted);

const readRecord = (state: object, record: JsonRecord, { line, now }: RecordPlace): RecordMeaning<object> => {
  const at = getCount(record, 'at') ?? now;
  const source = { line, id: `line-${line}`, at };
  switch (record['type']) {
    case 'turn':
      return { state, steps: () => [], ...readTurn(record, at) };
    case 'compaction': {
      const boundary = readCompaction(record, at);
      const steps = () => [recordStep(source, compactionEntries(record, source, boundary))];
      return { state, facts: [{ type: 'boundary', boundary }], steps };
    }
    default:
      return { state, steps: () => [recordStep(source, entriesIn(record, source))] };
  }
};

const readTurn = (record: JsonRecord, at: Millis): Omit<RecordMeaning<object>, 'state'> => {
  const usedTokens = getCount(record, 'usedTokens');
  const windowTokens = getCount(record, 'windowTokens');
  if (usedTokens === undefined || !windowTokens) return { misfit: 'a turn without numbers' };
  const model = getText(record, 'model') ?? 'demo-1';
  return {
    facts: [
      {
        type: 'reading',
        reading: { usedTokens, windowTokens, windowSource: 'agent', source: 'log', model, at },
      },
    ],
  };
};

const readCompaction = (record: JsonRecord, at: Millis): Boundary => {
  const preTokens = getCount(record, 'preTokens');
  const postTokens = getCount(record, 'postTokens');
  return {
    initiator: 'user',
    ...present({ preTokens, postTokens }),
    at,
  };
};

type Source = SourceRecord & { readonly id: string };

const compactionEntries = (record: JsonRecord, source: Source, boundary: Boundary): readonly Entry[] => {
  const compaction: Compaction = {
    kind: 'compaction',
    source,
    tokens: 0,
    boundary,
    startLine: source.line,
    keptIds: [],
    keptAfterId: source.id,
  };
  return [compaction, textEntry('summary', source, getText(record, 'summary') ?? '')];
};

const entriesIn = (record: JsonRecord, source: Source): readonly Entry[] => {
  const text = getText(record, 'text') ?? '';
  switch (record['type']) {
    case 'prompt':
      return [textEntry('prompt', source, text)];
    case 'answer':
      return [textEntry('answer', source, text)];
    case 'call': {
      const { id } = source;
      const name = getText(record, 'name');
      return toolEntries(
        { kind: 'call-with-result', id, name, input: record['input'], output: record['output'] },
        source,
        tools,
      );
    }
    default:
      return [];
  }
};

const tools: Tools = {
  reads: { read: 'path' },
  edits: { edit: 'path' },
  runs: { run: 'command' },
  plan: () => undefined,
};

// How much of each line has to be read.

const WHOLE: LineClass = { read: 'whole', hasSteps: true };
const MESSAGE: LineClass = { message: '', ...WHOLE };

export const demoSession: SessionFormat = {
  idInPath: uuidInPath,
  fields: { fields: ['type'], bulky: [] },
  classify: (line) => (line.get('type') === 'prompt' || line.get('type') === 'answer' ? MESSAGE : WHOLE),
  messages: 'unnamed',
};
