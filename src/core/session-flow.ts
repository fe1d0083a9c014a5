import type { NativeTrigger } from './build-ladder.js';
import { compactionDeadline, isLowerMode, isBetweenEpisodes, stepCompaction } from './compaction/machine.js';
import type { Fill } from './compaction/outcome.js';
import { breakerOf } from './compaction/policy.js';
import { isUnderWay } from './compaction/running.js';
import {
  sessionContext,
  startCompaction,
  type Compaction,
  type CompactSettings,
} from './compaction/state.js';
import type { Event } from './event.js';
import { emptyHistory, recordStep, type OverlayHistory } from './history.js';
import { groupDigits, type LadderChoice } from './ladder.js';
import { noticeDeadline, startMessages, stepMessages, type Messages } from './messages.js';
import {
  notificationDeadline,
  startNotifications,
  stepNotifications,
  type NotificationKind,
  type NotificationState,
} from './notifications.js';
import type { Millis, Reading, WindowClaim } from './reading.js';
import { sessionLadder } from './report.js';
import { sessionDeadline, startSession, stepSession, type Session } from './session.js';
import { updateCapacity, capacityNotice, type Capacity } from './window.js';

interface Held {
  readonly reading: Reading;
  /** when it became this number */
  readonly since: Millis;
}

/** The number on the screen and the one in the session file, as long as both hold. */
export interface ReadingPair {
  readonly screen?: Held;
  readonly log?: Held;
  /** what the screen showed last, also when it shows nothing now */
  readonly last?: Reading;
  /** what the screen had shown when its number was made void: it may stay there for a while, or come back */
  readonly stale?: Reading;
  /** this pair was looked at already */
  readonly judged: boolean;
}

export const noPair: ReadingPair = { judged: true };

// The file and the screen get a new number some hundred milliseconds apart: a pair counts when both stand still.
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
    case 'boundary':
    case 'voided':
    case 'session-changed': {
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
  return { ...(log ? { log } : {}), last: reading, screen: { reading, since }, judged: false };
};

const isSame = (held: Reading | undefined, next: Reading): boolean =>
  held !== undefined &&
  held.usedTokens === next.usedTokens &&
  held.usedPercent === next.usedPercent &&
  held.basis === next.basis &&
  held.model === next.model;

/** When the pair can be trusted; undefined while there is none, or it was looked at. */
export const pairDeadline = ({ screen, log, judged }: ReadingPair): Millis | undefined =>
  judged || !screen || !log ? undefined : Math.max(screen.since, log.since) + STEADY_MS;

// One session as the wrapper and a replay both run it: everything that is known and decided, in one step for each event.

/** What is known of an agent before it starts. */
export interface AgentFacts {
  readonly name: string;
  /** where it compacts by itself; undefined when it does not, or when nobody knows */
  readonly native: NativeTrigger | undefined;
  /** it records its sessions in a file that we can read */
  readonly hasLog: boolean;
  /** how large the window must be, by a number on the screen and one in the session file that belong together */
  readonly derivedWindow: ((screen: Reading, log: Reading) => WindowClaim | undefined) | undefined;
}

/** What is settled before a session runs. */
export interface FlowContext {
  readonly agent: AgentFacts;
  /** in tokens, as the user set it */
  readonly window?: number | undefined;
  /** what it may be where nobody tells */
  readonly assumedWindow?: number | undefined;
  readonly ladder?: LadderChoice | undefined;
  /** what may be done about a full window; it is only shown when absent */
  readonly compact?: CompactSettings | undefined;
  /** how a compaction is asked for; tips are given only where it is known */
  readonly tips?: { readonly ask: string | undefined } | undefined;
  /** said once at the start */
  readonly notices?: readonly string[] | undefined;
  /** what the user wants to be called for */
  readonly notify?: readonly NotificationKind[] | undefined;
}

const NOTICE_PRIORITY = 150; // above tips, below what happens to a draft

/** What the user should know of their settings, for the footer. */
export const noticeEvent = (text: string): Event => ({ type: 'notice', text, priority: NOTICE_PRIORITY });

const onlyShow: CompactSettings = { mode: 'warn', startMs: 0, finishMs: 0, isProactive: false };

