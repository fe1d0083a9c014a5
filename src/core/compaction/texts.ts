import { formatPercent, formatTokens } from '../format.js';
import type { Millis } from '../reading.js';
import { scaledWait } from '../time-scale.js';
import { copyFailure, noCopyText } from './copy.js';
import { isFailure, secondsText, type EndedCompaction, type Fill, type Outcome } from './outcome.js';
import type { GateHold, BlockReason, InvisibleReason } from './policy.js';
import type { Compaction, Uncertainty, Phase } from './state.js';

// The footer's texts about compaction. They state facts, no predictions.

const NOTICE_MS = 30_000; // how long an outcome is shown

/** How the user requests a compaction without the hotkey. */
export const COMPACT_COMMAND = 'ctxwrap compact';

/** One short fact; undefined if there is none. `ask` is how the user requests a compaction, if a key exists for it. */
export const compactionText = (state: Compaction, now: Millis, ask = COMPACT_COMMAND): string | undefined =>
  underWayWords(state, now) ?? endedNotice(state, now) ?? waitingWords(state, now, ask);

/** The same without what has ended: for a row about the future. */
export const comingText = (state: Compaction, now: Millis, ask = COMPACT_COMMAND): string | undefined =>
  underWayWords(state, now) ?? waitingWords(state, now, ask);

/** How a message is displayed; a countdown is known by the view's `due`. */
export type MessageTone = 'success' | 'failure';

/** The tone of `compactionText`; undefined for text of ordinary weight. */
export const compactionTone = (state: Compaction, now: Millis): MessageTone | undefined => {
  const isShown = underWayWords(state, now) === undefined && endedNotice(state, now) !== undefined;
  return isShown && state.last ? toneOf(state.last.outcome) : undefined;
};

const toneOf = (outcome: Outcome): MessageTone | undefined => {
  if (outcome.kind === 'verified') return 'success';
  return isFailure(outcome) ? 'failure' : undefined;
};

const toneSigns: Readonly<Record<MessageTone, string>> = { success: '✓ ', failure: '✗ ' };

/** How the last compaction has ended, as long as that is news; after a request the previous outcome is no longer of interest. */
export const endedNotice = (state: Compaction, now: Millis): string | undefined => {
  const { last, request } = state;
  if (!last || request || outcomeShownUntil(state, now) === undefined) return undefined;
  const tone = toneOf(last.outcome);
  return `${tone === undefined ? '' : toneSigns[tone]}${endedText(last)}`;
};

/**
 * What of other messages may be displayed: none while a compaction is under way, answers to keys while it only waits for its number, what says
 * more about one that has just ended, or all.
 */
export type MessageRoom = 'none' | 'answer' | 'outcome' | 'free';

export const messageRoom = (state: Compaction, now: Millis): MessageRoom => {
  if (underWayWords(state, now) !== undefined) return isDone(state) ? 'answer' : 'none';
  return outcomeShownUntil(state, now) === undefined ? 'free' : 'outcome';
};

/** It only waits for the number that confirms it, which can take until the user's next message. */
const isDone = ({ phase }: Compaction): boolean =>
  (phase.kind === 'sent' || phase.kind === 'foreign') && phase.success !== undefined;

/** Until when the last outcome is displayed; undefined if it is not displayed or the agent has ended. */
export const outcomeShownUntil = ({ last, activity }: Compaction, now: Millis): Millis | undefined => {
  if (!last || activity === 'dead') return undefined;
  const end = last.endedAt + NOTICE_MS;
  return now >= last.endedAt && now < end ? end : undefined;
};

const SECOND_MS = scaledWait(1_000); // as the user counts them

export const secondsTo = (until: Millis, now: Millis): number =>
  Math.max(0, Math.ceil((until - now) / SECOND_MS));

/** The text that must be visible before ctxwrap types on its own. */
const countdownWords = (until: Millis, now: Millis): string => `compacting in ${secondsTo(until, now)} s`;

const COMPACTED = 'compacted, waiting for the new size';
const SHORTENED = 'shortened, waiting for the new size';

const WAITS_FOR_ANSWER = 'continuing with less, waiting for its answer';

/** After the report of success, until the number that confirms it. */
const doneWords = (phase: Extract<Phase, { readonly kind: 'sent' | 'foreign' }>): string => {
  if (phase.kind === 'sent' && phase.pendingSession) return WAITS_FOR_ANSWER;
  return phase.shortenedAt === undefined ? COMPACTED : SHORTENED;
};

