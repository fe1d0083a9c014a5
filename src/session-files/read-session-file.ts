import type { Agent, Env } from '../agents/agent.js';
import type { PastCompaction, SessionContents } from '../core/report/context-report.js';
import type { Boundary, Fact } from '../core/event.js';
import { isRecord, parseRecord } from '../core/json.js';
import type { LadderChoice } from '../core/ladder.js';
import { present } from '../core/present.js';
import { type Millis, addToLargest, type ToolResult, type WindowClaim } from '../core/reading.js';
import { startSession, stepSession, type Session } from '../core/session.js';
import { readStored } from '../storage/session-store.js';
import { makeLineSplitter, MAX_LINE_BYTES } from '../storage/tail.js';
import { makeFactCoalescer, makeFileReader } from './session-facts.js';
import { readRecords, type RecordSource, type SessionRecord } from './session-records.js';
import { makeWindowResults } from './window-results.js';

// Reads a whole session once, from its file or its database, in bounded memory: its usage, compactions and largest tool results.

const MOST_RESULTS = 10;
const MOST_COMPACTIONS = 1_000;
const HEAD_LINES = 20; // for a file that is one JSON document
const LINES_TO_KNOW = 400; // lines after which the agent is decided: the one that most of them belong to

export interface SessionFileRequest extends RecordSource {
  readonly env: Env;
  readonly windowTokens?: number | undefined;
  readonly ladder?: LadderChoice | undefined;
  /** what was last known of the agent's models */
  readonly remembered?: readonly WindowClaim[] | undefined;
  readonly now: Millis;
}

export interface SessionFileSummary extends SessionContents {
  readonly state: Session;
  readonly compactions: readonly PastCompaction[];
}

/** Tools that put a file into the window, by the names of all agents (facts/: Read, read_file, read_many_files, view). */
const READS_FILE = /^(?:notebook)?(?:read|view)(?:$|_|many|file)/i;

/** Rejects with the system's error when the file cannot be read. */
export const readSessionFile = async (request: SessionFileRequest): Promise<SessionFileSummary> => {
  const { agent, env, now } = request;
  const builder = makeSessionBuilder(request);
  const form = agent.log?.conversation;
  const wanted = { hasEnded: true, ...(form ? { conversation: true } : {}) };
  const reader = agent.log && makeFileReader(agent.log, env, builder, wanted);
  const results = makeWindowResults();

  const onRecord = ({ bytes, line }: SessionRecord): void => {
    const read = bytes && reader?.read(bytes.toString('utf8'), now, { line: line - 1 });
    if (read?.steps) results.take(read.steps());
  };
  const parts = readRecords(request, onRecord, { maxBytes: MAX_LINE_BYTES, want: 'everything' });
  for await (const _ of parts);
  reader?.end();
  const { systemTokens, ...known } = builder.end();
  return { ...known, ...contentsOf(results.list(now), form && systemTokens) };
};

/** `systemTokens`: undefined where it is not known what fills the window. */
const contentsOf = (results: readonly ToolResult[], systemTokens: number | undefined): SessionContents => {
  let toolResults: readonly ToolResult[] = [];
  let [fileTokens, toolTokens] = [0, 0];
  for (const result of results) {
    if (READS_FILE.test(result.name)) fileTokens += result.tokens;
    else toolTokens += result.tokens;
    toolResults = addToLargest(toolResults, result, MOST_RESULTS);
  }
  const filled = systemTokens === undefined ? undefined : { systemTokens, fileTokens, toolTokens };
  return { filled, toolResults };
};

