import type { Agent } from '../agents/agent.js';
import type { SessionFormat } from '../agents/session-format.js';
import { makeOutlineReader, objectEnd, type Outline } from '../core/conversation/outline.js';
import { parseRecord } from '../core/json.js';
import { readStored } from '../storage/session-store.js';
import { makeByteSplitter } from '../storage/tail.js';
import { makeRecordOrder } from './record-order.js';

// The records of a whole session file, for all who read one: each record once and at its place, whatever a crash or the agent itself has made
// of the lines.

/** A record of a session file. Its bytes and its outline are valid only until the next one. */
export interface SessionRecord {
  /** undefined for a line that is longer than is read */
  readonly bytes: Buffer | undefined;
  /** undefined for what is no complete object: blank, damaged, too long, or a line of a document */
  readonly outline: Outline | undefined;
  /** its line, from 1; several records can be glued together in one */
  readonly line: number;
  /** the bytes before it in the file */
  readonly offset: number;
  /** for agents whose records name one another, the agent's id of it, '' where it has none */
  id?: string;
  /** stored behind the compaction that it was said before */
  readonly isMoved?: true;
}

/** A session file: the agent's own, or a copy of one. */
export interface RecordSource {
  readonly agent: Agent;
  /** the agent's own path of it, also where that file is gone */
  readonly path: string;
  /**
   * the bytes of a copy, or of a session in a database, in chunks that are valid until the next one; those at `path` when absent. A
   * database gives what was said only where that is asked for; the lines are the same without it
   */
  readonly open?: ((want?: 'everything') => AsyncIterable<Buffer>) | undefined;
}

/**
 * Calls back with every record of a session file, each valid only until the next one. Yields after each part of the file the bytes it had.
 * Rejects when the file cannot be read. `maxBytes`: longer lines are left out; `want`: also what was said, from a database.
 */
export async function* readRecords(
  { agent, path, open }: RecordSource,
  onRecord: (record: SessionRecord) => void,
  { maxBytes, want }: { readonly maxBytes: number; readonly want?: 'everything' },
): AsyncGenerator<number> {
  const records = makeRecordReader(agent.log?.conversation, onRecord, maxBytes);
  for await (const chunk of open?.(want) ?? readStored(path)) {
    records.push(chunk);
    yield chunk.length;
  }
  records.end();
  yield 0;
}

interface RecordReader {
  readonly push: (chunk: Buffer) => void;
  /** the file has ended: its last line counts without a newline, too, unless it is half a line that is being written */
  readonly end: () => void;
}

/** Whether this first line begins a file that is one document, and not one record a line. */
export const isDocumentStart = (line: Buffer | undefined): boolean =>
  line?.length === 1 && line.toString() === '{';

const NO_FORMAT: Pick<SessionFormat, 'fields' | 'chain'> = { fields: { fields: [] } };

/** `format`: of the agent that wrote the file; without one only the lines are told apart. */
const makeRecordReader = (
  format: SessionFormat | undefined,
  onRecord: (record: SessionRecord) => void,
  maxBytes: number,
): RecordReader => {
  const { fields, chain } = format ?? NO_FORMAT;
  const outlineOf = makeOutlineReader(fields, textIn);
  const order = chain && makeRecordOrder(chain, outlineOf, onRecord);
  const give = order?.take ?? onRecord;
  let line = 0;
  let isDocument = false; // its lines are no records

  const take = (bytes: Buffer | undefined, offset: number): void => {
    line += 1;
    if (line === 1) isDocument = isDocumentStart(bytes);
    const outline = isDocument || !bytes ? undefined : outlineOf(bytes);
    if (isDocument || !bytes || outline) give({ bytes, outline, line, offset });
    else giveParts(bytes, offset, partsIn(bytes));
  };
  const partsIn = (bytes: Buffer): readonly Span[] =>
    recordSpans(bytes, (part) => isRecordLike(outlineOf(part), fields.fields));
  const giveParts = (bytes: Buffer, offset: number, parts: readonly Span[]): void => {
    for (const [start, end] of parts) {
      const part = bytes.subarray(start, end);
      give({ bytes: part, outline: outlineOf(part), line, offset: offset + start });
    }
  };
  const takeRest = (rest: Buffer, offset: number): void => {
    if (isDocument || parseRecord(rest.toString('utf8'))) return take(rest, offset);
    line += 1;
    giveParts(rest, offset, writtenParts(rest, partsIn(rest)));
  };

  let read = 0;
  const splitter = makeByteSplitter(take, { maxBytes });
  return {
    push: (chunk) => {
      read += chunk.length;
      splitter.push(chunk);
    },
    end: () => {
      const rest = splitter.rest();
      if (rest) takeRest(rest, read - rest.length);
      order?.end();
    },
  };
};

