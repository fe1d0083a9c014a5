import type { CompactedDetail, HistoryDetail, KeptMessages, SessionDetail, Summary } from '../agents/history.js';
import type { BoundaryInitiator, MessageRange } from '../core/boundary-record.js';
import type { Boundary, Fact } from '../core/event.js';
import type { Millis } from '../core/reading.js';

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
  uuid?: string | undefined;
  durationMs?: number | undefined;
  initiator?: BoundaryInitiator | undefined;
  preTokens?: number | undefined;
  postTokens?: number | undefined;
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
  readonly turn: (phase: 'begins' | 'ends', at: Millis | undefined) => void;
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

/** `onReading` gets every number of the session, for a chart. */
export const makeCompactionFold = (
  kind: 'appended' | 'by-id',
  onReading?: (fact: Extract<Fact, { type: 'reading' }>) => void,
): CompactionFold => {
  const messages = kind === 'by-id' ? makeMessagesById() : makeMessageList();
  const found: FoundCompaction[] = [];
  let session: SessionDetail = {};
  let candidate: Candidate | undefined;
  let tokens: readonly SeenTokens[] = []; // the last three numbers, newest first
  let said = '';
  let isTurnOpen = true; // an unknown turn is taken for one of the user's
  let awaitsSummary = false;
  let awaitsTurnEnd = false;

  const add = ({ detail, place, afterMessage }: Candidate): FoundCompaction => {
    const replaced = messages.replace(detail.kept);
    const entry: FoundCompaction = {
      at: detail.at,
      ...place,
      afterMessage,
      replaced,
      isVerified: true,
      lastTokens: tokensBefore(tokens, afterMessage, detail.requestTokens),
      uuid: detail.uuid,
      durationMs: detail.durationMs,
      ...(detail.summary ? { summary: { summary: detail.summary, line: place.line } } : {}),
    };
    found.push(entry);
    tokens = [];
    awaitsSummary = detail.summary === undefined;
    awaitsTurnEnd = true;
    return entry;
  };

  const compacted = (detail: CompactedDetail, place: LinePlace): void => {
    if (found.some(({ at, uuid }) => at === detail.at && uuid === detail.uuid)) return; // the same record, written twice
    if (detail.isSummary?.(said) === true) messages.dropLast();
    candidate = { detail, place, afterMessage: messages.count() };
    if (!detail.isCertain) return;
    add(candidate);
    candidate = undefined;
  };

  const onSummary = (detail: Extract<HistoryDetail, { kind: 'summary' }>, place: LinePlace): void => {
    const { summary, at, uuid } = detail;
    const last = found.at(-1);
    if (last && awaitsSummary) last.summary = { summary, line: place.line };
    else if (!last?.summary || last.uuid !== uuid) {
      // the record is a message of the new conversation
      messages.dropLast();
      compacted({ kind: 'compacted', at, isCertain: true, uuid, summary, kept: { keys: [] } }, place);
      messages.add(uuid ?? '');
    }
    awaitsSummary = false;
  };

  const onDetail = (detail: HistoryDetail, place: LinePlace): void => {
    const last = found.at(-1);
    switch (detail.kind) {
      case 'session': {
        const { kind: _, ...told } = detail;
        session = mergeSession(session, told);
        return;
      }
      case 'compacted':
        return compacted(detail, place);
      case 'summary':
        return onSummary(detail, place);
      case 'ended':
        if (!last) return;
        last.uuid = detail.uuid ?? last.uuid;
        last.durationMs ??= detail.durationMs;
        return;
      case 'turn-ended':
        // the agent's own compaction is only a part of its turn
        if (last && awaitsTurnEnd && last.initiator === 'user') last.durationMs ??= detail.durationMs;
        awaitsTurnEnd = false;
        return;
      case 'said':
        said = detail.text;
        if (detail.isKey) messages.rename(detail.text);
        return;
      case 'rewritten':
        return messages.rewrite(detail.keys);
      case 'cut-back':
        return messages.cutBack(detail.key);
    }
  };

  const onBoundary = (boundary: Boundary, place: LinePlace): void => {
    const { at, initiator, preTokens, postTokens, uuid, durationMs } = boundary;
    const known = found.findLast((each) => each.at === at);
    const isOfCandidate = !known && candidate?.detail.at === at;
    const bare: Candidate = {
      detail: { kind: 'compacted', at, isCertain: true, isSummary: () => false },
      place,
      afterMessage: messages.count(),
    };
    const entry = known ?? add(isOfCandidate && candidate ? candidate : bare);
    candidate = undefined;
    entry.initiator = initiator === 'agent' && !isTurnOpen ? 'agent-idle' : (initiator ?? entry.initiator);
    entry.preTokens = preTokens ?? entry.preTokens;
    entry.postTokens = postTokens ?? entry.postTokens;
    entry.uuid ??= uuid;
    entry.durationMs ??= durationMs;
    if (boundary.source === 'screen') entry.isVerified = false;
    // the text in its place is an older answer
    if (boundary.summary === 'empty') entry.summary = { summary: { kind: 'empty' }, line: entry.line };
    tokens = [];
  };

  const onFact = (fact: Fact, place: LinePlace): void => {
    switch (fact.type) {
      case 'boundary':
        return onBoundary(fact.boundary, place);
      case 'initiator': {
        const entry = found.findLast(({ at }) => at === fact.at);
        if (entry) entry.initiator = fact.initiator;
        return;
      }
      case 'voided':
        tokens = [];
        return;
      case 'reading': {
        onReading?.(fact);
        const { usedTokens, source } = fact.reading;
        tokens = [{ used: usedTokens, afterMessage: messages.count() }, ...tokens].slice(0, 3);
        const last = found.at(-1);
        if (last && source === 'log') last.nextTokens ??= usedTokens;
        return;
      }
    }
  };

  return {
    message: (key) => {
      messages.add(key);
      said = '';
    },
    turn: (phase, at) => {
      isTurnOpen = phase === 'begins';
      const last = found.at(-1);
      // it was sent before the compaction and written after it: the compaction was part of this turn
      if (isTurnOpen && last?.initiator === 'agent-idle' && at !== undefined && at <= last.at) last.initiator = 'agent';
    },
    details: (details, place) => {
      for (const detail of details) onDetail(detail, place);
    },
    facts: (facts, place) => {
      for (const fact of facts) onFact(fact, place);
    },
    session: () => session,
    messages: () => messages.count(),
    compactions: () => found,
  };
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

// The messages of a conversation, by their place in the file and by a hash of their keys: a long file has hundreds of thousands.

interface Messages {
  readonly add: (key: string) => void;
  /** the last one gets another key */
  readonly rename: (key: string) => void;
  readonly dropLast: () => void;
  readonly count: () => number;
  /** the messages that leave the window, when only these stay; undefined where what stays is not known */
  readonly replace: (kept: KeptMessages | undefined) => readonly MessageRange[] | undefined;
  readonly rewrite: (keys: readonly string[]) => void;
  readonly cutBack: (key: string) => void;
}

const makeMessageList = (): Messages => {
  let keys = new Float64Array(1024);
  let count = 0;
  /** the first message after the last compaction, and those before it that are still in the window; undefined where not known */
  let begin = 1;
  let carried: readonly number[] | undefined = [];

  const inWindow = (): readonly number[] => [
    ...(carried ?? []),
    ...Array.from({ length: count - begin + 1 }, (_, index) => begin + index),
  ];
  const lastOf = (hash: number, taken: ReadonlySet<number>): number | undefined => {
    for (let number = count; number >= begin; number--)
      if (keys[number - 1] === hash && !taken.has(number)) return number;
    return carried?.findLast((number) => keys[number - 1] === hash && !taken.has(number));
  };
  const keptNumbers = (kept: KeptMessages): ReadonlySet<number> | undefined => {
    const numbers = new Set<number>();
    if ('from' in kept) {
      const [from, to] = [lastOf(hashOf(kept.from), numbers), lastOf(hashOf(kept.to), numbers)];
      if (from === undefined || to === undefined) return undefined;
      for (let number = from; number <= to; number++) numbers.add(number);
      return numbers;
    }
    for (const key of kept.keys.toReversed()) {
      const number = lastOf(hashOf(key), numbers);
      if (number !== undefined) numbers.add(number);
    }
    return numbers;
  };

  return {
    add: (key) => {
      if (count === keys.length) {
        const more = new Float64Array(count * 2);
        more.set(keys);
        keys = more;
      }
      keys[count] = hashOf(key);
      count += 1;
    },
    rename: (key) => {
      keys[count - 1] = hashOf(key);
    },
    dropLast: () => {
      count = Math.max(0, count - 1);
    },
    count: () => count,
    replace: (kept) => {
      const numbers = kept && carried ? keptNumbers(kept) : undefined;
      const replaced = numbers && rangesOf(inWindow().filter((number) => !numbers.has(number)));
      carried = numbers && [...numbers].toSorted((a, b) => a - b);
      begin = count + 1;
      return replaced;
    },
    rewrite: () => undefined,
    cutBack: () => undefined,
  };
};

const makeMessagesById = (): Messages => {
  let order: number[] = [];
  let known = new Set<number>();
  const put = (key: string): void => {
    const hash = hashOf(key);
    if (key !== '' && known.has(hash)) return;
    known.add(hash);
    order.push(hash);
  };
  return {
    add: put,
    rename: () => undefined,
    dropLast: () => undefined,
    count: () => order.length,
    replace: () => undefined,
    rewrite: (keys) => {
      order = [];
      known = new Set();
      keys.forEach(put);
    },
    cutBack: (key) => {
      const at = order.indexOf(hashOf(key));
      order = at < 0 ? [] : order.slice(0, at); // for an unknown id the agent drops everything
      known = new Set(order);
    },
  };
};

const rangesOf = (numbers: readonly number[]): readonly MessageRange[] => {
  const ranges: [number, number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last && last[1] + 1 === number) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges;
};

// FNV-1a, twice 26 bits of it: enough to tell apart the messages of one file.
const hashOf = (text: string): number => {
  let [low, high] = [0x811c9dc5, 0x1000193];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ (unit + index), 0x85ebca6b);
  }
  return (low >>> 6) * 0x4000000 + (high >>> 6);
};
