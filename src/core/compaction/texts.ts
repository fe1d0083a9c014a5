import { formatPercent, formatTokens } from '../format.js';
import type { Millis } from '../reading.js';
import type { EndedCompaction, Fill, Outcome } from './outcome.js';
import type { GateHold, BlockReason, InvisibleReason } from './policy.js';
import type { Compaction, Uncertainty, Phase } from './state.js';

// The footer's texts about compaction. They state facts, no predictions.

const NOTICE_MS = 30_000; // how long an outcome is shown

const COMMAND = 'ctxwrap compact';

/** One short fact; undefined if there is none. `ask` is how the user requests a compaction, if a key exists for it. */
export const compactionText = (state: Compaction, now: Millis, ask = COMMAND): string | undefined => {
  const { last } = state;
  const isNew = outcomeShownUntil(state, now) !== undefined;
  const notice = isNew && last && !state.request ? endedText(last) : undefined; // after a request, the previous outcome is no longer of interest
  return underWayWords(state, now) ?? notice ?? waitingWords(state, now, ask);
};

/** True while a compaction is under way or has just ended: its text has precedence over all others. */
export const isUrgent = (state: Compaction, now: Millis): boolean =>
  underWayWords(state, now) !== undefined || outcomeShownUntil(state, now) !== undefined;

/** Until when the last outcome is displayed; undefined if it is not displayed or the agent has ended. */
export const outcomeShownUntil = ({ last, activity }: Compaction, now: Millis): Millis | undefined => {
  if (!last || activity === 'dead') return undefined;
  const end = last.endedAt + NOTICE_MS;
  return now >= last.endedAt && now < end ? end : undefined;
};

export const secondsTo = (until: Millis, now: Millis): number => Math.max(0, Math.ceil((until - now) / 1000));

/** The text that must be visible before ctxwrap types on its own. */
const countdownWords = (until: Millis, now: Millis): string => `compacting in ${secondsTo(until, now)} s`;

const underWayWords = ({ phase, isByText }: Compaction, now: Millis): string | undefined => {
  switch (phase.kind) {
    case 'countdown':
      return `${countdownWords(phase.until, now)}${isByText ? ', proactive' : ''}, any key postpones`;
    case 'typing':
      return 'typing the command';
    case 'sent':
      if (phase.success !== undefined) return 'compacted, size not told yet';
      if (phase.isQueued) return 'compaction queued behind the turn';
      if (phase.isSeen) return 'compacting';
      if (phase.begunAt !== undefined) return 'command sent, agent is working';
      return phase.slowAt === undefined ? 'command sent' : 'command sent, not seen to start yet';
    case 'foreign':
      return phase.success === undefined ? 'agent is compacting' : 'compacted, size not told yet';
    default:
      return undefined;
  }
};

/** How a compaction ended. */
export const endedText = ({ outcome, before }: EndedCompaction): string => {
  switch (outcome.kind) {
    case 'verified':
      return `compacted ${fromTo(before, outcome.after)}`.trimEnd();
    case 'unverified':
      return 'compacted by its word, no number shows it';
    case 'noop':
    case 'skipped-busy':
      return outcomeText(outcome);
    case 'not-delivered':
      return `command ${outcomeText(outcome)}`;
    default:
      return `compaction ${outcomeText(outcome)}`;
  }
};

/** The outcome alone, for a row that already names the compaction. */
export const outcomeText = (outcome: Outcome): string => {
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
      return `not ended after ${Math.round(outcome.afterMs / 1000)} s`;
    case 'unverified':
      return 'unverified: no number shows it';
    case 'skipped-busy':
      return `nothing typed: ${outcome.reason}`;
  }
};

const fromTo = (before: Fill | undefined, after: Fill | undefined): string => {
  const known = (from: string | undefined, to: string | undefined): string | undefined =>
    from !== undefined && to !== undefined ? `${from} → ${to}` : undefined;
  const tokens = (fill: Fill | undefined): string | undefined =>
    fill?.usedTokens === undefined ? undefined : formatTokens(fill.usedTokens);
  const percent = (fill: Fill | undefined): string | undefined =>
    fill?.usedPercent === undefined ? undefined : formatPercent(fill.usedPercent);
  return known(tokens(before), tokens(after)) ?? known(percent(before), percent(after)) ?? '';
};

