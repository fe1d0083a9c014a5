import type { Compaction } from './compaction/state.js';
import { compactionText, messageRoom } from './compaction/texts.js';
import { limitFor } from './custom-bounds.js';
import type { Event } from './event.js';
import type { Notices } from './messages.js';
import type { Millis } from './reading.js';
import { sessionLadder } from './report/report.js';
import type { Session } from './session.js';
import { currentModel } from './window.js';

// Tells once that a large window can be kept below a limit: every turn of a long conversation reads all of it again.

/** Whether it was offered in this session: `open` until then. */
export type LimitOffer = 'open' | 'made';

const OFFERED_TOKENS = 200_000;
/** From here on a window is large: where nobody sets a limit, much of it is used before anything is compacted. */
const LARGE_TOKENS = 500_000;

/** The footer's words for it, with the keys that open the choice: `Ctrl-] l`. */
export const limitOfferText = (keys: string): string =>
  `${OFFERED_TOKENS / 1_000}k used · ${keys} keeps it below a limit`;

/** The offer after a step; undefined where none is made, or none any more. */
export const stepLimitOffer = (
  offer: LimitOffer | undefined,
  event: Event,
  context: OfferSight,
): LimitOffer | undefined => {
  if (event.type === 'limit') return undefined;
  return offer === 'open' && isQuiet(context) && isUsed(context) && !isLimited(context) ? 'made' : offer;
};

interface OfferSight {
  readonly session: Session;
  readonly compaction: Compaction;
  readonly notices: Notices;
  readonly now: Millis;
}

/** True if the agent rests and no other message is due. */
const isQuiet = ({ session: { activity }, compaction, notices, now }: OfferSight): boolean =>
  (activity === 'ready' || activity === 'draft') &&
  notices.shown === undefined &&
  notices.waiting.length === 0 &&
  messageRoom(compaction, now) === 'free' &&
  compactionText(compaction, now) === undefined;

/** So much is used of a large window, both exactly. */
const isUsed = ({ session }: OfferSight): boolean => {
  const { fused } = session;
  return fused?.exact === true && (fused.tokens ?? 0) >= OFFERED_TOKENS && isLargeWindow(session);
};

/** The window is large, and certain. */
export const isLargeWindow = ({ fused }: Pick<Session, 'fused'>): boolean =>
  fused?.window?.certain === true && fused.window.windowTokens >= LARGE_TOKENS;

/** The user has set a limit, or none would be kept: nothing is typed or suggested. */
const isLimited = ({ session, compaction: { mode, settings } }: OfferSight): boolean =>
  session.limit !== undefined ||
  limitFor(session.ladder, currentModel(session)) !== undefined ||
  sessionLadder(session).auto === undefined ||
  (mode !== 'auto' && mode !== 'ask') ||
  settings.command === undefined;
