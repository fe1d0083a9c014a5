import { agentFacts, type Recipe } from '../agents/agent.js';
import { dueOf, isUnseen, type Unseen } from '../core/compaction/policy.js';
import type { Compaction, CompactSettings, Effect } from '../core/compaction/state.js';
import { compactionWords } from '../core/compaction/words.js';
import type { Event } from '../core/event.js';
import { footerView, type FooterView } from '../core/footer-view.js';
import { messageAt } from '../core/messages.js';
import type { Millis } from '../core/reading.js';
import {
  notificationRecord,
  type NotificationRecord,
  compactionRecord,
  type CompactionRecord,
} from '../core/records.js';
import { flowDue, noticeEvent, startFlow, stepFlow, type SessionFlow } from '../core/session-flow.js';
import type { Session } from '../core/session.js';
import { compactKeys, compactSettings } from './compactor.js';
import type { WrapSession, LiveWish } from './options.js';
import { makeAlarm, makeClock } from './timing.js';

export interface LoopListener {
  /** only when it is another one */
  readonly onView: (view: FooterView) => void;
  /** what the core wants done */
  readonly onEffect?: ((effect: Effect, state: Session) => void) | undefined;
  /** the user is to be called */
  readonly onNotification?: ((record: NotificationRecord) => void) | undefined;
  /** why a countdown could not be seen now; asked before everything that happens */
  readonly unseen?: (() => Unseen | undefined) | undefined;
  /** after everything that has happened */
  readonly onState?: ((state: Session, compaction: CompactionRecord) => void) | undefined;
}

/**
 * Runs one session: an event in, a view out, and one alarm for what only time brings. Keys are noted a moment later, for a step takes
 * longer than a key needs on its way; nothing else happens before they are.
 */
export interface SessionLoop {
  readonly take: (event: Event) => void;
  /** everything that is known of the session, and what its own clock says */
  readonly flow: () => SessionFlow & { readonly now: Millis };
  readonly stop: () => void;
}

const DOCTOR = 'ctxwrap doctor'; // what is to be looked into is for the log, too
const LOOK_MS = 1_000; // between two looks at whether a countdown could be seen now
const KEYS_MS = 5; // the echo of a key is on the screen by then

/** Writes down what a step has to say, and once what the footer says where it asks to look into something, or why nothing is typed. */
const makeScribe = (log: WrapSession['log']) => {
  let said: string | undefined;
  return ({ session, warnings, compaction }: SessionFlow, words: string | undefined): void => {
    for (const line of session.logged) log.info(line);
    for (const line of warnings) log.warn(line);
    const isUntyped = compaction.phase.kind === 'doubted' || isUnseen(compaction);
    if (words !== undefined && words !== said && (isUntyped || words.includes(DOCTOR))) log.info(words);
    said = words;
  };
};

/** Tells what the user could see until now, when that is something else. While it alone holds us back, nothing else brings us to look. */
const watchSight = (unseen: LoopListener['unseen'], tell: (event: Event) => void) => {
  let last: Unseen | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const look = (): void => {
    const now = unseen?.();
    const isSame = now === last;
    last = now;
    if (!isSame) tell({ type: 'sight', unseen: now });
  };
  return {
    look,
    wait: (state: Compaction): void => {
      if (isUnseen(state)) timer ??= setInterval(look, LOOK_MS).unref();
      else stop();
    },
    stop,
  };
};

/** Keys are told of a little later, once for all of that moment. */
const noteKeys = (onKeys: () => void) => {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const tell = (): void => {
    if (timer === undefined) return;
    stop();
    onKeys();
  };
  return {
    note: (): void => {
      timer ??= setTimeout(tell, KEYS_MS).unref();
    },
    tell,
    stop,
  };
};

const viewOf = (
  { session, compaction, messages }: SessionFlow,
  ask: string | undefined,
  now: Millis,
): FooterView => {
  const message = messageAt(messages, compaction, now, ask);
  const due = dueOf(compaction);
  return {
    ...footerView(session, now),
    ...(message === undefined ? {} : { words: message }),
    ...(due ? { due } : {}),
  };
};

/** What others are told of an effect: the times in it are of the session's own clock, which is so many milliseconds behind. */
const byWallClock = (effect: Effect, behindMs: number): Effect => {
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
  const { onView, onState, onEffect, onNotification } = listener;
  const now = makeClock();
  const ask = compactKeys(session);
  const tips = session.tips === false ? undefined : { ask };
  const agent = agentFacts(session.runtime, session.env);
  const origin = { session: session.wrapper?.id, cwd: session.cwd };
  let flow = startFlow({ ...session, agent, compact, tips, notify: session.notify?.kinds }, now());
  let shown: string | undefined;
  const write = makeScribe(session.log);

  const go = (next: SessionFlow): void => {
    flow = next;
    const { session: state, compaction } = flow;
    const words = compactionWords(compaction, now(), ask);
    const view = viewOf(flow, ask, now());
    write(flow, words);
    const key = JSON.stringify(view);
    if (key !== shown) onView(view);
    shown = key;
    onState?.(state, compactionRecord(compaction, flow.record.past, words));
    for (const effect of compaction.effects) onEffect?.(byWallClock(effect, Date.now() - now()), state);
    for (const each of flow.notifying.due)
      onNotification?.(notificationRecord(each, state, origin, Date.now()));
    alarm.set(flowDue(flow, now()));
    sight.wait(compaction);
  };
  const sight = watchSight(listener.unseen, (event) => go(stepFlow(flow, event, now())));
  const take = (event: Event): void => {
    sight.look();
    go(stepFlow(flow, event, now()));
  };
  const keys = noteKeys(() => take({ type: 'user-keys' }));
  const alarm = makeAlarm(now, () => {
    keys.tell();
    sight.look();
    go(stepFlow(flow, { type: 'alarm' }, now()));
  });
  go(flow);
  return {
    take: (event) => {
      if (event.type === 'user-keys') return keys.note();
      keys.tell();
      take(event);
    },
    flow: () => ({ ...flow, now: now() }),
    stop: () => {
      keys.stop();
      sight.stop();
      alarm.stop();
    },
  };
};

// Settings that the user changes while a session runs.

/** Takes what the user changes until the returned function is called. */
export const followSettings = (
  session: WrapSession,
  recipe: Recipe | undefined,
  take: (event: Event) => void,
): (() => void) => {
  const { watchSettings, log } = session;
  const stop = watchSettings?.({
    onChange: (wish) => {
      log.info(
        'the configuration has changed: window and boundaries hold at once, the rest as soon as no compaction is due',
      );
      take(settingsEvent(session, wish, recipe));
    },
    onNotice: (text) => take(noticeEvent(text)),
  });
  return stop ?? (() => undefined);
};

const settingsEvent = (session: WrapSession, wish: LiveWish, recipe: Recipe | undefined): Event => {
  const { draft } = session.compact ?? {};
  const { mode, window, ladder = {} } = wish;
  const { draft: _, ...compact } = wish.compact ?? {}; // the typist got it at the start
  return {
    type: 'settings',
    settings: {
      ladder,
      ...(window === undefined ? {} : { windowTokens: window }),
      compact: compactSettings(
        {
          mode: mode === 'off' ? 'warn' : mode, // a session that observes cannot become one that does not
          ladder,
          compact: { ...compact, ...(draft === undefined ? {} : { draft }) },
        },
        recipe,
      ),
    },
  };
};
