import type { DocumentResult, SessionDetail, SessionFormat } from '../agents/session-format.js';
import type { BoundaryInitiator, MessageRange } from '../core/conversation/boundary-record.js';
import type { Compaction, Entry, Step, Summary as SummaryEntry } from '../core/conversation/conversation.js';
import { leftTokens } from '../core/evidence.js';
import type { Boundary, Fact } from '../core/event.js';
import type { Millis, Reading } from '../core/reading.js';
import { makeMessageList, makeMessagesById, type KeptMessages, type Messages } from './message-list.js';

// Joins what the lines of a session file tell into its compactions: their steps say where one is and what it replaced, their facts how large
// the window was before and after it, and who asked for it.

/** What stands in the place of the conversation that was compacted. */
export type Summary =
  /** the model's words, without the agent's own sentences around them */
  | { readonly kind: 'text'; readonly text: string }
  /** only the model's server can read it */
  | { readonly kind: 'encrypted' }
  /** nothing: the conversation is lost */
  | { readonly kind: 'empty' };

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
  readonly message: (key: string, place?: LinePlace) => void;
  /** `at`: when it was written */
  readonly beginTurn: (at: () => Millis | undefined) => void;
  /** `durationMs`: of the turn */
  readonly endTurn: (durationMs?: number) => void;
  /** what is known of the session */
  readonly session: (detail: SessionDetail) => void;
  readonly steps: (steps: readonly Step[], place: LinePlace) => void;
  /** a record of a compaction, if a boundary of its time makes it one */
  readonly mark: (mark: Mark, place: LinePlace) => void;
  readonly facts: (facts: readonly Fact[], place: LinePlace) => void;
  readonly known: () => SessionDetail;
  readonly messages: () => number;
  readonly compactions: () => readonly FoundCompaction[];
  /** of the first answer since ctxwrap has written the session, before any compaction */
  readonly nextTokens: () => number | undefined;
}

type Mark = NonNullable<DocumentResult['mark']>;

/** What a record says of a compaction besides its boundary. */
interface Compacted extends Mark {
  readonly durationMs?: number | undefined;
  /** absent where it follows in a record of its own */
  readonly summary?: Summary | undefined;
  /** the messages that stay in the window; absent where that is not known */
  readonly kept?: KeptMessages | undefined;
  readonly requestTokens?: number | undefined;
}

interface Candidate {
  readonly compacted: Compacted;
  readonly place: LinePlace;
  readonly afterMessage: number;
}

/** Changed in place: a file has millions of lines. */
interface Fold {
  readonly format: Pick<SessionFormat, 'messages' | 'session' | 'summaryWords'>;
  readonly messages: Messages;
  readonly found: FoundCompaction[];
  readonly listener: UsageListener | undefined;
  session: SessionDetail;
  candidate: Candidate | undefined;
  /** the last three numbers, newest first */
  tokens: readonly SeenTokens[];
  /** an unknown turn is taken for one of the user's */
  isTurnOpen: boolean;
  awaitsSummary: boolean;
  awaitsTurnEnd: boolean;
  readonly writtenAt: Millis;
  nextTokens: number | undefined;
}

/** How full the window was, for a chart. */
export interface UsageListener {
  readonly onReading: (reading: Reading) => void;
  /** the numbers before it are void; `leftTokens`: what is left, where the agent says it */
  readonly onCompaction: (at: Millis, leftTokens: number | undefined) => void;
}

/** `writtenAt`: when ctxwrap has written the session */
export const makeCompactionFold = (
  format: Fold['format'],
  listener?: UsageListener,
  writtenAt = Infinity,
): CompactionFold => {
  const fold: Fold = {
    format,
    messages: format.messages === 'rewritable' ? makeMessagesById() : makeMessageList(),
    found: [],
    listener,
    session: {},
    candidate: undefined,
    tokens: [],
    isTurnOpen: true,
    awaitsSummary: false,
    awaitsTurnEnd: false,
    writtenAt,
    nextTokens: undefined,
  };
  return {
    message: (key, place) => fold.messages.add(key, place?.line),
    beginTurn: (at) => beginTurn(fold, at),
    endTurn: (durationMs) => endTurn(fold, durationMs),
    session: (detail) => {
      fold.session = mergeSession(fold.session, detail);
    },
    steps: (steps, place) => takeSteps(fold, steps, place),
    mark: (mark, place) => {
      fold.candidate = { compacted: mark, place, afterMessage: fold.messages.count() };
    },
    facts: (facts, place) => {
      for (const fact of facts) takeFact(fold, fact, place);
    },
    known: () => fold.session,
    messages: () => fold.messages.count(),
    compactions: () => fold.found,
    nextTokens: () => fold.nextTokens,
  };
};

