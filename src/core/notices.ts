// Short messages that come once, one at a time, and go.
import type { Millis } from './reading.js';

const SHOWN_MS = 5_000;
const NEWS_MS = 60_000; // what could not be shown for so long is no news any more
const MOST_WAITING = 5;

/** What is to be said. Of two that wait, the one of the higher priority comes first, and of equal ones the older. */
export interface NoticeWish {
  readonly text: string;
  readonly priority: number;
}

/** A message that the footer shows. */
export interface Notice {
  readonly text: string;
  readonly until: Millis;
}

interface Waiting extends NoticeWish {
  readonly since: Millis;
}

export interface Notices {
  readonly shown?: Notice;
  readonly waiting: readonly Waiting[];
}

export const noNotices: Notices = { waiting: [] };

/** After something is to be said; what is shown already, or waits, is not said twice. */
export const withNotice = (notices: Notices, { text, priority }: NoticeWish, now: Millis): Notices => {
  const { shown, waiting } = notices;
  if (text === '' || shown?.text === text || waiting.some((each) => each.text === text)) return notices;
  const sorted = [...waiting, { text, priority, since: now }].toSorted((a, b) => b.priority - a.priority);
  return { ...notices, waiting: sorted.slice(0, MOST_WAITING) };
};

/**
 * What is shown now. `isFree`: the footer has nothing more urgent to say. One that has to give way does not come back; those that wait
 * go on waiting.
 */
export const noticesAt = (notices: Notices, isFree: boolean, now: Millis): Notices => {
  const waiting = notices.waiting.filter(({ since }) => Math.abs(now - since) < NEWS_MS);
  const { shown } = notices;
  // the clock may have been set back
  if (isFree && shown && now < shown.until && shown.until <= now + SHOWN_MS) return { shown, waiting };
  const [next, ...rest] = waiting;
  if (!isFree || !next) return { waiting };
  return { shown: { text: next.text, until: now + SHOWN_MS }, waiting: rest };
};

/** When what is shown goes though nothing happens; undefined while nothing is. */
export const noticeDue = ({ shown }: Notices): Millis | undefined => shown?.until;
