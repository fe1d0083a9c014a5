// What stands behind the numbers: every source, what the agent is doing, and what was tried.
import type { Activity } from '../activity.js';
import { breakerOf } from '../compaction/policy.js';
import type { Compaction } from '../compaction/state.js';
import { provenance, sourceTexts } from '../provenance.js';
import type { Witnessed } from '../provenance.js';
import type { Millis } from '../reading.js';
import { durationText } from './durations.js';
import type { Session } from '../session-state.js';

export interface OverlayDetail {
  /** where the number comes from, one line; absent while there is none */
  readonly reason?: string;
  /** every source that speaks, the most trusted first */
  readonly sources: readonly OverlaySource[];
  readonly activity: Activity;
  readonly activityMs: number;
  /** in a dialog, what the agent asks, where it says so */
  readonly asks?: string;
  /** what speaks for the activity */
  readonly witnesses: readonly string[];
  /** attempts, failures and the breaker, as sentences */
  readonly policy: readonly string[];
}

export type OverlaySource = Pick<Witnessed, 'usedTokens' | 'usedPercent' | 'tier' | 'ageMs'> & {
  readonly name: string;
};

export const overlayDetail = (session: Session, compaction: Compaction, now: Millis): OverlayDetail => {
  const known = provenance(session, now);
  return {
    ...(known ? { reason: known.reason } : {}),
    sources: (known?.candidates ?? []).map(({ source, usedTokens, usedPercent, tier, ageMs }) => ({
      name: sourceTexts[source],
      ageMs,
      ...(usedTokens === undefined ? {} : { usedTokens }),
      ...(usedPercent === undefined ? {} : { usedPercent }),
      ...(tier ? { tier } : {}),
    })),
    activity: session.activity,
    activityMs: Math.max(0, now - session.activitySince),
    ...(session.asks === undefined ? {} : { asks: session.asks }),
    witnesses: session.witnesses,
    policy: policyTexts(compaction, now),
  };
};

const policyTexts = ({ policy, settings, episodeSince }: Compaction, now: Millis): readonly string[] => {
  const { attempts, hardAttempts, failures, openedAt, refills } = policy;
  const breaker = breakerOf(policy, now);
  return [
    settings.command === undefined ? 'No command is known.' : `The command is ${settings.command}.`,
    episodeSince === undefined
      ? 'The window is not full.'
      : `The window has been full for ${durationText(now - episodeSince)}, tried ${attempts + hardAttempts}×.`,
    breaker && 'until' in breaker
      ? `The breaker is open for ${durationText(breaker.until - now)} more, after ${failures} failures.`
      : `The breaker is ${openedAt === undefined ? 'closed' : 'half open: one try is let through'}, ${failures} failures in a row.`,
    ...(refills > 0 ? [`Full again soon after a compaction ${refills}× in a row.`] : []),
  ];
};
