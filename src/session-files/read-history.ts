import { createHash } from 'node:crypto';
import type { Agent } from '../agents/agent.js';
import type { DocumentReader, LineClass, SessionDetail, SessionFormat } from '../agents/session-format.js';
import type {
  CompactionSummary,
  RecordedCompaction,
  SessionHistory,
} from '../core/conversation/boundary-record.js';
import type { Fill } from '../core/compaction/outcome.js';
import { emptyUsage, recordUsage, type UsageHistory } from '../core/report/history.js';
import type { Fact } from '../core/event.js';
import { isTooComplex } from '../core/json.js';
import type { Outline } from '../core/conversation/outline.js';
import { withoutAnalysis } from '../core/conversation/summary-text.js';
import { present } from '../core/present.js';
import { windowPercent, validReading, type Millis, type Reading } from '../core/reading.js';
import { parseIsoTime } from '../core/time.js';
import { readStored } from '../storage/session-store.js';
import {
  makeCompactionFold,
  type CompactionFold,
  type FoundCompaction,
  type LinePlace,
  type Summary,
} from './compaction-fold.js';
import { makeFileReader } from './session-facts.js';
import { isDocumentStart, readRecords, type RecordSource, type SessionRecord } from './session-records.js';

// Reads a whole session file once for its compactions, as fast as its bytes can be walked, and in little memory.

/** A session file with what the system says of it. */
export interface SessionSource extends RecordSource {
  /** in bytes, as stored */
  readonly size: number;
  readonly modifiedAt: Millis;
  /** the agent's id of a session that is in a database with others, which is at `path` */
  readonly idInDatabase?: string;
}

export interface HistoryOptions {
  /** summaries whole, not only their first lines */
  readonly isFull: boolean;
  /** also how full the window was over the session */
  readonly withUsage: boolean;
  /** called with the bytes that were read since the last call */
  readonly onBytes?: (count: number) => void;
  /** false for a session whose file is then not read on; asked once its folder is known */
  readonly isWanted?: (session: SessionDetail) => boolean;
  /** the time of records that have none */
  readonly now: Millis;
  /** when ctxwrap has written the session, if it has */
  readonly writtenAt?: Millis | undefined;
}

/** A session, and where asked for its usage until its last number. */
export interface ReadSession {
  readonly history: SessionHistory;
  /** of the first answer in a session that ctxwrap has written, unless a compaction is recorded before it */
  readonly nextTokens?: number;
  /** lines that are more than is read: `2 lines with more than 64 MB`; absent where there are none */
  readonly leftOut?: string;
  readonly usage?: { readonly history: UsageHistory; readonly until: Millis };
}

/** Longer lines are left out: an agent's longest ones hold a whole conversation. */
export const MAX_LINE_BYTES = 64 * 1024 * 1024;

/** Undefined for a file that is no conversation of the user's, or not wanted. Rejects when it cannot be read. */
export const readHistory = async (
  source: SessionSource,
  options: HistoryOptions,
): Promise<ReadSession | undefined> => {
  const usage = makeUsage();
  const { agent, path } = source;
  const format = agent.log?.conversation ?? NUMBERS_ONLY;
  const fold = makeCompactionFold(format, options.withUsage ? usage : undefined, options.writtenAt);
  const id = format.idInPath?.(path);
  if (id !== undefined) fold.session({ id });
  const reader = makeHistoryReader(agent, fold, options);
  for await (const bytes of readRecords(source, reader.record, { maxBytes: MAX_LINE_BYTES })) {
    options.onBytes?.(bytes);
    if (reader.isOver()) return undefined;
  }
  reader.end();
  const session = fold.known();
  if (session.isOther || options.isWanted?.(session) === false) return undefined;
  const compactions = await withMemory(
    fold.compactions().map((each, index) => recorded(each, index + 1, options.isFull)),
    format.memoryOf?.(path),
    options.isFull,
  );
  return {
    history: {
      runtime: agent.name,
      path,
      ...present({ sessionId: session.id, project: session.project, agentVersion: session.version }),
      writtenAt: source.modifiedAt,
      messages: fold.messages(),
      damagedLines: reader.damagedLines(),
      compactions,
      ...(source.open && source.idInDatabase === undefined ? { isKept: true } : {}),
    },
    ...present({ nextTokens: fold.nextTokens() }),
    ...leftOutText(reader.leftOutLines()),
    ...(options.withUsage ? { usage: usage.end(compactions.map(({ at }) => at)) } : {}),
  };
};

/** What a session file records of its compactions; none where it cannot be read. `now`: the time of records that have none */
export const readCompactions = async (
  { agent, path, open }: RecordSource,
  now: Millis,
): Promise<readonly RecordedCompaction[]> => {
  const source = { agent, path, open, size: 0, modifiedAt: now };
  const read = await readHistory(source, { isFull: false, withUsage: false, now }).catch(() => undefined);
  return read?.history.compactions ?? [];
};

