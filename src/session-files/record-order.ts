import type { RecordChain, RecordLink } from '../agents/session-format.js';
import type { OutlineReader } from '../core/conversation/outline.js';
import { parseRecord } from '../core/json.js';
import { hashOf, makeIdTable } from './id-table.js';
import type { SessionRecord } from './session-records.js';

// The records of a file that is only appended to, each once and in the order in which the conversation went. An agent can write records a
// second time after a compaction, and what the compaction kept for the first time only behind it. Readers follow the records from one to
// the one before; here those are led back into the order of the file, so that nothing between two compactions is passed over.

export interface RecordOrder {
  readonly take: (record: SessionRecord) => void;
  /** the file has ended */
  readonly end: () => void;
}

type Give = (record: SessionRecord) => void;

/** Gives each record once. */
interface Once {
  readonly chain: RecordChain;
  readonly isKnown: (id: string) => boolean;
  readonly isRepeat: (link: RecordLink, parentId: () => string | undefined) => boolean;
  readonly put: (record: SessionRecord, link: RecordLink) => void;
  /** one from behind a compaction, before it; where it is stored, it comes again. `repeated`: what is there a second time */
  readonly putMoved: (record: SessionRecord, id: string, repeated: ReadonlySet<string>) => void;
}

/** The compactions so far and their summaries, each of which may be written again under another id. */
const makeCompactions = () => {
  const named = new Map<string, string>(); // the first id of each
  const firstIds = new Map<string, string>(); // by each of their ids
  const summarised = new Set<string>();
  let last: string | undefined;
  return {
    isKnown: ({ id, compaction, isSummary }: RecordLink, parentId: string | undefined): boolean => {
      const first = compaction === undefined ? undefined : named.get(compaction);
      if (first !== undefined) firstIds.set(id, first);
      const summarises = isSummary ? firstIds.get(parentId ?? '') : undefined;
      return first !== undefined || (summarises !== undefined && summarised.has(summarises));
    },
    add: ({ id, compaction }: RecordLink, parentId: string | undefined): void => {
      if (compaction === undefined) {
        const summarises = firstIds.get(parentId ?? '') ?? last;
        if (summarises !== undefined) summarised.add(summarises); // old versions write summaries alone
        return;
      }
      named.set(compaction, id);
      firstIds.set(id, id);
      last = id;
    },
  };
};

const makeOnce = (chain: RecordChain, outlineOf: OutlineReader, give: Give): Once => {
  const known = makeIdTable();
  let era = 0; // one more with each compaction
  const compactions = makeCompactions();
  /** what comes after these comes after others instead: after what was written before the repetition, or before the move */
  const standIns = new Map<string, string>();
  let lastId: string | undefined;
  /** what comes is written once more from before a compaction, and not only twice */
  let isReplay = false;
  const isKnown = (id: string): boolean => known.eraOf(hashOf(id)) !== undefined;
  const parentOf = ({ outline }: SessionRecord): string | undefined => outline && chain.parentId(outline);

  const isSecond: Once['isRepeat'] = (link, parentId) =>
    (link.compaction !== undefined || link.isSummary === true) && compactions.isKnown(link, parentId());

  const noteRepeat = ({ id, compaction, isSummary }: RecordLink): void => {
    const since = known.eraOf(hashOf(id));
    isReplay ||= (since ?? era) < era || compaction !== undefined || isSummary === true;
    if (lastId !== undefined && (isReplay || since === undefined)) standIns.set(id, lastId);
  };

  const giveAfter = (
    record: SessionRecord,
    [id, hash]: readonly [id: string, hash: number],
    parentId: string | undefined,
  ): void => {
    known.add(hash, era);
    lastId = id;
    isReplay = false;
    record.id = id;
    const parsed = parentId === undefined ? undefined : parseRecord(record.bytes?.toString('utf8') ?? '');
    if (!parsed || parentId === undefined) return give(record);
    const bytes = Buffer.from(JSON.stringify(chain.after(parsed, parentId)));
    give({ ...record, bytes, outline: outlineOf(bytes) });
  };

  return {
    chain,
    isKnown,
    isRepeat: (link, parentId) => isKnown(link.id) || isSecond(link, parentId),
    put: (record, link) => {
      const { id, compaction, isSummary } = link;
      const hash = hashOf(id); // once, for every line
      if (known.eraOf(hash) !== undefined || isSecond(link, () => parentOf(record))) return noteRepeat(link);
      const parentId = isSummary || standIns.size > 0 ? parentOf(record) : undefined;
      if (compaction !== undefined) era += 1;
      if (compaction !== undefined || isSummary) compactions.add(link, parentId);
      giveAfter(record, [id, hash], parentId === undefined ? undefined : standIns.get(parentId));
    },
    putMoved: (record, id, repeated) => {
      const parentId = parentOf(record);
      const isInPlace = parentId !== undefined && isKnown(parentId) && !repeated.has(parentId);
      giveAfter({ ...record, isMoved: true }, [id, hashOf(id)], isInPlace ? undefined : lastId);
    },
  };
};

