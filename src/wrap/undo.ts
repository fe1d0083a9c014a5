import { dirname, join } from 'node:path';
import type { Agent, ConversationForm, NewFile } from '../agents/agent.js';
import { buildConversation } from '../core/build-conversation.js';
import {
  beforeCompaction,
  type Compaction,
  type Conversation,
  type Entry,
  type NewSession,
  type SessionHead,
  type Step,
} from '../core/conversation.js';
import type { Boundary } from '../core/event.js';
import { createFile } from '../storage/files.js';
import { readStored } from '../storage/session-store.js';
import { makeFolder } from '../storage/state-folder.js';
import { makeByteSplitter } from '../storage/tail.js';

// Undoes a compaction: the conversation as it was before becomes a new session of the same agent. The session file is read and copied line
// by line, and never changed.

/** A session file: the agent's own, or a copy of one. */
export interface UndoSource {
  readonly agent: Agent;
  /** the agent's own path of it, also where that file is gone; the new session is written beside it */
  readonly path: string;
  /** the bytes of a copy, from the start at every call; those at `path` when absent */
  readonly open?: () => AsyncIterable<Buffer>;
}

export interface UndoRequest extends UndoSource {
  /** of the compaction, from 1; the last one when absent */
  readonly number?: number | undefined;
  /** id, time and identifiers for the new session; its folder where the file does not tell one */
  readonly as: NewSession;
}

/** A compaction in a file, and where its conversation ends. */
export interface UndonePlan {
  readonly head: SessionHead;
  readonly compaction: Compaction;
  readonly boundary: Boundary;
  readonly number: number;
  /** compactions in the file */
  readonly count: number;
  /** messages of the user that are in the window again */
  readonly prompts: number;
  readonly damagedLines: number;
}

export interface Undone extends UndonePlan {
  readonly session: { readonly id: string; readonly path: string };
}

/** Why a compaction cannot be undone; the message is a sentence without a full stop. */
export class UndoError extends Error {
  override readonly name = 'UndoError';
}

const MAX_LINE_BYTES = 64 * 1024 * 1024; // an agent's longest lines hold a whole conversation

/** Writes the new session. Rejects with an UndoError for what cannot be undone, and with the system's error. */
export const undoCompaction = async (request: UndoRequest): Promise<Undone> => {
  const form = formOf(request.agent);
  const { plan, ids } = await planUndo(request, form);
  const folder = dirname(request.path);
  const path = join(folder, form.fileName(request.as));
  await makeFolder(folder); // an agent that has cleaned up may have removed it with the file
  await createFile(path, copiedLines(request, form, plan, ids));
  return { ...plan, session: { id: request.as.id, path } };
};

/** The file that a running agent takes the conversation from, where it takes no other session file while it runs. */
export const planCheckpoint = async (
  request: UndoRequest,
  name: string,
): Promise<{ readonly plan: UndonePlan; readonly file: NewFile } | undefined> => {
  const form = formOf(request.agent);
  const { checkpoint } = form.switching ?? {};
  if (!checkpoint) return undefined;
  const { plan } = await planUndo(request, form);
  const conversation = beforeCompaction(await conversationIn(request, form), plan.compaction);
  if (!conversation) throw new UndoError(GONE);
  return { plan, file: checkpoint(conversation, request.path, name) };
};

const formOf = ({ name, conversations }: Agent): ConversationForm => {
  if (!conversations) throw new UndoError(`ctxwrap does not know the session files of ${name} well enough`);
  return conversations;
};

const NONE = 'there is no compaction in it';
const EMPTY = 'its session file no longer holds what was said before the compaction';
const GONE = 'the session file has changed while it was read';

interface Found {
  readonly compaction: Compaction;
  readonly prompts: number;
  readonly said: number;
}

