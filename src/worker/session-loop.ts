import { toAgentFacts, type CompactRecipe, type NewSessionForm } from '../agents/agent.js';
import { dueKindOf, isCountdownInvisible, pauseOf, type InvisibleReason } from '../core/compaction/policy.js';
import { changedKeys } from '../core/compaction/protocol.js';
import type { Compaction, CompactSettings, ControlChannel, Effect } from '../core/compaction/state.js';
import { COMPACT_COMMAND, compactionText } from '../core/compaction/texts.js';
import { isBlackBoxOn, ladderChoice, type CurrentSettings } from '../core/config/keys.js';
import { strategyInUse } from '../core/config/strategy.js';
import type { Event } from '../core/event.js';
import { enterQuestion } from '../core/enter-hold.js';
import { askingView, footerView, type FooterView } from '../core/footer-view.js';
import { compactKeys, formatEscapeOrControlKey, hotkeyName } from '../core/format.js';
import { liveHandoffText } from '../core/live-handoff.js';
import { currentMessage } from '../core/messages.js';
import { present } from '../core/present.js';
import type { Millis } from '../core/reading.js';
import { notificationRecord, type NotificationRecord, compactionRecord } from '../core/report/records.js';
import {
  flowDeadline,
  noticeEvent,
  startFlow,
  stepFlow,
  type FlowContext,
  type SessionFlow,
} from '../core/session-flow.js';
import type { Session } from '../core/session.js';
import type { WrapSession } from '../session/options.js';
import { makeAlarm, makeClock } from '../storage/timing.js';
import type { SessionLoop, StateFacts } from '../session/ports.js';

// Runs the core's session: passes events in, hands views and effects out, and applies changed settings.

export interface LoopListener {
  /** a limit is to be offered, unless the user has answered that before */
  readonly onLimitOffer?: (() => void) | undefined;
  /** compacting has turned out to be impossible */
  readonly onExhausted?: () => void;
  /** a handoff is to be written */
  readonly onHandoffDue?: () => void;
  /** called only when the view has changed */
  readonly onView: (view: FooterView) => void;
  /** an effect that the core asks for */
  readonly onEffect?: ((effect: Effect, state: Session) => void) | undefined;
  /** a notification for the user */
  readonly onNotification?: ((record: NotificationRecord) => void) | undefined;
  /** whether the user has pressed keys since it was last called; asked before every step, because their event comes later */
  readonly takeUnreportedKeys?: (() => boolean) | undefined;
  /** why a countdown could not be seen now; called before every event but keys */
  readonly unseen?: (() => InvisibleReason | undefined) | undefined;
  /** called after every event */
  readonly onState?: ((state: Session, facts: StateFacts) => void) | undefined;
}

const DOCTOR = 'ctxwrap doctor'; // a text that asks the user to run this is logged, too
const LOOK_MS = 1_000; // between two checks of whether a countdown could be seen
const KEYS_MS = 5; // the echo of a key is on the screen by then

/** Logs the messages of each step. Logs the footer's text once where it asks the user to check something or says why nothing is typed. */
const makeStateLog = (log: WrapSession['log']) => {
  let lastText: string | undefined;
  return ({ session, warnings, compaction }: SessionFlow, text: string | undefined): void => {
    for (const line of session.logged) log.info(line);
    for (const line of warnings) log.warn(line);
    const isUntyped = compaction.phase.kind === 'doubted' || isCountdownInvisible(compaction);
    if (text !== undefined && text !== lastText && (isUntyped || text.includes(DOCTOR))) log.info(text);
    lastText = text;
  };
};

/**
 * Emits an event when the visibility of a countdown has changed. Checks regularly while only the visibility holds a compaction back,
 * because no event would cause a check.
 */
const watchVisibility = (unseen: LoopListener['unseen'], emit: (event: Event) => void) => {
  let last: InvisibleReason | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const check = (): void => {
    const now = unseen?.();
    const isSame = now === last;
    last = now;
    if (!isSame) emit({ type: 'visibility', unseen: now });
  };
  return {
    check,
    wait: (state: Compaction): void => {
      if (isCountdownInvisible(state)) timer ??= setInterval(check, LOOK_MS).unref();
      else stop();
    },
    stop,
  };
};

/** Reports keys with a delay, as one event for all of them; `flush` reports those that no event has told of, too. */
const delayKeys = (takeUnreported: LoopListener['takeUnreportedKeys'], onKeys: () => void) => {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const emit = (): void => {
    const isUnreported = takeUnreported?.() === true;
    if (timer === undefined && !isUnreported) return;
    stop();
    onKeys();
  };
  return {
    schedule: (): void => {
      timer ??= setTimeout(emit, KEYS_MS).unref();
    },
    flush: emit,
    stop,
  };
};