/** Builds a session state from facts. Of several readings in a row only the last one is applied, so that long files are read fast. */
const makeSessionBuilder = (request: SessionFileRequest) => {
  const { agent, env, windowTokens, ladder, remembered: claims = [], now } = request;
  const coalescer = makeFactCoalescer(() => -Infinity);
  let state = startSession({ agent: agent.name, native: agent.nativeTrigger(env), ladder }, now);
  let compactions: readonly PastCompaction[] = [];
  let lastTokens: number | undefined;
  let grownTokens = 0;
  let usual: number | undefined; // the agent's guess at the window
  let systemTokens: number | undefined; // what the first answer counted beside the text before it
  state = stepSession(state, { type: 'remembered-windows', claims }, now);
  if (windowTokens !== undefined) state = stepSession(state, { type: 'user-window', windowTokens }, now);

  const apply = (): void => {
    for (const fact of coalescer.flush()) state = stepSession(state, fact, now);
  };

  return {
    add: (fact: Fact): void => {
      // the number before it is void then, but not the window that came with it
      if (fact.type === 'boundary' || fact.type === 'voided') apply();
      coalescer.add(fact);
      // a boundary that occurs again, as in a rewritten history, is the same compaction
      if (fact.type === 'boundary' && !compactions.some(({ at }) => at === fact.boundary.at))
        compactions = [...compactions, pastCompaction(fact.boundary, lastTokens)].slice(-MOST_COMPACTIONS);
      if (fact.type === 'initiator')
        compactions = compactions.map((each) =>
          each.at === fact.at ? { ...each, initiator: fact.initiator } : each,
        );
      if (fact.type === 'boundary' || fact.type === 'voided') lastTokens = undefined;
      if (fact.type === 'growth') grownTokens += fact.tokens;
      if (fact.type !== 'reading') return;
      usual = fact.reading.windowSource === 'default' ? fact.reading.windowTokens : undefined;
      lastTokens = fact.reading.usedTokens;
      if (lastTokens !== undefined) systemTokens ??= Math.max(0, lastTokens - grownTokens);
      const last = compactions.at(-1);
      const { source, at } = fact.reading;
      // earlier ones were kept, and their numbers are not of an answer after it
      const isNext = last && last.nextTokens === undefined && source === 'log' && at >= last.at;
      if (isNext && lastTokens !== undefined)
        compactions = compactions.with(-1, { ...last, nextTokens: lastTokens });
    },
    end: () => {
      apply();
      // nothing is done with an ended session, so a guess is better than nothing
      if (usual !== undefined)
        state = stepSession(state, { type: 'assumed-window', windowTokens: usual }, now);
      return { state, compactions, systemTokens };
    },
  };
};

const pastCompaction = (boundary: Boundary, lastTokens: number | undefined): PastCompaction => {
  const { at, initiator, postTokens, fixedTokens, preTokens = lastTokens, uuid, durationMs } = boundary;
  const isEstimated = boundary.preTokens === undefined && preTokens !== undefined;
  return {
    at,
    ...present({ initiator, preTokens }),
    ...(isEstimated ? { isEstimated } : {}),
    ...present({ postTokens, fixedTokens, uuid, durationMs }),
  };
};

/** The agent that wrote a session file, packed or not, by the shape of its records; undefined when no agent matches. */
export const agentOfFile = async (path: string, table: readonly Agent[]): Promise<Agent | undefined> => {
  const counts = new Map<Agent, number>();
  const head: string[] = [];
  let lines = 0;
  const splitter = makeLineSplitter((line) => {
    if (head.length < HEAD_LINES) head.push(line);
    const record = lines < LINES_TO_KNOW ? parseRecord(line) : undefined;
    if (!isRecord(record)) return;
    lines += 1;
    for (const agent of table)
      if (agent.log?.recognises?.(record)) counts.set(agent, (counts.get(agent) ?? 0) + 1);
  });
  for await (const chunk of readStored(path)) {
    splitter.push(chunk);
    if (lines >= LINES_TO_KNOW) break;
  }
  const ofDocument = table.find(({ log }) => log?.recognisesDocument?.(head));
  if (ofDocument) return ofDocument;
  const [best] = [...counts].toSorted(([, a], [, b]) => b - a);
  return best && best[1] * 2 >= lines ? best[0] : undefined;
};