/** Lines that are whole, for all that is known, and more than is read. */
interface LeftOutLines {
  readonly long: number;
  readonly complex: number;
}

const leftOutText = ({ long, complex }: LeftOutLines): Pick<ReadSession, 'leftOut'> => {
  const lines = (count: number): string => `${count} line${count === 1 ? '' : 's'}`;
  const found = [
    ...(long > 0 ? [`${lines(long)} with more than 64 MB`] : []),
    ...(complex > 0 ? [`${lines(complex)} nested too deep or with too many values`] : []),
  ];
  return found.length > 0 ? { leftOut: found.join(' and ') } : {};
};

interface FileReader {
  readonly record: (record: SessionRecord) => void;
  readonly end: () => void;
  /** the session is known not to be wanted */
  readonly isOver: () => boolean;
  readonly damagedLines: () => number;
  readonly leftOutLines: () => LeftOutLines;
}

const makeHistoryReader = (
  agent: Agent,
  fold: CompactionFold,
  { isWanted, now }: Pick<HistoryOptions, 'isWanted' | 'now'>,
): FileReader => {
  const { document: documents } = agent.log?.conversation ?? NUMBERS_ONLY;
  let place = { line: 0, offset: 0 };
  let damagedLines = 0;
  let [long, complex] = [0, 0];
  let document: DocumentReader | undefined;
  let lastText = '';
  const lines = makeLineTaker(agent, fold, now);

  const ofDocument = (reader: DocumentReader, line: Buffer): void => {
    if (indentOf(line) > (documents?.mostIndent ?? 0)) return;
    lastText = line.toString('utf8');
    const read = reader.read(lastText, now);
    if (read.message !== undefined) fold.message(read.message);
    if (read.session) fold.session(read.session);
    if (read.mark) fold.mark(read.mark, place);
    fold.facts(read.facts, place);
  };

  const take = (record: SessionRecord): void => {
    const { bytes, line, offset } = record;
    place = { line, offset };
    if (line === 1 && isDocumentStart(bytes)) document = documents?.reader();
    if (bytes === undefined) long += 1;
    else if (document) ofDocument(document, bytes);
    else {
      const taken = lines.take(bytes, record.outline, place);
      if (taken === 'damaged') damagedLines += 1;
      if (taken === 'too complex') complex += 1;
    }
  };

  return {
    record: take,
    end: () => {
      if (!document) return lines.end(place);
      const read = document.end();
      if (lastText !== '}') damagedLines += 1;
      return fold.facts(read.facts, place);
    },
    isOver: () => {
      const session = fold.known();
      return session.isOther === true || (session.project !== undefined && isWanted?.(session) === false);
    },
    damagedLines: () => damagedLines,
    leftOutLines: () => ({ long, complex }),
  };
};

const BLANK = 0x20;

const indentOf = (line: Buffer): number => {
  let at = 0;
  while (line[at] === BLANK) at += 1;
  return at;
};

interface LineTaker {
  readonly take: (
    line: Buffer,
    outline: Outline | undefined,
    place: LinePlace,
  ) => 'whole' | 'damaged' | 'too complex';
  /** the file ends here: what would be reported with a later line */
  readonly end: (place: LinePlace) => void;
}

/** Gives the lines that matter to the agent's reader. */
const makeLineTaker = (agent: Agent, fold: CompactionFold, now: Millis): LineTaker => {
  const format = agent.log?.conversation ?? NUMBERS_ONLY;
  let facts: Fact[] = [];
  // the file may come from another machine, so this shell's settings do not apply
  const inbox = { add: (fact: Fact) => facts.push(fact) };
  const wanted = { chosen: agent.log?.conversation !== undefined };
  const reader = agent.log && makeFileReader(agent.log, {}, inbox, wanted);
  let needsSession = format.session !== undefined;

  const takeRecord = (known: LineClass, outline: Outline, place: LinePlace): boolean => {
    if (!reader) return true;
    if (!known.read) {
      if (known.message !== undefined && reader.needsText()) reader.skim(outline.whole(), now);
      return true;
    }
    facts = [];
    const text = known.read === 'whole' ? outline.whole() : outline.reduced();
    const { misfit, steps } = reader.read(text, now, { line: place.line - 1 });
    if (known.hasSteps && steps) fold.steps(steps(), place);
    fold.facts(facts, place);
    return misfit !== 'not JSON';
  };

  return {
    take: (line, outline, place) => {
      if (!outline) return isBlankLine(line) ? 'whole' : 'damaged';
      if (needsSession) {
        const session = format.session?.(outline) ?? {};
        needsSession = session.project === undefined;
        fold.session(session);
      }
      const known = format.classify(outline);
      if (known.turn === 'begins') fold.beginTurn(() => parseIsoTime(outline.get('timestamp') ?? ''));
      if (known.message !== undefined) fold.message(known.message, place);
      const isWhole = takeRecord(known, outline, place);
      if (known.turn === 'ends') fold.endTurn(known.turnMs);
      if (isWhole) return 'whole';
      return isTooComplex(outline.whole()) ? 'too complex' : 'damaged';
    },
    end: (place) => {
      facts = [];
      reader?.end();
      fold.facts(facts, place);
    },
  };
};

