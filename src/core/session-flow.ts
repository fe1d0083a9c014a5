import type { NativeTrigger } from './build-ladder.js';
import { compactionDeadline, isBetweenEpisodes, stepCompaction } from './compaction/machine.js';
import type { Fill } from './compaction/outcome.js';
import { breakerOf } from './compaction/policy.js';
import { isUnderWay } from './compaction/running.js';
import {
  sessionContext,
  startCompaction,
  type Compaction,
  type CompactSettings,
  isLowerMode,
} from './compaction/state.js';
import { fromTo } from './compaction/texts.js';
import { stepEnterHold } from './enter-hold.js';
import type { Event } from './event.js';
import { cacheDeadline, spiralText } from './economy.js';
import { footerView } from './footer-view.js';
import { formatDuration, formatFill } from './format.js';
import { handoffAtEnd, startOffers, stepOffers, type HandoffOffers } from './handoff-offer.js';
import { handoffCommand, liveHandoffText, stepLiveHandoff, type LiveHandoff } from './live-handoff.js';
import { stepLimitOffer, type LimitOffer } from './limit-offer.js';
import type { SessionLimit } from './own-limit.js';
import { emptyHistory, recordStep, type OverviewHistory } from './report/history.js';
import { groupDigits, type LadderChoice } from './ladder.js';
import { noticeDeadline, startMessages, stepMessages, type Messages } from './messages.js';
import {
  notificationDeadline,
  startNotifications,
  stepNotifications,
  type NotificationState,
} from './notifications.js';
import { type NotificationKind } from './config/notification-kinds.js';
import type { Millis, Reading, WindowClaim } from './reading.js';
import { sessionLadder } from './report/report.js';
import { modelChange, sessionDeadline, startSession, stepSession, type Session } from './session.js';
import { updateCapacity, capacityNotice, type Capacity } from './window.js';
import { present } from './present.js';

// A session as the wrapper and a replay run it: one function that updates all state for each event.

/** What the core needs to know about an agent. */
export interface AgentFacts {
  readonly name: string;
  /** the agent's own compaction point; undefined if it has none or it is unknown */
  readonly native: NativeTrigger | undefined;
  /** the agent writes a session file that ctxwrap can read */
  readonly hasLog: boolean;
  /** its screen shows an estimate after a compaction, until the next number */
  readonly showsLeft?: boolean;
  /** it can be started with a handoff in its prompt */
  readonly takesHandoff?: boolean;
  /** calculates the window from a number on the screen and the matching one in the session file */
  readonly derivedWindow: ((screen: Reading, log: Reading) => WindowClaim | undefined) | undefined;
}

/** Facts that are fixed before a session starts. */
export interface FlowContext {
  readonly agent: AgentFacts;
  /** in tokens, set by the user */
  readonly window?: number | undefined;
  /** window in tokens to assume if nobody reports one */
  readonly assumedWindow?: number | undefined;
  readonly ladder?: LadderChoice | undefined;
  /** as the user has chosen it by a key before the agent was started again */
  readonly limit?: SessionLimit | undefined;
  /** a limit can be offered, once */
  readonly offersLimit?: boolean | undefined;
  /** what to do about a full window; if absent, it is only displayed */
  readonly compact?: CompactSettings | undefined;
  /** how the user requests a compaction; tips are displayed only if this is known */
  readonly tips?: { readonly ask: string | undefined } | undefined;
  /** after how many compactions a handoff is offered; absent where there can be none */
  readonly handoffAfter?: number | undefined;
  /** the keys that shorten the conversation without the agent: `Ctrl-] r` */
  readonly rescueKeys?: string | undefined;
  /** the keys that write a handoff: `Ctrl-] h` */
  readonly handoffKeys?: string | undefined;
  /** displayed once at the start */
  readonly notices?: readonly string[] | undefined;
  /** the events that the user wants notifications for */
  readonly notify?: readonly NotificationKind[] | undefined;
}

const onlyShow: CompactSettings = { mode: 'warn', startMs: 0, finishMs: 0, isProactive: false };

export interface SessionFlow {
  readonly derivedWindow: AgentFacts['derivedWindow'];
  readonly session: Session;
  readonly pair: ReadingPair;
  readonly compaction: Compaction;
  readonly messages: Messages;
  readonly notifying: NotificationState;
  /** history that the overview displays */
  readonly record: OverviewHistory;
  readonly startedAt: Millis;
  readonly capacity?: Capacity | undefined;
  /** absent where no handoff can be made */
  readonly offers?: HandoffOffers | undefined;
  /** absent where no handoff can be made */
  readonly liveHandoff?: LiveHandoff | undefined;
  /** an Enter at hard was held since the last turn */
  readonly isEnterAsked?: boolean;
  /** absent where no limit is offered, or none any more */
  readonly limitOffer?: LimitOffer | undefined;
  /** problems of the last step, for the log */
  readonly warnings: readonly string[];
  /** settings that take effect as soon as no compaction is due */
  readonly waiting?: SettingsEvent;
}

