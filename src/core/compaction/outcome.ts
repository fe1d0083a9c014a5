import type { Boundary } from '../event.js';
import { formatTokens } from '../format.js';
import type { FusedReading } from '../fusion.js';
import { percentUsed, type Millis } from '../reading.js';

// How an attempt to compact can end. The names are those of the audit log and of `ctxwrap compact`.

/** What went wrong where the agent says that it failed, or only says that it worked. */
export type Failure =
  /** the summary is not smaller than what it stands for */
  | 'inflated'
  /** there is no summary, so that what was said is lost */
  | 'empty'
  /** the summary was cut off */
  | 'truncated'
  /** an error of the model's server, or any other in the agent's own words */
  | 'error';

/** How full the window was, as far as it is known. */
export interface Fill {
  readonly usedTokens?: number | undefined;
  /** 0…100, not rounded */
  readonly usedPercent?: number | undefined;
}

export type Outcome =
  /** a record of the agent says so, or the window is at least a tenth emptier */
  | { readonly kind: 'verified'; readonly after?: Fill | undefined }
  /** there was nothing to compact */
  | { readonly kind: 'noop'; readonly text: string }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly text: string }
  /** by the user's Esc, by the end of the agent or of the conversation */
  | { readonly kind: 'interrupted'; readonly by: string }
  /** the command was not in the prompt as typed, and was taken back */
  | { readonly kind: 'not-delivered'; readonly reason: string }
  /** the command was sent, and nothing began */
  | { readonly kind: 'not-started' }
  | { readonly kind: 'timeout'; readonly afterMs: number }
  /** the agent says that it worked, and the number does not */
  | { readonly kind: 'unverified'; readonly text: string }
  /** the agent began something else before a key was typed; not an attempt */
  | { readonly kind: 'skipped-busy'; readonly reason: string };

export type OutcomeKind = Outcome['kind'];

/** Who asked for a compaction. */
export type Initiator = 'ctxwrap' | 'user' | 'agent';

/** A compaction, or an attempt of ours at one, that is over. */
export interface EndedCompaction {
  readonly initiator: Initiator;
  /** ours, because the user asked for it */
  readonly isManual?: boolean;
  /** ours, and it worked after it had been told as given up: this outcome stands for that one */
  readonly isLate?: true;
  readonly startedAt: Millis;
  readonly endedAt: Millis;
  readonly before?: Fill | undefined;
  readonly outcome: Outcome;
  /** short facts, oldest first: what was seen from the first key to the outcome */
  readonly evidence: readonly string[];
}

/** Outcomes after which the same would most likely happen again. */
const failures: readonly OutcomeKind[] = ['failed', 'not-delivered', 'not-started', 'timeout', 'unverified'];

export const isFailure = ({ kind }: Outcome): boolean => failures.includes(kind);

export const fillOf = ({ reading }: FusedReading): Fill => ({
  usedTokens: reading.usedTokens,
  usedPercent: percentUsed(reading),
});

const LEAST_DROP = 0.1; // of what was used before: less can be a new system prompt or a file that was dropped

/** Whether a number speaks for a compaction: at least a tenth lower, in tokens where both are known. */
export const isLower = (before: Fill | undefined, after: Fill): boolean => {
  const lower = (was: number | undefined, is: number | undefined): boolean | undefined =>
    was === undefined || is === undefined ? undefined : is <= was * (1 - LEAST_DROP);
  return (
    lower(before?.usedTokens, after.usedTokens) ?? lower(before?.usedPercent, after.usedPercent) ?? false
  );
};

export const isSameFill = (a: Fill | undefined, b: Fill | undefined): boolean =>
  a?.usedTokens === b?.usedTokens && a?.usedPercent === b?.usedPercent;

// An agent also records a compaction that left nothing of the conversation, or more than there was: that is no success.

/** How the compaction failed by its own record; undefined where nothing in it speaks against it. */
export const findFailure = (
  { summary, preTokens, postTokens }: Boundary,
  before?: Fill,
): Extract<Outcome, { kind: 'failed' }> | undefined => {
  const wasTokens = preTokens ?? before?.usedTokens; // not every record tells what there was
  if (summary === 'empty') return { kind: 'failed', failure: summary, text: 'the summary is empty' };
  if (summary === 'truncated') return { kind: 'failed', failure: summary, text: 'the summary is cut off' };
  if (wasTokens === undefined || postTokens === undefined || postTokens < wasTokens) return undefined;
  const text = `not smaller: ${formatTokens(wasTokens)} → ${formatTokens(postTokens)}`;
  return { kind: 'failed', failure: 'inflated', text };
};
