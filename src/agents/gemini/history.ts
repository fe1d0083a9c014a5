import { getList, getRecord, getText, isRecord } from '../../core/json.js';
import type { JsonRecord } from '../../core/json.js';
import type { Fact } from '../../core/event.js';
import type { Outline } from '../../core/conversation/outline.js';
import type { Millis } from '../../core/reading.js';
import { parseIsoTime } from '../../core/time.js';
import {
  SKIPPED,
  summaryOf,
  type CompactedDetail,
  type DocumentReader,
  type DocumentResult,
  type HistoryDetail,
  type HistoryFormat,
  type LineClass,
} from '../history.js';
import { geminiReader, isDocumentHead, snapshotIn, ITS_OWN } from './log.js';

// Compactions in a session file of Gemini CLI (facts/gemini.md §7): the whole conversation is written again with a summary in it. Whether
// the summary is new, or an old one that is written again, the line reader decides.

const FACTS: LineClass = { facts: 'reduced' };
const WHOLE_FACTS: LineClass = { facts: 'whole' };
const PATCH: LineClass = { facts: 'whole', details: 'whole' };

const classify: HistoryFormat['classify'] = (line) => {
  switch (line.get('type')) {
    case 'user':
    case 'gemini':
      return { message: line.get('id') ?? '', facts: 'reduced' };
    case 'info':
      return WHOLE_FACTS;
    case undefined:
      return isOfTime(line) ? SKIPPED : PATCH; // or the first line
    default:
      return FACTS;
  }
};

/** After each message comes a patch that only notes the time. */
const isOfTime = (line: Outline): boolean =>
  line.has('$set.lastUpdated') && !line.has('$set.messages') && !line.has('$set.sessionId');

const details: HistoryFormat['details'] = (record, now) => {
  const cutBack = getText(record, '$rewindTo');
  if (cutBack !== undefined) return [{ kind: 'cut-back', key: cutBack }];
  const patch = getRecord(record, '$set');
  if (!patch) return [sessionIn(record)];
  if (patch['messages'] === undefined) return [];
  const keys = getList(patch, 'messages')
    .filter(isRecord)
    .map((message) => getText(message, 'id') ?? '');
  return [...compacted(patch, now()), { kind: 'rewritten', keys }];
};

const sessionIn = (head: JsonRecord): HistoryDetail => ({
  kind: 'session',
  id: getText(head, 'sessionId'),
  isOther: (getText(head, 'kind') ?? 'main') !== 'main',
});

const compacted = (patch: JsonRecord, now: Millis): readonly CompactedDetail[] => {
  const found = snapshotIn(patch);
  if (!found) return [];
  return [
    {
      kind: 'compacted',
      at: parseIsoTime(found.timestamp ?? '') ?? now,
      isCertain: false, // the line reader decides
      uuid: found.id,
      summary: summaryOf(found.text.replace(/^<state_snapshot>|<\/state_snapshot>$/g, '')),
    },
  ];
};

// A session of the old versions is one document, in which a compaction leaves an `info` message without text, also where it fails
// (facts/sessions.md §F). What was smaller afterwards was compacted.

const START = '    {';
const END = /^ {4}\},?$/;
const FIELD = /^ {6}"(id|type|timestamp|content)": "((?:[^"\\]|\\.){0,200})",?$/;
const ID = /^ {2}"sessionId": "([^"\\]{1,64})",?$/;
const LEAST_DROP = 0.1; // of the tokens before, as for any compaction without a record

/** The fields of a message read so far. */
type Fields = Partial<Record<'id' | 'type' | 'timestamp' | 'content', string>>;

interface Mark {
  readonly at: Millis;
  readonly uuid: string | undefined;
  readonly isOwn: boolean;
  readonly beforeTokens: number;
}

const NOTHING: DocumentResult = { facts: [], details: [] };

const documentReader = (): DocumentReader => {
  let lines = geminiReader();
  let fields: Fields = {};
  let tokens: number | undefined;
  let mark: Mark | undefined;

  const ended = (read: DocumentResult, now: Millis): DocumentResult => {
    const { id = '', type } = fields;
    if (type === 'info') {
      const found = tokens === undefined ? undefined : markIn(fields, tokens, now);
      if (!found) return NOTHING;
      mark = found;
      return {
        facts: [],
        details: [{ kind: 'compacted', at: found.at, isCertain: false, uuid: found.uuid }],
      };
    }
    if (type !== 'user' && type !== 'gemini') return NOTHING;
    const used = read.facts
      .flatMap((fact) => (fact.type === 'reading' ? [fact.reading.usedTokens] : []))
      .at(-1);
    const before = mark;
    if (used === undefined) return { ...read, message: id };
    tokens = used;
    mark = undefined;
    const isSmaller = before && used <= before.beforeTokens * (1 - LEAST_DROP);
    return { message: id, facts: [...(isSmaller ? [boundaryAt(before)] : []), ...read.facts], details: [] };
  };

  return {
    read: (line, now) => {
      const step = lines(line, now);
      lines = step.next;
      const read: DocumentResult = { facts: step.facts, details: [] };
      if (line === START) fields = {};
      else if (END.test(line)) return ended(read, now);
      const [, name, value] = FIELD.exec(line) ?? [];
      if (name !== undefined && value !== undefined) fields = { ...fields, [name]: value };
      const id = ID.exec(line)?.[1];
      return id === undefined ? read : { ...read, details: [{ kind: 'session', id }] };
    },
    // without a number after it nothing is proved
    end: () => ({ facts: mark ? [boundaryAt(mark, 'screen')] : [], details: [] }),
  };
};

const markIn = ({ id, timestamp, content }: Fields, beforeTokens: number, now: Millis): Mark | undefined => {
  const isOwn = ITS_OWN.test(content ?? '');
  if (content !== '' && !isOwn) return undefined;
  return { at: parseIsoTime(timestamp ?? '') ?? now, uuid: id, isOwn, beforeTokens };
};

const boundaryAt = ({ at, isOwn }: Mark, source: 'log' | 'screen' = 'log'): Fact => ({
  type: 'boundary',
  boundary: { at, source, initiator: isOwn ? 'agent' : 'user' },
});

export const geminiHistory: HistoryFormat = {
  fields: {
    fields: ['type', 'id', '$set.lastUpdated', '$set.messages', '$set.sessionId'],
    bulky: ['content', 'toolCalls', 'thoughts', 'displayContent'],
  },
  classify,
  details,
  messages: 'by-id',
  document: { isHead: isDocumentHead, mostIndent: 8, reader: documentReader },
};
