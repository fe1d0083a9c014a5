import type { Agent, NewSessionForm, NewFile } from '../agents/agent.js';
import { buildConversation } from '../core/conversation/build-conversation.js';
import {
  beforeCompaction,
  type Compaction,
  type Conversation,
  type ConversationReader,
  type Entry,
  type NewSession,
  type SessionHead,
  type SourceRecord,
  type Step,
} from '../core/conversation/conversation.js';
import { errorCode } from '../core/errors.js';
import { parseRecord } from '../core/json.js';
import type { Boundary } from '../core/event.js';
import type { Millis } from '../core/reading.js';
import { readStored } from '../storage/session-store.js';
import type { SessionSource } from './read-history.js';
import { MAX_LINE_BYTES } from './read-history.js';
import { makeRecordReader, type SessionRecord } from './session-records.js';
import { writeSession } from './write-session.js';

// Undoes a compaction: the conversation as it was before becomes a new session of the same agent. The session file is read and copied line
// by line, and never changed.

/** A session file: the agent's own, or a copy of one. */
export interface UndoSource {
  readonly agent: Agent;
  /** the agent's own path of it, also where that file is gone; the new session is written beside it */
  readonly path: string;
  /** the bytes of a copy, from the start at every call; those at `path` when absent */
  readonly open?: SessionSource['open'];
}

export interface UndoRequest extends UndoSource {
  /** of the compaction, from 1; when absent the last one that was not undone in this file */
  readonly number?: number | undefined;
  /** what the black box has of this file, for one that is gone or no longer holds what was said; in no order */
  readonly copies?: (() => Promise<readonly SessionSource[]>) | undefined;
  /** id, time and identifiers for the new session; its folder where the file does not tell one */
  readonly as: NewSession;
}

/** For a new session in this folder. */
export const newSession = (cwd: string): NewSession => ({
  id: crypto.randomUUID(),
  cwd,
  now: Date.now(),
  newUuid: () => crypto.randomUUID(),
});

/** What is undone. */
export interface UndonePlan {
  readonly head: SessionHead;
  readonly boundary: Boundary;
  readonly number: number;
  /** compactions in the file */
  readonly count: number;
  /** messages of the user that are in the window again */
  readonly prompts: number;
  readonly damagedLines: number;
  /** when the black box copied what is in the window again; absent where the session file has it */
  readonly copiedAt?: Millis;
}

export interface Undone extends UndonePlan {
  readonly session: { readonly id: string; readonly path: string };
}

/** Why a compaction cannot be undone; the message is a sentence without a full stop. */
export class UndoError extends Error {
  override readonly name = 'UndoError';
}

/** Writes the new session. Rejects with an UndoError for what cannot be undone, and with the system's error. */
export const undoCompaction = async (request: UndoRequest): Promise<Undone> => {
  const form = formOf(request.agent);
  const { plan, place } = await planUndo(request, form);
  const as = { ...request.as, cwd: plan.head.cwd ?? request.as.cwd };
  const path = await writeSession(request.path, form, as, copiedLines(place, form, as));
  return { ...plan, session: { id: as.id, path } };
};

/** Writes the whole session as a new one. Rejects as `undoCompaction` does. */
export const copySession = async (source: UndoSource, as: NewSession): Promise<Undone['session']> => {
  const form = formOf(source.agent);
  const { head, ids, records, obstacle } = await scanSource(source, form);
  if (obstacle !== undefined) throw new UndoError(obstacle);
  const there = { ...as, cwd: head.cwd ?? as.cwd };
  const copied = copiedLines({ source, records, ids }, form, there);
  return { id: as.id, path: await writeSession(source.path, form, there, copied) };
};

/** The file that a running agent takes the conversation from, where it takes no other session file while it runs. */
export const planCheckpoint = async (
  request: UndoRequest,
  name: string,
): Promise<{ readonly plan: UndonePlan; readonly file: NewFile } | undefined> => {
  const form = formOf(request.agent);
  const { checkpoint } = form.switching ?? {};
  if (!checkpoint) return undefined;
  const { plan, place } = await planUndo(request, form);
  const whole = await conversationIn(place.source);
  const conversation = place.compaction ? beforeCompaction(whole, place.compaction) : whole;
  if (!conversation) throw new UndoError(GONE);
  return { plan, file: checkpoint(conversation, request.path, name) };
};

const formOf = (agent: Agent): NewSessionForm => agent.newSessions ?? unknownForm(agent);

const readerOf = (agent: Agent): ConversationReader => agent.log?.conversation?.() ?? unknownForm(agent);

const unknownForm = ({ name }: Agent): never => {
  throw new UndoError(`ctxwrap does not know the session files of ${name} well enough`);
};

const NONE = 'nothing was compacted in this session';
const UNDONE = 'everything that was compacted in this session is undone already';
const EMPTY =
  'the session file no longer holds what was said before the compaction, and there is no copy of it';
const GONE = 'the session file changed while it was read';

