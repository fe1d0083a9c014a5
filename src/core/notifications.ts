import { isFailure } from './compaction/outcome.js';
import type { Compaction } from './compaction/state.js';
import { endedText } from './compaction/texts.js';
import { formatFill, formatOwnPercent, formatTokens } from './format.js';
import type { NotificationKind } from './config/notification-kinds.js';
import { toOneLine } from './text.js';
import { isOverFull, windowPercent, type Millis } from './reading.js';
import type { Session } from './session.js';

// When to notify a user who looks elsewhere: once per kind and episode, and only about facts.

export interface Notification {
  readonly kind: NotificationKind;
  /** one line */
  readonly text: string;
}

export interface NotificationState {
  readonly wanted: readonly NotificationKind[];
  /** start of the episode that the kinds already sent belong to */
  readonly episode: Millis | undefined;
  readonly sent: readonly NotificationKind[];
  /** a notification was sent for this dialog */
  readonly isDialogTold: boolean;
  /** notifications to send now; of the last step only */
  readonly due: readonly Notification[];
}

/** The facts that notifications depend on. */
export interface NotificationContext {
  readonly session: Session;
  readonly compaction: Compaction;
  /** that the agent compacts again and again by itself; in the step in which that becomes clear */
  readonly spiral?: string | undefined;
  readonly now: Millis;
}

const DIALOG_MS = 2_000; // some dialogs answer themselves
const KEY_MS = 5_000; // a user who types is present
const LONGEST = 200; // characters

export const startNotifications = (wanted: readonly NotificationKind[]): NotificationState => ({
  wanted,
  episode: undefined,
  sent: [],
  isDialogTold: false,
  due: [],
});

/** The state after an event; `due` contains the notifications that follow from it. */
export const stepNotifications = (
  before: NotificationState,
  context: NotificationContext,
): NotificationState => {
  const { session, compaction, spiral, now } = context;
  if (before.wanted.length === 0) return before;
  const { episodeSince } = compaction;
  const sent = before.episode === episodeSince ? before.sent : [];
  const tellable = [...windowNews(context, before.wanted), ...failureNews(compaction)];
  const news = tellable.filter(({ kind }) => !sent.includes(kind));
  const isAsking = session.activity === 'dialog' || session.activity === 'unknown'; // a dialog may flicker
  const isTold = before.isDialogTold && isAsking;
  const dialogDue = dialogAt(session, compaction);
  const isDialogDue = !isTold && dialogDue !== undefined && dialogDue <= now;
  const due = [
    ...news,
    ...(isDialogDue ? [waiting(session)] : []),
    ...(spiral === undefined ? [] : [{ kind: 'spiral', text: spiral } as const]),
  ];
  return {
    wanted: before.wanted,
    episode: episodeSince,
    sent: [...sent, ...withLower(news.map(({ kind }) => kind))],
    isDialogTold: isTold || isDialogDue,
    due: due.filter(({ kind }) => before.wanted.includes(kind)),
  };
};

/** When the dialog has been open long enough for a notification; undefined if there is nothing to wait for. */
export const notificationDeadline = (
  state: NotificationState,
  { session, compaction }: Omit<NotificationContext, 'now'>,
): Millis | undefined =>
  state.isDialogTold || !state.wanted.includes('permission') ? undefined : dialogAt(session, compaction);

const waiting = ({ asks }: Session): Notification => ({
  kind: 'permission',
  text:
    asks === undefined
      ? 'waits for your answer in a dialog'
      : toOneLine(`waits for your answer: ${asks}`, LONGEST),
});

const dialogAt = (
  { activity, activitySince }: Session,
  { keyAt = -Infinity }: Compaction,
): Millis | undefined =>
  activity === 'dialog' ? Math.max(activitySince + DIALOG_MS, keyAt + KEY_MS) : undefined;

const windowNews = (
  { session, compaction }: NotificationContext,
  wanted: readonly NotificationKind[],
): readonly Notification[] => {
  const { fused } = session;
  if (!fused || compaction.episodeSince === undefined) return [];
  const { actingTier: tier, reading } = fused;
  if (tier !== 'auto' && tier !== 'hard') return [];
  const percent = windowPercent(reading);
  const full =
    percent === undefined
      ? (formatOwnPercent(reading) ?? '')
      : `${formatFill(percent, isOverFull(reading))} of the window used`;
  const tokens = reading.usedTokens === undefined ? '' : `${formatTokens(reading.usedTokens)} tokens used`;
  const kind = tier === 'hard' && !wanted.includes('hard') ? 'auto' : tier;
  return [{ kind, text: `${full || tokens || 'the window is full'}: ${tier}` }];
};

// After a notification for hard, one for auto is not needed.
const withLower = (kinds: readonly NotificationKind[]): readonly NotificationKind[] =>
  kinds.includes('hard') ? [...kinds, 'auto'] : kinds;

const failureNews = ({ effects }: Compaction): readonly Notification[] =>
  effects.flatMap((effect): readonly Notification[] => {
    // a user who requested the compaction sees its outcome
    if (effect.type !== 'ended' || effect.ended.initiator === 'user') return [];
    if (!isFailure(effect.ended.outcome)) return [];
    return [{ kind: 'failure', text: toOneLine(endedText(effect.ended), LONGEST) }];
  });
