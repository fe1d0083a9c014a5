import type { Compaction, Conversation, Entry, SessionHead, SourceRecord, Step } from './conversation.js';
import type { Boundary } from '../event.js';
import { present } from '../present.js';

// Puts the steps of a session file together. Records of agents that name the one before (`parentId`) are followed from the newest one back,
// because such a file is not in order and holds the branches that the user has left.

interface FileRecord {
  readonly source: SourceRecord;
  readonly entries: readonly Entry[];
}

/** A conversation while its file is read. The parts are changed in place: a file has up to millions of records. */
interface Draft {
  records: FileRecord[];
  /** index in `records` */
  readonly places: Map<string, number>;
  head: SessionHead;
  incomplete?: string;
  abandoned: number;
}

/** The conversation that these steps make. */
export const buildConversation = (steps: Iterable<Step>): Conversation => {
  const draft: Draft = { records: [], places: new Map(), head: {}, abandoned: 0 };
  for (const step of steps) take(draft, step);
  const { head, incomplete } = draft;
  const isLinked = draft.records.some(({ source }) => source.parentId !== undefined);
  const path = isLinked ? followParents(draft) : draft.records;
  const entries = path.flatMap((record) => record.entries.map((entry) => withKeptIds(entry, path)));
  const inFile = draft.records.reduce((total, record) => total + record.entries.length, 0);
  return {
    head,
    entries,
    abandoned: draft.abandoned + inFile - entries.length,
    damaged: 0,
    ...present({ incomplete }),
  };
};

const withKeptIds = (entry: Entry, path: readonly FileRecord[]): Entry => {
  if (entry.kind !== 'compaction' || entry.keptSpan === undefined || entry.keptIds.length > 0) return entry;
  const { firstId, lastId } = entry.keptSpan;
  const first = path.findIndex(({ source }) => source.id === firstId);
  const last = path.findIndex(({ source }) => source.id === lastId);
  if (first < 0 || last < first) return entry;
  return { ...entry, keptIds: path.slice(first, last + 1).flatMap(({ source }) => source.id ?? []) };
};

const take = (draft: Draft, step: Step): void => {
  switch (step.kind) {
    case 'head': {
      const { startedAt = step.head.startedAt } = draft.head;
      draft.head = { ...draft.head, ...step.head, ...present({ startedAt }) };
      return;
    }
    case 'record':
      put(draft, step);
      return;
    case 'rewritten':
      truncate(draft, afterLastCompaction(draft.records), 'forgotten');
      for (const record of bySource(step.entries)) append(draft, record);
      if (step.inEffect !== undefined) markUndone(draft, step.inEffect);
      return;
    case 'rewound': {
      const start = afterLastCompaction(draft.records);
      // the agents leave nothing where they do not find the place
      truncate(draft, Math.max(start, draft.places.get(step.toId) ?? start), 'abandoned');
      return;
    }
    case 'rewound-turns':
      truncate(draft, turnsBack(draft.records, step.turns), 'abandoned');
      return;
    case 'amended': {
      const place = afterLastCompaction(draft.records) - 1;
      const record = draft.records[place];
      if (record) draft.records[place] = { ...record, entries: record.entries.map(amended(step.boundary)) };
      return;
    }
    case 'incomplete':
      draft.incomplete = step.reason;
  }
};

/** The first compactions of the file count, so many of them; the others are undone. */
const markUndone = ({ records }: Draft, inEffect: number): void => {
  let count = 0;
  for (const [index, { source, entries }] of records.entries()) {
    if (!entries.some(({ kind }) => kind === 'compaction')) continue;
    const isUndone = count >= inEffect;
    count += 1;
    records[index] = { source, entries: entries.map((entry) => withUndone(entry, isUndone)) };
  }
};

const withUndone = (entry: Entry, isUndone: boolean): Entry => {
  if (entry.kind !== 'compaction') return entry;
  const { isUndone: _, ...compaction } = entry;
  return isUndone ? { ...compaction, isUndone } : compaction;
};

const amended =
  (more: Partial<Boundary>) =>
  (entry: Entry): Entry =>
    entry.kind === 'compaction' ? { ...entry, boundary: { ...entry.boundary, ...more } } : entry;

const put = (draft: Draft, record: FileRecord): void => {
  const { source, entries } = record;
  const compaction = entries.find(({ kind }) => kind === 'compaction');
  if (compaction?.kind === 'compaction' && source.parentId === undefined) dropOwnRecords(draft, compaction);
  const known = source.id === undefined ? undefined : draft.places.get(source.id);
  // a copy does not take the place of what it repeats
  if (known === undefined || entries.some(({ isCopy }) => isCopy)) append(draft, record);
  else draft.records[known] = record;
};

const append = (draft: Draft, record: FileRecord): void => {
  if (record.source.id !== undefined) draft.places.set(record.source.id, draft.records.length);
  draft.records.push(record);
};