/** What is said before a compaction, and after the one before it. */
interface Part {
  readonly prompts: number;
  readonly said: number;
}

interface Found extends Part {
  readonly compaction: Compaction;
  isUndone: boolean;
}

/** What is in a file. */
interface Scan {
  readonly compactions: readonly Found[];
  /** after the last of them */
  readonly rest: Part;
  readonly head: SessionHead;
  readonly ids: ReadonlySet<string>;
  readonly records: number;
  readonly damagedLines: number;
  readonly obstacle: string | undefined;
}

/** The records that hold what was said before the compaction. */
interface Place {
  readonly source: UndoSource;
  /** that many, from the first one; Infinity where only the compaction tells */
  readonly records: number;
  /** where they end; absent for a copy from before it, of which all is wanted */
  readonly compaction?: Compaction;
  readonly ids: ReadonlySet<string>;
}

interface Planned {
  readonly plan: UndonePlan;
  readonly place: Place;
}

/** Finds the compaction, in one pass and without keeping the conversation. */
const planUndo = async (request: UndoRequest, form: NewSessionForm): Promise<Planned> => {
  const scan = await scanSource(request, form).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' && request.copies) return undefined;
    throw error;
  });
  if (!scan) return planInNewest(request, form);
  const { compactions, obstacle } = scan;
  const { number = compactions.findLastIndex(({ isUndone }) => !isUndone) + 1 } = request;
  const found = compactions[number - 1];
  if (compactions.length === 0) throw new UndoError(NONE);
  if (number === 0 && request.number === undefined) throw new UndoError(UNDONE);
  if (!found) throw new UndoError(noSuch(number, compactions.length));
  if (obstacle !== undefined) throw new UndoError(obstacle);
  const { boundary } = found.compaction;
  const known = { boundary, number, count: compactions.length };
  const planned = planIn(request, scan, found, known) ?? (await planInCopies(request, form, known));
  if (!planned) throw new UndoError(EMPTY);
  return planned;
};

type Known = Pick<UndonePlan, 'boundary' | 'number' | 'count' | 'copiedAt'>;

/** In the lines before this compaction; undefined if nothing is left there. */
const planIn = (
  source: UndoSource,
  { head, ids, damagedLines }: Scan,
  { compaction, said, prompts }: Found,
  known: Known,
): Planned | undefined => {
  if (said === 0 || compaction.startLine === undefined) return undefined;
  return {
    plan: { ...known, head, prompts, damagedLines },
    place: { source, records: Infinity, compaction, ids },
  };
};

/** In what the black box has from before the agent wrote the file anew. */
const planInCopies = async (
  request: UndoRequest,
  form: NewSessionForm,
  known: Known,
): Promise<Planned | undefined> => {
  const { at } = known.boundary;
  if (at === 0) return undefined;
  for (const { source, copiedAt } of await copiesFor(request)) {
    const scan = await scanSource(source, form).catch(() => undefined); // a damaged copy
    if (!scan || scan.obstacle !== undefined) continue;
    const found = scan.compactions.find(({ compaction }) => compaction.boundary.at === at);
    const isBefore = scan.compactions.every(({ compaction }) => compaction.boundary.at < at);
    const planned = found && planIn(source, scan, found, { ...known, copiedAt });
    if (planned) return planned;
    if (!isBefore || scan.rest.said === 0) continue;
    const { head, ids, records, damagedLines, rest } = scan;
    return {
      plan: { ...known, head, prompts: rest.prompts, damagedLines, copiedAt },
      place: { source, records, ids },
    };
  }
  return undefined;
};

/** The agent's file is gone. */
const planInNewest = async (request: UndoRequest, form: NewSessionForm): Promise<Planned> => {
  const [newest] = await copiesFor(request);
  if (!newest) throw new UndoError('the session file is gone, and there is no copy of it');
  const { copies: _, ...rest } = request;
  const planned = await planUndo({ ...rest, ...newest.source }, form);
  return { ...planned, plan: { ...planned.plan, copiedAt: newest.copiedAt } };
};

/** The newest first. */
const copiesFor = async ({
  agent,
  path,
  copies,
}: UndoRequest): Promise<readonly { readonly source: UndoSource; readonly copiedAt: Millis }[]> =>
  [...((await copies?.()) ?? [])]
    .toSorted((a, b) => b.modifiedAt - a.modifiedAt || b.size - a.size)
    .flatMap(({ open, modifiedAt }) =>
      open ? [{ source: { agent, path, open }, copiedAt: modifiedAt }] : [],
    );

const scanSource = async (source: UndoSource, form: NewSessionForm): Promise<Scan> => {
  const scan = makeScan();
  let next = readerOf(source.agent);
  let obstacle: string | undefined;
  let damagedLines = 0;
  let records = 0;
  await eachRecord(source, (line, { line: lineFrom1 }) => {
    records += 1;
    if (line === undefined || line.trim() === '') {
      damagedLines += line === undefined ? 1 : 0;
      return;
    }
    const lineNumber = lineFrom1 - 1;
    if (lineNumber === 0) obstacle = form.obstacle?.(line);
    const result = next(line, lineNumber);
    next = result.next;
    if (result.misfit !== undefined) damagedLines += 1;
    for (const step of result.steps) scan.take(step);
  });
  return { ...scan.end(), records, damagedLines, obstacle };
};