const textIn = (line: Uint8Array, start: number, end: number): string =>
  (line as Buffer).toString('utf8', start, end);

/** It has at least one of the fields that the agent's records have. */
const isRecordLike = (outline: Outline | undefined, fields: readonly string[]): boolean =>
  outline !== undefined && fields.some((field) => outline.has(field));

type Span = readonly [start: number, end: number];

/**
 * The records in a line that is not one: glued together, or behind the beginning of one that was cut off there. What is between them is a part
 * of its own. A line without a record stays as it is.
 */
const recordSpans = (line: Buffer, isRecord: (part: Buffer) => boolean): readonly Span[] => {
  const parts: Span[] = [];
  let found = 0;
  for (let at = blanksEnd(line, 0); at < line.length;) {
    const next = nextObject(line, at);
    const start = next?.[0] ?? line.length;
    if (start > at) parts.push([at, start]);
    if (next) {
      parts.push(next);
      if (isRecord(line.subarray(...next))) found += 1;
    }
    at = blanksEnd(line, next?.[1] ?? line.length);
  }
  return found === 0 ? [[0, line.length]] : parts;
};

/** The parts of the last line of a file without those of a record that is being written: an object in that is no record. */
const writtenParts = (line: Buffer, parts: readonly Span[]): readonly Span[] => {
  const [start, end] = parts.at(-1) ?? [0, 0];
  if (parts.length > 1 && isInside(line, start)) return parts.slice(0, -2);
  return parseRecord(line.toString('utf8', start, end)) ? parts : parts.slice(0, -1);
};

/** Whether what begins here is a value in an object or a list. */
const isInside = (line: Buffer, start: number): boolean => {
  let before = start - 1;
  while (isBlank(line[before])) before -= 1;
  return BEFORE_VALUE.includes(line[before] ?? 0);
};

const BEFORE_VALUE = Buffer.from(':,[');
const OBJECT_START = '{"';
const LEAST_TRIES = 16;
const MOST_WALKED = 64 * 1024 * 1024; // bytes that are looked at again, in a line in which much begins and nothing ends

/** The first object from here on after which the line ends or another one begins. */
const nextObject = (line: Buffer, from: number): Span | undefined => {
  const tries = Math.max(LEAST_TRIES, MOST_WALKED / line.length);
  let start = line.indexOf(OBJECT_START, from);
  for (let tried = 0; start >= 0 && tried < tries; tried += 1) {
    const end = objectEnd(line, start);
    const behind = end < 0 ? -1 : blanksEnd(line, end);
    const isLast = behind === line.length || (behind >= 0 && line.indexOf(OBJECT_START, behind) === behind);
    if (isLast && parseRecord(line.toString('utf8', start, end))) return [start, end];
    start = line.indexOf(OBJECT_START, start + 1);
  }
  return undefined;
};

const blanksEnd = (line: Buffer, start: number): number => {
  let at = start;
  while (isBlank(line[at])) at += 1;
  return at;
};

const isBlank = (byte = 0): boolean => byte <= 0x20 && byte !== 0;