const DOUBT_MS = 60_000; // by then a user would have looked at the screen, or sent the draft

/** When a hold has lasted so long that a misread screen is a likely cause; undefined for other holds, and afterwards. */
export const longHoldDeadline = (
  { hold, since }: Extract<Phase, { readonly kind: 'held' }>,
  now: Millis,
): Millis | undefined => {
  const isDoubtful = hold.why === 'unknown' || hold.why === 'draft';
  return isDoubtful && now < since + DOUBT_MS ? since + DOUBT_MS : undefined;
};

const heldWords = (
  held: Extract<Phase, { readonly kind: 'held' }>,
  { agent = 'the agent', asks, unseen = 'undrawn' }: Compaction,
  now: Millis,
): string => {
  const { why } = held.hold;
  if (why === 'unseen') return unseenWords[unseen];
  if (why === 'dialog' && asks !== undefined) return `waiting: ${asks}`;
  if ((why !== 'unknown' && why !== 'draft') || longHoldDeadline(held, now) !== undefined)
    return holdWords[why];
  return why === 'draft'
    ? `${holdWords.draft}; if not, ${agent}: ctxwrap doctor`
    : `waiting: ${agent} is not understood · ctxwrap doctor`;
};

const waitingWords = (compaction: Compaction, now: Millis, ask: string): string | undefined => {
  const { phase } = compaction;
  switch (phase.kind) {
    case 'doubted':
      return doubtWords[phase.doubt];
    case 'held':
      return compaction.isByText && !compaction.request
        ? `${heldWords(phase, compaction, now)} (proactive)`
        : heldWords(phase, compaction, now);
    case 'blocked':
      return blockWords(phase.block, now, ask);
    case 'proposed':
      return `${compaction.isByText ? 'about full, proactive' : 'full'}: compact with ${ask}`;
    default:
      return undefined;
  }
};

const unseenWords: Readonly<Record<InvisibleReason, string>> = {
  off: 'waiting: no footer to count down in, --mode auto does without',
  small: 'waiting: the terminal is too small for a countdown',
  covered: 'waiting: the countdown is not on this page',
  undrawn: 'waiting: the footer could not be drawn',
  failed: 'waiting: the footer has failed',
};

const doubtWords: Readonly<Record<Uncertainty, string>> = {
  assumed: 'window assumed, so nothing is typed: --window',
  window: 'window not certain, so nothing is typed: --window',
  estimate: 'only estimated, so nothing is typed',
  sources: 'sources differ, so nothing is typed',
};

const holdWords: Readonly<Record<Exclude<GateHold['why'], 'unseen'>, string>> = {
  busy: 'waiting: agent is busy',
  dialog: 'waiting: a dialog is open',
  draft: 'holding: you have a draft',
  compacting: 'waiting: agent compacts',
  unknown: 'waiting: the screen is not understood',
  dead: 'the agent has ended',
  settling: 'waiting: agent has just stopped',
  typing: 'waiting: you are typing',
};

const blockWords = (block: BlockReason, now: Millis, ask: string): string => {
  switch (block.why) {
    case 'breaker':
      return `compaction failed ${block.failures}×, paused: try with ${ask}`;
    case 'cooldown':
      return `next try in ${secondsTo(block.until, now)} s`;
    case 'postponed':
      return `postponed by you for ${Math.ceil((block.until - now) / 60_000)} min`;
    case 'proactive':
      return `proactive again in ${Math.ceil((block.until - now) / 60_000)} min`;
    case 'attempts':
      return `tried ${block.attempts}×, no more: try with ${ask}`;
    case 'refills':
      return `full again after ${block.refills} compactions, paused: try with ${ask}`;
    case 'same':
      return 'waiting: nothing new since the last try';
  }
};
