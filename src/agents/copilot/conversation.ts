import {
  type ConversationReader,
  type Entry,
  makeConversationReader,
  type SessionHead,
  type SourceRecord,
  type Step,
} from '../../core/conversation/conversation.js';
import { getRecord, getText, type JsonRecord, parseRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import { parseIsoTime } from '../../core/time.js';
import { recordStep, textEntry, toolEntries, type Tools, withHead } from '../entries.js';
import { patchedFiles } from '../patch.js';
import { compactionIn, toolEvents } from './log.js';

// A session file of GitHub Copilot CLI as a conversation (docs/facts/copilot.md), in the order of the file. A compaction has a record of its
// beginning; one that Copilot begins by itself runs beside the turn, and what is said meanwhile stays in the window.

const tools: Tools = {
  reads: { view: 'path' },
  edits: { create: 'path', edit: 'path' },
  runs: { bash: 'command', powershell: 'command' },
  plan: () => undefined, // its todo list is in a database
  // some models get a tool whose only argument is the patch, as a text
  files: (name, input) =>
    name === 'apply_patch'
      ? patchedFiles(
          typeof input === 'string' ? input : (getText(input, 'input') ?? getText(input, 'patch') ?? ''),
        )
      : [],
};

const SAID = ['user.message', 'assistant.message', 'tool.execution_complete'];

interface CopilotConversation {
  readonly head: SessionHead;
  /** a compaction runs: the line of its beginning, and the ids of what was said since */
  readonly begun?: { readonly line: number; readonly ids: readonly string[] } | undefined;
}

/** The reader for the first line of a session file of Copilot's. */
export const copilotConversation = (): ConversationReader =>
  makeConversationReader<CopilotConversation>({ head: {} }, (state, line, lineNumber) => {
    const record = parseRecord(line);
    if (!record) return { state, steps: [], misfit: 'not JSON' };
    const type = getText(record, 'type');
    const id = getText(record, 'id');
    if (type === undefined || id === undefined) return { state, steps: [], misfit: 'not a Copilot record' };
    if (record['agentId'] !== undefined) return { state, steps: [] };
    const at = parseIsoTime(getText(record, 'timestamp') ?? '');
    const source = { line: lineNumber, id, ...present({ at }) };
    const { head, steps } = withHead(state.head, headIn(record, type));
    const entries = entriesOf(record, type, source, state);
    return {
      state: { head, begun: begunAfter(state, type, source) },
      steps: [...steps, ...(entries ? [recordStep(source, entries)] : [])] satisfies readonly Step[],
    };
  });

const headIn = (
  record: JsonRecord,
  type: string,
): Partial<Record<keyof SessionHead, never>> | SessionHead => {
  const data = getRecord(record, 'data');
  const model = type === 'assistant.message' ? getText(data, 'model') : undefined;
  if (type !== 'session.start') return model === undefined ? {} : { model };
  const found = {
    id: getText(data, 'sessionId'),
    cwd: getText(getRecord(data, 'context'), 'cwd'),
    version: getText(data, 'copilotVersion'),
    model: getText(data, 'selectedModel'),
    startedAt: parseIsoTime(getText(data, 'startTime') ?? ''),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
};

const begunAfter = (
  { begun }: CopilotConversation,
  type: string,
  { line, id }: SourceRecord,
): CopilotConversation['begun'] => {
  if (type === 'session.compaction_start') return { line, ids: [] };
  if (type === 'session.compaction_complete' || type === 'session.resume') return undefined;
  return begun && SAID.includes(type) ? { ...begun, ids: [...begun.ids, id ?? ''] } : begun;
};

const entriesOf = (
  record: JsonRecord,
  type: string,
  source: SourceRecord,
  { begun }: CopilotConversation,
): readonly Entry[] | undefined => {
  const data = getRecord(record, 'data');
  const native = { record };
  const text = getText(data, 'content') ?? '';
  switch (type) {
    case 'user.message':
      return [textEntry(isUsers(data) ? 'prompt' : 'context', source, text, native)];
    case 'assistant.message': {
      const said = text === '' ? [] : [textEntry('answer', source, text, native)];
      return [...said, ...toolEvents(record).flatMap((event) => toolEntries(event, source, tools, native))];
    }
    case 'tool.execution_complete':
      return toolEvents(record).flatMap((event) => toolEntries(event, source, tools, native));
    case 'session.compaction_complete':
      return compactionEntries(record, source, begun);
    default:
      return undefined;
  }
};

// Typed at rest, or while the agent works. Others are Copilot's own: instructions that it found, skills, commands, agents, how to go on.
const TYPED = ['', 'user', 'cli', 'immediate-prompt'];

const isUsers = (data: JsonRecord | undefined): boolean =>
  TYPED.includes(getText(data, 'source') ?? '') && data?.['isAutopilotContinuation'] !== true;

const compactionEntries = (
  record: JsonRecord,
  source: SourceRecord,
  begun: CopilotConversation['begun'],
): readonly Entry[] | undefined => {
  const boundary = compactionIn(record, source.at ?? 0);
  if (!boundary) return undefined;
  const keptIds = begun?.ids ?? [];
  const native = { record };
  return [
    {
      kind: 'compaction',
      source,
      tokens: 0,
      boundary,
      // what was said beside it comes before its end
      startLine: begun && keptIds.length === 0 ? begun.line : source.line,
      keptIds,
      native,
    },
    textEntry('summary', source, getText(getRecord(record, 'data'), 'summaryContent') ?? '', native),
  ];
};
