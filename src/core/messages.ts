// The one short text in the footer: what is done about a full window, and in between notices and tips.
import { compactionWords, isUrgent } from './compaction/words.js';
import type { Compaction } from './compaction/state.js';
import type { Event } from './event.js';
import { noNotices, noticeDue, noticesAt, withNotice } from './notices.js';
import type { Notices, NoticeWish } from './notices.js';
import type { Millis } from './reading.js';
import { hearTips, startTips, tipAt } from './tips.js';
import type { Tips } from './tips.js';
import type { Session } from './session-state.js';

export interface Messages {
  readonly notices: Notices;
  /** absent where nobody wants any, or nothing is known that could be told */
  readonly tips?: Tips;
}

/** What else is known when something happens. */
export interface MessageSight {
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
  ...(command === undefined ? {} : { tips: startTips({ command, ask }) }),
});

export const stepMessages = (before: Messages, event: Event, sight: MessageSight): Messages => {
  const { now } = sight;
  const wishes = [
    ...(event.type === 'notice' ? [event] : []),
    ...(sight.reduced === undefined ? [] : [{ text: sight.reduced, priority: REDUCED_PRIORITY }]),
    ...refusals(sight.compaction),
  ];
  const told = wishes.reduce(
    (messages, wish) => ({ ...messages, notices: withNotice(messages.notices, wish, now) }),
    before,
  );
  const { tips, notices } = withTip(told, event, sight);
  const settled = noticesAt(notices, !isUrgent(sight.compaction, now), now);
  return { notices: settled, ...(tips ? { tips } : {}) };
};

const REDUCED_PRIORITY = 250; // it may be why the window is full all at once
const REFUSAL_PRIORITY = 300;

/** Whoever asked by a key looks at the footer for the answer. */
const refusals = ({ effects }: Compaction): readonly NoticeWish[] =>
  effects.flatMap((effect) =>
    effect.type === 'refused' && effect.isByKey
      ? [{ text: `not compacted: ${effect.reason}`, priority: REFUSAL_PRIORITY }]
      : [],
  );

const withTip = (messages: Messages, event: Event, { session, compaction, now }: MessageSight): Messages => {
  const { notices } = messages;
  const tips = messages.tips && hearTips(messages.tips, event);
  if (!tips) return messages;
  const isQuiet =
    notices.waiting.length === 0 && !notices.shown && compactionWords(compaction, now) === undefined;
  const { fused, activity } = session;
  const found = tipAt(tips, { tier: fused?.actingTier, activity, isQuiet });
  return found ? { tips: found.tips, notices: withNotice(notices, found.tip, now) } : { ...messages, tips };
};

/** What the footer says; undefined when it has nothing to say. */
export const messageAt = (
  { notices }: Messages,
  compaction: Compaction,
  now: Millis,
  ask = COMMAND,
): string | undefined => {
  const { shown } = noticesAt(notices, !isUrgent(compaction, now), now);
  return shown?.text ?? compactionWords(compaction, now, ask);
};

export const messagesDue = ({ notices }: Messages): Millis | undefined => noticeDue(notices);
