import { nativeTriggerNotice } from './build-ladder.js';
import { isFailure } from './compaction/outcome.js';
import type { Compaction } from './compaction/state.js';
import {
  compactionText,
  compactionTone,
  compactsBy,
  messageRoom,
  type MessageRoom,
  type MessageTone,
  COMPACT_COMMAND,
} from './compaction/texts.js';
import type { Event } from './event.js';
import type { Tier } from './ladder.js';
import type { Millis } from './reading.js';
import { sessionLadder } from './report/report.js';
import type { Session } from './session.js';
import { present } from './present.js';

// Short messages that are displayed once, one at a time.

const SHOWN_MS = 5_000;
const OUTCOME_SHOWN_MS = 10_000; // it has several numbers in it
const OFFER_SHOWN_MS = 30_000; // the user may be reading the agent's answer
const NEWS_MS = 60_000; // a message that could not be displayed for so long is outdated
const MOST_WAITING = 5;

/** A message to display. Of two waiting ones, the one with the higher priority comes first; of equal ones, the older. */
export interface NoticeRequest {
  readonly text: string;
  readonly priority: number;
  /** it says more about the compaction that has just ended */
  readonly isOfOutcome?: true;
  /** it answers a key of the user's, and takes the place of what is displayed and of earlier answers */
  readonly isAnswer?: true;
  /** it is displayed for longer, and gives way to every other message */
  readonly isOffer?: true;
}

/** The message in the footer. */
export interface Notice {
  readonly text: string;
  readonly until: Millis;
  readonly isOfOutcome?: true;
  readonly isAnswer?: true;
  readonly isOffer?: true;
}

interface Waiting extends NoticeRequest {
  readonly since: Millis;
}

export interface Notices {
  readonly shown?: Notice;
  readonly waiting: readonly Waiting[];
}

export const noNotices: Notices = { waiting: [] };

const wordsOf = ({ text, priority, isOfOutcome, isAnswer, isOffer }: NoticeRequest): NoticeRequest => ({
  text,
  priority,
  ...present({ isOfOutcome, isAnswer, isOffer }),
});

/** Adds a message, unless the same one is displayed or waiting. */
export const addNotice = (notices: Notices, request: NoticeRequest, now: Millis): Notices => {
  const { shown, waiting } = notices;
  const { text, isAnswer } = request;
  if (text === '' || shown?.text === text || waiting.some((each) => each.text === text)) return notices;
  const others = isAnswer ? waiting.filter((each) => !each.isAnswer) : waiting;
  const sorted = [...others, { ...wordsOf(request), since: now }].toSorted((a, b) => b.priority - a.priority);
  return { ...(shown && !isAnswer ? { shown } : {}), waiting: sorted.slice(0, MOST_WAITING) };
};

/**
 * The message to display now. A message that has to give way does not come back; waiting ones keep waiting. The outcome of a compaction
 * gives way to answers and comes back; a longer explanation follows it.
 */
export const updateNotices = (notices: Notices, room: MessageRoom, now: Millis): Notices => {
  const hasRoom = ({ isOfOutcome, isAnswer }: Omit<Notice, 'until'>): boolean =>
    room === 'free' || (room === 'outcome' && isOfOutcome === true) || (room !== 'none' && isAnswer === true);
  const waiting = notices.waiting.filter(({ since }) => now - since < NEWS_MS);
  const { shown } = notices;
  const next = waiting.find(hasRoom);
  const isKept = shown !== undefined && hasRoom(shown) && now < shown.until;
  if (isKept && !(next && shown.isOffer)) return { shown, waiting };
  if (!next) return { waiting };
  const { priority: _, since: __, ...words } = next;
  const until = now + (words.isOffer ? OFFER_SHOWN_MS : words.isOfOutcome ? OUTCOME_SHOWN_MS : SHOWN_MS);
  return {
    shown: { ...words, until },
    waiting: waiting.filter((each) => each !== next),
  };
};

/** Without what was to say of a compaction that is undone. */
const withoutOutcome = ({ shown, waiting }: Notices): Notices => ({
  ...(shown && !shown.isOfOutcome ? { shown } : {}),
  waiting: waiting.filter(({ isOfOutcome }) => !isOfOutcome),
});

