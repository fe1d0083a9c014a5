import { nativeTriggerNotice } from './build-ladder.js';
import type { Compaction } from './compaction/state.js';
import { compactionText, isUrgent } from './compaction/texts.js';
import type { Event } from './event.js';
import type { Tier } from './ladder.js';
import type { Millis } from './reading.js';
import { sessionLadder } from './report.js';
import type { Session } from './session.js';

// Short messages that come once, one at a time, and go.

const SHOWN_MS = 5_000;
const NEWS_MS = 60_000; // what could not be shown for so long is no news any more
const MOST_WAITING = 5;

/** What is to be said. Of two that wait, the one of the higher priority comes first, and of equal ones the older. */
export interface NoticeRequest {
  readonly text: string;
  readonly priority: number;
}

/** A message that the footer shows. */
export interface Notice {
  readonly text: string;
  readonly until: Millis;
}

interface Waiting extends NoticeRequest {
  readonly since: Millis;
}

export interface Notices {
  readonly shown?: Notice;
  readonly waiting: readonly Waiting[];
}

export const noNotices: Notices = { waiting: [] };

/** After something is to be said; what is shown already, or waits, is not said twice. */
export const addNotice = (notices: Notices, { text, priority }: NoticeRequest, now: Millis): Notices => {
  const { shown, waiting } = notices;
  if (text === '' || shown?.text === text || waiting.some((each) => each.text === text)) return notices;
  const sorted = [...waiting, { text, priority, since: now }].toSorted((a, b) => b.priority - a.priority);
  return { ...notices, waiting: sorted.slice(0, MOST_WAITING) };
};

/**
 * What is shown now. `isFree`: the footer has nothing more urgent to say. One that has to give way does not come back; those that wait
 * go on waiting.
 */
export const updateNotices = (notices: Notices, isFree: boolean, now: Millis): Notices => {
  const waiting = notices.waiting.filter(({ since }) => now - since < NEWS_MS);
  const { shown } = notices;
  if (isFree && shown && now < shown.until) return { shown, waiting };
  const [next, ...rest] = waiting;
  if (!isFree || !next) return { waiting };
  return { shown: { text: next.text, until: now + SHOWN_MS }, waiting: rest };
};

/** When what is shown goes though nothing happens; undefined while nothing is. */
export const noticeDeadline = ({ shown }: Notices): Millis | undefined => shown?.until;

// What a user of a full window may not know yet: facts, seldom, and never while there is something to be said about a compaction.

export interface Tips {
  /** the agent's own command, which empties the window */
  readonly command: string;
  /** how we are asked to type it */
  readonly ask: string;
  /** prompts that were sent since the start; a turn of the agent shows one */
  readonly prompts: number;
  /** of them, before this conversation */
  readonly before: number;
  readonly conversation?: string;
  /** the agent has been at rest since its last turn */
  readonly isRested: boolean;
  /** after which prompt the tip of each tier was shown last */
  readonly shown: Readonly<Partial<Record<Tier, number>>>;
}

interface Tip extends NoticeRequest {
  /** in prompts; whoever has seen it a few times does not read it any more */
  readonly cooldown: number;
}

const LEAST_PROMPTS = 10; // between two tips of any kind
const SETTLED_PROMPTS = 5; // a conversation that fills the window at once is not told how to begin

/** After an event: a turn that begins after a rest was a prompt. */
const hearTips = (tips: Tips, event: Event): Tips => {
  if (event.type === 'session-changed') return inConversation(tips, event.sessionId);
  if (event.type !== 'activity') return tips;
  switch (event.report.activity) {
    case 'ready':
    case 'draft':
      return { ...tips, isRested: true };
    case 'busy':
      return tips.isRested ? { ...tips, isRested: false, prompts: tips.prompts + 1 } : tips;
    default:
      return tips;
  }
};

/** The first name is that of the conversation that is already on. */
const inConversation = (tips: Tips, conversation: string): Tips => {
  const before =
    tips.conversation === undefined || tips.conversation === conversation ? tips.before : tips.prompts;
  return { ...tips, conversation, before };
};

const isTooSoon = ({ shown, prompts }: Tips, tier: Tier, { cooldown }: Tip): boolean => {
  const last = Math.max(-Infinity, ...Object.values(shown));
  return prompts < last + LEAST_PROMPTS || prompts < (shown[tier] ?? -Infinity) + cooldown;
};

