import type { Event } from '../../core/event.js';
import type { Millis, Reading, WindowClaim } from '../../core/reading.js';
import type { Runtime } from '../../runtimes/runtime.js';
import type { Env } from '../../runtimes/place.js';

interface Held {
  readonly reading: Reading;
  /** when it became this number */
  readonly since: Millis;
}

/** The number on the screen and the one in the session file, as long as both hold. */
export interface NumberPair {
  readonly screen?: Held;
  readonly log?: Held;
  /** what the screen showed last, also when it shows nothing now */
  readonly last?: Reading;
  /** what the screen had shown when its number was made void: it may stay there for a while, or come back */
  readonly stale?: Reading;
  /** this pair was looked at already */
  readonly judged: boolean;
}

export const noPair: NumberPair = { judged: true };

// The file and the screen get a new number some hundred milliseconds apart: a pair counts when both stand still.
const STEADY_MS = 2_000;

/** The pair after an event. */
export const notePair = (pair: NumberPair, event: Event, now: Millis): NumberPair => {
  switch (event.type) {
    case 'reading':
      return noteReading(pair, event.reading, now);
    case 'screen-blank': {
      const { screen: _, ...rest } = pair;
      return { ...rest, judged: true };
    }
    case 'boundary':
    case 'voided':
    case 'session-changed': {
      const { last } = pair;
      return last ? { last, stale: last, judged: true } : noPair;
    }
    default:
      return pair;
  }
};

const noteReading = (pair: NumberPair, reading: Reading, since: Millis): NumberPair => {
  const { screen, log, stale } = pair;
  if (reading.source === 'log' && !isSame(log?.reading, reading))
    return { ...pair, log: { reading, since }, judged: false };
  if (reading.source !== 'screen' || isSame(stale, reading) || isSame(screen?.reading, reading)) return pair;
  return { ...(log ? { log } : {}), last: reading, screen: { reading, since }, judged: false };
};

const isSame = (held: Reading | undefined, next: Reading): boolean =>
  held !== undefined &&
  held.usedTokens === next.usedTokens &&
  held.usedPercent === next.usedPercent &&
  held.basis === next.basis &&
  held.model === next.model;

/** When the pair can be trusted; undefined while there is none, or it was looked at. */
export const pairDue = ({ screen, log, judged }: NumberPair): Millis | undefined =>
  judged || !screen || !log ? undefined : Math.max(screen.since, log.since) + STEADY_MS;

/** The window that both numbers together prove. */
export const windowOfPair = (
  { screen, log }: NumberPair,
  { derivedWindow }: Runtime,
  env: Env,
): WindowClaim | undefined => (screen && log ? derivedWindow?.(screen.reading, log.reading, env) : undefined);