/** What a countdown is for, when it is not a full window. */
export const countdownReason = ({ isByText, isByIdle }: Pick<Compaction, 'isByText' | 'isByIdle'>): string =>
  isByIdle ? ' (cache goes cold)' : isByText ? ' (proactive)' : '';

const underWayWords = (state: Compaction, now: Millis): string | undefined => {
  const words = progressWords(state, now);
  const { phase } = state;
  const noCopy = phase.kind === 'typing' || phase.kind === 'sent' ? phase.attempt.noCopy : undefined;
  return words === undefined || noCopy === undefined ? words : `${words} · ${noCopyText(noCopy)}`;
};

const progressWords = (state: Compaction, now: Millis): string | undefined => {
  const { phase, settings } = state;
  switch (phase.kind) {
    case 'countdown': {
      const noCopy = copyFailure(state);
      const without = noCopy === undefined ? '' : ` · ${noCopyText(noCopy)}`;
      return `${countdownWords(phase.until, now)}${without}${countdownReason(state)} · ${settings.notNow ?? 'Esc'}: not now`;
    }
    case 'typing':
      if (phase.withdrawal !== undefined) return `${phase.withdrawal}: taking the command back`;
      if (settings.strategy !== undefined) return `shortening the conversation (${settings.strategy})`;
      return phase.attempt.via === undefined
        ? `typing ${settings.command ?? 'the command'}`
        : `asking ${settings.channel?.name ?? 'the agent'} to compact`;
    case 'sent':
      if (phase.success !== undefined) return doneWords(phase);
      if (phase.isQueued) return 'compacting after this turn';
      if (phase.isSeen) return 'compacting';
      if (phase.begunAt !== undefined) return 'command sent, the agent is working';
      return phase.slowAt === undefined ? 'command sent' : 'command sent, waiting for it to start';
    case 'foreign':
      return phase.success === undefined ? 'the agent is compacting' : doneWords(phase);
    default:
      return undefined;
  }
};

/** How a compaction ended. */
export const endedText = ({ outcome, before, startedAt, endedAt, strategy }: EndedCompaction): string => {
  switch (outcome.kind) {
    case 'verified':
      return `${strategy === undefined ? 'compacted' : 'shortened'} ${fromTo(before, outcome.after)}`.trimEnd();
    case 'unverified':
      return `${strategy === undefined ? 'compaction' : 'shortening'} ${outcomeText(outcome)}`;
    case 'failed':
      return `compaction failed after ${secondsText(endedAt - startedAt)}: ${reasonIn(outcome.text)}`;
    case 'noop':
      return strategy === undefined ? outcomeText(outcome) : `nothing removed: ${outcome.text}`;
    case 'undone':
      return `shortening ${outcomeText(outcome)}`;
    case 'no-evidence':
    case 'skipped-busy':
      return outcomeText(outcome);
    case 'not-delivered':
      return `command ${outcomeText(outcome)}`;
    default:
      return `compaction ${outcomeText(outcome)}`;
  }
};

/** As in `Error during compaction: API Error: 529 Overloaded.` */
const REPEATED = /^[^:·]*\b(?:compact|compress)[^:·]*[:·]\s*(?=\S)/i;
const OVERLOADED = /\b529\b|\boverloaded\b/i;

/** Why it failed: the agent's words without those that say again that it has, so that the reason fits into a narrow footer. */
const reasonIn = (text: string): string =>
  OVERLOADED.test(text) ? 'the model is overloaded' : text.replace(REPEATED, '');

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
      return `not finished after ${Math.round(outcome.afterMs / 1000)} s`;
    case 'unverified':
      return 'not confirmed: the size did not drop';
    case 'no-evidence':
      return `no evidence: ${outcome.reason}`;
    case 'undone':
      return 'undone';
    case 'skipped-busy':
      return `nothing typed: ${outcome.reason}`;
  }
};

/** `169k → 14k`; '' where one of them is not known. */
export const fromTo = (before: Fill | undefined, after: Fill | undefined): string => {
  const known = (from: string | undefined, to: string | undefined): string | undefined =>
    from !== undefined && to !== undefined ? `${from} → ${to}` : undefined;
  const tokens = (fill: Fill | undefined): string | undefined =>
    fill?.usedTokens === undefined ? undefined : formatTokens(fill.usedTokens);
  const percent = (fill: Fill | undefined): string | undefined =>
    fill?.usedPercent === undefined ? undefined : formatPercent(fill.usedPercent);
  return known(tokens(before), tokens(after)) ?? known(percent(before), percent(after)) ?? '';
};

