// Before 0.29 Gemini wrote a session as one document, anew at each change (facts/sessions.md §F). It is indented, and texts are on one line
// each, so it can be read line by line: a message's fields stand at six blanks, its counts at eight. A compaction leaves no trace in it.
import type { Fact } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import { isoMillis } from '../../core/time.js';
import { geminiWindowTokens } from './window.js';

/** What was read of a message so far. */
export type Message = Readonly<Record<string, string>>;

export interface DocumentStep {
  readonly message: Message;
  readonly facts: readonly Fact[];
}

const LINE = /^(?:[{}]| {2,}\S.*)$/;
const FIELD = /^ {6}"(type|timestamp|model)": "([^"\\]*)",?$/;
const COUNT = /^ {8}"(input|cached)": (\d+),?$/;
const START = '    {';
const END = /^ {4}\},?$/;

const OPENING = '{';
const HEAD = [/^ {2}"sessionId": "[^"\\]+",?$/, /^ {2}"projectHash": "[0-9a-f]+",?$/];

/** The first lines of such a document: it begins with the session's id and the hash of its folder. */
export const isDocumentHead = ([first, ...lines]: readonly string[]): boolean =>
  first === OPENING && HEAD.every((field) => lines.some((line) => field.test(line)));

export const isDocumentLine = (line: string): boolean => LINE.test(line);

export const readDocumentLine = (message: Message, line: string, now: Millis): DocumentStep => {
  if (line === START) return { message: {}, facts: [] };
  if (END.test(line)) return { message: {}, facts: answerIn(message, now) };
  const [, name, value] = FIELD.exec(line) ?? COUNT.exec(line) ?? [];
  if (name === undefined || value === undefined) return { message, facts: [] };
  return { message: { ...message, [name]: value }, facts: [] };
};

const answerIn = (message: Message, now: Millis): readonly Fact[] => {
  const { type, timestamp = '', input, cached, model = '' } = message;
  const usedTokens = Number(input ?? 0);
  if (type !== 'gemini' || usedTokens === 0) return [];
  const at = isoMillis(timestamp) ?? now;
  const window = { windowTokens: geminiWindowTokens(model), windowSource: 'table' as const };
  const cachedTokens = cached === undefined ? {} : { cachedTokens: Number(cached) };
  const reading = { usedTokens, ...cachedTokens, ...window, source: 'log' as const, model, at };
  return [{ type: 'reading', reading }];
};
