import type { CompactedDetail, HistoryDetail, SessionDetail, Summary } from '../agents/history.js';
import type { BoundaryInitiator, MessageRange } from '../core/conversation/boundary-record.js';
import { leftTokens } from '../core/evidence.js';
import type { JsonRecord } from '../core/json.js';
import type { Boundary, Fact } from '../core/event.js';
import type { Millis, Reading } from '../core/reading.js';
import { makeMessageList, makeMessagesById, type Messages } from './message-list.js';

// Joins what the lines of a session file tell into its compactions. The facts of the agent's line reader decide what a compaction is; the
// details of its history format say where it is and what it replaced.

/** A compaction while its file is being read. */
export interface FoundCompaction {
  readonly at: Millis;
  readonly line: number;
  readonly offset: number;
  readonly afterMessage: number;
  readonly replaced?: readonly MessageRange[] | undefined;
  isVerified: boolean;
  readonly lastTokens?: number | undefined;
  /** no turn was under way */
  readonly isIdle: boolean;
  uuid?: string | undefined;
  durationMs?: number | undefined;
  initiator?: BoundaryInitiator | undefined;
  preTokens?: number | undefined;
  postTokens?: number | undefined;
  fixedTokens?: number | undefined;
  nextTokens?: number | undefined;
  summary?: { readonly summary: Summary; readonly line: number };
}

/** Where a line is: its number from 1, and the bytes before it. */
export interface LinePlace {
  readonly line: number;
  readonly offset: number;
}

export interface CompactionFold {
  /** a message of the conversation with this key, '' for none */
  readonly message: (key: string) => void;
  /** the record of the message just counted, where it may turn out to be the summary of a compaction */
  readonly summaryCandidate: (record: () => JsonRecord | undefined) => void;
  /** `at`: when it was written */
  readonly beginTurn: (at: () => Millis | undefined) => void;
  /** `durationMs`: of the turn */
  readonly endTurn: (durationMs?: number) => void;
  readonly details: (details: readonly HistoryDetail[], place: LinePlace) => void;
  readonly facts: (facts: readonly Fact[], place: LinePlace) => void;
  readonly session: () => SessionDetail;
  readonly messages: () => number;
  readonly compactions: () => readonly FoundCompaction[];
}

interface Candidate {
  readonly detail: CompactedDetail;
  readonly place: LinePlace;
  readonly afterMessage: number;
}

/** Changed in place: a file has millions of lines. */
interface Fold {
  readonly messages: Messages;
  readonly found: FoundCompaction[];
  readonly listener: UsageListener | undefined;
  session: SessionDetail;
  /** a record of a compaction, if a boundary of its time makes it one */
  candidate: Candidate | undefined;
  /** the last three numbers, newest first */
  tokens: readonly SeenTokens[];
  /** the record of the last message, if it may be the summary of a compaction */
  lastMessage: (() => JsonRecord | undefined) | undefined;
  /** an unknown turn is taken for one of the user's */
  isTurnOpen: boolean;
  awaitsSummary: boolean;
  awaitsTurnEnd: boolean;
}

/** How full the window was, for a chart. */
export interface UsageListener {
  readonly onReading: (reading: Reading) => void;
  /** the numbers before it are void; `leftTokens`: what is left, where the agent says it */
  readonly onCompaction: (at: Millis, leftTokens: number | undefined) => void;
}

export const makeCompactionFold = (kind: 'appended' | 'by-id', listener?: UsageListener): CompactionFold => {
  const fold: Fold = {
    messages: kind === 'by-id' ? makeMessagesById() : makeMessageList(),
    found: [],
    listener,
    session: {},
    candidate: undefined,
    tokens: [],
    lastMessage: undefined,
    isTurnOpen: true,
    awaitsSummary: false,
    awaitsTurnEnd: false,
  };
  return {
    message: (key) => {
      fold.messages.add(key);
      fold.lastMessage = undefined;
    },
    summaryCandidate: (record) => {
      fold.lastMessage = record;
    },
    beginTurn: (at) => beginTurn(fold, at),
    endTurn: (durationMs) => endTurn(fold, durationMs),
    details: (details, place) => {
      for (const detail of details) takeDetail(fold, detail, place);
    },
    facts: (facts, place) => {
      for (const fact of facts) takeFact(fold, fact, place);
    },
    session: () => fold.session,
    messages: () => fold.messages.count(),
    compactions: () => fold.found,
  };
};

const beginTurn = (fold: Fold, at: () => Millis | undefined): void => {
  fold.isTurnOpen = true;
  fold.lastMessage = undefined;
  const last = fold.found.at(-1);
  // it was sent before the compaction and written after it: the compaction was part of this turn
  if (last?.initiator === 'agent-idle' && (at() ?? Infinity) <= last.at) last.initiator = 'agent';
};

const endTurn = (fold: Fold, durationMs = Number.NaN): void => {
  const last = fold.found.at(-1);
  // the user's compaction is a turn of its own, the agent's only a part of one
  const isWholeTurn = last !== undefined && fold.awaitsTurnEnd && last.initiator === 'user';
  if (isWholeTurn && durationMs >= 0) last.durationMs ??= durationMs;
  fold.awaitsTurnEnd = false;
  fold.isTurnOpen = false;
};