/** A compaction, and what comes after it, while records that it has kept are still to come. */
interface Held {
  readonly compaction: string | undefined;
  readonly missing: Set<string>;
  readonly waiting: SessionRecord[];
  readonly kept: { readonly record: SessionRecord; readonly id: string }[];
  /** ids from before the compaction that have come again */
  readonly repeated: Set<string>;
  bytes: number;
}

// What was kept follows the summary at once; a record that does not come was never written.
const MOST_WAITING = 100;
const MOST_WAITING_BYTES = 16 * 1024 * 1024;

/** The record's memory is reused, so a copy waits. */
const wait = (held: Held, record: SessionRecord, link: RecordLink | undefined): void => {
  const copy = { ...record, bytes: record.bytes && Buffer.from(record.bytes), outline: undefined };
  held.bytes += record.bytes?.length ?? 0;
  held.waiting.push(copy);
  const isMessage = link !== undefined && link.compaction === undefined && !link.isSummary;
  if (isMessage && held.missing.delete(link.id)) held.kept.push({ record: copy, id: link.id });
};

const isOver = ({ missing, waiting, bytes }: Held): boolean =>
  missing.size === 0 || waiting.length > MOST_WAITING || bytes > MOST_WAITING_BYTES;

/** Ids of what a compaction says that it has kept, and that was not written yet. */
const missingAt = (once: Once, { bytes }: SessionRecord, link: RecordLink): readonly string[] => {
  const isRepeat = once.isRepeat(link, () => undefined);
  const record = isRepeat ? undefined : parseRecord(bytes?.toString('utf8') ?? '');
  return record ? once.chain.keptIds(record).filter((id) => !once.isKnown(id)) : [];
};

/** The next compaction, not this one or an older one again. */
const isOther = (once: Once, link: RecordLink, { compaction }: Held): boolean =>
  link.compaction !== undefined && link.compaction !== compaction && !once.isRepeat(link, () => undefined);

export const makeRecordOrder = (chain: RecordChain, outlineOf: OutlineReader, give: Give): RecordOrder => {
  const once = makeOnce(chain, outlineOf, give);
  let held: Held | undefined;
  const giveOther = (record: SessionRecord): void => {
    record.id = '';
    give(record);
  };

  const read = (record: SessionRecord): SessionRecord => ({
    ...record,
    outline: record.bytes && outlineOf(record.bytes),
  });
  const putOrGive = (record: SessionRecord): void => {
    const link = record.outline && chain.link(record.outline);
    if (link) once.put(record, link);
    else giveOther(record);
  };

  const flush = (): void => {
    if (!held) return;
    const { kept, waiting, repeated } = held;
    held = undefined;
    for (const { record, id } of kept) once.putMoved(read(record), id, repeated);
    for (const record of waiting) putOrGive(read(record));
  };

  const hold = (into: Held, record: SessionRecord, link: RecordLink | undefined): void => {
    if (link && once.isKnown(link.id)) into.repeated.add(link.id);
    wait(into, record, link);
    if (isOver(into)) flush();
  };

  return {
    take: (record) => {
      const link = record.outline && chain.link(record.outline);
      if (held && link && isOther(once, link, held)) flush();
      if (held) return hold(held, record, link);
      const missing = link?.compaction === undefined ? [] : missingAt(once, record, link);
      if (missing.length === 0) return link ? once.put(record, link) : giveOther(record);
      held = {
        compaction: link?.compaction,
        missing: new Set(missing),
        waiting: [],
        kept: [],
        repeated: new Set(),
        bytes: 0,
      };
      hold(held, record, link);
    },
    end: flush,
  };
};
