import type { RecordChain, RecordLink } from '../agents/history.js';
import type { OutlineReader } from '../core/conversation/outline.js';
import { parseRecord } from '../core/json.js';
import { hashOf } from './message-list.js';
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
  readonly isKnown: (id: string) => boolean;
  readonly isRepeat: (link: RecordLink) => boolean;
  readonly put: (record: SessionRecord, link: RecordLink) => void;
  /** records from behind a compaction, before it; what came after them there comes after `behindId` */
  readonly putMoved: (moved: readonly Moved[]) => void;
}

interface Moved {
  readonly record: SessionRecord;
  readonly link: RecordLink;
  readonly behindId: string;
}

const makeOnce = (chain: RecordChain, outlineOf: OutlineReader, give: Give): Once => {
  const known = new Set<number>();
  const compactions = new Map<string, string>(); // the first id of each
  const firstIds = new Map<string, string>(); // of compactions that are known by another id, too
  const summarised = new Set<string>();
  /** what comes after these comes after others instead: after what was written before the repetition, or before the move */
  const standIns = new Map<string, string>();
  let lastId: string | undefined;
  const isKnown = (id: string): boolean => known.has(hashOf(id));

  const isRepeat = ({ id, parentId = '', compaction, isSummary }: RecordLink): boolean => {
    if (isKnown(id)) return true;
    const first = compaction === undefined ? undefined : compactions.get(compaction);
    if (first !== undefined) firstIds.set(id, first);
    return first !== undefined || (isSummary === true && summarised.has(firstIds.get(parentId) ?? parentId));
  };

  const giveAfter = (record: SessionRecord, id: string, parentId: string | undefined): void => {
    known.add(hashOf(id));
    lastId = id;
    const parsed = parentId === undefined ? undefined : parseRecord(record.bytes?.toString('utf8') ?? '');
    if (!parsed || parentId === undefined) return give({ ...record, id });
    const bytes = Buffer.from(JSON.stringify(chain.after(parsed, parentId)));
    give({ ...record, bytes, outline: outlineOf(bytes), id });
  };

  return {
    isKnown,
    isRepeat,
    put: (record, link) => {
      const { id, parentId, compaction, isSummary } = link;
      if (isRepeat(link)) {
        if (lastId !== undefined) standIns.set(id, lastId);
        return;
      }
      if (compaction !== undefined) compactions.set(compaction, id);
      if (isSummary && parentId !== undefined) summarised.add(firstIds.get(parentId) ?? parentId);
      giveAfter(record, id, parentId === undefined ? undefined : standIns.get(parentId));
    },
    putMoved: (moved) => {
      for (const { record, link } of moved) {
        const isInPlace = link.parentId !== undefined && isKnown(link.parentId);
        giveAfter({ ...record, isMoved: true }, link.id, isInPlace ? undefined : lastId);
      }
      for (const { link, behindId } of moved) standIns.set(link.id, behindId);
    },
  };
};

/** A compaction, and what comes after it, while records that it has kept are still to come. */
interface Held {
  readonly missing: Set<string>;
  readonly waiting: SessionRecord[];
  readonly moved: Moved[];
  lastId: string;
  bytes: number;
}

// What was kept follows the summary at once; a record that does not come was never written.
const MOST_WAITING = 100;
const MOST_WAITING_BYTES = 16 * 1024 * 1024;

export const makeRecordOrder = (chain: RecordChain, outlineOf: OutlineReader, give: Give): RecordOrder => {
  const once = makeOnce(chain, outlineOf, give);
  let held: Held | undefined;

  const flush = (): void => {
    const { moved, waiting } = held ?? { moved: [], waiting: [] };
    held = undefined;
    once.putMoved(moved);
    for (const record of waiting) {
      const outline = record.bytes && outlineOf(record.bytes);
      const link = outline && chain.link(outline);
      if (link) once.put({ ...record, outline }, link);
      else give({ ...record, outline });
    }
  };

  const hold = (record: SessionRecord, link: RecordLink | undefined, into: Held): void => {
    const copy = { ...record, bytes: record.bytes && Buffer.from(record.bytes), outline: undefined };
    into.bytes += record.bytes?.length ?? 0;
    const isMessage = link !== undefined && link.compaction === undefined && !link.isSummary;
    if (isMessage && into.missing.delete(link.id)) {
      into.moved.push({ record: copy, link, behindId: into.lastId });
      if (into.missing.size === 0) flush();
      return;
    }
    into.waiting.push(copy);
    into.lastId = link?.id ?? into.lastId;
    if (into.waiting.length > MOST_WAITING || into.bytes > MOST_WAITING_BYTES) flush();
  };

  const missingAt = ({ bytes }: SessionRecord, link: RecordLink): ReadonlySet<string> => {
    const record = once.isRepeat(link) ? undefined : parseRecord(bytes?.toString('utf8') ?? '');
    return new Set((record ? chain.keptIds(record) : []).filter((id) => !once.isKnown(id)));
  };

  return {
    take: (record) => {
      const link = record.outline && chain.link(record.outline);
      if (held && link?.compaction !== undefined) flush();
      if (held) return hold(record, link, held);
      const missing = link?.compaction === undefined ? undefined : missingAt(record, link);
      if (link && missing && missing.size > 0) {
        held = { missing: new Set(missing), waiting: [], moved: [], lastId: link.id, bytes: 0 };
        return hold(record, link, held);
      }
      return link ? once.put(record, link) : give(record);
    },
    end: flush,
  };
};