export interface SessionFlow {
  readonly derivedWindow: AgentFacts['derivedWindow'];
  readonly session: Session;
  readonly pair: ReadingPair;
  readonly compaction: Compaction;
  readonly messages: Messages;
  readonly notifying: NotificationState;
  /** what an overlay has to show when it opens */
  readonly record: OverlayHistory;
  readonly startedAt: Millis;
  readonly capacity?: Capacity | undefined;
  /** what the last step has to say to the log of what did not go as it should */
  readonly warnings: readonly string[];
  /** settings that hold as soon as no compaction is due */
  readonly waiting?: SettingsEvent;
}

type SettingsEvent = Extract<Event, { type: 'settings' }>;

/** The flow before anything was seen. */
export const startFlow = (context: FlowContext, now: Millis): SessionFlow => {
  const { agent, window, assumedWindow, ladder, compact = onlyShow } = context;
  const { tips, notify = [], notices = [] } = context;
  const { name, native, hasLog, derivedWindow } = agent;
  const opening: readonly Event[] = [
    ...(window === undefined ? [] : [{ type: 'user-window', windowTokens: window } as const]),
    ...(assumedWindow === undefined
      ? []
      : [{ type: 'assumed-window', windowTokens: assumedWindow } as const]),
    // a command we know nothing about has no file that could be read
    ...(hasLog ? [] : [{ type: 'source-problem', reason: `${name} has no session file` } as const]),
    ...notices.map(noticeEvent),
  ];
  return opening.reduce<SessionFlow>((flow, event) => stepFlow(flow, event, now), {
    derivedWindow,
    session: startSession({ agent: name, native, ladder }, now),
    pair: noPair,
    compaction: startCompaction(compact, name),
    messages: startMessages(tips && compact.command, tips?.ask),
    notifying: startNotifications(notify),
    record: emptyHistory,
    startedAt: now,
    warnings: [],
  });
};

/** The flow after an event; `alarm` where nothing has happened, and the time that `flowDue` named has come. */
export const stepFlow = (flow: SessionFlow, event: Event, now: Millis): SessionFlow => {
  switch (event.type) {
    case 'settings':
      return withWaiting(waitWith(flow, event, now), now);
    case 'alarm':
      return withWaiting(afterAlarm(flow, now), now);
    default:
      return withWaiting(stepParts(flow, event, now), now);
  }
};

const afterAlarm = (flow: SessionFlow, now: Millis): SessionFlow => {
  const { pair, derivedWindow } = flow;
  const { screen, log } = pair;
  if ((pairDeadline(pair) ?? Infinity) > now) return stepParts(flow, { type: 'alarm' }, now);
  const claim = screen && log && derivedWindow?.(screen.reading, log.reading);
  const judged: SessionFlow = { ...flow, pair: { ...pair, judged: true } };
  return stepParts(judged, claim ? { type: 'window', claim } : { type: 'alarm' }, now);
};

// Whoever wants less done than before does not want to wait for it, and a window that was corrected may be why a compaction is due at
// all; what is under way ends as it began.
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

/** What was to be done before is still to be done. */
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
  const capacity = updateCapacity(flow.capacity, session);
  const reduced = capacityNotice(flow.capacity, capacity);
  return {
    ...flow,
    session,
    pair: updatePair(flow.pair, event, now),
    compaction,
    capacity,
    warnings: [
      ...(reduced === undefined ? [] : [reduced]),
      ...breakerOpened(flow.compaction, compaction),
      ...breakerBypassed(flow.compaction, compaction, session, now),
    ],
    messages: stepMessages(flow.messages, event, { session, compaction, reduced, now }),
    notifying: stepNotifications(flow.notifying, { session, compaction, now }),
    record: recordStep(flow.record, { session, compaction, event, now }),
  };
};

// What the log has to hold of the limits on trying again, one line each: a breaker that opens, and one that does not count at hard.

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

const usedText = (fill: Fill | undefined): string => {
  if (fill?.usedTokens !== undefined) return `${groupDigits(fill.usedTokens)} tokens`;
  return fill?.usedPercent === undefined ? 'not known' : `${Math.round(fill.usedPercent)}%`;
};

/** When the flow has to be woken, if nothing happens before. */
export const flowDeadline = (flow: SessionFlow, now: Millis): Millis | undefined => {
  const { session, pair, compaction, messages, notifying } = flow;
  const times = [
    sessionDeadline(session),
    pairDeadline(pair),
    compactionDeadline(compaction, now),
    noticeDeadline(messages.notices),
    notificationDeadline(notifying, { session, compaction }),
  ].filter((at) => at !== undefined);
  return times.length > 0 ? Math.min(...times) : undefined;
};
