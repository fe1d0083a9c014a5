import type { Past } from './history.js';
import type { Ended, Fill } from './compaction/outcome.js';
import { breakerOf } from './compaction/policy.js';
import type { Compaction, Mode } from './compaction/state.js';
import { outcomeWords } from './compaction/words.js';
import { footerView } from './footer-view.js';
import { percentText, tokensText, durationText, blankSentence } from './format.js';
import type { UsageHistory, OverlayRecord } from './history.js';
import { fullness, type Fullness, nextSentence } from './overlay-fill.js';
import type { Millis, Activity, ToolResult } from './reading.js';
import { provenance, sourceTexts, type Witnessed } from './report.js';
import type { Session } from './session.js';

// The last compactions as rows of a table: when, from what to what, how long, by whom, and how it ended.

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
const overlayAttempts = ({ attempts }: Past, now: Millis): readonly OverlayAttempt[] =>
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
      outcome: outcomeWords(outcome),
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

// What stands behind the numbers: every source, what the agent is doing, and what was tried.

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

const overlayDetail = (session: Session, compaction: Compaction, now: Millis): OverlayDetail => {
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
    breaker
      ? `The breaker is open for ${durationText(breaker.until - now)} more, after ${failures} failures.`
      : `The breaker is ${openedAt === undefined ? 'closed' : 'half open: one try is let through'}, ${failures} failures in a row.`,
    ...(refills > 0 ? [`Full again soon after a compaction ${refills}× in a row.`] : []),
  ];
};

// What the overlay shows of a session, as plain values. What is not known is absent: nothing is drawn in place of it.

/** What the overlay is made of. */
export interface OverlayFacts {
  readonly session: Session;
  readonly compaction: Compaction;
  /** what was noted of every step so far */
  readonly record: OverlayRecord;
  /** the largest since the last compaction, the largest first; undefined where no file tells of them */
  readonly contents?: readonly ToolResult[] | undefined;
  readonly model?: string | undefined;
  /** how people know this conversation, where it has a name; the agent's own id when absent */
  readonly name?: string | undefined;
  /** of the wrap */
  readonly startedAt: Millis;
  readonly now: Millis;
  /** what the shell can do beside compacting and the mode */
  readonly can?: OverlayAbilities | undefined;
  /** what was refused, or another fact that has just come up */
  readonly notice?: string | undefined;
  /** as people write it: `Ctrl-]` */
  readonly hotkey?: string | undefined;
}

/** Keys that are there only where their action is possible now. */
export interface OverlayAbilities {
  readonly postpone?: boolean;
  readonly undo?: boolean;
  readonly handoff?: boolean;
}

export interface OverlayView extends Fullness {
  readonly runtime: string;
  readonly model?: string;
  readonly name?: string;
  /** how long the wrap has run */
  readonly ageMs: number;
  /** a sentence in place of the numbers */
  readonly blank?: string;
  readonly mode: Mode;
  /** text that came after a number at warn counts, too */
  readonly isProactive: boolean;
  /** what happens next, one sentence */
  readonly next: string;
  readonly notice?: string;
  readonly usage: UsageHistory;
  readonly now: Millis;
  /** newest first */
  readonly attempts: readonly OverlayAttempt[];
  /** in this session */
  readonly compactions: number;
  /** absent where nothing tells of them */
  readonly contents?: readonly ToolResult[];
  readonly detail: OverlayDetail;
  readonly can: OverlayAbilities;
  readonly hotkey?: string;
}

export const overlayView = (facts: OverlayFacts): OverlayView => {
  const { session, compaction, record, contents, startedAt, now, can = {}, notice, hotkey } = facts;
  const full = fullness(session, now);
  const name = facts.name ?? session.sessionId;
  const model = facts.model ?? session.windows.model;
  return {
    ...full,
    runtime: session.runtime,
    ...(model === undefined ? {} : { model }),
    ...(name === undefined ? {} : { name }),
    ageMs: Math.max(0, now - startedAt),
    ...(full.fill ? {} : { blank: blankText(session, now) }),
    mode: compaction.mode,
    isProactive: compaction.isProactive,
    next: nextSentence({ ...facts, canPostpone: can.postpone === true }),
    ...(notice === undefined ? {} : { notice }),
    usage: record.usage,
    now,
    attempts: overlayAttempts(record.past, now),
    compactions: session.compactions,
    ...(contents ? { contents } : {}),
    detail: overlayDetail(session, compaction, now),
    can,
    ...(hotkey === undefined ? {} : { hotkey }),
  };
};

/** Why there is no number; here is room for more than the footer's word. */
const blankText = (session: Session, now: Millis): string => {
  const { blank } = session;
  if (blank.why === 'unreadable') return `There is no number: ${blank.reason}.`;
  if (blank.why === 'gone') return "There is no number: the agent's screen has shown one and shows none now.";
  return blankSentence(footerView(session, now).note);
};
