import type { Boundary, Event } from '../event.js';
import { parseRecord, textAt } from '../json.js';
import type { Millis } from '../reading.js';
import {
  faultOf,
  isSameFill,
  type Ended,
  type Fill,
  type Outcome,
  type Initiator,
  type OutcomeKind,
} from './outcome.js';
import { parseAttempt } from './protocol.js';
import type { Effect } from './state.js';

// The compactions of this session that are over, ours and others', for a list of the last ones.

const MOST_PAST = 8;

/** A compaction, or an attempt at one, that is over. */
export interface PastAttempt {
  readonly ended: Ended;
  /** the first number after it, where its own end told none */
  readonly next?: Fill;
}

export interface Past {
  /** oldest first */
  readonly attempts: readonly PastAttempt[];
  /** how full the window was after the last step */
  readonly fill?: Fill;
  /** the last one worked, and no number has told yet what it left */
  readonly isOpen: boolean;
}

export const noPast: Past = { attempts: [], isOpen: false };

/** What one step brought. */
export interface PastNote {
  /** absent where only time has passed */
  readonly event?: Event | undefined;
  /** of the step after that event */
  readonly effects: readonly Effect[];
  /** how full the window is after it, as the agent counted it */
  readonly fill: Fill | undefined;
  readonly now: Millis;
}

/** The list after a step; the same object when nothing has changed. */
export const notePast = (past: Past, { event, effects, fill, now }: PastNote): Past => {
  const before = event?.type === 'session-changed' ? { ...past, isOpen: false } : past;
  const isNumbered = fill !== undefined && before.isOpen;
  const numbered = isNumbered ? withNext(before.attempts, fill) : before.attempts;
  // what was not tried is no attempt
  const ended = effects.flatMap((effect) =>
    effect.type === 'ended' && effect.ended.outcome.kind !== 'skipped-busy' ? [effect.ended] : [],
  );
  const isTold = event?.type === 'boundary' && event.boundary.source !== 'screen';
  const boundary = isTold ? event.boundary : undefined;
  const all = boundary && ended.length === 0 ? [endedOf(boundary, past.fill, now)] : ended;
  const told = all.map((each) => ({ ended: withBefore(each, past.fill, boundary) }));
  const last = told.at(-1)?.ended.outcome;
  const isOpen = last ? last.kind === 'verified' && !last.after : before.isOpen && !isNumbered;
  if (told.length === 0 && isOpen === past.isOpen && isSameFill(fill, past.fill)) return past;
  const kept = told.some(({ ended: { isLate } }) => isLate) ? withoutLastOfOurs(numbered) : numbered;
  return { attempts: [...kept, ...told].slice(-MOST_PAST), isOpen, ...(fill ? { fill } : {}) };
};

/** A compaction that only the agent's record tells of. */
const endedOf = (boundary: Boundary, before: Fill | undefined, now: Millis): Ended => {
  const { initiator = 'agent', postTokens, preTokens = before?.usedTokens } = boundary;
  const after = postTokens === undefined ? {} : { after: { usedTokens: postTokens } };
  const whole = preTokens === undefined ? boundary : { ...boundary, preTokens };
  const outcome: Outcome = faultOf(whole) ?? { kind: 'verified', ...after };
  return { initiator, startedAt: now, endedAt: now, outcome, evidence: ['its record of the compaction'] };
};

// The number that a compaction makes void is gone when its end is told.
const withBefore = (ended: Ended, fill: Fill | undefined, boundary: Boundary | undefined): Ended => {
  if (ended.before) return ended;
  const { preTokens } = boundary ?? {};
  const before = preTokens === undefined ? fill : { usedTokens: preTokens };
  return before ? { ...ended, before } : ended;
};

/** What worked late was told as given up before. */
const withoutLastOfOurs = (attempts: readonly PastAttempt[]): readonly PastAttempt[] => {
  const last = attempts.findLastIndex(({ ended }) => ended.initiator === 'ctxwrap');
  return attempts.filter((_, index) => index !== last);
};

const withNext = (attempts: readonly PastAttempt[], next: Fill): readonly PastAttempt[] => {
  const last = attempts.at(-1);
  return last ? attempts.with(-1, { ...last, next }) : attempts;
};

// Which compactions of a session file were ours: the agent's record knows only that somebody asked for it, the audit log knows who.

/** An attempt of ours in which keys were sent, as the audit log holds it. */
export interface OwnAttempt {
  readonly runtime: string;
  /** the agent's own id; absent where it was not known */
  readonly conversation?: string;
  readonly startedAt: Millis;
  readonly endedAt: Millis;
}

/** Undefined for a line that tells of no such attempt. */
export const ownAttempt = (line: string): OwnAttempt | undefined => {
  const found = parseRecord(line);
  const attempt = found?.['schema'] === 'ctxwrap.attempt/1' ? parseAttempt(found) : undefined;
  const runtime = textAt(found, 'runtime');
  const conversation = textAt(found, 'conversation');
  if (!attempt || runtime === undefined || attempt.initiator !== 'ctxwrap') return undefined;
  if (unsent.includes(attempt.outcome)) return undefined;
  const { startedAt, endedAt } = attempt;
  return { runtime, ...(conversation === undefined ? {} : { conversation }), startedAt, endedAt };
};

const unsent: readonly OutcomeKind[] = ['skipped-busy', 'not-delivered', 'not-started'];

/** What is asked about: the session file, by its agent and its name. */
export interface AskedFile {
  readonly runtime: string;
  readonly path: string;
}

interface Compaction {
  readonly at: Millis;
  readonly initiator?: Initiator;
}

const CLOCK_MS = 2_000; // an agent may note the time a moment before or after we do

/** The compactions with ours as ours. What the agent's record calls its own never is. */
export const withOwn = <T extends Compaction>(
  compactions: readonly T[],
  attempts: readonly OwnAttempt[],
  { runtime, path }: AskedFile,
): readonly T[] => {
  const own = attempts.filter((each) => each.runtime === runtime && isOf(each, path));
  const isOwn = ({ at, initiator }: T): boolean =>
    initiator !== 'agent' &&
    own.some(({ startedAt, endedAt }) => at >= startedAt - CLOCK_MS && at <= endedAt + CLOCK_MS);
  return compactions.map((each) => (isOwn(each) ? { ...each, initiator: 'ctxwrap' } : each));
};

// All agents name a session's file after its id, one of them after the id's beginning (facts/gemini.md §7).
const isOf = ({ conversation }: OwnAttempt, path: string): boolean => {
  const name = path.split('/').at(-1) ?? '';
  if (conversation === undefined) return false;
  return name.includes(conversation) || name.endsWith(`-${conversation.slice(0, ID_START)}.jsonl`);
};

const ID_START = 8; // characters