const takeDetail = (fold: Fold, detail: HistoryDetail, place: LinePlace): void => {
  const { messages, found } = fold;
  const last = found.at(-1);
  switch (detail.kind) {
    case 'session': {
      const { kind: _, ...told } = detail;
      fold.session = mergeSession(fold.session, told);
      return;
    }
    case 'compacted':
      return takeCompacted(fold, detail, place);
    case 'summary':
      return takeSummary(fold, detail, place);
    case 'ended':
      if (!last) return;
      last.uuid = detail.uuid ?? last.uuid;
      last.durationMs ??= detail.durationMs;
      return;
    case 'key':
      return messages.rename(detail.key);
    case 'rewritten':
      return messages.rewrite(detail.keys);
    case 'cut-back':
      return messages.cutBack(detail.key);
  }
};

const takeCompacted = (fold: Fold, detail: CompactedDetail, place: LinePlace): void => {
  const { messages, found } = fold;
  if (found.some(({ at, uuid }) => at === detail.at && uuid === detail.uuid)) return; // the same record, written twice
  const last = detail.isSummary && fold.lastMessage?.();
  if (last && detail.isSummary?.(last)) messages.dropLast();
  const candidate = { detail, place, afterMessage: messages.count() };
  if (detail.isCertain) add(fold, candidate);
  else fold.candidate = candidate;
};

const add = (fold: Fold, { detail, place, afterMessage }: Candidate): FoundCompaction => {
  const entry: FoundCompaction = {
    at: detail.at,
    ...place,
    afterMessage,
    replaced: fold.messages.replace(detail.kept),
    isVerified: true,
    isIdle: !fold.isTurnOpen,
    lastTokens: tokensBefore(fold.tokens, afterMessage, detail.requestTokens),
    uuid: detail.uuid,
    durationMs: detail.durationMs,
    ...(detail.summary ? { summary: { summary: detail.summary, line: place.line } } : {}),
  };
  fold.found.push(entry);
  fold.listener?.onCompaction(entry.at, undefined);
  fold.candidate = undefined;
  fold.tokens = [];
  fold.awaitsSummary = detail.summary === undefined;
  fold.awaitsTurnEnd = true;
  return entry;
};

const takeSummary = (
  fold: Fold,
  { summary, at, uuid }: Extract<HistoryDetail, { kind: 'summary' }>,
  place: LinePlace,
): void => {
  const { messages, found } = fold;
  const last = found.at(-1);
  if (last && fold.awaitsSummary) last.summary = { summary, line: place.line };
  else {
    messages.dropLast(); // the record is a message of the conversation after it
    takeCompacted(fold, { kind: 'compacted', at, isCertain: true, uuid, summary, kept: { keys: [] } }, place);
    messages.add(uuid ?? '');
  }
  fold.awaitsSummary = false;
};

const takeFact = (fold: Fold, fact: Fact, place: LinePlace): void => {
  switch (fact.type) {
    case 'boundary':
      return takeBoundary(fold, fact.boundary, place);
    case 'initiator': {
      const entry = fold.found.findLast(({ at }) => at === fact.at);
      if (entry) entry.initiator = fact.initiator;
      return;
    }
    case 'voided':
      fold.tokens = [];
      return;
    case 'reading': {
      fold.listener?.onReading(fact.reading);
      const { usedTokens: used, source } = fact.reading;
      fold.tokens = [{ used, afterMessage: fold.messages.count() }, ...fold.tokens].slice(0, 3);
      const last = fold.found.at(-1);
      if (last && source === 'log') last.nextTokens ??= used;
      return;
    }
  }
};

const takeBoundary = (fold: Fold, boundary: Boundary, place: LinePlace): void => {
  const { at, initiator, preTokens, postTokens, fixedTokens, uuid, durationMs } = boundary;
  const { candidate, messages } = fold;
  const bare: Candidate = {
    detail: { kind: 'compacted', at, isCertain: true },
    place,
    afterMessage: messages.count(),
  };
  const entry =
    fold.found.findLast((each) => each.at === at) ??
    add(fold, candidate?.detail.at === at ? candidate : bare);
  entry.initiator = initiator === 'agent' && entry.isIdle ? 'agent-idle' : (initiator ?? entry.initiator);
  entry.preTokens = preTokens ?? entry.preTokens;
  entry.postTokens = postTokens ?? entry.postTokens;
  entry.fixedTokens = fixedTokens ?? entry.fixedTokens;
  entry.uuid ??= uuid;
  entry.durationMs ??= durationMs;
  if (entry.postTokens !== undefined) fold.listener?.onCompaction(entry.at, leftTokens(entry));
  if (boundary.source === 'screen') entry.isVerified = false;
  // the text in its place is an older answer
  if (boundary.summary === 'empty') entry.summary = { summary: { kind: 'empty' }, line: entry.line };
  fold.tokens = [];
};

interface SeenTokens {
  readonly used: number | undefined;
  /** the messages that were counted by then */
  readonly afterMessage: number;
}

/**
 * The last number before a compaction. The request for the summary may have one of its own as well; then the number before it is meant, which
 * is recorded a second time after the last message.
 */
const tokensBefore = (
  [last, earlier, first]: readonly SeenTokens[],
  messages: number,
  requestTokens: number | undefined,
): number | undefined => {
  if (requestTokens === undefined || earlier?.afterMessage !== messages) return last?.used;
  const isRequests = requestTokens > 0 ? last?.used === requestTokens : earlier.used === first?.used;
  return isRequests ? earlier.used : last?.used;
};

const mergeSession = (before: SessionDetail, told: SessionDetail): SessionDetail => ({
  id: before.id ?? told.id,
  project: before.project ?? told.project,
  version: told.version ?? before.version,
  isOther: before.isOther ?? told.isOther ?? false,
});
