import { setImmediate as nextTurn } from 'node:timers/promises';
import { errorStack } from '../core/errors.js';
import type { InvisibleReason } from '../core/compaction/policy.js';
import type { FooterView } from '../core/footer-view.js';
import type { OverviewAnswer } from '../core/overview-keys.js';
import { sessionSummary } from '../core/session-flow.js';
import { nullLog, type Log } from '../storage/log-file.js';
import { makeScreenModel } from '../terminal/screen-model.js';
import type { Size } from '../terminal/tty.js';
import { trackAgent, type AgentTracker, type TrackerParts } from './agent-tracker.js';
import { makeFooterDrawer } from './footer-drawer.js';
import { makeInkLoader } from './ink-loader.js';
import { makeNotifier } from './notifier.js';
import type { ExitStatus, WrapSession } from '../session/options.js';
import { takeLimit } from './limit-choice.js';
import { makePanel, type Panel } from './overview-panel.js';
import { openPublisher } from './publish.js';
import type { RequestsOptions } from './requests.js';
import { makeEnterTimes } from './session-choice.js';
import {
  makeCounters,
  type Counters,
  type FromWorker,
  type ToWorker,
  type WorkerStart,
} from '../session/thread-messages.js';
import type { Publisher, KeyHold } from '../session/ports.js';
import { screenOf } from '../terminal/child-screen.js';

// The worker thread of a session: it reads the child's screen and the agent's files, decides, and draws footer and overview. What it must not do
// is delay a key, so the terminal and the child belong to the main thread.

/** The end of the channel to the main thread. */
export interface WorkerPort {
  readonly post: (message: FromWorker) => void;
}

/** The log of the worker: the main thread writes it. */
export const makeWorkerLog = (log: WorkerStart['log'], { post }: WorkerPort): Log => {
  if (!log) return nullLog;
  const at =
    (level: 'info' | 'warn' | 'error' | 'text') =>
    (message: string): void =>
      post({ type: 'log', level, message });
  return {
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    ...(log.hasText ? { text: at('text') } : {}),
    close: () => undefined,
  };
};

/** The child's input as the worker uses it: keys are written only if the user has typed nothing since it looked. */
const makeInput = ({ post }: WorkerPort, counters: Counters) => {
  const answers = new Map<number, (isHeld: boolean) => void>();
  let lastHold = 0;
  let hold: number | undefined;
  let looked = counters.get('typed');
  let reported = 0; // what a worker before this one was told of is not known
  const enters = makeEnterTimes();

  const hasUnreportedKeys = (): boolean => counters.get('typed') !== reported;
  const makeHold = (id: number): KeyHold => ({
    waitingCount: () => counters.get('held'),
    releaseOne: (behind) => post({ type: 'release-one', id, behind }),
    release: () => {
      if (hold === id) hold = undefined;
      post({ type: 'release', id });
    },
  });
  return {
    typedCount: (): number => (looked = counters.get('typed')),
    hasUnreportedKeys,
    takeUnreportedKeys: (): boolean => {
      const isUnreported = hasUnreportedKeys();
      reported = counters.get('typed');
      return isUnreported;
    },
    write: (bytes: Uint8Array): void => post({ type: 'write', bytes, hold, typed: looked }),
    hold: async (typed: number): Promise<KeyHold | undefined> => {
      const id = (lastHold += 1);
      const isHeld = await new Promise<boolean>((resolve) => {
        answers.set(id, resolve);
        post({ type: 'hold', id, typed });
      });
      if (!isHeld) return undefined;
      hold = id;
      return makeHold(id);
    },
    onHeld: (id: number, isHeld: boolean): void => {
      answers.get(id)?.(isHeld);
      answers.delete(id);
    },
    enteredAt: enters.last,
    enteredSince: enters.first,
    onEntered: enters.note,
  };
};