const viewOf = (flow: SessionFlow, compactHotkey: string | undefined, now: Millis): FooterView => {
  const { session, compaction, messages, liveHandoff } = flow;
  const message = currentMessage(messages, compaction, now, compactHotkey);
  const due = dueKindOf(compaction);
  const enter = enterQuestion(flow, compactHotkey ?? COMPACT_COMMAND);
  const view: FooterView = {
    ...footerView(session, now, {
      mode: compaction.mode,
      isKnown: compaction.settings.command !== undefined,
      isPaused: pauseOf(compaction, now, { isHard: session.fused?.actingTier === 'hard' }) !== undefined,
      key: compactHotkey,
    }),
    ...present({ words: message?.text ?? (liveHandoff && liveHandoffText(liveHandoff, session)) }),
    ...present({ shortWords: message?.short }),
    ...(message?.tone === undefined ? {} : { tone: message.tone }),
    ...present({ due, enter }),
  };
  return enter?.isAsked ? askingView(view, enter) : view;
};

/** What a quiet footer is drawn for: not the numbers, and not the seconds of a countdown. */
const quietPart = ({ tier, due, tone, note, words, enter }: FooterView) => ({
  enter,
  tier,
  due,
  tone,
  note,
  words: words?.replace(/[\d.,]+/g, '#'),
});

const contextOf = (
  session: WrapSession,
  compact: CompactSettings,
  compactHotkey: string | undefined,
): FlowContext => {
  const { values } = session;
  const tips = values.tips ? { ask: compactHotkey } : undefined;
  const { window, 'notify.on': notify, 'handoff.after': after } = values;
  const agent = toAgentFacts(session.agent, session.env);
  const handoffAfter = session.agent.log?.conversation ? after : undefined;
  const hotkey = hotkeyName(values);
  const canRescue = hotkey !== undefined && session.agent.newSessions?.switching !== undefined;
  const handoffKeys = hotkey === undefined ? undefined : `${hotkey} h`;
  const rescueKeys = canRescue ? `${hotkey} r` : undefined;
  const ladder = ladderChoice(values);
  const offersLimit = values.tips && hotkey !== undefined && !session.restarted; // once in a session
  return {
    ...session,
    offersLimit,
    agent,
    compact,
    window,
    ladder,
    tips,
    notify,
    handoffAfter,
    rescueKeys,
    handoffKeys,
  };
};

/** Times of the agent are wall-clock times, from which the session's clock differs when the clock was set. */
const withOwnClock = (event: Event, aheadMs: number): Event => {
  if (event.type === 'cache')
    return { ...event, cache: { ...event.cache, expiresAt: event.cache.expiresAt + aheadMs } };
  if (event.type !== 'limits') return event;
  const limits = event.limits.map((each) =>
    each.resetsAt === undefined ? each : { ...each, resetsAt: each.resetsAt + aheadMs },
  );
  return { ...event, limits };
};

/** The effect with wall-clock times: the session's own clock is behind the wall clock by `behindMs`. */
const withWallClock = (effect: Effect, behindMs: number): Effect => {
  if (effect.type !== 'ended') return effect;
  const { ended } = effect;
  const wall = (at: Millis): Millis => at + behindMs;
  return { ...effect, ended: { ...ended, startedAt: wall(ended.startedAt), endedAt: wall(ended.endedAt) } };
};

export const makeSessionLoop = (
  session: WrapSession,
  compact: CompactSettings,
  listener: LoopListener,
): SessionLoop => {
  const { onView, onState, onEffect, onNotification, onExhausted, onHandoffDue, onLimitOffer } = listener;
  const now = makeClock();
  const compactHotkey = compactKeys(session.values);
  const origin = { session: session.wrapper?.id, cwd: session.cwd };
  let flow = startFlow(contextOf(session, compact, compactHotkey), now());
  let displayed: string | undefined;
  const logState = makeStateLog(session.log);

  const apply = (next: SessionFlow): void => {
    const isOffered = next.limitOffer === 'made' && flow.limitOffer === 'open';
    flow = next;
    const { session: state, compaction } = flow;
    const text = compactionText(compaction, now(), compactHotkey);
    const view = viewOf(flow, compactHotkey, now());
    logState(flow, text);
    const key = JSON.stringify(session.values.footer === 'quiet' ? quietPart(view) : view);
    if (key !== displayed) onView(view);
    displayed = key;
    const handoff = flow.liveHandoff?.written;
    onState?.(state, { compaction: compactionRecord(compaction, flow.record.past, text), handoff });
    for (const effect of compaction.effects) onEffect?.(withWallClock(effect, Date.now() - now()), state);
    for (const each of flow.notifying.due)
      onNotification?.(notificationRecord(each, state, origin, Date.now()));
    alarm.set(flowDeadline(flow, now()));
    visibility.wait(compaction);
    if (flow.offers?.isExhausted) onExhausted?.();
    if (flow.liveHandoff?.isDue) onHandoffDue?.();
    if (isOffered) onLimitOffer?.();
  };
  const step = (event: Event): void => apply(stepFlow(flow, event, now()));
  const keys = delayKeys(listener.takeUnreportedKeys, () => step({ type: 'user-keys' }));
  const visibility = watchVisibility(listener.unseen, (event) => {
    keys.flush();
    step(event);
  });
  const take = (event: Event): void => {
    keys.flush();
    visibility.check();
    step(withOwnClock(event, now() - Date.now()));
  };
  const alarm = makeAlarm(now, () => take({ type: 'alarm' }));
  apply(flow);
  return {
    take: (event) => {
      if (event.type === 'user-keys') keys.schedule();
      else take(event);
    },
    flow: () => ({ ...flow, now: now() }),
    stop: () => {
      keys.stop();
      visibility.stop();
      alarm.stop();
    },
  };
};

