// What the overlay remembers of a session while it is closed, so that it has something to show when it opens. Cheap: most steps
// change nothing here.
import { momentOf } from '../compaction/moment.js';
import { fillOf } from '../compaction/outcome.js';
import { noPast, notePast } from '../compaction/past.js';
import type { Past } from '../compaction/past.js';
import type { Compaction } from '../compaction/state.js';
import type { Event } from '../event.js';
import type { Millis } from '../reading.js';
import { noteUsage, noUsage } from '../usage-history.js';
import type { UsageHistory } from '../usage-history.js';
import type { Session } from '../session-state.js';

export interface OverlayRecord {
  readonly usage: UsageHistory;
  readonly past: Past;
  /** counted so far: one that is new is marked in the usage */
  readonly compactions: number;
}

export const noRecord: OverlayRecord = { usage: noUsage, past: noPast, compactions: 0 };

/** A step of the session: what happened, and the states after it. */
export interface RecordedStep {
  readonly session: Session;
  readonly compaction: Compaction;
  /** absent where only time has passed */
  readonly event?: Event | undefined;
  readonly now: Millis;
}

/** The record after a step; the same object when there is nothing to remember. */
export const noteStep = (record: OverlayRecord, step: RecordedStep): OverlayRecord => {
  const { session, compaction, event, now } = step;
  const { compactions, fused } = session;
  // estimates are drawn, too: they are what the footer shows
  const mark = compactions > record.compactions;
  const usage = noteUsage(record.usage, { fill: fused && fillOf(fused), at: now, mark });
  const { fill } = momentOf(session, now).seen;
  const past = notePast(record.past, { event, effects: compaction.effects, fill, now });
  const isSame = usage === record.usage && past === record.past && compactions === record.compactions;
  return isSame ? record : { usage, past, compactions };
};
