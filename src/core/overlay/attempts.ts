// The last compactions as rows of a table: when, from what to what, how long, by whom, and how it ended.
import type { Ended, Fill } from '../compaction/outcome.js';
import type { Past } from '../compaction/past.js';
import { percentText, tokensText } from '../figures.js';
import type { Millis } from '../reading.js';

export interface OverlayAttempt {
  readonly agoMs: number;
  /** `166k`, `83%`; absent where it is not known */
  readonly before?: string;
  readonly after?: string;
  /** the number after it is the next turn's, so that it holds a little more than what was left */
  readonly isNext: boolean;
  /** absent where only its end was seen */
  readonly durationMs?: number;
  readonly by: string;
  readonly outcome: string;
  readonly isGood: boolean;
  readonly evidence: readonly string[];
}

/** Newest first. */
export const overlayAttempts = ({ attempts }: Past, now: Millis): readonly OverlayAttempt[] =>
  attempts.toReversed().map(({ ended, next }) => {
    const { before, outcome, startedAt, endedAt, evidence } = ended;
    const told = outcome.kind === 'verified' ? outcome.after : undefined;
    const after = told ?? next;
    const inTokens = before?.usedTokens !== undefined || before?.usedPercent === undefined;
    const durationMs = endedAt - startedAt;
    const beforeText = fillText(before, inTokens);
    const afterText = fillText(after, inTokens);
    return {
      agoMs: Math.max(0, now - endedAt),
      ...(beforeText === undefined ? {} : { before: beforeText }),
      ...(afterText === undefined ? {} : { after: afterText }),
      isNext: told === undefined && next !== undefined,
      ...(durationMs > 0 ? { durationMs } : {}),
      by: byText(ended),
      outcome: outcomeText(ended),
      isGood: outcome.kind === 'verified',
      evidence,
    };
  });

/** Both numbers of a row in the same unit where that can be had. */
const fillText = (fill: Fill | undefined, inTokens: boolean): string | undefined => {
  const tokens = fill?.usedTokens === undefined ? undefined : tokensText(fill.usedTokens);
  const percent = fill?.usedPercent === undefined ? undefined : percentText(fill.usedPercent);
  return inTokens ? (tokens ?? percent) : (percent ?? tokens);
};

const byText = ({ initiator, isManual }: Ended): string => {
  switch (initiator) {
    case 'ctxwrap':
      return isManual ? 'ctxwrap, asked' : 'ctxwrap';
    case 'user':
      return 'you';
    case 'agent':
      return 'agent';
  }
};

const outcomeText = ({ outcome }: Ended): string => {
  switch (outcome.kind) {
    case 'verified':
      return 'verified';
    case 'noop':
      return 'nothing to compact';
    case 'failed':
      return `failed: ${outcome.text}`;
    case 'interrupted':
      return `interrupted by ${outcome.by}`;
    case 'not-delivered':
      return `not delivered: ${outcome.reason}`;
    case 'not-started':
      return 'did not start';
    case 'timeout':
      return `no end after ${Math.round(outcome.afterMs / 1000)} s`;
    case 'unverified':
      return 'unverified: no number shows it';
    case 'skipped-busy':
      return `nothing typed: ${outcome.reason}`;
  }
};
