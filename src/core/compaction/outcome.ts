import type { Boundary } from '../event.js';
import { formatTokens } from '../format.js';
import type { FusedReading } from '../fusion.js';
import { present } from '../present.js';
import { percentUsed, windowPercent, type Millis } from '../reading.js';

// How an attempt to compact can end. The names are the ones in the audit log and in the output of `ctxwrap compact`.

/** Why a compaction failed, although the agent may say that it worked. */
export type Failure =
  /** the summary is not smaller than the conversation it replaces */
  | 'inflated'
  /** there is no summary, so the conversation is lost */
  | 'empty'
  /** the summary was cut off */
  | 'truncated'
  /** an error of the model's server, or another error in the agent's own words */
  | 'error';

/** How the agent was asked without keys. `server`: its own of this terminal; `daemon`: one that all its terminals share. */
export type Via = 'server' | 'daemon';

/** How full the window was, if known. */
export interface Fill {
  readonly usedTokens?: number | undefined;
  /** 0…100 of the window, not rounded */
  readonly usedPercent?: number | undefined;
  /** the agent's own percentage, if it cannot be converted to one of the window: for comparison, never displayed */
  readonly ownPercent?: number | undefined;
}

export type Outcome =
  /** the agent recorded it, or the window is at least a tenth emptier */
  | { readonly kind: 'verified'; readonly after?: Fill | undefined }
  /** there was nothing to compact */
  | { readonly kind: 'noop'; readonly text: string }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly text: string }
  /** by the user's Esc, by the end of the agent or of the conversation */
  | { readonly kind: 'interrupted'; readonly by: string }
  /** the command did not appear in the prompt as typed, and was removed again */
  | { readonly kind: 'not-delivered'; readonly reason: string }
  /** the command was sent, and nothing began */
  | { readonly kind: 'not-started' }
  | { readonly kind: 'timeout'; readonly afterMs: number }
  /** the agent reports success, but the number has not dropped */
  | { readonly kind: 'unverified'; readonly text: string }
  /** it was sent, and neither words nor a number tell what came of it; the reason says what was seen */
  | { readonly kind: 'no-evidence'; readonly reason: string }
  /** the agent has gone back to the whole conversation before its next answer could prove the shortening */
  | { readonly kind: 'undone' }
  /** the agent became busy before a key was typed; does not count as an attempt */
  | { readonly kind: 'skipped-busy'; readonly reason: string };

export type OutcomeKind = Outcome['kind'];

/** What follows from an outcome, whatever its details. */
interface OutcomeMeaning {
  /** another attempt would most likely end in the same way */
  readonly isFailure: boolean;
  /** the command reached the agent, which may have written a record of it */
  readonly isSent: boolean;
  /** in counts and charts */
  readonly group: OutcomeGroup;
}

export type OutcomeGroup = 'verified' | 'failed' | 'other';

/** One entry an outcome: the compiler reports a missing one. */
export const outcomes: Readonly<Record<OutcomeKind, OutcomeMeaning>> = {
  verified: { isFailure: false, isSent: true, group: 'verified' },
  noop: { isFailure: false, isSent: true, group: 'other' },
  failed: { isFailure: true, isSent: true, group: 'failed' },
  interrupted: { isFailure: false, isSent: true, group: 'other' },
  'not-delivered': { isFailure: true, isSent: false, group: 'failed' },
  'not-started': { isFailure: true, isSent: false, group: 'failed' },
  timeout: { isFailure: true, isSent: true, group: 'failed' },
  unverified: { isFailure: true, isSent: true, group: 'failed' },
  'no-evidence': { isFailure: true, isSent: true, group: 'failed' },
  undone: { isFailure: false, isSent: true, group: 'other' },
  'skipped-busy': { isFailure: false, isSent: false, group: 'other' },
};

export const outcomeKinds = Object.keys(outcomes) as readonly OutcomeKind[];

/** Who requested a compaction. */
export type Initiator = 'ctxwrap' | 'user' | 'agent';

/** A finished compaction, or a finished attempt of ctxwrap. */
export interface EndedCompaction {
  readonly initiator: Initiator;
  /** by ctxwrap, without keys; absent where the command was typed */
  readonly via?: Via | undefined;
  /** by ctxwrap, in place of the agent's command */
  readonly strategy?: string | undefined;
  /** by ctxwrap, because the user requested it */
  readonly isManual?: boolean;
  /** by ctxwrap: it worked after it had been reported as failed, and this outcome replaces that one */
  readonly isLate?: true;
  readonly startedAt: Millis;
  readonly endedAt: Millis;
  readonly before?: Fill | undefined;
  readonly outcome: Outcome;
  /** short facts, oldest first, from the first key to the outcome */
  readonly evidence: readonly string[];
}

export const isFailure = ({ kind }: Outcome): boolean => outcomes[kind].isFailure;

// as the agents and their model servers say it (facts/: "could not be reduced below the context limit", "exceeds the context window", …)
const TOO_LONG = /too (?:long|large)|context (?:limit|window|length)|token count|maximum context/i;

/** True if the agent reported that the conversation is too long to be compacted. */
export const isTooLong = (outcome: Outcome): boolean =>
  outcome.kind === 'failed' && TOO_LONG.test(outcome.text);

/** A duration in the words of the footer: `1.5 s`. */
export const secondsText = (ms: number): string => {
  const seconds = Math.max(0, ms) / 1000;
  return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
};

export const fillOf = ({ reading }: FusedReading): Fill => {
  const { usedTokens } = reading;
  const usedPercent = windowPercent(reading);
  const ownPercent = usedPercent === undefined ? percentUsed(reading) : undefined;
  return { usedTokens, usedPercent, ...present({ ownPercent }) };
};

const LEAST_DROP = 0.1; // share of the earlier use: a smaller drop can come from a new system prompt or a file that was removed

/** True if the number shows a compaction: at least a tenth lower, in tokens if both are known. */
export const isLower = (before: Fill | undefined, after: Fill): boolean => {
  const lower = (was: number | undefined, is: number | undefined): boolean | undefined =>
    was === undefined || is === undefined ? undefined : is <= was * (1 - LEAST_DROP);
  return (
    lower(before?.usedTokens, after.usedTokens) ??
    lower(before?.usedPercent, after.usedPercent) ??
    lower(before?.ownPercent, after.ownPercent) ??
    false
  );
};

export const isSameFill = (a: Fill | undefined, b: Fill | undefined): boolean =>
  a?.usedTokens === b?.usedTokens && a?.usedPercent === b?.usedPercent && a?.ownPercent === b?.ownPercent;

// Agents also record a compaction that left nothing of the conversation, or made it longer. That is a failure.

/** How the compaction failed according to its record; undefined if the record shows no failure. */
export const findFailure = (
  { summary, preTokens, postTokens }: Boundary,
  before?: Fill,
): Extract<Outcome, { kind: 'failed' }> | undefined => {
  const wasTokens = preTokens ?? before?.usedTokens; // some records lack the number before the compaction
  if (summary === 'empty') return { kind: 'failed', failure: summary, text: 'the summary is empty' };
  if (summary === 'truncated') return { kind: 'failed', failure: summary, text: 'the summary is cut off' };
  if (summary === 'longer')
    return { kind: 'failed', failure: 'inflated', text: 'the summary is longer than what it replaced' };
  if (wasTokens === undefined || postTokens === undefined || postTokens < wasTokens) return undefined;
  const text = `not smaller: ${formatTokens(wasTokens)} → ${formatTokens(postTokens)}`;
  return { kind: 'failed', failure: 'inflated', text };
};
