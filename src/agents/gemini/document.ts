import type { Fact } from '../../core/event.js';
import { parseRecord } from '../../core/json.js';
import type { Millis } from '../../core/reading.js';
import { parseIsoTime } from '../../core/time.js';
import {
  headStep,
  type DocumentFormat,
  type DocumentReader,
  type DocumentResult,
  type SessionReader,
  type SessionResult,
  type Wanted,
} from '../session-format.js';
import { initiatorIn, messageSteps, readingOf, sourceOf } from './message.js';

// Before 0.29 Gemini wrote a session as one document, rewritten at each change (docs/facts/gemini.md#older-versions). It is indented with
// each text on one line, so it can be read line by line: the messages are indented by four, their fields by six, their counts by eight.

const HEAD = [/^ {2}"sessionId": "[^"\\]+",?$/, /^ {2}"projectHash": "[0-9a-f]+",?$/];

/** The first lines of such a document: it begins with the session's id and the hash of its folder. */
export const isDocumentHead = ([first, ...lines]: readonly string[]): boolean =>
  first === '{' && HEAD.every((field) => lines.some((line) => field.test(line)));

const LINE = /^(?:[{}]| {2,}\S.*)$/;
const START = '    {';
const END = /^ {4}\},?$/;
const HEAD_FIELD = /^ {2}"(sessionId|startTime)": "([^"\\]{1,64})",?$/;
const FIELD = /^ {6}"(id|type|timestamp|model|content)": "((?:[^"\\]|\\.){0,200})",?$/;
const COUNT = /^ {8}"(input|cached)": (\d+),?$/;
const LONGEST_MESSAGE = 64 * 1024 * 1024; // characters

/** The fields of a message read so far. */
type Fields = Partial<Record<string, string>>;

const withField = (fields: Fields, line: string): Fields => {
  if (line === START) return {};
  const [, name, value] = FIELD.exec(line) ?? COUNT.exec(line) ?? [];
  return name === undefined ? fields : { ...fields, [name]: value };
};

const answerIn = ({ type, timestamp = '', input, cached, model }: Fields, now: Millis): readonly Fact[] =>
  type === 'gemini'
    ? readingOf({
        usedTokens: Number(input ?? 0),
        cachedTokens: cached === undefined ? undefined : Number(cached),
        model,
        at: parseIsoTime(timestamp) ?? now,
      })
    : [];

/** A document that is being read. */
interface GeminiDocument {
  readonly fields: Fields;
  /** all of the message so far, where the conversation is wanted */
  readonly text?: string;
  /** messages so far */
  readonly count: number;
}

/** Reads the lines of a document, too; all others go to `records`. */
export const withDocument = (
  records: SessionReader,
  wanted: Wanted = {},
  document: GeminiDocument = { fields: {}, count: 0 },
): SessionReader => {
  const reader: SessionReader = (line, now, lineNumber) => {
    if (LINE.test(line)) {
      const { after, ...read } = readLine(document, { line, now }, wanted);
      return { ...read, next: after === document ? reader : withDocument(records, wanted, after) };
    }
    const read = records(line, now, lineNumber);
    const { text, ...rest } = document;
    const isSame = read.next === records && text === undefined;
    return { ...read, next: isSame ? reader : withDocument(read.next, wanted, rest) };
  };
  return reader;
};

interface Read extends Omit<SessionResult, 'next'> {
  readonly after: GeminiDocument;
}

const readLine = (
  document: GeminiDocument,
  { line, now }: { readonly line: string; readonly now: Millis },
  { conversation }: Wanted,
): Read => {
  const { text, count } = document;
  const fields = withField(document.fields, line);
  const isEnd = END.test(line);
  const facts = isEnd ? answerIn(fields, now) : [];
  if (!conversation) return { after: fields === document.fields ? document : { fields, count }, facts };
  if (line === START) return { after: { fields, count, text: '{' }, facts };
  if (text === undefined) {
    const [, name = '', value = ''] = HEAD_FIELD.exec(line) ?? [];
    const head = name === 'sessionId' ? { id: value } : { startedAt: parseIsoTime(value) };
    return { after: { fields, count }, facts, steps: () => [headStep(head)] };
  }
  if (text.length > LONGEST_MESSAGE)
    return { after: { fields, count }, facts, misfit: 'a message without an end' };
  if (!isEnd) return { after: { fields, count, text: `${text}\n${line}` }, facts };
  const message = parseRecord(`${text}}`);
  if (!message) return { after: { fields, count }, facts, misfit: 'a message that is not JSON' };
  const after = { fields, count: count + 1 };
  return { after, facts, steps: () => messageSteps(message, sourceOf(message, count)) };
};

// A compaction leaves an `info` message without text, also where it fails. What was smaller afterwards was compacted.

const LEAST_DROP = 0.1; // of the tokens before, as for any compaction without a record

interface Mark {
  readonly at: Millis;
  readonly uuid: string | undefined;
  readonly initiator: 'agent' | 'user';
  readonly beforeTokens: number;
}

const NOTHING: DocumentResult = { facts: [] };

const documentReader = (): DocumentReader => {
  let fields: Fields = {};
  let tokens: number | undefined;
  let mark: Mark | undefined;

  const ended = (now: Millis): DocumentResult => {
    const { id = '', type } = fields;
    if (type === 'info') {
      const found = tokens === undefined ? undefined : markIn(fields, tokens, now);
      if (!found) return NOTHING;
      mark = found;
      return { facts: [], mark: found };
    }
    if (type !== 'user' && type !== 'gemini') return NOTHING;
    const facts = answerIn(fields, now);
    const [fact] = facts;
    const used = fact?.type === 'reading' ? fact.reading.usedTokens : undefined;
    if (used === undefined) return { facts, message: id };
    const before = mark;
    tokens = used;
    mark = undefined;
    const isSmaller = before && used <= before.beforeTokens * (1 - LEAST_DROP);
    return { message: id, facts: [...(isSmaller ? [boundaryAt(before)] : []), ...facts] };
  };

  return {
    read: (line, now) => {
      fields = withField(fields, line);
      if (END.test(line)) return ended(now);
      const [, name, id] = HEAD_FIELD.exec(line) ?? [];
      return name === 'sessionId' ? { facts: [], session: { id } } : NOTHING;
    },
    // without a number after it nothing is proved
    end: () => ({ facts: mark ? [boundaryAt(mark, 'screen')] : [] }),
  };
};

const markIn = ({ id, timestamp, content }: Fields, beforeTokens: number, now: Millis): Mark | undefined => {
  const initiator = initiatorIn(content);
  return initiator && { at: parseIsoTime(timestamp ?? '') ?? now, uuid: id, initiator, beforeTokens };
};

const boundaryAt = ({ at, initiator }: Mark, source: 'log' | 'screen' = 'log'): Fact => ({
  type: 'boundary',
  boundary: { at, source, initiator },
});

/** How the compactions of a document are found. */
export const geminiDocument: DocumentFormat = { mostIndent: 8, reader: documentReader };