/** The screen model, which is behind as long as the main thread has output for it. */
const makeScreen = (start: WorkerStart, counters: Counters, onFailure: (error: unknown) => void) => {
  let received = start.fed;
  let lastSeed = start.seed;
  const model = makeScreenModel(start.size, () => lastSeed, onFailure);
  const isBehind = (): boolean =>
    counters.get('behind') === 1 || received !== counters.get('fed') || model.isBehind();
  if (start.seed !== '') model.restart(start.seed);
  return {
    screen: { ...model, isBehind },
    /** the screen as the main thread moves it */
    moved: screenOf(model),
    feed: (bytes: Uint8Array): void => {
      received = (received + bytes.length) | 0;
      model.feed(bytes);
    },
    restart: (seed: string, fed: number): void => {
      received = fed;
      model.restart(seed);
    },
    resize: (size: Size, seed: string): void => {
      lastSeed = seed;
      void model.resize(size);
    },
  };
};

type ScreenMessage = Extract<
  ToWorker,
  { readonly type: 'output' | 'restart' | 'resize' | 'align' | 'erase' | 'measure' | 'save' }
>;

const handleScreen = (
  message: ScreenMessage,
  { feed, restart, resize, moved }: ReturnType<typeof makeScreen>,
  { post }: WorkerPort,
): void => {
  switch (message.type) {
    case 'output':
      return feed(message.bytes);
    case 'restart':
      return restart(message.seed, message.fed);
    case 'resize':
      return resize(message.size, message.seed);
    case 'align':
      return moved.alignCursor(message.row);
    case 'erase':
      return moved.eraseBelow(message.rows);
    case 'measure':
      return void moved
        .measure(message.columns)
        .then((measures) => post({ type: 'measured', id: message.id, measures }));
    case 'save':
      return void moved.save().then((screen) => post({ type: 'saved', id: message.id, screen }));
  }
};

/** What the main thread is told for a restart of the agent. */
const restartPort = ({ post }: WorkerPort): Pick<TrackerParts, 'onRestart' | 'onRestartProgress'> => ({
  onRestart: (plan) => post({ type: 'restart', plan }),
  onRestartProgress: (progress) => post({ type: `restart-${progress}` }),
});

/** What other processes can ask of the tracker; undefined while nothing is followed. */
const actionsOf = (tracker: () => AgentTracker | undefined): NonNullable<RequestsOptions['actions']> => ({
  switch: ({ name }, wait) => tracker()?.switchTo(name, wait),
  brief: ({ into }, wait) => tracker()?.brief(wait, into),
  undo: (_, wait) => tracker()?.undoByChannel(wait),
  shorten: (asked, wait) => tracker()?.shorten(asked, wait),
});

/** What a worker knows from its start on, and the numbers that it shares with the main thread. */
interface Memory {
  readonly start: WorkerStart;
  readonly counters: Counters;
}

interface ViewPort {
  readonly onView: (view: FooterView) => void;
}

/** What follows the agent while the child runs. */
const makeFollowing = (session: WrapSession, { start, counters }: Memory, port: WorkerPort & ViewPort) => {
  const { post, onView } = port;
  const { log } = session;
  const input = makeInput(port, counters);
  const notifier = makeNotifier(session, (call) => post({ type: 'notify', call }));
  let unseen: InvisibleReason | undefined;
  let tracker: AgentTracker | undefined;
  let publisher: Publisher | undefined;
  const screen = makeScreen(start, counters, (error) => {
    log.error(`the screen is not followed, its model has failed: ${String(error)}`);
    tracker?.stopReadingScreen();
  });
  return {
    input,
    screen,
    tracker: () => tracker,
    see: (reason: InvisibleReason | undefined): void => void (unseen = reason),
    follow: ({ pid, startedAt, isScreenRead }: Extract<ToWorker, { readonly type: 'child' }>): void => {
      // requests from before belong to the worker that failed, which may have carried them out
      const requestsFrom = start.isReplacement ? Date.now() : undefined;
      publisher = openPublisher(
        session,
        { pid, startedAt, requestsFrom },
        {
          onEvent: (event) => tracker?.handle(event),
          actions: actionsOf(() => tracker),
        },
      );
      if (!isScreenRead) return session.values.mode === 'off' ? undefined : publisher?.onFailed();
      const parts = {
        session,
        screen: screen.screen,
        input,
        outputBytes: () => counters.get('written'),
        onView,
        unseen: () => {
          post({ type: 'look' });
          return unseen;
        },
        notify: notifier.notify,
        publisher,
        ...restartPort(port),
      };
      tracker = trackAgent(parts, { pid, startedAt });
    },
    /** the main thread has given up the footer */
    fail: (): void => {
      publisher?.onFailed();
      tracker?.stopReadingScreen();
    },
    stop: async (status: ExitStatus): Promise<void> => {
      tracker?.stop();
      notifier.stop();
      await nextTurn(); // what has just been stopped tells its outcome first
      await publisher?.end(status);
    },
  };
};

