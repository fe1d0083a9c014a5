// What the log has to hold of the limits on trying again, one line each: a breaker that opens, and one that does not count at hard.
import { grouped } from '../rung.js';
import type { Millis } from '../reading.js';
import { breakerOf } from './policy.js';
import type { Compaction } from './state.js';
import type { Fill } from './outcome.js';

/** The states before and after one step. */
export interface PolicyStep {
  readonly before: Compaction;
  readonly after: Compaction;
  /** `hard 177,000: …`, asked for only where it is said */
  readonly hard: () => string;
  readonly now: Millis;
}

/** Lines for the log; none in most steps. */
export const policyNews = (step: PolicyStep): readonly string[] => [...opened(step), ...bypassed(step)];

const opened = ({ before, after }: PolicyStep): readonly string[] => {
  const { openedAt, failures } = after.policy;
  if (openedAt === undefined || openedAt === before.policy.openedAt) return [];
  return [`breaker open: ${failures} failures in a row, used ${usedText(after.last?.before)}`];
};

const bypassed = ({ before, after, hard, now }: PolicyStep): readonly string[] => {
  const { phase } = after;
  if (phase.kind !== 'typing' || before.phase.kind === 'typing') return [];
  const { isHard, request, before: fill } = phase.attempt;
  if (!isHard || request || !breakerOf(before.policy, now)) return [];
  const { failures } = before.policy;
  return [`breaker bypassed at hard: ${failures} failures in a row, used ${usedText(fill)}, ${hard()}`];
};

const usedText = (fill: Fill | undefined): string => {
  if (fill?.usedTokens !== undefined) return `${grouped(fill.usedTokens)} tokens`;
  return fill?.usedPercent === undefined ? 'not known' : `${Math.round(fill.usedPercent)}%`;
};
