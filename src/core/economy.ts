import { formatDuration, formatPercent } from './format.js';
import type { Millis } from './reading.js';
import { MINUTE_MS, HOUR_MS, DAY_MS } from './time.js';

// What a pause costs: until when the model's server keeps the conversation in its prompt cache, and how much of the user's plan is used.

/** The prompt cache of the conversation. After its end the next request reads the whole conversation again. */
export interface PromptCache {
  readonly expiresAt: Millis;
  /** the agent states the time; otherwise it follows from its last answer, and is displayed with `~` */
  readonly exact: boolean;
}

/** A limit of the user's plan, which all sessions of an account share. */
export interface PlanLimit {
  /** the span that it counts, as `5h` or `7d`; or `spend` */
  readonly name: string;
  /** 0…100 and above */
  readonly usedPercent: number;
  /** when the count starts again, if the agent reports it */
  readonly resetsAt?: Millis;
}

const SLACK_MS = 60_000; // a computed time is that inaccurate

/**
 * The cache after a report. A computed time does not replace a stated one for the same answer, but it does when the agent has gone on
 * without stating any.
 */
export const updateCache = (known: PromptCache | undefined, reported: PromptCache): PromptCache => {
  const isOlder =
    known?.exact === true && !reported.exact && reported.expiresAt <= known.expiresAt + SLACK_MS;
  return isOlder ? known : reported;
};

/** `12m`, `~4m`, `<1m`, `cold`: how long the cache stays warm. */
export const cacheText = ({ expiresAt, exact }: PromptCache, now: Millis): string => {
  const minutes = Math.ceil((expiresAt - now) / MINUTE_MS); // the text changes where `cacheDeadline` says so
  const mark = exact ? '' : '~';
  if (minutes <= 0) return `${mark}cold`;
  return minutes === 1 ? `${mark}<1m` : `${mark}${minutes - 1}m`;
};

/** The same as a sentence. */
export const cacheSentence = ({ expiresAt, exact }: PromptCache, now: Millis): string => {
  const leftMs = expiresAt - now;
  const about = exact ? '' : 'about ';
  if (leftMs <= 0)
    return `cold for ${about}${formatDuration(-leftMs)}: the next answer reads everything again`;
  return leftMs < MINUTE_MS ? 'warm for less than a minute' : `warm for ${about}${formatDuration(leftMs)}`;
};

/** When the text of the cache changes; undefined once it is cold. */
export const cacheDeadline = (cache: PromptCache | undefined, now: Millis): Millis | undefined => {
  const leftMs = cache ? cache.expiresAt - now : 0;
  return cache && leftMs > 0 ? now + ((leftMs - 1) % MINUTE_MS) + 1 : undefined;
};

/** The limits that still hold: after a reset the old percentage says nothing. */
const currentLimits = (limits: readonly PlanLimit[] = [], now: Millis): readonly PlanLimit[] =>
  limits.filter(({ resetsAt = Infinity }) => resetsAt > now);

/** `5h 42% 7d 13%`; '' where no limit is known. */
export const limitsText = (limits: readonly PlanLimit[] | undefined, now: Millis): string =>
  currentLimits(limits, now)
    .map(({ name, usedPercent }) => `${name} ${formatPercent(usedPercent)}`)
    .join(' ');

/** The same with the times of the resets. */
export const limitsSentence = (limits: readonly PlanLimit[] | undefined, now: Millis): string =>
  currentLimits(limits, now)
    .map(({ name, usedPercent, resetsAt }) => {
      const reset = resetsAt === undefined ? '' : ` (resets in ${formatDuration(resetsAt - now)})`;
      return `${name} ${formatPercent(usedPercent)} used${reset}`;
    })
    .join(', ');

/** The name of a limit from the span that it counts: `5h`, `7d`. */
export const limitName = (minutes: number): string => {
  const ms = minutes * MINUTE_MS;
  if (ms >= DAY_MS && ms % DAY_MS === 0) return `${ms / DAY_MS}d`;
  return ms >= HOUR_MS && ms % HOUR_MS === 0 ? `${ms / HOUR_MS}h` : `${Math.round(minutes)}m`;
};

/** Compactions without a turn of the user, from which on they look like a loop. */
const SPIRAL = 3;

/** What to tell the user when compactions begin to look like a loop; undefined at all other times. */
export const spiralText = (before: number, after: number): string | undefined =>
  before < SPIRAL && after >= SPIRAL
    ? `compacted ${after}× since your last prompt: the agent may be going in circles`
    : undefined;