/** What draws footer and overview. */
const makeDrawing = (session: WrapSession, { start, counters }: Memory, { post }: WorkerPort) => {
  const typedCount = (): number => counters.get('typed');
  const ink = makeInkLoader(session.log, typedCount, () => footer.redraw());
  const footer = makeFooterDrawer(session, ink, start.size.columns, (drawing) =>
    post({ type: 'footer', drawing }),
  );
  if (session.tour) void ink.load().catch(() => undefined); // nobody types in the demo
  return {
    ink,
    footer,
    makePanelFor: (tracker: () => AgentTracker | undefined): Panel =>
      makePanel({
        session,
        ink,
        tracker,
        onDrawn: (drawing) => post({ type: 'overview', drawing }),
        onClose: () => post({ type: 'close-overview' }),
        onUndrawable: () => post({ type: 'close-overview', isUndrawable: true }),
      }),
  };
};

/** Carries out what the user has chosen in the overview. */
const takeChoice = (
  session: WrapSession,
  answer: OverviewAnswer,
  tracker: AgentTracker | undefined,
): void => {
  if (answer.page === 'limit') void takeLimit(session, answer.limit, tracker);
  else tracker?.giveBack(answer.recap);
};

/** Returns what handles the messages of the main thread; it throws where something is wrong with the worker itself. */
export const runWorker = (
  session: WrapSession,
  start: WorkerStart,
  port: WorkerPort,
): ((message: ToWorker) => void) => {
  const memory = { start, counters: makeCounters(start.counters) };
  const { ink, footer, makePanelFor } = makeDrawing(session, memory, port);
  const following = makeFollowing(session, memory, { ...port, onView: footer.show });
  const { tracker, input, screen } = following;
  const panel = makePanelFor(tracker);
  const stop = async (status: ExitStatus): Promise<void> => {
    panel.close();
    ink.stop();
    const flow = tracker()?.flow();
    const summary = flow && sessionSummary(flow, flow.now);
    await following
      .stop(status)
      .catch((error: unknown) => session.log.error(`ending the readings failed: ${errorStack(error)}`));
    port.post({ type: 'stopped', summary });
  };
  return (message) => {
    switch (message.type) {
      case 'child':
        return following.follow(message);
      case 'stop-reading':
        return following.fail();
      case 'event':
        return tracker()?.handle(message.event);
      case 'keys':
        return tracker()?.handle({ type: 'user-keys' });
      case 'ping':
        return undefined;
      case 'entered':
        return input.onEntered(message.at);
      case 'visibility':
        return following.see(message.unseen);
      case 'held':
        return input.onHeld(message.id, message.isHeld);
      case 'draw-footer':
        return footer.move(message.place);
      case 'draw-overview':
        return panel.show(message.wanted);
      case 'overview-action':
        return panel.act(message.action);
      case 'chosen':
        return takeChoice(session, message.answer, tracker());
      case 'overview-closed':
        return panel.close();
      case 'stop':
        return void stop(message.status);
      default:
        handleScreen(message, screen, port);
        if (message.type !== 'output') return undefined;
        ink.noteOutput();
        return tracker()?.noteOutput();
    }
  };
};