const beginTurn = (fold: Fold, at: () => Millis | undefined): void => {
  fold.isTurnOpen = true;
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

/** The steps of one record. */
const takeSteps = (fold: Fold, steps: readonly Step[], place: LinePlace): void => {
  const entries = steps.flatMap((step) => (step.kind === 'record' ? step.entries : []));
  const compaction = entries.find((entry) => entry.kind === 'compaction');
  const summary = entries.find((entry) => entry.kind === 'summary');
  const [first] = entries;
  if (compaction?.kind === 'compaction') {
    takeCompaction(fold, compaction, { entries, place });
    fold.messages.rewrite(steps.flatMap((step) => (step.kind === 'record' ? (step.source.id ?? []) : [])));
  } else if (first && fold.format.messages === 'by-text') fold.messages.rename(keyOf(first));
  else if (summary?.kind === 'summary') takeSummary(fold, summary, place);
  for (const step of steps) takeStep(fold, step);
};

const takeStep = (fold: Fold, step: Step): void => {
  const { messages, found } = fold;
  const last = found.at(-1);
  switch (step.kind) {
    case 'head': {
      if (fold.format.session) return; // the outlines say it
      const { id, cwd: project, version, isOther = false } = step.head;
      fold.session = mergeSession(fold.session, { id, project, version, isOther });
      return;
    }
    case 'rewritten':
      return messages.rewrite(step.ids ?? step.entries.flatMap(({ source }) => source.id ?? []));
    case 'rewound':
      return messages.cutBack(step.toId);
    case 'amended':
      if (!last) return;
      last.uuid = step.boundary.uuid ?? last.uuid;
      last.durationMs ??= step.boundary.durationMs;
      return;
    default:
      return;
  }
};

/** Where messages are told apart by their texts. */
const keyOf = (entry: Entry): string => ('text' in entry ? entry.text : '');

const takeCompaction = (
  fold: Fold,
  entry: Compaction,
  { entries, place }: { readonly entries: readonly Entry[]; readonly place: LinePlace },
): void => {
  const { boundary, source, startLine = source.line, requestTokens } = entry;
  const { at, uuid, durationMs } = boundary;
  if (fold.found.some((each) => each.at === at && each.uuid === uuid)) return; // the same record, written twice
  // an answer with the summary is not part of the conversation
  if (startLine < source.line) fold.messages.dropFrom(startLine + 1);
  const summary = entries.findLast((each) => each.kind === 'summary' && !each.isCopy);
  const kept = keptBy(fold.format, entry, entries);
  const compacted: Compacted = {
    at,
    uuid,
    durationMs,
    requestTokens,
    kept,
    // a record that tells what is left, and no summary among it, has none; otherwise it is in the next record
    summary:
      summary?.kind === 'summary'
        ? summaryOf(fold, summary)
        : entries.length > 1
          ? { kind: 'empty' }
          : undefined,
  };
  add(fold, { compacted, place, afterMessage: fold.messages.count() });
};

const keptBy = (
  { messages }: Fold['format'],
  { keptIds, keptSpan, keepsPrompts }: Compaction,
  entries: readonly Entry[],
): KeptMessages | undefined => {
  if (messages === 'rewritable' || messages === 'unnamed' || keepsPrompts) return undefined;
  if (messages === 'by-text')
    return { keys: entries.filter((entry) => entry.isCopy && ITS_SAID.includes(entry.kind)).map(keyOf) };
  return keptIds.length === 0 && keptSpan
    ? { from: keptSpan.firstId, to: keptSpan.lastId }
    : { keys: keptIds };
};

const ITS_SAID: readonly Entry['kind'][] = ['prompt', 'context'];

const summaryOf = ({ format }: Fold, { text, isEncrypted }: SummaryEntry): Summary => {
  if (isEncrypted && text.trim() === '') return { kind: 'encrypted' };
  const words = (format.summaryWords?.(text) ?? text).trim();
  return words === '' ? { kind: 'empty' } : { kind: 'text', text: words };
};

const add = (fold: Fold, { compacted, place, afterMessage }: Candidate): FoundCompaction => {
  const entry: FoundCompaction = {
    at: compacted.at,
    ...place,
    afterMessage,
    replaced: fold.messages.replace(compacted.kept),
    isVerified: true,
    isIdle: !fold.isTurnOpen,
    lastTokens: tokensBefore(fold.tokens, afterMessage, compacted.requestTokens),
    uuid: compacted.uuid,
    durationMs: compacted.durationMs,
    ...(compacted.summary ? { summary: { summary: compacted.summary, line: place.line } } : {}),
  };
  fold.found.push(entry);
  fold.listener?.onCompaction(entry.at, undefined);
  fold.candidate = undefined;
  fold.tokens = [];
  fold.awaitsSummary = compacted.summary === undefined;
  fold.awaitsTurnEnd = true;
  return entry;
};

const takeSummary = (fold: Fold, entry: SummaryEntry, place: LinePlace): void => {
  const { messages, found } = fold;
  const summary = summaryOf(fold, entry);
  const last = found.at(-1);
  if (last && fold.awaitsSummary) last.summary = { summary, line: place.line };
  else {
    const { id: uuid, at = 0 } = entry.source;
    if (found.some((each) => each.at === at && each.uuid === uuid)) return;
    messages.dropLast(); // the record is a message of the conversation after it
    add(fold, {
      compacted: { at, uuid, summary, kept: { keys: [] } },
      place,
      afterMessage: messages.count(),
    });
    messages.add(uuid ?? '', place.line);
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
      const { usedTokens: used, source, at } = fact.reading;
      fold.tokens = [{ used, afterMessage: fold.messages.count() }, ...fold.tokens].slice(0, 3);
      const last = fold.found.at(-1);
      // earlier ones were kept, and their numbers are not of an answer after it
      if (source !== 'log') return;
      if (last && at >= last.at) last.nextTokens ??= used;
      if (!last && at > fold.writtenAt) fold.nextTokens ??= used;
      return;
    }
  }
};

const takeBoundary = (fold: Fold, boundary: Boundary, place: LinePlace): void => {
  const { at, initiator, preTokens, postTokens, fixedTokens, uuid, durationMs } = boundary;
  const { candidate, messages } = fold;
  const bare: Candidate = {
    compacted: { at, uuid: undefined },
    place,
    afterMessage: messages.count(),
  };
  const entry =
    fold.found.findLast((each) => each.at === at) ??
    add(fold, candidate?.compacted.at === at ? candidate : bare);
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

const mergeSession = (before: SessionDetail, found: SessionDetail): SessionDetail => ({
  id: before.id ?? found.id,
  project: before.project ?? found.project,
  version: found.version ?? before.version,
  isOther: before.isOther ?? found.isOther ?? false,
});