type SettingsEvent = Extract<Event, { type: 'settings' }>;

/** The initial flow. */
export const startFlow = (context: FlowContext, now: Millis): SessionFlow => {
  const { agent, window, assumedWindow, ladder, limit, offersLimit, compact = onlyShow } = context;
  const { tips, notify = [], notices = [], handoffAfter, rescueKeys, handoffKeys } = context;
  const { name, native, hasLog, derivedWindow, showsLeft, takesHandoff } = agent;
  const opening: readonly Event[] = [
    ...(window === undefined ? [] : [{ type: 'user-window', windowTokens: window } as const]),
    ...(assumedWindow === undefined
      ? []
      : [{ type: 'assumed-window', windowTokens: assumedWindow } as const]),
    // an unknown command has no file that ctxwrap could read
    ...(hasLog ? [] : [{ type: 'source-problem', reason: `${name} has no session file` } as const]),
    ...notices.map(noticeEvent),
  ];
  return opening.reduce<SessionFlow>((flow, event) => stepFlow(flow, event, now), {
    derivedWindow,
    session: startSession({ agent: name, native, ladder, limit, ...present({ showsLeft }) }, now),
    pair: noPair,
    compaction: startCompaction(compact, name),
    messages: startMessages(tips && compact.command, tips?.ask),
    notifying: startNotifications(notify),
    record: emptyHistory,
    startedAt: now,
    ...(handoffAfter === undefined
      ? {}
      : {
          offers: startOffers(handoffAfter, rescueKeys),
          liveHandoff: { keys: handoffKeys, command: handoffCommand(takesHandoff ? name : undefined) },
        }),
    ...(offersLimit ? { limitOffer: 'open' } : {}),
    warnings: [],
  });
};

/** The flow after an event; `alarm` means that the time of `flowDeadline` has come. */
export const stepFlow = (flow: SessionFlow, event: Event, now: Millis): SessionFlow => {
  switch (event.type) {
    case 'settings':
      return withWaiting(waitWith(flow, event, now), now);
    case 'alarm':
      return withWaiting(afterAlarm(flow, now), now);
    default:
      return withWaiting(stepChanged(flow, event, now), now);
  }
};

/** A change of the model comes first, also where it only shows in a number or a window of another model. */
const stepChanged = (flow: SessionFlow, event: Event, now: Millis): SessionFlow => {
  const change = modelChange(flow.session, event);
  if (event.type === 'model') return stepParts(flow, change ?? { type: 'alarm' }, now);
  if (!change) return stepParts(flow, event, now);
  const changed = stepParts(flow, change, now);
  return mergedOver(changed, stepParts(changed, event, now));
};

const afterAlarm = (flow: SessionFlow, now: Millis): SessionFlow => {
  const { pair, derivedWindow } = flow;
  const { screen, log } = pair;
  if ((pairDeadline(pair) ?? Infinity) > now) return stepParts(flow, { type: 'alarm' }, now);
  const claim = screen && log && derivedWindow?.(screen.reading, log.reading);
  const judged: SessionFlow = { ...flow, pair: { ...pair, judged: true } };
  return stepParts(judged, claim ? { type: 'window', claim } : { type: 'alarm' }, now);
};

// A change to a mode that does less takes effect at once, and so does a corrected window, which may be the reason why a compaction is due.
// A running compaction ends with the settings it started with.
const waitWith = (flow: SessionFlow, event: SettingsEvent, now: Millis): SessionFlow => {
  const { mode, settings } = flow.compaction;
  const next = event.settings.compact.mode;
  const isLess = next !== settings.mode && isLowerMode(next, mode);
  const less = stepParts(flow, isLess ? { type: 'mode', mode: next } : { type: 'alarm' }, now);
  const bounds: SettingsEvent = { ...event, settings: { ...event.settings, compact: settings } };
  const isEarly = !isBetweenEpisodes(less.compaction) && !isUnderWay(less.compaction);
  const after = isEarly ? mergedOver(less, stepParts(less, bounds, now)) : less;
  return { ...after, waiting: event };
};

const withWaiting = (flow: SessionFlow, now: Millis): SessionFlow => {
  const { waiting, ...rest } = flow;
  if (!waiting || !isBetweenEpisodes(flow.compaction)) return flow;
  return mergedOver(flow, stepParts(rest, waiting, now));
};