/** For an agent whose records nothing more is known of. */
const NUMBERS_ONLY: SessionFormat = {
  fields: { fields: [] },
  classify: () => ({ read: 'whole' }),
  messages: 'by-id',
};

const isBlankLine = (line: Buffer): boolean =>
  line.length === 0 || (line.length < 100 && line.toString('utf8').trim() === '');

const FIRST_LINES = 5;
const FIRST_CHARACTERS = 600;

const recorded = (found: FoundCompaction, number: number, isFull: boolean): RecordedCompaction => {
  const { at, line, offset, afterMessage, isVerified, lastTokens, preTokens = lastTokens } = found;
  const { initiator, postTokens, fixedTokens, nextTokens, uuid, durationMs, replaced, summary } = found;
  return {
    number,
    at,
    ...present({ initiator, preTokens }),
    ...(found.preTokens === undefined && preTokens !== undefined ? { isEstimated: true } : {}),
    ...present({ postTokens, fixedTokens, nextTokens, uuid, durationMs }),
    afterMessage,
    ...present({ replaced }),
    ...(summary ? { summary: summaryText(summary.summary, summary.line, isFull) } : {}),
    line,
    offset,
    isVerified,
  };
};

const summaryText = (summary: Summary, line: number, isFull: boolean): CompactionSummary => ({
  kind: summary.kind,
  ...measuredText(summary.kind === 'text' ? summary.text : '', isFull),
  line,
});

const measuredText = (text: string, isFull: boolean): Omit<CompactionSummary, 'kind' | 'line'> => {
  const shown = isFull
    ? text
    : withoutAnalysis(text).split('\n', FIRST_LINES).join('\n').slice(0, FIRST_CHARACTERS);
  return {
    text: Buffer.from(shown).toString(), // a copy, since a part of a string keeps all of it in memory
    isCut: shown.length < text.length,
    characters: text.length,
    sha256: createHash('sha256').update(text).digest('hex'),
  };
};

const MOST_MEMORY_BYTES = 1024 * 1024;

/** The last compaction with what the agent has noted of the session, where it has. */
const withMemory = async (
  compactions: readonly RecordedCompaction[],
  path: string | undefined,
  isFull: boolean,
): Promise<readonly RecordedCompaction[]> => {
  const last = compactions.at(-1);
  const text = last && path !== undefined && (await memoryIn(path).catch(() => undefined));
  return last && path !== undefined && text
    ? compactions.with(-1, { ...last, memory: { path, ...measuredText(text.trim(), isFull) } })
    : compactions;
};

/** Undefined where there is more than an agent writes. */
const memoryIn = async (path: string): Promise<string | undefined> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of readStored(path)) {
    bytes += chunk.length;
    if (bytes > MOST_MEMORY_BYTES) return undefined;
    chunks.push(Buffer.from(chunk)); // its memory is reused
  }
  return Buffer.concat(chunks).toString();
};

/** How full the window was, from the numbers in the file. */
const makeUsage = () => {
  let history: UsageHistory = emptyUsage;
  let until: Millis = 0;
  let windowTokens: number | undefined;
  const add = (at: Millis, fill: Fill | undefined): void => {
    until = Math.max(until, at);
    history = recordUsage(history, { fill, at });
  };
  return {
    onReading: (reading: Reading): void => {
      const valid = validReading(reading);
      if (!valid) return;
      const { usedTokens } = valid;
      const usedPercent = windowPercent(valid);
      if (usedTokens !== undefined && usedPercent) windowTokens = (usedTokens * 100) / usedPercent;
      add(valid.at, { usedTokens, ...present({ usedPercent }) });
    },
    onCompaction: (at: Millis, usedTokens: number | undefined): void => {
      if (usedTokens === undefined) return add(at, undefined);
      const percent = windowTokens === undefined ? {} : { usedPercent: (usedTokens * 100) / windowTokens };
      return add(at, { usedTokens, ...percent });
    },
    end: (marks: readonly Millis[]) => ({
      history: { ...history, marks },
      until: Math.max(until, ...marks),
    }),
  };
};
