import type { Entry, SourceRecord, Step } from '../../core/conversation/conversation.js';
import type { Fact } from '../../core/event.js';
import { getList, getRecord, getText, isRecord, type JsonRecord } from '../../core/json.js';
import { present } from '../../core/present.js';
import type { Millis, Source } from '../../core/reading.js';
import { parseIsoTime } from '../../core/time.js';
import { recordStep, textEntry, toolEntries, type ToolEvent } from '../entries.js';
import { familyTools, FILES_START, OWN_WORDS } from '../gemini-family.js';
import { headStep } from '../session-format.js';

// A message in a Gemini session file, with the tool calls in it and their results (docs/facts/gemini.md#session-files).

// Gemini's tokenLimit() of 0.61 (docs/facts/gemini.md#windows): a table in the agent itself, so it is what the agent uses.
const DEFAULT_TOKENS = 1_048_576;
const GEMMA_TOKENS = 256_000;
const GEMMA = ['gemma-4-31b-it', 'gemma-4-26b-a4b-it'];

export const geminiWindowTokens = (model: string): number =>
  GEMMA.includes(model) ? GEMMA_TOKENS : DEFAULT_TOKENS;

/** What an answer reports about the window. */
export interface Count {
  readonly usedTokens: number;
  readonly cachedTokens: number | undefined;
  readonly model: string | undefined;
  readonly at: Millis;
  /** `log` if absent */
  readonly source?: Extract<Source, 'log' | 'estimate'>;
}

export const readingOf = ({
  usedTokens,
  cachedTokens,
  model = '',
  at,
  source = 'log',
}: Count): readonly Fact[] => {
  if (usedTokens === 0) return [];
  const windowTokens = geminiWindowTokens(model);
  return [
    {
      type: 'reading',
      reading: {
        usedTokens,
        ...present({ cachedTokens }),
        windowTokens,
        windowSource: 'table',
        source,
        model,
        at,
      },
    },
  ];
};

/** How Gemini's message about its own compaction begins; its message about one that the user asked for is empty. */
const ITS_OWN = /^Context compressed from /;

/** Who asked for a compaction, by the message about it; undefined for any other text. */
export const initiatorIn = (text: string | undefined): 'agent' | 'user' | undefined =>
  ITS_OWN.test(text ?? '') ? 'agent' : text === '' ? 'user' : undefined;

/** A text, or the texts of the parts of a message. */
export const messageText = (content: unknown): string => {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => getText(part, 'text') ?? '').join('');
};

export const sourceOf = (message: JsonRecord, line: number): SourceRecord => {
  const id = getText(message, 'id');
  const at = parseIsoTime(getText(message, 'timestamp') ?? '');
  return { line, ...present({ id, at }) };
};

/** `entries`: those of the message, where they are known. */
export const messageSteps = (
  message: JsonRecord,
  source: SourceRecord,
  entries: readonly Entry[] = entriesIn(message, source),
): readonly Step[] => [headStep({ model: getText(message, 'model') }), recordStep(source, entries)];

export const entriesIn = (message: JsonRecord, source: SourceRecord): readonly Entry[] => {
  switch (message['type']) {
    case 'user':
      return userEntries(message, source);
    case 'gemini':
      return answerEntries(message, source);
    case 'info':
    case 'warning':
    case 'error': {
      const text = messageText(message['content']);
      return text === '' ? [] : [textEntry('notice', source, text, { message })];
    }
    default:
      return [];
  }
};

// once a turn was cancelled, the user's first message follows the context in the same text
const CONTEXT = /^\s*<session_context>[^]*?<\/session_context>\s*/;
const SUMMARY = /<state_snapshot>/;
const HOOK = /^\s*<hook_context>/;
// commands of Gemini's own, which never go to the model
const COMMAND = /^\s*[/?]/;

export const userEntries = (message: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const text = messageText(message['content']);
  // results also stand in the answer that has called the tools
  if (text === '' && getList(message, 'content').some((part) => getRecord(part, 'functionResponse')))
    return [];
  const [context = ''] = CONTEXT.exec(text) ?? [];
  if (context === '' || context === text)
    return partEntries(message, source) ?? [textEntry(kindOf(text), source, text, { message })];
  const rest = text.slice(context.length);
  return [textEntry('context', source, context), textEntry(kindOf(rest), source, rest)];
};

/** The words of the user, and what Gemini adds to them in parts of their own: files that they name, words of a hook. */
const partEntries = (message: JsonRecord, source: SourceRecord): readonly Entry[] | undefined => {
  const texts = getList(message, 'content').map((part) => getText(part, 'text') ?? '');
  const start = texts.findIndex((text) => FILES_START.test(text) || HOOK.test(text));
  if (start <= 0) return undefined;
  const [words = '', added = ''] = [texts.slice(0, start), texts.slice(start)].map((each) => each.join(''));
  const native = { message };
  return [textEntry(kindOf(words), source, words, native), textEntry('context', source, added, native)];
};

const kindOf = (text: string): 'summary' | 'context' | 'notice' | 'prompt' => {
  if (OWN_WORDS.test(text)) return 'context';
  if (SUMMARY.test(text)) return 'summary';
  return COMMAND.test(text) ? 'notice' : 'prompt';
};

const answerEntries = (message: JsonRecord, source: SourceRecord): readonly Entry[] => {
  const native = { message };
  const model = getText(message, 'model');
  const thoughts = getList(message, 'thoughts').map((thought) =>
    [getText(thought, 'subject'), getText(thought, 'description')].filter(Boolean).join(': '),
  );
  const text = messageText(message['content']);
  return [
    ...thoughts.map((thought) => textEntry('reasoning', source, thought, native)),
    ...(text === '' ? [] : [{ ...textEntry('answer', source, text, native), ...present({ model }) }]),
    ...callEntries(message, source),
  ];
};

/** The calls of an answer; those that still run have no result. */
const callEntries = (message: JsonRecord, source: SourceRecord): readonly Entry[] =>
  toolEvents(message).flatMap((event) => toolEntries(event, source, familyTools, { message }));

/** The results alone. */
export const resultEntries = (message: JsonRecord, source: SourceRecord): readonly Entry[] =>
  toolEvents(message).flatMap((event) =>
    event.kind === 'call' ? [] : toolEntries({ ...event, kind: 'result' }, source, familyTools),
  );

const toolEvents = (message: JsonRecord): readonly ToolEvent[] =>
  getList(message, 'toolCalls').filter(isRecord).map(toolEvent);

const toolEvent = ({ id, name, args: input, result, status }: JsonRecord): ToolEvent => {
  const call = {
    id: typeof id === 'string' ? id : '',
    name: typeof name === 'string' ? name : undefined,
    input,
  };
  if (result === undefined) return { kind: 'call', ...call };
  const output = Array.isArray(result) ? result.map(responseIn) : result;
  const isError = status === 'error' || status === 'cancelled';
  return { kind: 'call-with-result', ...call, output, isError };
};

/** What the model gets of a part; the rest names the call again. */
const responseIn = (part: unknown): unknown =>
  getRecord(getRecord(part, 'functionResponse'), 'response') ?? part;
