// `.omc/state/compact-requested.json` {requestedAt, contextPercent, threshold}: written anew with each drawing of a status line while
// the window is fuller than a threshold, and read by nobody. So it is one wish, not one a drawing.
import { parseRecord, textAt } from '../json.js';
import type { Millis } from '../reading.js';
import { isoMillis } from '../time.js';
import { REQUEST_MS } from './request.js';

/** What was seen of the file so far. */
export interface OmcSeen {
  /** as the file says, at the last look; 0 for none */
  readonly writtenAt: Millis;
  /** when it counted as a request last */
  readonly countedAt?: Millis;
}

export interface OmcLook {
  readonly seen: OmcSeen;
  readonly isRequest: boolean;
}

/** What a look at the file says. The first look (`before` undefined) only tells what was there before the session. */
export const lookAtOmc = (before: OmcSeen | undefined, text: string | undefined, now: Millis): OmcLook => {
  const said = isoMillis(textAt(parseRecord(text ?? ''), 'requestedAt') ?? '');
  const writtenAt = said ?? before?.writtenAt ?? 0;
  if (before === undefined) return { seen: { writtenAt }, isRequest: false };
  const { countedAt } = before;
  const isNew = writtenAt > before.writtenAt && Math.abs(now - writtenAt) <= REQUEST_MS;
  const isEnough = countedAt === undefined || Math.abs(now - countedAt) > REQUEST_MS;
  if (!isNew || !isEnough) return { seen: { ...before, writtenAt }, isRequest: false };
  return { seen: { writtenAt, countedAt: now }, isRequest: true };
};