/** Finds the compaction, in one pass and without keeping the conversation. */
const planUndo = async (
  request: UndoRequest,
  form: ConversationForm,
): Promise<{ readonly plan: UndonePlan; readonly ids: ReadonlySet<string> }> => {
  const scan = makeScan();
  let next = form.reader();
  let obstacle: string | undefined;
  let damagedLines = 0;
  await eachLine(request, (line, lineNumber) => {
    if (line === undefined || line.trim() === '') {
      damagedLines += line === undefined ? 1 : 0;
      return;
    }
    if (lineNumber === 0) obstacle = form.obstacle?.(line);
    const result = next(line, lineNumber);
    next = result.next;
    if (result.misfit !== undefined) damagedLines += 1;
    for (const step of result.steps) scan.take(step);
  });
  const { compactions, head, ids } = scan.end();
  const { number = compactions.length } = request;
  const found = compactions[number - 1];
  if (compactions.length === 0) throw new UndoError(NONE);
  if (!found) throw new UndoError(noSuch(number, compactions.length));
  if (obstacle !== undefined) throw new UndoError(obstacle);
  if (found.said === 0 || found.compaction.startLine === undefined) throw new UndoError(EMPTY);
  const { compaction, prompts } = found;
  const { boundary } = compaction;
  return {
    plan: { head, compaction, boundary, number, count: compactions.length, prompts, damagedLines },
    ids,
  };
};

const noSuch = (number: number, count: number): string =>
  `there is no compaction ${number} in it, only ${count === 1 ? 'one' : count}`;

/** Counts what is said between the compactions. */
const makeScan = () => {
  const compactions: Found[] = [];
  const ids = new Set<string>();
  let head: SessionHead = {};
  let prompts: number[] = []; // lines
  let said: number[] = [];
  const takeEntry = (entry: Entry): void => {
    if (entry.kind === 'compaction') {
      // a boundary that occurs again, as in a rewritten history, is the same compaction
      const { at } = entry.boundary;
      if (at > 0 && compactions.some(({ compaction }) => compaction.boundary.at === at)) return;
      // an answer with the summary belongs to the compaction
      const isBefore = (line: number): boolean => line < (entry.startLine ?? entry.source.line);
      compactions.push({
        compaction: entry,
        prompts: prompts.filter(isBefore).length,
        said: said.filter(isBefore).length,
      });
      [prompts, said] = [[], []];
    } else if (entry.kind === 'prompt' || entry.kind === 'answer' || entry.kind === 'call') {
      said.push(entry.source.line);
      if (entry.kind === 'prompt') prompts.push(entry.source.line);
    }
  };
  return {
    take: (step: Step): void => {
      if (step.kind === 'head') {
        head = { ...head, ...step.head };
        if (step.head.id !== undefined) ids.add(step.head.id);
      }
      if (step.kind === 'rewritten') [prompts, said] = [[], []];
      if (step.kind === 'record' || step.kind === 'rewritten') step.entries.forEach(takeEntry);
    },
    end: () => ({ compactions, head, ids }),
  };
};

/** Calls back with every line, and undefined for one that is too long. */
const eachLine = async (
  { path, open }: UndoSource,
  onLine: (line: string | undefined, lineNumber: number) => void,
): Promise<void> => {
  let lineNumber = 0;
  const take = (line: Buffer | undefined): void => {
    onLine(line?.toString('utf8'), lineNumber);
    lineNumber += 1;
  };
  const splitter = makeByteSplitter(take, { maxBytes: MAX_LINE_BYTES });
  for await (const chunk of open?.() ?? readStored(path)) splitter.push(chunk);
  const rest = splitter.rest();
  if (rest) take(rest); // one document has no newline at its end
};

/** The lines before the compaction, under the new id. */
async function* copiedLines(
  { path, open, as }: UndoRequest,
  form: ConversationForm,
  { compaction: { startLine = 0 } }: UndonePlan,
  ids: ReadonlySet<string>,
): AsyncGenerator<string> {
  let lineNumber = 0;
  let lines: string[] = [];
  const splitter = makeByteSplitter(
    (line) => {
      if (lineNumber < startLine) {
        if (!line) throw new UndoError(`its line ${lineNumber + 1} is too long to be copied`);
        lines.push(form.copyLine(line.toString('utf8'), ids, as));
      }
      lineNumber += 1;
    },
    { maxBytes: MAX_LINE_BYTES },
  );
  for await (const chunk of open?.() ?? readStored(path)) {
    splitter.push(chunk);
    yield* lines;
    lines = [];
    if (lineNumber >= startLine) return;
  }
  throw new UndoError(GONE);
}

const conversationIn = async (source: UndoSource, form: ConversationForm): Promise<Conversation> => {
  const steps: Step[] = [];
  let next = form.reader();
  await eachLine(source, (line, lineNumber) => {
    const result = line === undefined ? undefined : next(line, lineNumber);
    if (result) next = result.next;
    steps.push(...(result?.steps ?? []));
  });
  return buildConversation(steps);
};
