import { SummaryError } from '../errors.js';
import { getList, getRecord, getText, isRecord, parseRecord, type JsonRecord } from '../json.js';
import { makeAnswerCounter, tooLongSummary } from './summary-text.js';

// Reads the answer of `chat/completions` (OpenAI's API, as Ollama, vLLM, llama.cpp and others offer it) while it arrives: server-sent
// events, or one JSON document where a server does not stream. What it is shows in its first character; the content type is not asked.

/** Longest line of a stream, or document, in characters: an event holds a few words, a document a whole answer. */
const MOST_HELD = 4 * 1024 * 1024;

/** Takes the answer as it arrives, cut anywhere. Throws a SummaryError as soon as it cannot be a summary. */
export interface ChatAnswerReader {
  readonly push: (text: string) => void;
  /** the answer is complete: what follows does not matter */
  readonly isComplete: () => boolean;
  /** the model has begun to write, or to think */
  readonly hasBegun: () => boolean;
  /** the text, after the last byte; throws if its end is missing */
  readonly end: () => string;
}

export const makeChatAnswerReader = (): ChatAnswerReader => {
  const answer = makeAnswer();
  let reader: LineReader | undefined;
  return {
    push: (text) => {
      if (answer.isComplete()) return;
      const rest = reader ? text : text.replace(/^[\s\uFEFF]+/, '');
      if (rest === '') return;
      reader ??= readerFor(rest, answer);
      reader.push(rest);
    },
    isComplete: answer.isComplete,
    hasBegun: answer.hasBegun,
    end: () => {
      if (!answer.isComplete()) reader?.end();
      return answer.text();
    },
  };
};

/** What the choices of events or of the document add up to. */
interface Answer {
  readonly add: (record: JsonRecord) => void;
  readonly finish: () => void;
  readonly isComplete: () => boolean;
  readonly hasBegun: () => boolean;
  readonly text: () => string;
}

const makeAnswer = (): Answer => {
  const pieces: string[] = [];
  const counter = makeAnswerCounter();
  let isComplete = false;
  let hasBegun = false;
  return {
    add: (record) => {
      if (record['error'] !== undefined && record['error'] !== null) throw reportedError(record);
      const choice = getList(record, 'choices').find((each) => isRecord(each) && (each['index'] ?? 0) === 0);
      const message = getRecord(choice, 'delta') ?? getRecord(choice, 'message');
      const text = textIn(message?.['content']) + (getText(choice, 'text') ?? '');
      counter.add(text);
      pieces.push(text);
      hasBegun ||= text !== '' || THOUGHTS.some((name) => getText(message, name));
      const reason = getText(choice, 'finish_reason') ?? '';
      if (reason === 'length') throw tooLongSummary();
      if (reason === 'content_filter') throw new SummaryError('the model server has filtered the summary');
      isComplete ||= reason !== '';
    },
    finish: () => {
      isComplete = true;
    },
    isComplete: () => isComplete,
    hasBegun: () => hasBegun,
    text: () => {
      if (!isComplete) throw new SummaryError('the answer of the model server broke off');
      return pieces.join('');
    },
  };
};

/** Fields in which servers stream what a model thinks. */
const THOUGHTS = ['reasoning_content', 'reasoning'];

/** A text, or a list of parts of which some have text. */
const textIn = (content: unknown): string => {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? content.map((part: unknown) => getText(part, 'text') ?? '').join('') : '';
};

/** The server's own words are not repeated: they can quote the conversation, or the key. */
const reportedError = (record: JsonRecord): SummaryError =>
  new SummaryError(
    saysTooLong(JSON.stringify(record))
      ? 'the text is too long for the model'
      : 'the model server reported an error instead of a summary',
  );

/** Whether a server says by this that the text does not fit into the model's window. */
export const saysTooLong = (text: string): boolean =>
  /context_length_exceeded|context (?:length|size|window)|too long|exceed_context/i.test(text);

interface LineReader {
  readonly push: (text: string) => void;
  readonly end: () => void;
}

const readerFor = (text: string, answer: Answer): LineReader => {
  if (text.startsWith('<'))
    throw new SummaryError(
      'the address of the summariser answers with a web page, so no model server is there',
    );
  return text.startsWith('{') ? documentReader(answer) : eventReader(answer);
};

const unreadable = (): SummaryError => new SummaryError('the answer of the model server cannot be read');

const documentReader = (answer: Answer): LineReader => {
  let document = '';
  return {
    push: (text) => {
      document += text;
      if (document.length > MOST_HELD) throw unreadable();
    },
    end: () => {
      const record = parseRecord(document);
      if (!record) throw unreadable();
      answer.add(record);
      if (getList(record, 'choices').length === 0) throw unreadable();
      answer.finish();
    },
  };
};

const DONE = '[DONE]';

/** Events as HTML's specification has them: lines end with LF, CR or CRLF; a line without text ends an event. */
const eventReader = (answer: Answer): LineReader => {
  let line = ''; // not ended yet
  let data: string[] = [];
  let held = 0; // characters in it
  let isAfterReturn = false; // a line feed that comes now belongs to it
  const endEvent = (): void => {
    const text = data.join('\n').trim();
    [data, held] = [[], 0];
    if (text === '' || answer.isComplete()) return;
    if (text === DONE) return answer.finish();
    const record = parseRecord(text);
    if (!record) throw unreadable();
    answer.add(record);
  };
  const endLine = (): void => {
    const [, field, value = ''] = /^([^:]*)(?:: ?([^]*))?$/.exec(line) ?? [];
    if (line === '') endEvent();
    else if (field === 'data') {
      data.push(value);
      held += value.length;
    }
    line = '';
  };
  return {
    push: (text) => {
      const [first = '', ...later] = text
        .slice(isAfterReturn && text.startsWith('\n') ? 1 : 0)
        .split(LINE_END);
      isAfterReturn = text.endsWith('\r');
      line += first;
      for (const next of later) {
        endLine();
        line = next;
      }
      if (line.length + held > MOST_HELD) throw unreadable();
    },
    end: () => {
      if (line !== '') endLine();
      endEvent();
    },
  };
};

const LINE_END = /\r\n|\r|\n/;
