import type { Event } from '../event.js';
import type { Millis } from '../reading.js';
import type { Compaction } from './state.js';

// The copy of the session file that the black box makes before ctxwrap types a command: a condition of the gate. The wrapper makes it and
// reports the result as an event.

/** How the copy was made. */
export type CopyResult =
  | { readonly kind: 'kept' }
  /** there is no session file, or the black box is off: nothing can be lost that was there before */
  | { readonly kind: 'nothing' }
  /** `reason` as in `no copy (disk full)` */
  | { readonly kind: 'failed'; readonly reason: string };

export type Copy =
  | {
      readonly kind: 'asked';
      readonly id: number;
      readonly since: Millis;
      /** the tries in a row, this one included */
      readonly tries: number;
      /** why the one before this failed */
      readonly failed?: string | undefined;
    }
  /** made, and the agent has not worked since */
  | { readonly kind: 'kept' }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly tries: number;
      readonly at: Millis;
      readonly reason: string;
    };

/** A copy of hundreds of megabytes takes some seconds; one that takes longer than this hangs. */
const COPY_MS = 60_000;
/** Between two tries, while nothing else happens. */
const RETRY_MS = 60_000;
const MOST_TRIES = 10; // then only after the next turn, or a request

const LATE = `not finished after ${COPY_MS / 1_000} s`;

/** The state in which a copy is asked for, unless there is a current one. */
export const withCopy = (state: Compaction, now: Millis): Compaction => {
  const { copy, settings, copies } = state;
  if (settings.keepsCopy !== true) return withoutCopy(state);
  const retryAt = copy?.kind === 'failed' ? copyRetryAt(state) : undefined;
  if (copy !== undefined && (retryAt === undefined || now < retryAt)) return state;
  const id = copies + 1;
  const tries = copy?.kind === 'failed' ? copy.tries + 1 : 1;
  return {
    ...state,
    copies: id,
    copy: { kind: 'asked', id, since: now, tries, failed: copyFailure(state) },
    effects: [...state.effects, { type: 'copy', id }],
  };
};

/** Updates the copy after an event: its result, or work of the agent that makes it outdated. */
export const copyAfterEvent = (state: Compaction, event: Event, now: Millis): Compaction => {
  const { copy } = state;
  switch (event.type) {
    case 'copied': {
      if (copy === undefined || copy.kind === 'kept' || copy.id !== event.id) return state; // outdated meanwhile
      const { result, id } = event;
      const { tries } = copy;
      return result.kind === 'failed'
        ? { ...state, copy: { kind: 'failed', id, tries, at: now, reason: result.reason } }
        : { ...state, copy: { kind: 'kept' } };
    }
    case 'compact-requested':
      return copy?.kind === 'failed' ? withoutCopy(state) : state; // the user may have made room
    default:
      return hasMoved(state, event) ? withoutCopy(state) : state;
  }
};

/** The conversation is not what it was before this event, or another one: what was taken from it is outdated. */
export const hasMoved = ({ activity, conversation }: Compaction, event: Event): boolean => {
  switch (event.type) {
    case 'activity': {
      const isNews = event.report.activity === 'busy' || event.report.activity === 'compacting';
      return isNews && event.report.activity !== activity;
    }
    case 'session-changed':
      return event.sessionId !== conversation;
    case 'view':
      return event.isSame !== true;
    case 'boundary':
    case 'voided':
      return true;
    default:
      return false;
  }
};

/** A copy that hangs counts as failed; its result may still come. */
export const copyAfterTime = (state: Compaction, now: Millis): Compaction => {
  const { copy } = state;
  return copy?.kind === 'asked' && now >= copy.since + COPY_MS
    ? { ...state, copy: { kind: 'failed', id: copy.id, tries: copy.tries, at: now, reason: LATE } }
    : state;
};

export const withoutCopy = (state: Compaction): Compaction =>
  state.copy === undefined ? state : { ...state, copy: undefined };

/** Until when a copy is waited for; undefined if none is being made. */
export const copyDueAt = ({ copy }: Compaction): Millis | undefined =>
  copy?.kind === 'asked' ? copy.since + COPY_MS : undefined;

/** Why there is no copy; undefined if there is one, or none is needed, or the first one is being made. */
export const copyFailure = ({ copy }: Compaction): string | undefined => {
  if (copy?.kind === 'asked') return copy.failed;
  return copy?.kind === 'failed' ? copy.reason : undefined;
};

/** When another copy is tried, or the one under way is given up; undefined if only news starts another. */
export const copyRetryAt = (state: Compaction): Millis | undefined => {
  const { copy } = state;
  if (copy?.kind !== 'failed') return copyDueAt(state);
  return copy.tries < MOST_TRIES ? copy.at + RETRY_MS : undefined;
};

/** As in the footer and in the evidence of an attempt. */
export const noCopyText = (reason: string): string => `no copy (${reason})`;
