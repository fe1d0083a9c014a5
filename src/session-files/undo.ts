import type { Agent, NewSessionForm, NewFile } from '../agents/agent.js';
import { buildConversation } from '../core/conversation/build-conversation.js';
import {
  beforeCompaction,
  userMessagesIn,
  windowOf,
  type Compaction,
  type Conversation,
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
import { MAX_LINE_BYTES, type SessionSource } from './read-history.js';
import { readRecords, type RecordSource, type SessionRecord } from './session-records.js';
import { readSteps, withoutText, type RecordSteps } from './session-steps.js';
import { writeSession } from './write-session.js';

// Undoes a compaction: the conversation as it was before becomes a new session of the same agent. The session file is read and copied line
// by line, and never changed.

export interface UndoRequest extends RecordSource {
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
  /** compactions in the session, where the one that was asked for is not among them */
  readonly others: number | undefined;

  constructor(message: string, others?: number) {
    super(message);
    this.others = others;
  }
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
export const copySession = async (source: RecordSource, as: NewSession): Promise<Undone['session']> => {
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

const unknownForm = ({ name }: Agent): never => {
  throw new UndoError(`ctxwrap cannot write sessions of ${name}, only read them`);
};

const NONE = 'nothing was compacted in this session';
const UNDONE = 'every compaction of this session is already undone';
const EMPTY =
  'the session file no longer holds what was said before the compaction, and there is no copy of it';
const GONE = 'the session file changed while it was read';

interface Found {
  readonly compaction: Compaction;
  /** entries before it, and after the one before it */
  readonly entryCount: number;
  isUndone: boolean;
}

/** What is in a file. */
interface Scan {
  readonly compactions: readonly Found[];
  /** entries after the last of them */
  readonly rest: number;
  /** messages of the user in the window before this compaction, at the end without one */
  readonly prompts: (compaction?: Compaction) => number;
  readonly head: SessionHead;
  readonly ids: ReadonlySet<string>;
  readonly records: number;
  readonly damagedLines: number;
  readonly obstacle: string | undefined;
}

/** The records that hold what was said before the compaction. */
interface Place {
  readonly source: RecordSource;
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

/** Finds the compaction, in one pass and without keeping the texts of the conversation. */
const planUndo = async (request: UndoRequest, form: NewSessionForm): Promise<Planned> => {
  const scan = await scanSource(request, form).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' && request.copies) return undefined;
    throw error;
  });
  if (!scan) return planInNewest(request, form);
  const { compactions, obstacle } = scan;
  const { number = compactions.findLastIndex(({ isUndone }) => !isUndone) + 1 } = request;
  const found = compactions[number - 1];
  if (compactions.length === 0) throw new UndoError(NONE, request.number && 0);
  if (number === 0 && request.number === undefined) throw new UndoError(UNDONE);
  if (!found) throw new UndoError(noSuch(number, compactions.length), compactions.length);
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
  source: RecordSource,
  { head, ids, damagedLines, prompts }: Scan,
  { compaction, entryCount }: Found,
  known: Known,
): Planned | undefined => {
  if (entryCount === 0 || compaction.startLine === undefined) return undefined;
  return {
    plan: { ...known, head, prompts: prompts(compaction), damagedLines },
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
    if (!isBefore || scan.rest === 0) continue;
    const { head, ids, records, damagedLines, prompts } = scan;
    return {
      plan: { ...known, head, prompts: prompts(), damagedLines, copiedAt },
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
}: UndoRequest): Promise<readonly { readonly source: RecordSource; readonly copiedAt: Millis }[]> =>
  [...((await copies?.()) ?? [])]
    .toSorted((a, b) => b.modifiedAt - a.modifiedAt || b.size - a.size)
    .flatMap(({ open, modifiedAt }) =>
      open ? [{ source: { agent, path, open }, copiedAt: modifiedAt }] : [],
    );

const scanSource = async (source: RecordSource, form: NewSessionForm): Promise<Scan> => {
  const scan = makeScan();
  let obstacle: string | undefined;
  let damagedLines = 0;
  let records = 0;
  const take = ({ record, text, steps, isDamaged }: RecordSteps): void => {
    records += 1;
    if (isDamaged) damagedLines += 1;
    if (record.line === 1 && text !== undefined && text.trim() !== '') obstacle = form.obstacle?.(text);
    for (const step of steps) scan.take(step);
  };
  for await (const _ of readSteps(source, take));
  return { ...scan.end(), records, damagedLines, obstacle };
};

const noSuch = (number: number, count: number): string =>
  count === 1
    ? `there is no compaction #${number}, only #1`
    : `there is no compaction #${number}, only #1 to #${count}`;

/** Counts what is said between the compactions. */
const makeScan = () => {
  const steps: Step[] = [];
  const compactions: Found[] = [];
  const recorded: Found[] = []; // each record of a compaction; one may occur again
  const ids = new Set<string>();
  let head: SessionHead = {};
  let sources: SourceRecord[] = [];
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
        entryCount: sources.filter(isBefore).length,
        isUndone: false,
      };
      compactions.push(found);
      recorded.push(found);
      sources = [];
    } else if (entry.kind === 'prompt' || entry.kind === 'answer' || entry.kind === 'call')
      sources.push(entry.source);
  };
  return {
    take: (step: Step): void => {
      steps.push('entries' in step ? { ...step, entries: step.entries.map(withoutText) } : step);
      if (step.kind === 'head') {
        head = { ...head, ...step.head };
        if (step.head.id !== undefined) ids.add(step.head.id);
      }
      if (step.kind === 'rewritten') {
        sources = [];
        const { inEffect } = step;
        if (inEffect !== undefined) {
          for (const found of recorded) found.isUndone = true;
          for (const found of recorded.slice(0, inEffect)) found.isUndone = false;
        }
      }
      if (step.kind === 'record' || step.kind === 'rewritten') step.entries.forEach(takeEntry);
    },
    end: () => ({ compactions, rest: sources.length, prompts: promptCounter(steps), head, ids }),
  };
};