/** When the current message disappears by itself; undefined if there is none. */
export const noticeDeadline = ({ shown }: Notices): Millis | undefined => shown?.until;

// Tips about a full window: facts, rarely, and never while there is something to report about a compaction.

export interface Tips {
  /** the agent's own command that frees the window */
  readonly command: string;
  /** how the user asks ctxwrap to type it */
  readonly ask: string;
  /** prompts sent since the start; each turn of the agent means one */
  readonly prompts: number;
  /** the part of them from before this conversation */
  readonly before: number;
  readonly conversation?: string;
  /** the agent has been idle since its last turn */
  readonly isRested: boolean;
  /** the prompt count at which each tier's tip was last displayed */
  readonly shown: Readonly<Partial<Record<Tier, number>>>;
}

interface Tip extends NoticeRequest {
  /** in prompts; grows, because a user who has seen a tip several times ignores it */
  readonly cooldown: number;
}

const LEAST_PROMPTS = 10; // between two tips of any kind
const SETTLED_PROMPTS = 5; // in a conversation that fills the window at once, tips about good habits are useless

/** Updates the counts: a turn that begins after a rest was a prompt. */
const updateTips = (tips: Tips, event: Event): Tips => {
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

/** The first id only names the current conversation. */
const inConversation = (tips: Tips, conversation: string): Tips => {
  const before =
    tips.conversation === undefined || tips.conversation === conversation ? tips.before : tips.prompts;
  return { ...tips, conversation, before };
};

const isTooSoon = ({ shown, prompts }: Tips, tier: Tier, { cooldown }: Tip): boolean => {
  const last = Math.max(-Infinity, ...Object.values(shown));
  return prompts < last + LEAST_PROMPTS || prompts < (shown[tier] ?? -Infinity) + cooldown;
};

/** Without a number: the one beside it is newer a moment later. */
const tipFor = (tier: Tier, { ask, command, prompts, before }: Tips): Tip | undefined => {
  switch (tier) {
    case 'warn':
      if (prompts - before <= SETTLED_PROMPTS) return undefined;
      return { priority: 50, cooldown: 40, text: compactsBy(ask) };
    case 'auto':
      return { priority: 90, cooldown: 20, text: compactsBy(ask) };
    case 'hard':
      return { priority: 100, cooldown: 10, text: `${command} frees space` };
    case 'safe':
      return undefined;
  }
};

// The short text in the footer: the state of compaction, and otherwise notices and tips.

export interface Messages {
  readonly notices: Notices;
  /** the last message about auto and the agent's own compaction */
  readonly ofNative?: string;
  /** absent if tips are off or there is nothing to say */
  readonly tips?: Tips;
}

/** Other facts that messages depend on. */
export interface MessageContext {
  readonly session: Session;
  readonly compaction: Compaction;
  /** the message that the window became smaller */
  readonly reduced?: string | undefined;
  /** the message that the agent compacts again and again by itself */
  readonly spiral?: string | undefined;
  /** that a handoff may be better than going on */
  readonly handoff?: string | undefined;
  /** the footer tells of a handoff where it has nothing else to say, in place of a tip */
  readonly hasOwnTip?: boolean;
  readonly now: Millis;
}

/** A text for the footer. */
export interface Message {
  readonly text: string;
  /** the same in fewer words, with the key that it offers */
  readonly short?: string;
  readonly tone?: MessageTone;
}

/** `command`: the agent's own command; undefined for no tips. */
export const startMessages = (command?: string, ask = COMPACT_COMMAND): Messages => ({
  notices: noNotices,
  ...(command === undefined
    ? {}
    : { tips: { command, ask, prompts: 0, before: 0, isRested: true, shown: {} } }),
});

export const stepMessages = (given: Messages, event: Event, context: MessageContext): Messages => {
  const { now, session, reduced, spiral, handoff } = context;
  const before = event.type === 'undone' ? { ...given, notices: withoutOutcome(given.notices) } : given;
  const ofNative = nativeTriggerNotice(sessionLadder(session), session.agent) ?? before.ofNative;
  const candidates = [
    ...(event.type === 'notice' ? [event] : []),
    ...(reduced === undefined ? [] : [{ text: reduced, priority: REDUCED_PRIORITY }]),
    ...(ofNative === undefined || ofNative === before.ofNative
      ? []
      : [{ text: ofNative, priority: NATIVE_PRIORITY }]),
    ...(spiral === undefined ? [] : [{ text: spiral, priority: SPIRAL_PRIORITY }]),
    ...(handoff === undefined ? [] : [offerOf(handoff, context.compaction)]),
    ...refusals(context.compaction),
  ];
  const updated = candidates.reduce(
    (messages, candidate) => ({ ...messages, notices: addNotice(messages.notices, candidate, now) }),
    before,
  );
  const { tips, notices } = withTip(updated, event, context);
  const settled = updateNotices(notices, messageRoom(context.compaction, now), now);
  return {
    notices: settled,
    ...present({ ofNative, tips }),
  };
};

const NATIVE_PRIORITY = 160; // unexpected behaviour is more important than other problems with the settings
const REDUCED_PRIORITY = 250; // it may be the reason why the window is suddenly full
const SPIRAL_PRIORITY = 280;
const HANDOFF_PRIORITY = 270;
const REFUSAL_PRIORITY = 300;

/** After a failure what helps is updated at once, and not only when the failure has been shown long enough. */
const offerOf = (text: string, { last }: Compaction): NoticeRequest => ({
  text,
  priority: HANDOFF_PRIORITY,
  ...(last && isFailure(last.outcome) ? { isOfOutcome: true } : {}),
});

/** A user who asked by key looks at the footer for the answer. */
const refusals = ({ effects }: Compaction): readonly NoticeRequest[] =>
  effects.flatMap((effect) =>
    effect.type === 'refused' && effect.isByKey
      ? [{ text: `not compacted: ${effect.reason}`, priority: REFUSAL_PRIORITY }]
      : [],
  );

/** Adds a tip if the agent is idle and the footer displays nothing else. */
const withTip = (
  messages: Messages,
  event: Event,
  { session, compaction, hasOwnTip, now }: MessageContext,
): Messages => {
  const { notices } = messages;
  const tips = messages.tips && updateTips(messages.tips, event);
  if (!tips) return messages;
  const { fused, activity } = session;
  const tier = fused?.actingTier;
  const tip = tier && tipFor(tier, tips);
  const isQuiet =
    (activity === 'ready' || activity === 'draft') &&
    notices.waiting.length === 0 &&
    !notices.shown &&
    compactionText(compaction, now) === undefined;
  if (!tip || hasOwnTip || !isQuiet || isTooSoon(tips, tier, tip)) return { ...messages, tips };
  const shown = { ...tips.shown, [tier]: tips.prompts };
  return { tips: { ...tips, shown }, notices: addNotice(notices, tip, now) };
};

/** The footer's message; undefined if there is none. */
export const currentMessage = (
  { notices }: Messages,
  compaction: Compaction,
  now: Millis,
  ask = COMPACT_COMMAND,
): Message | undefined => {
  const { shown: notice } = updateNotices(notices, messageRoom(compaction, now), now);
  const ofCompaction = compactionText(compaction, now, ask);
  const tone = compactionTone(compaction, now);
  // a success stays one, whatever the summary has forgotten
  const short = notice && shortOffer(notice);
  if (notice?.isOfOutcome && tone === 'success') {
    const done = ofCompaction?.split(' ', 2).join(' '); // the sizes stand beside it in the row
    const both = short && `${done} · ${short}`;
    return { text: `${ofCompaction} · ${notice.text}`, ...present({ short: both }), tone };
  }
  const shown = notice?.isOffer && ofCompaction !== undefined ? undefined : notice;
  const text = shown?.text ?? ofCompaction;
  return text === undefined ? undefined : { text, ...present(shown ? { short } : { tone }) };
};

/** What a compaction has forgotten, of the most important kind, and the key. */
const shortOffer = ({ text, isOfOutcome, isOffer }: Notice): string | undefined => {
  if (!isOfOutcome || !isOffer) return undefined;
  const clauses = text.split(' · ');
  const [first = ''] = clauses;
  return [first.replace(/, .*/, ''), ...clauses.slice(-1)].join(' · ');
};