/** What the agent has recorded while it compacted, such as the answer with the summary. */
const dropOwnRecords = (draft: Draft, { startLine = Infinity }: Compaction): void => {
  const place = draft.records.findLastIndex(({ source }) => source.line < startLine) + 1;
  truncate(draft, Math.max(place, afterLastCompaction(draft.records)), 'forgotten');
};

const truncate = (draft: Draft, length: number, fate: 'abandoned' | 'forgotten'): void => {
  for (const { source, entries } of draft.records.slice(length)) {
    if (source.id !== undefined) draft.places.delete(source.id);
    if (fate === 'abandoned') draft.abandoned += entries.length;
  }
  draft.records.length = length;
};

const afterLastCompaction = (records: readonly FileRecord[]): number =>
  records.findLastIndex(({ entries }) => entries.some(({ kind }) => kind === 'compaction')) + 1;

/** Where the n-th last turn of the user begins; what a compaction has repeated counts, and what was before it does not come back. */
const turnsBack = (records: readonly FileRecord[], turns: number): number => {
  let place = records.length;
  for (let left = turns; left > 0 && place > 0;) {
    const entries = records[place - 1]?.entries ?? [];
    if (entries.some(({ kind }) => kind === 'compaction')) break;
    place -= 1;
    if (entries.some(({ kind }) => kind === 'prompt')) left -= 1;
  }
  return place;
};

const bySource = (entries: readonly Entry[]): readonly FileRecord[] => {
  const records: { source: SourceRecord; entries: Entry[] }[] = [];
  for (const entry of entries) {
    const last = records.at(-1);
    if (last && last.source === entry.source) last.entries.push(entry);
    else records.push({ source: entry.source, entries: [entry] });
  }
  return records;
};

/** From the newest record back to the first one, across compactions. */
const followParents = (draft: Draft): readonly FileRecord[] => {
  const { records, places } = draft;
  const taken = new Set<number>();
  let place = newestLeaf(records);
  while (place !== undefined && !taken.has(place)) {
    taken.add(place);
    place = placeBefore(draft, place, taken);
  }
  const path = [...taken].toReversed();
  const forgotten = forgottenParts(records, places, path, taken);
  return path
    .flatMap((index) => [index, ...(forgotten.get(index) ?? [])])
    .flatMap((index) => records[index] ?? []);
};

/** The last record that no other one follows: an answer may be written before the prompt it answers. */
const newestLeaf = (records: readonly FileRecord[]): number | undefined => {
  const followed = new Set(records.map(({ source }) => source.parentId));
  const leaf = records.findLastIndex(({ source }) => source.id !== undefined && !followed.has(source.id));
  return leaf >= 0 ? leaf : records.length > 0 ? records.length - 1 : undefined;
};

const placeBefore = (
  { records, places }: Draft,
  place: number,
  taken: ReadonlySet<number>,
): number | undefined => {
  const record = records[place];
  const { parentId } = record?.source ?? {};
  const compaction = record?.entries.find(({ kind }) => kind === 'compaction');
  const named = parentId ?? (compaction?.kind === 'compaction' ? compaction.previousId : undefined);
  const known = named === undefined ? undefined : places.get(named);
  if (known !== undefined && !taken.has(known)) return known;
  // The first record of a conversation. Another one names a record that was lost with a damaged line or comes after it, or is a compaction.
  if (parentId === null && !compaction) return undefined;
  for (let index = place - 1; index >= 0; index -= 1) if (!taken.has(index)) return index;
  return undefined;
};

/**
 * Tool calls that ran at the same time are records beside each other, of which the path holds one: the others of the same answer, and their
 * results, belong to the conversation, too. By the place that they come after.
 */
const forgottenParts = (
  records: readonly FileRecord[],
  places: ReadonlyMap<string, number>,
  path: readonly number[],
  taken: ReadonlySet<number>,
): ReadonlyMap<number, readonly number[]> => {
  const lastOfAnswer = new Map<string, number>();
  for (const index of path) {
    const answerId = records[index]?.source.answerId;
    if (answerId !== undefined) lastOfAnswer.set(answerId, index);
  }
  const answers = new Map<number, number[]>();
  const results = new Map<number, number[]>();
  for (const [index, { source, entries }] of records.entries()) {
    if (taken.has(index)) continue;
    const own = source.answerId === undefined ? undefined : lastOfAnswer.get(source.answerId);
    if (own !== undefined) addTo(answers, own, index);
    const parent = places.get(source.parentId ?? '');
    const asked = parent === undefined ? undefined : records[parent]?.source.answerId;
    const anchor = asked === undefined ? undefined : lastOfAnswer.get(asked);
    if (anchor !== undefined && entries.some(({ kind }) => kind === 'result')) addTo(results, anchor, index);
  }
  const anchors = new Set([...answers.keys(), ...results.keys()]);
  return new Map(
    [...anchors].map((each) => [each, [...(answers.get(each) ?? []), ...(results.get(each) ?? [])]]),
  );
};

const addTo = (lists: Map<number, number[]>, key: number, value: number): void => {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
};