/** Counts in what is left of branches and rewinds. */
const promptCounter = (steps: readonly Step[]): Scan['prompts'] => {
  let built: Conversation | undefined;
  const whole = (): Conversation => (built ??= buildConversation(steps));
  return (compaction) => {
    // one on a branch that the user has left is undone with that branch
    const before = compaction
      ? (beforeCompaction(whole(), compaction) ?? builtBefore(steps, compaction))
      : whole();
    return userMessagesIn(windowOf(before)).length;
  };
};

const builtBefore = (steps: readonly Step[], { source }: Compaction): Conversation => {
  const place = steps.findIndex((step) => step.kind === 'record' && step.source.line === source.line);
  return buildConversation(steps.slice(0, Math.max(0, place)));
};

/** The wanted records as lines, under the new id. */
async function* copiedLines(place: Place, form: NewSessionForm, as: NewSession): AsyncGenerator<string> {
  const { source, records: most, compaction, ids } = place;
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
  for await (const _ of readRecords(source, take, { maxBytes: MAX_LINE_BYTES })) {
    yield* lines;
    lines = [];
    if (isOver) return;
  }
  if (!isOver && taken < most) throw new UndoError(GONE);
}

/** It comes before the records of this compaction; several can be in one line. */
const isBefore = ({ line, id, isMoved }: SessionRecord, { source, startLine }: Compaction): boolean => {
  const place = line - 1;
  if (isMoved || place < (startLine ?? source.line)) return true;
  return place === source.line && id !== undefined && id !== source.id;
};

const conversationIn = async (source: RecordSource): Promise<Conversation> => {
  const steps: Step[] = [];
  for await (const _ of readSteps(source, (read) => steps.push(...read.steps)));
  return buildConversation(steps);
};