const noSuch = (number: number, count: number): string =>
  count === 1
    ? `there is no compaction #${number}, only #1`
    : `there is no compaction #${number}, only #1 to #${count}`;

/** Counts what is said between the compactions. */
const makeScan = () => {
  const compactions: Found[] = [];
  const recorded: Found[] = []; // each record of a compaction; one may occur again
  const ids = new Set<string>();
  let head: SessionHead = {};
  let prompts: SourceRecord[] = [];
  let said: SourceRecord[] = [];
  const takeEntry = (entry: Entry): void => {
    if (entry.kind === 'compaction') {
      // a boundary that occurs again, as in a rewritten history, is the same compaction
      const { at } = entry.boundary;
      const known = at > 0 && compactions.find(({ compaction }) => compaction.boundary.at === at);
      if (known) return void recorded.push(known);
      // an answer with the summary belongs to the compaction
      const { startLine = entry.source.line } = entry;
      const isBefore = ({ line, parentId }: SourceRecord): boolean =>
        line < startLine || (parentId !== undefined && line >= entry.source.line);
      const found: Found = {
        compaction: entry,
        prompts: prompts.filter(isBefore).length,
        said: said.filter(isBefore).length,
        isUndone: false,
      };
      compactions.push(found);
      recorded.push(found);
      [prompts, said] = [[], []];
    } else if (entry.kind === 'prompt' || entry.kind === 'answer' || entry.kind === 'call') {
      said.push(entry.source);
      if (entry.kind === 'prompt') prompts.push(entry.source);
    }
  };
  return {
    take: (step: Step): void => {
      if (step.kind === 'head') {
        head = { ...head, ...step.head };
        if (step.head.id !== undefined) ids.add(step.head.id);
      }
      if (step.kind === 'rewritten') {
        [prompts, said] = [[], []];
        const { inEffect } = step;
        if (inEffect !== undefined) {
          for (const found of recorded) found.isUndone = true;
          for (const found of recorded.slice(0, inEffect)) found.isUndone = false;
        }
      }
      if (step.kind === 'record' || step.kind === 'rewritten') step.entries.forEach(takeEntry);
    },
    end: () => ({ compactions, rest: { prompts: prompts.length, said: said.length }, head, ids }),
  };
};

/** Calls back with every record and its text, which is undefined for one that is too long. */
const eachRecord = async (
  { agent, path, open }: UndoSource,
  onRecord: (text: string | undefined, record: SessionRecord) => void,
): Promise<void> => {
  const take = (record: SessionRecord): void => onRecord(record.bytes?.toString('utf8'), record);
  const records = makeRecordReader(agent.log?.history, take, MAX_LINE_BYTES);
  for await (const chunk of open?.() ?? readStored(path)) records.push(chunk);
  records.end();
};

/** The wanted records as lines, under the new id. */
async function* copiedLines(place: Place, form: NewSessionForm, as: NewSession): AsyncGenerator<string> {
  const { source, records: most, compaction, ids } = place;
  const { agent, path, open } = source;
  let taken = 0;
  let isOver = false;
  let lines: string[] = [];
  const take = (record: SessionRecord): void => {
    isOver ||= taken >= most || (compaction !== undefined && !isBefore(record, compaction));
    if (isOver) return;
    taken += 1;
    if (!record.bytes)
      throw new UndoError(`line ${record.line} of the session file is too long to be copied`);
    const text = record.bytes.toString('utf8');
    // a line that is cut off or no text would be damage in the new file, too
    if (parseRecord(text)) lines.push(form.copyLine(text, ids, as));
  };
  const records = makeRecordReader(agent.log?.history, take, MAX_LINE_BYTES);
  for await (const chunk of open?.() ?? readStored(path)) {
    records.push(chunk);
    yield* lines;
    lines = [];
    if (isOver) return;
  }
  records.end();
  yield* lines;
  if (!isOver && taken < most) throw new UndoError(GONE);
}

/** It comes before the records of this compaction; several can be in one line. */
const isBefore = ({ line, id, isMoved }: SessionRecord, { source, startLine }: Compaction): boolean => {
  const place = line - 1;
  if (isMoved || place < (startLine ?? source.line)) return true;
  return place === source.line && id !== undefined && id !== source.id;
};

const conversationIn = async (source: UndoSource): Promise<Conversation> => {
  const steps: Step[] = [];
  let next = readerOf(source.agent);
  await eachRecord(source, (text, { line }) => {
    const result = text === undefined ? undefined : next(text, line - 1);
    if (result) next = result.next;
    steps.push(...(result?.steps ?? []));
  });
  return buildConversation(steps);
};