/** Keeps effects of the earlier step that were not carried out yet. */
const mergedOver = (
  { warnings, session, compaction, notifying }: SessionFlow,
  after: SessionFlow,
): SessionFlow => ({
  ...after,
  session: { ...after.session, logged: [...session.logged, ...after.session.logged] },
  warnings: [...warnings, ...after.warnings],
  compaction: { ...after.compaction, effects: [...compaction.effects, ...after.compaction.effects] },
  notifying: { ...after.notifying, due: [...notifying.due, ...after.notifying.due] },
});

const stepParts = (flow: SessionFlow, event: Event, now: Millis): SessionFlow => {
  const session = stepSession(flow.session, event, now);
  const compaction = stepCompaction(flow.compaction, event, sessionContext(session, now));
  // another conversation in view may have another model, which nobody has changed
  const room = event.type === 'view' && !event.isSame ? undefined : flow.capacity;
  const capacity = updateCapacity(room, session);
  const reduced = capacityNotice(room, capacity);
  const spiral = spiralText(flow.session.unattended, session.unattended);
  const offers = flow.offers && stepOffers(flow.offers, { session, compaction });
  const handoff = offers?.due;
  const liveHandoff = flow.liveHandoff && stepLiveHandoff(flow.liveHandoff, event, session);
  const hasOwnTip = liveHandoff !== undefined && liveHandoffText(liveHandoff, session) !== undefined;
  const subjects = { session, compaction, reduced, spiral, handoff, hasOwnTip, now };
  const messages = stepMessages(flow.messages, event, subjects);
  return {
    ...flow,
    session,
    pair: updatePair(flow.pair, event, now),
    compaction,
    capacity,
    warnings: [
      ...(reduced === undefined ? [] : [reduced]),
      ...(spiral === undefined ? [] : [spiral]),
      ...breakerOpened(flow.compaction, compaction),
      ...breakerBypassed(flow.compaction, compaction, session, now),
      ...typedWithoutCopy(flow.compaction, compaction),
    ],
    ...present({ offers, liveHandoff }),
    messages,
    isEnterAsked: stepEnterHold(flow, event, { session, compaction }),
    limitOffer: stepLimitOffer(flow.limitOffer, event, {
      session,
      compaction,
      notices: messages.notices,
      now,
    }),
    notifying: stepNotifications(flow.notifying, { session, compaction, spiral, now }),
    record: recordStep(flow.record, { session, compaction, event, now }),
  };
};

// Messages of the footer as events.

const NOTICE_PRIORITY = 150; // above tips, below news about a draft
const ANSWER_PRIORITY = 400;

/** An event with a notice about the user's settings, for the footer. */
export const noticeEvent = (text: string): Event => ({ type: 'notice', text, priority: NOTICE_PRIORITY });

/** A notice that answers a key: the user is looking at the footer. */
export const answerEvent = (text: string): Event => ({
  type: 'notice',
  text,
  priority: ANSWER_PRIORITY,
  isAnswer: true,
});

/** A notice about the compaction that has just ended. It stays longer, because the user may be reading the agent's screen. */
export const recapNoticeEvent = (text: string): Event => ({
  type: 'notice',
  text,
  priority: NOTICE_PRIORITY,
  isOfOutcome: true,
  isOffer: true,
});

/** What became of that: it takes the place of the notice. */
export const recapEndEvent = (text: string): Event => ({
  type: 'notice',
  text,
  priority: NOTICE_PRIORITY,
  isOfOutcome: true,
});

// The log's lines about the limits on attempts: when the breaker opens, and when it is ignored at hard.

const breakerOpened = (before: Compaction, { policy, last }: Compaction): readonly string[] => {
  const { openedAt, failures } = policy;
  if (openedAt === undefined || openedAt === before.policy.openedAt) return [];
  return [`breaker open: ${failures} failures in a row, used ${usedText(last?.before)}`];
};

const breakerBypassed = (
  before: Compaction,
  { phase }: Compaction,
  session: Session,
  now: Millis,
): readonly string[] => {
  if (phase.kind !== 'typing' || before.phase.kind === 'typing') return [];
  const { isHard, request, before: fill } = phase.attempt;
  if (!isHard || request || !breakerOf(before.policy, now)) return [];
  const { failures } = before.policy;
  const { reason } = sessionLadder(session).hard;
  return [`breaker bypassed at hard: ${failures} failures in a row, used ${usedText(fill)}, ${reason}`];
};

const typedWithoutCopy = (before: Compaction, { phase }: Compaction): readonly string[] => {
  if (phase.kind !== 'typing' || before.phase.kind === 'typing') return [];
  const { noCopy, request } = phase.attempt;
  const cause = request ? 'because it was requested' : 'because the window is at hard';
  return noCopy === undefined ? [] : [`compacting without a copy of the session file, ${cause}: ${noCopy}`];
};