// Settings that the user changes while a session runs.

/** Applies changed settings until the returned function is called; `onChanged` gets the names of the changed keys. */
export const followSettings = (
  session: WrapSession,
  recipe: CompactRecipe | undefined,
  take: (event: Event) => void,
  onChanged: (keys: readonly string[]) => void = () => undefined,
): (() => void) => {
  const { watchSettings, log } = session;
  let { values: last } = session;
  const stop = watchSettings?.({
    onChange: (now) => {
      log.info(
        'the configuration has changed: window and boundaries hold at once, the rest as soon as no compaction is due',
      );
      const keys = changedKeys(last, now.values);
      last = now.values;
      if (keys.length > 0) onChanged(keys);
      take(settingsEvent(session, now, recipe));
    },
    onNotice: (text) => take(noticeEvent(text)),
  });
  return stop ?? (() => undefined);
};

const settingsEvent = (
  session: WrapSession,
  { values, isModeGiven }: CurrentSettings,
  recipe: CompactRecipe | undefined,
): Event => {
  const { window, mode } = values;
  const { draft, atHard } = session.values; // the typist and the reader of the screen got these at the start
  const usable = mode === 'off' ? 'warn' : mode; // an observing session cannot be switched off
  return {
    type: 'settings',
    settings: {
      ladder: ladderChoice(values),
      ...present({ windowTokens: window }),
      compact: compactSettings(
        {
          values: { ...values, draft, atHard, mode: usable },
          isModeGiven,
          tour: session.tour,
          channel: session.channel,
        },
        recipe,
        session.agent.newSessions,
      ),
    },
  };
};

/** Without what it takes to use it. */
const controlChannel = ({ via, name, needsSession }: ControlChannel): ControlChannel => ({
  via,
  name,
  ...(needsSession ? { needsSession } : {}),
});

/** The user's settings, limited to what the agent supports. */
export const compactSettings = (
  { values, isModeGiven, tour, channel }: Pick<WrapSession, 'values' | 'isModeGiven' | 'tour' | 'channel'>,
  recipe: CompactRecipe | undefined,
  newSessions?: Pick<NewSessionForm, 'switching'>,
): CompactSettings => {
  const strategy = newSessions?.switching && strategyInUse(values, isModeGiven);
  const { mode, ladder, draft, atHard, whenBusy, proactive, focus, idle } = values;
  return {
    mode: ladder === 'handoff' && mode === 'auto' ? 'warn' : mode, // the handoff preset never types by itself
    ...present({ command: recipe?.command }),
    startMs: recipe?.startMs ?? 0,
    finishMs: recipe?.finishMs ?? 0,
    ...present({ focus }),
    mayStash: draft === 'stash' && recipe?.stash !== undefined,
    ...(atHard === 'hold' ? { holdsEnter: true } : {}),
    ...(atHard === 'hold' && recipe?.stash ? { stashesAsked: true } : {}),
    mayQueue: whenBusy === 'queue' && recipe?.isQueued === true,
    isProactive: proactive,
    ...(isBlackBoxOn(values) ? { keepsCopy: true, copyLimitBytes: values['blackbox.limit'] } : {}),
    ...(idle === 'compact' ? { mayCompactIdle: true } : {}),
    ...(isModeGiven && mode === 'auto' ? { mayTypeUnseen: true } : {}),
    ...present({ strategy }),
    ...(channel ? { channel: controlChannel(channel) } : {}),
    ...present({ countdownMs: tour?.countdownMs }),
    notNow: formatEscapeOrControlKey(values.notNow),
  };
};