const DOUBT_MS = 60_000; // by then a user would have looked at the screen, or sent the draft

/** The screen is not understood, or a draft on it may be none. */
const isDoubtful = ({ why, place }: GateHold): boolean =>
  place === undefined && (why === 'unknown' || why === 'draft');

/** When a hold has lasted so long that a misread screen is a likely cause; undefined for other holds, and afterwards. */
export const longHoldDeadline = (
  { hold, since }: Extract<Phase, { readonly kind: 'held' }>,
  now: Millis,
): Millis | undefined => (isDoubtful(hold) && now < since + DOUBT_MS ? since + DOUBT_MS : undefined);

/** What something that is to be typed waits for. */
export const holdText = (
  { why, place, plan }: GateHold,
  { asks, unseen = 'undrawn' }: Pick<Compaction, 'asks' | 'unseen'>,
): string => {
  if (why === 'unseen') return unseenWords[unseen];
  if (plan) return `${holdWords.plan} (${plan.done} of ${plan.total})`;
  if (why === 'dialog' && asks !== undefined) return `waiting: ${asks}`;
  return place === undefined ? holdWords[why] : `waiting: ${place}`;
};

const heldWords = (
  held: Extract<Phase, { readonly kind: 'held' }>,
  compaction: Compaction,
  now: Millis,
): string => {
  const { hold, since } = held;
  const { agent = 'the agent' } = compaction;
  if (!isDoubtful(hold) || now < since + DOUBT_MS) return holdText(hold, compaction);
  return hold.why === 'draft'
    ? `${holdWords.draft} (none there? ${agent}: ctxwrap doctor)`
    : `waiting: cannot read the screen of ${agent} · ctxwrap doctor`;
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
      return `${compaction.isByText ? 'almost full' : 'full'} · ${compactsBy(ask)}`;
    default:
      return undefined;
  }
};

/** `Ctrl-] c compacts now`; `run ctxwrap compact` where there is no key. */
export const compactsBy = (ask: string): string =>
  ask === COMPACT_COMMAND ? `run ${ask}` : `${ask} compacts now`;

const unseenWords: Readonly<Record<InvisibleReason, string>> = {
  off: 'waiting: no footer for the countdown (--mode auto compacts without it)',
  small: 'waiting: the terminal is too small for the countdown',
  covered: 'waiting: this page does not show the countdown',
  undrawn: 'waiting: the footer could not be drawn',
  failed: 'waiting: the footer has failed',
};

const doubtWords: Readonly<Record<Uncertainty, string>> = {
  assumed: 'not compacting: window assumed, set --window',
  window: 'not compacting: window uncertain, set --window',
  estimate: 'not compacting: the size is only estimated',
  sources: 'not compacting: screen and session file disagree',
};

const holdWords: Readonly<Record<Exclude<GateHold['why'], 'unseen'>, string>> = {
  busy: 'waiting: the agent is busy',
  dialog: 'waiting: a dialog is open',
  draft: 'waiting: unsent text in the prompt',
  compacting: 'waiting: the agent is compacting',
  unknown: 'waiting: cannot read the screen',
  dead: 'the agent has ended',
  settling: 'waiting: the agent has just stopped',
  typing: 'waiting: you just typed',
  copying: 'waiting: backing up the session file',
  plan: 'waiting for the plan to finish',
  reading: 'waiting: reading what must be kept',
};

const blockWords = (block: BlockReason, now: Millis, ask: string): string => {
  switch (block.why) {
    case 'breaker':
      return `paused: compaction failed ${block.failures}× · ${ask} to try again`;
    case 'cooldown':
      return `next try in ${secondsTo(block.until, now)} s`;
    case 'postponed':
      return 'postponed until your next turn';
    case 'proactive':
      return `next proactive try in ${Math.ceil((block.until - now) / 60_000)} min`;
    case 'attempts':
      return `paused: tried ${block.attempts}× · ${ask} to try again`;
    case 'refills':
      return `paused: full again after ${block.refills} compactions · ${ask} to try again`;
    case 'same':
      return 'waiting: nothing new since the last try';
    case 'copy':
      return `not compacting: ${noCopyText(block.reason)}`;
  }
};
