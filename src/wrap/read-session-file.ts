import type { Runtime, Env } from '../agents/agent.js';
import type { PastCompaction } from '../core/context-report.js';
import type { Boundary, Fact } from '../core/event.js';
import { isRecord, parseRecord } from '../core/json.js';
import type { LadderChoice } from '../core/ladder.js';
import { type Millis, amongLargest, type ToolResult } from '../core/reading.js';
import { startSession, step, type Session } from '../core/session.js';
import { growingFile } from '../storage/tail.js';
import { factInbox, makeFileReader } from './session-file.js';

// Reads a whole session file once, in bounded memory, for what it says about the window.

const MOST_RESULTS = 10;
const MOST_COMPACTIONS = 1_000;
const HEAD_LINES = 20; // of a document
const LINES_TO_KNOW = 400; // a file is of the agent that most of its first lines are of

export interface SessionFileRequest {
  readonly path: string;
  readonly runtime: Runtime;
  readonly env: Env;
  readonly windowTokens?: number | undefined;
  readonly ladder?: LadderChoice | undefined;
  readonly now: Millis;
}

export interface ReadSession {
  readonly state: Session;
  readonly compactions: readonly PastCompaction[];
  /** the largest since the last compaction */
  readonly toolResults: readonly ToolResult[];
}

/** Rejects with what the system says when the file cannot be read. */
export const readSessionFile = async (request: SessionFileRequest): Promise<ReadSession> => {
  const { path, runtime, env, now } = request;
  let contents = runtime.log?.contents?.();
  let toolResults: readonly ToolResult[] = [];
  const journal = sessionJournal(request);
  const reader = runtime.log && makeFileReader(runtime.log, env, journal);

  const onLine = (line: string): void => {
    reader?.read(line, now);
    const held = contents?.(line, now);
    contents = held?.next;
    for (const content of held?.contents ?? []) {
      if (content.kind === 'cleared') toolResults = [];
      else {
        const { kind: _, ...result } = content;
        toolResults = amongLargest(toolResults, result, MOST_RESULTS);
      }
    }
  };
  await growingFile({ path, onLine, onRestart: () => undefined }).readNew();
  return { ...journal.end(), toolResults };
};

/** Facts become a state; of many numbers in a row only the last one is measured, which a long file needs. */
const sessionJournal = ({ runtime, env, windowTokens, ladder, now }: SessionFileRequest) => {
  const inbox = factInbox(() => -Infinity);
  let state = startSession({ runtime: runtime.name, native: runtime.nativeTrigger(env), ladder }, now);
  let compactions: readonly PastCompaction[] = [];
  let lastTokens: number | undefined;
  if (windowTokens !== undefined) state = step(state, { type: 'user-window', windowTokens }, now);

  return {
    put: (fact: Fact): void => {
      inbox.put(fact);
      // one that is told again, as when a history is written anew, is not a second one
      if (fact.type === 'boundary' && !compactions.some(({ at }) => at === fact.boundary.at))
        compactions = [...compactions, pastCompaction(fact.boundary, lastTokens)].slice(-MOST_COMPACTIONS);
      if (fact.type === 'initiator')
        compactions = compactions.map((each) =>
          each.at === fact.at ? { ...each, initiator: fact.initiator } : each,
        );
      if (fact.type === 'boundary' || fact.type === 'voided') lastTokens = undefined;
      if (fact.type !== 'reading') return;
      lastTokens = fact.reading.usedTokens;
      const last = compactions.at(-1);
      if (last && last.nextTokens === undefined && fact.reading.source === 'log' && lastTokens !== undefined)
        compactions = compactions.with(-1, { ...last, nextTokens: lastTokens });
    },
    end: () => {
      for (const fact of inbox.take()) state = step(state, fact, now);
      return { state, compactions };
    },
  };
};

const pastCompaction = (boundary: Boundary, lastTokens: number | undefined): PastCompaction => {
  const { at, initiator, postTokens, preTokens = lastTokens, uuid, durationMs } = boundary;
  const isEstimated = boundary.preTokens === undefined && preTokens !== undefined;
  return {
    at,
    ...(initiator === undefined ? {} : { initiator }),
    ...(preTokens === undefined ? {} : { preTokens }),
    ...(isEstimated ? { isEstimated } : {}),
    ...(postTokens === undefined ? {} : { postTokens }),
    ...(uuid === undefined ? {} : { uuid }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
};

/** Whose session file it is, by the shape of its own records; undefined when it is nobody's. */
export const runtimeOfFile = async (
  path: string,
  table: readonly Runtime[],
): Promise<Runtime | undefined> => {
  const counts = new Map<Runtime, number>();
  const head: string[] = [];
  let lines = 0;
  const file = growingFile({
    path,
    onLine: (line) => {
      if (head.length < HEAD_LINES) head.push(line);
      const record = parseRecord(line);
      if (!isRecord(record)) return;
      lines += 1;
      for (const runtime of table)
        if (runtime.log?.recognises?.(record)) counts.set(runtime, (counts.get(runtime) ?? 0) + 1);
      if (lines >= LINES_TO_KNOW) file.stop();
    },
    onRestart: () => undefined,
  });
  await file.readNew();
  const ofDocument = table.find(({ log }) => log?.recognisesDocument?.(head));
  if (ofDocument) return ofDocument;
  const [best] = [...counts].toSorted(([, a], [, b]) => b - a);
  return best && best[1] * 2 >= lines ? best[0] : undefined;
};