const usedText = (fill: Fill | undefined): string => {
  if (fill?.usedTokens !== undefined) return `${groupDigits(fill.usedTokens)} tokens`;
  return fill?.usedPercent === undefined ? 'not known' : `${Math.round(fill.usedPercent)}%`;
};

/** When the flow needs an `alarm`; undefined if nothing is waiting. */
export const flowDeadline = (flow: SessionFlow, now: Millis): Millis | undefined => {
  const { session, pair, compaction, messages, notifying } = flow;
  const times = [
    sessionDeadline(session),
    cacheDeadline(session.cache, now),
    pairDeadline(pair),
    compactionDeadline(compaction, now),
    noticeDeadline(messages.notices),
    notificationDeadline(notifying, { session, compaction }),
  ].filter((at) => at !== undefined);
  return times.length > 0 ? Math.min(...times) : undefined;
};

const MOST_LISTED = 3; // compactions in one line

/** What happened, in one line for the shell's screen after the session; undefined when nothing was compacted. */
export const sessionSummary = (
  { session, compaction, record, startedAt, offers }: SessionFlow,
  now: Millis,
): string | undefined => {
  const { compactions } = session;
  const handoff = offers && handoffAtEnd(session, compaction);
  if (compactions === 0 && handoff === undefined) return undefined;
  const worked = record.past.attempts.filter(({ ended }) => ended.outcome.kind === 'verified');
  const sizes = worked.flatMap(({ ended, next }) => {
    const after = ended.outcome.kind === 'verified' ? (ended.outcome.after ?? next) : next;
    return fromTo(ended.before, after) || [];
  });
  const listed = [...(sizes.length > MOST_LISTED ? ['…'] : []), ...sizes.slice(-MOST_LISTED)].join(', ');
  const { usedPercent, isOver, estimated } = footerView(session, now);
  const summary = [
    `${compactions === 0 ? 'no' : compactions} compaction${compactions === 1 ? '' : 's'}${listed === '' ? '' : ` (${listed})`}`,
    formatDuration(Math.max(0, now - startedAt)),
    ...(usedPercent === undefined
      ? []
      : [`ended at ${formatFill(usedPercent, isOver, estimated ? '~' : '')}`]),
  ].join(', ');
  return handoff === undefined ? summary : `${summary} · ${handoff}`;
};

// The numbers of the screen and of the session file side by side, from which an agent's window can be calculated.

interface Held {
  readonly reading: Reading;
  /** when the number changed to this value */
  readonly since: Millis;
}

/** The numbers of the screen and of the session file, while both are valid. */
export interface ReadingPair {
  readonly screen?: Held;
  readonly log?: Held;
  /** the screen's last number, even if it shows none now */
  readonly last?: Reading;
  /** the screen's number at the time it became void: it may remain on the screen, or reappear */
  readonly stale?: Reading;
  /** this pair was already evaluated */
  readonly judged: boolean;
}

export const noPair: ReadingPair = { judged: true };

// The file and the screen change some hundred milliseconds apart: a pair counts once both are stable.
const STEADY_MS = 2_000;

/** The pair after an event. */
export const updatePair = (pair: ReadingPair, event: Event, now: Millis): ReadingPair => {
  switch (event.type) {
    case 'reading':
      return noteReading(pair, event.reading, now);
    case 'screen-blank': {
      const { screen: _, ...rest } = pair;
      return { ...rest, judged: true };
    }
    case 'view':
      return event.isSame ? pair : noPair;
    case 'boundary':
    case 'voided':
    case 'model':
    case 'session-changed': {
      if (event.type === 'session-changed' && event.isSame) return pair;
      const { last } = pair;
      return last ? { last, stale: last, judged: true } : noPair;
    }
    default:
      return pair;
  }
};

const noteReading = (pair: ReadingPair, reading: Reading, since: Millis): ReadingPair => {
  const { screen, log, stale } = pair;
  if (reading.source === 'log' && !isSame(log?.reading, reading))
    return { ...pair, log: { reading, since }, judged: false };
  if (reading.source !== 'screen' || isSame(stale, reading) || isSame(screen?.reading, reading)) return pair;
  return { ...present({ log }), last: reading, screen: { reading, since }, judged: false };
};

const isSame = (held: Reading | undefined, next: Reading): boolean =>
  held !== undefined &&
  held.usedTokens === next.usedTokens &&
  held.usedPercent === next.usedPercent &&
  held.basis === next.basis &&
  held.model === next.model;

/** When the pair is stable; undefined if there is none, or it was already evaluated. */
export const pairDeadline = ({ screen, log, judged }: ReadingPair): Millis | undefined =>
  judged || !screen || !log ? undefined : Math.max(screen.since, log.since) + STEADY_MS;
