import type { Millis } from '../../core/reading.js';

/** Output that nobody has looked at yet. */
export interface Unseen {
  /** when the first of it came */
  readonly since: Millis;
  /** when the last of it came */
  readonly last: Millis;
  /** when it was looked at in the middle of a frame, and left alone */
  readonly postponedAt?: Millis;
}

const REST_MS = 50; // without output for so long, a screen is finished: agents write a frame in pieces at most some milliseconds apart
const LATEST_MS = 250; // an agent that draws without a pause is looked at all the same
const FRAME_REST_MS = 10; // after a frame that was waited for, which says itself where it ends
const FRAME_LATEST_MS = 1_000; // a frame that never ends is a mistake of the child's; terminals wait as long

/** More output has come, or the screen has changed in another way. */
export const noteUnseen = (unseen: Unseen | undefined, now: Millis): Unseen =>
  unseen ? { ...unseen, last: now } : { since: now, last: now };

/** When the screen has to be looked at. */
export const scanDue = ({ since, last, postponedAt }: Unseen): Millis => {
  if (postponedAt === undefined) return Math.min(last + REST_MS, since + LATEST_MS);
  const latest = since + FRAME_LATEST_MS;
  return last > postponedAt ? Math.min(last + FRAME_REST_MS, latest) : latest;
};

/** The moment is inside a frame of the child's: later, but not for ever. Undefined when it has been waited for long enough. */
export const postponed = (unseen: Unseen, now: Millis): Unseen | undefined =>
  now < unseen.since + FRAME_LATEST_MS ? { ...unseen, postponedAt: now } : undefined;

/** That the child writes is told at most so often: the core only wants to know whether it does. */
export const OUTPUT_EVERY_MS = 1_000;