const tipFor = (tier: Tier, { ask, command, prompts, before }: Tips): Tip | undefined => {
  switch (tier) {
    case 'warn':
      if (prompts - before <= SETTLED_PROMPTS) return undefined;
      return { priority: 50, cooldown: 40, text: `window at warn: ${ask} compacts` };
    case 'auto':
      return { priority: 90, cooldown: 20, text: `window at auto: ${ask} compacts` };
    case 'hard':
      return {
        priority: 100,
        cooldown: 10,
        text: `window at hard: ${command} frees space`,
      };
    case 'safe':
      return undefined;
  }
};

// The one short text in the footer: what is done about a full window, and in between notices and tips.

export interface Messages {
  readonly notices: Notices;
  /** what was said last of auto and the agent's own compaction */
  readonly ofNative?: string;
  /** absent where nobody wants any, or nothing is known that could be told */
  readonly tips?: Tips;
}

/** What else is known when something happens. */
export interface MessageContext {
  readonly session: Session;
  readonly compaction: Compaction;
  /** the window has become smaller */
  readonly reduced?: string | undefined;
  readonly now: Millis;
}

/** How a compaction is asked for where there is no key for it. */
const COMMAND = 'ctxwrap compact';

/** `command`: the agent's own; undefined where there are to be no tips. */
export const startMessages = (command?: string, ask = COMMAND): Messages => ({
  notices: noNotices,
  ...(command === undefined
    ? {}
    : { tips: { command, ask, prompts: 0, before: 0, isRested: true, shown: {} } }),
});

export const stepMessages = (before: Messages, event: Event, sight: MessageContext): Messages => {
  const { now, session, reduced } = sight;
  const ofNative = nativeTriggerNotice(sessionLadder(session), session.agent) ?? before.ofNative;
  const wishes = [
    ...(event.type === 'notice' ? [event] : []),
    ...(reduced === undefined ? [] : [{ text: reduced, priority: REDUCED_PRIORITY }]),
    ...(ofNative === undefined || ofNative === before.ofNative
      ? []
      : [{ text: ofNative, priority: NATIVE_PRIORITY }]),
    ...refusals(sight.compaction),
  ];
  const told = wishes.reduce(
    (messages, wish) => ({ ...messages, notices: addNotice(messages.notices, wish, now) }),
    before,
  );
  const { tips, notices } = withTip(told, event, sight);
  const settled = updateNotices(notices, !isUrgent(sight.compaction, now), now);
  return {
    notices: settled,
    ...(ofNative === undefined ? {} : { ofNative }),
    ...(tips ? { tips } : {}),
  };
};

const NATIVE_PRIORITY = 160; // what may happen otherwise than the user thinks comes before what else is wrong with their settings
const REDUCED_PRIORITY = 250; // it may be why the window is full all at once
const REFUSAL_PRIORITY = 300;

/** Whoever asked by a key looks at the footer for the answer. */
const refusals = ({ effects }: Compaction): readonly NoticeRequest[] =>
  effects.flatMap((effect) =>
    effect.type === 'refused' && effect.isByKey
      ? [{ text: `not compacted: ${effect.reason}`, priority: REFUSAL_PRIORITY }]
      : [],
  );

/** A tip is given while the agent is at rest and the footer says nothing else. */
const withTip = (
  messages: Messages,
  event: Event,
  { session, compaction, now }: MessageContext,
): Messages => {
  const { notices } = messages;
  const tips = messages.tips && hearTips(messages.tips, event);
  if (!tips) return messages;
  const { fused, activity } = session;
  const tier = fused?.actingTier;
  const tip = tier && tipFor(tier, tips);
  const isQuiet =
    (activity === 'ready' || activity === 'draft') &&
    notices.waiting.length === 0 &&
    !notices.shown &&
    compactionText(compaction, now) === undefined;
  if (!tip || !isQuiet || isTooSoon(tips, tier, tip)) return { ...messages, tips };
  const shown = { ...tips.shown, [tier]: tips.prompts };
  return { tips: { ...tips, shown }, notices: addNotice(notices, tip, now) };
};

/** What the footer says; undefined when it has nothing to say. */
export const currentMessage = (
  { notices }: Messages,
  compaction: Compaction,
  now: Millis,
  ask = COMMAND,
): string | undefined => {
  const { shown } = updateNotices(notices, !isUrgent(compaction, now), now);
  return shown?.text ?? compactionText(compaction, now, ask);
};
