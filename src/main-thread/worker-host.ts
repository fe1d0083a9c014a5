import { errorText } from '../core/errors.js';
import type { Event } from '../core/event.js';
import { nullLog } from '../storage/log-file.js';
import { cursorSequence } from '../terminal/filter/motion.js';
import type { StreamFilter } from '../terminal/filter/filter.js';
import type { Grid } from '../terminal/filter/grid.js';
import type { ExitStatus, StartedChild, LaunchSession } from '../session/options.js';
import { endsWithin } from '../storage/timing.js';
import { makeFeed, type Feed } from './worker-feed.js';
import type { Counters, FromWorker, ToWorker, WorkerStart } from '../session/thread-messages.js';
import { noMeasures, type ChildScreen, type ScreenMeasures } from '../terminal/child-screen.js';

// The worker of a session, seen from the main thread: sends it the child's output and what the user does, and notices when it hangs.

/** A worker thread that has been started. */
export interface WorkerThread {
  readonly post: (message: ToWorker) => void;
  /** it ends even in the middle of a loop; resolves when it has, which a long garbage collection or a native call delays */
  readonly terminate: () => Promise<unknown>;
}

export interface ThreadListener {
  readonly onMessage: (message: FromWorker) => void;
  /** it has ended by itself; called once */
  readonly onEnd: (reason: string) => void;
}

export type StartThread = (start: WorkerStart, listener: ThreadListener) => WorkerThread;

/** What the worker asks for, beside what is answered here. */
export type WorkerRequest = Exclude<
  FromWorker,
  { readonly type: 'measured' | 'saved' | 'log' | 'stopped' | 'restart-recorded' }
>;

export interface WorkerListener {
  readonly onRequest: (request: WorkerRequest) => void;
  /**
   * It has failed; `isLast`: no other one is started, and the listener records the rest of the session. `wasReady`: it had handled
   * something.
   */
  readonly onFailure: (isLast: boolean, wasReady: boolean) => void;
}

export interface SessionWorker {
  /** the screen model, which is in the worker */
  readonly screen: ChildScreen;
  readonly post: (message: ToWorker) => void;
  readonly handle: (event: Event) => void;
  /** starts it when the child runs; what was sent before is kept for it, the child's first output, too */
  readonly start: (child: StartedChild, isScreenRead: () => boolean, listener: WorkerListener) => void;
  readonly isRunning: () => boolean;
  /** it runs, and has handled something: all that it needs is loaded */
  readonly isReady: () => boolean;
  /** none runs any more, and no other one is started; before, what is sent waits for the next one */
  readonly isOver: () => boolean;
  /**
   * The child has ended; resolves when the last records are written, or after a while, with a line for the user's shell if there is one.
   * `isHurried`: somebody else waits for the end of the session.
   */
  readonly stop: (status: ExitStatus, isHurried: boolean) => Promise<string | undefined>;
  /** ends every thread; resolves with false if one of them still runs after a while */
  readonly close: () => Promise<boolean>;
}

/** What is known of the child's screen without the worker. */
type Modelled = Pick<StreamFilter, 'grid' | 'modeTracker' | 'isComplete' | 'isGround'>;

export interface SessionWorkerOptions {
  readonly session: LaunchSession;
  readonly filter: Modelled;
  readonly counters: Counters;
  readonly startThread: StartThread;
}

const TICK_MS = 500;
const HUNG_TICKS = 10; // so often nothing was handled: 5 s, because a busy machine may leave it without a core for a while
const START_TICKS = 60; // loading takes seconds on a busy machine
const LATE_MS = 250; // a tick that is so late says that this thread has not run either
const ANSWER_MS = 1_000; // the child's output is held meanwhile
const PING_MS = 15_000; // while an agent rests nothing else is sent, and that is when it is to be compacted
const STOP_MS = 1_500; // for the last records; a disk that hangs must not keep the user's shell waiting
const HURRIED_STOP_MS = 200; // the same after SIGTERM or SIGHUP: a worker in its last garbage collections answers after seconds
const HURRIED_RECORD_MS = 150; // for the end of the session, recorded without the worker
const THREAD_MS = 100; // for a thread to end; an idle one takes 10 ms
const MOST_STARTS = 2;
const HEALTHY_MS = 600_000; // a worker that has run for so long may be replaced, however often that was done before
const RESTARTED = 'ctxwrap had to restart a part of itself: it now asks before it compacts';

/** Calls back when `isIdle` is false for too long without progress. While it is idle only a ping runs. */
const makeHangAlarm = (
  { isIdle, progress }: { readonly isIdle: () => boolean; readonly progress: () => number },
  onHang: () => void,
) => {
  let pinging: NodeJS.Timeout | undefined;
  let timer: NodeJS.Timeout | undefined;
  let seen = 0;
  let ticks = 0;
  let dueAt = 0;

  const again = (): void => {
    dueAt = performance.now() + TICK_MS;
    timer = setTimeout(tick, TICK_MS).unref();
  };
  const tick = (): void => {
    timer = undefined;
    if (isIdle()) return;
    const isSame = progress() === seen;
    seen = progress();
    const isLate = performance.now() - dueAt > LATE_MS;
    if (!isSame || isLate) ticks = 0;
    else ticks += 1;
    if (ticks >= (seen === 0 ? START_TICKS : HUNG_TICKS)) return onHang();
    again();
  };
  return {
    watch: (): void => {
      if (timer !== undefined) return;
      [seen, ticks] = [progress(), 0];
      again();
    },
    /** gives the worker something to handle now and then */
    begin: (ping: () => void): void => {
      pinging = setInterval(ping, PING_MS).unref();
    },
    stop: (): void => {
      clearInterval(pinging);
      clearTimeout(timer);
      timer = undefined;
    },
  };
};

const makeHandled = (): Int32Array<SharedArrayBuffer> =>
  new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** Answers to questions that were asked with a number. */
const makeQuestions = () => {
  const open = new Map<number, (answer: FromWorker | undefined) => void>();
  let last = 0;
  const answer = (id: number, found: FromWorker | undefined): void => {
    const resolve = open.get(id);
    open.delete(id);
    resolve?.(found);
  };
  return {
    /** resolves with undefined when there is no worker to answer, or no answer in time */
    ask: (send: (id: number) => boolean, waitMs?: number): Promise<FromWorker | undefined> =>
      new Promise((resolve) => {
        const id = (last += 1);
        const giveUp = (): void => answer(id, undefined);
        const timer = waitMs === undefined ? undefined : setTimeout(giveUp, waitMs).unref();
        open.set(id, (found) => {
          clearTimeout(timer);
          resolve(found);
        });
        if (!send(id)) giveUp();
      }),
    answer,
    giveUp: (): void => {
      for (const resolve of open.values()) resolve(undefined);
      open.clear();
    },
  };
};

interface ConnectionListener {
  readonly onMessage: (message: FromWorker) => void;
  /** a worker has failed and was left behind; `start` starts the next one */
  readonly onFailure: (reason: string, wasReady: boolean) => void;
}

/** The connection to one thread after the other. */
const makeConnection = (startThread: StartThread, { onMessage, onFailure }: ConnectionListener) => {
  let thread: WorkerThread | undefined;
  let early: ToWorker[] = [];
  let sent = 0;
  let handled = makeHandled();
  let isOver = false;
  const handledCount = (): number => Atomics.load(handled, 0);
  const alarm = makeHangAlarm({ isIdle: () => handledCount() === sent, progress: handledCount }, () =>
    leave('it does not answer'),
  );

  /** False if nobody will get it. */
  const send = (message: ToWorker): boolean => {
    if (isOver) return false;
    if (!thread) return early.push(message) > 0;
    sent = (sent + 1) | 0;
    thread.post(message);
    alarm.watch();
    return true;
  };
  const ending: Promise<unknown>[] = [];
  const close = (): void => {
    alarm.stop();
    if (thread) ending.push(thread.terminate());
    thread = undefined;
  };
  const leave = (reason: string): void => {
    close();
    onFailure(reason, handledCount() > 0);
  };
  return {
    send,
    isRunning: () => thread !== undefined,
    isReady: () => thread !== undefined && handledCount() > 0,
    isOver: () => isOver,
    /** resolves when all threads that were told to end have ended */
    ended: (): Promise<unknown> => Promise.allSettled(ending),
    /** `first` is sent before what was sent while there was no thread */
    start: (start: Omit<WorkerStart, 'handled'>, first: ToWorker | undefined): void => {
      handled = makeHandled(); // the thread before may still count
      sent = 0;
      const own = startThread(
        { ...start, handled: handled.buffer },
        {
          onMessage: (message) => own === thread && onMessage(message),
          onEnd: (reason) => own === thread && leave(reason),
        },
      );
      thread = own;
      alarm.begin(() => void send({ type: 'ping' }));
      for (const message of [...(first ? [first] : []), ...early.splice(0)]) send(message);
    },
    /** nothing is sent any more */
    end: (): void => {
      isOver = true;
      early = [];
      close();
    },
  };
};

type Connection = ReturnType<typeof makeConnection>;

/** Bytes that bring a new screen model to the child's screen, modes and cursor. */
const seedOf = ({ grid, modeTracker }: Modelled): string =>
  (grid.alternate ? `\x1b[?${grid.alternateMode}h` : '') +
  modeTracker.reapply(grid.alternate) +
  cursorSequence(grid);

/** Where the child's output is now, for what a screen model can start from. */
const placeIn = (filter: Modelled) => ({
  seed: () => seedOf(filter),
  isBetween: () => filter.isComplete() && filter.isGround(),
});

interface ScreenParts {
  readonly feed: Feed;
  readonly post: (message: ToWorker) => boolean;
  readonly questions: ReturnType<typeof makeQuestions>;
  readonly filter: Modelled;
  /** it has taken the place of another worker, and has read nothing yet */
  readonly isBlank: () => boolean;
}

/** Undefined without an answer. */
const measureIn = async (
  { post, questions }: Pick<ScreenParts, 'post' | 'questions'>,
  columns: number,
  waitMs?: number,
): Promise<ScreenMeasures | undefined> => {
  const answer = await questions.ask((id) => post({ type: 'measure', id, columns }), waitMs);
  return answer?.type === 'measured' ? answer.measures : undefined;
};

/** Any row below the cursor may be the child's, and a child that does not draw again would lose it. */
const cautiousMeasures = ({ rows, row }: Grid): ScreenMeasures => ({
  ...noMeasures,
  rowsBelowCursor: Math.max(0, rows - 1 - row),
});

/** Of a screen on which the child has drawn nothing: known without the worker, which may not be loaded. */
const unwrittenMeasures: ScreenMeasures = { ...noMeasures, isBlankFromCursor: true, lastRow: -1 };

/** The screen whose model is in the worker. */
const makeWorkerScreen = ({ feed, post, questions, filter, isBlank }: ScreenParts): ChildScreen => ({
  feed: feed.output,
  resize: (size) => {
    feed.restart(); // what was left out was drawn before
    post({ type: 'resize', size, seed: seedOf(filter) });
  },
  alignCursor: (row) => {
    feed.restart();
    post({ type: 'align', row });
  },
  eraseBelow: (rows) => {
    feed.restart();
    post({ type: 'erase', rows });
  },
  measure: async (columns) => {
    if (feed.isUnwritten()) return unwrittenMeasures;
    if (isBlank()) return cautiousMeasures(filter.grid); // it would know of no row, and the child's output would wait until it is loaded
    feed.restart();
    return (await measureIn({ post, questions }, columns, ANSWER_MS)) ?? cautiousMeasures(filter.grid);
  },
  save: async () => {
    feed.restart();
    const answer = await questions.ask((id) => post({ type: 'save', id }), ANSWER_MS);
    return answer?.type === 'saved' ? answer.screen : undefined;
  },
});

const plainSession = ({
  agent: _agent,
  watchSettings: _watch,
  log: _log,
  recording: _recording,
  ...plain
}: LaunchSession): WorkerStart['session'] => plain;

/** A replacement does not know what the user has chosen since the start, so it types nothing that nobody asks for. */
const forReplacement = (
  session: WorkerStart['session'],
  restartProgress: WorkerStart['session']['restartProgress'],
): WorkerStart['session'] => {
  const { startingDraft: _, ...rest } = session; // it may be in the prompt already
  const { values, notices = [] } = session;
  const mode = values.mode === 'auto' ? 'ask' : values.mode;
  return { ...rest, restartProgress, values: { ...values, mode }, notices: [...notices, RESTARTED] };
};

/** Where a screen model begins. */
type ScreenStart = Pick<WorkerStart, 'size' | 'seed' | 'fed'>;

const sizeOf = ({ columns, rows }: Grid): WorkerStart['size'] => ({ columns, rows });

/** Starts the first worker, and another one when it fails. */
const makeStarts = ({ session, filter, counters }: SessionWorkerOptions, connection: () => Connection) => {
  let restartProgress: WorkerStart['session']['restartProgress'];
  let starts = 0;
  let startedAt = -Infinity;
  const firstSize = sizeOf(filter.grid); // what is kept for the first worker begins with this size
  let child: () => ToWorker | undefined = () => undefined;
  const begin = (start: ScreenStart): void => {
    starts += 1;
    startedAt = performance.now();
    const isReplacement = starts > 1;
    const plain = plainSession(session);
    const { log } = session;
    const given = {
      session: isReplacement ? forReplacement(plain, restartProgress) : plain,
      counters: counters.memory,
      isReplacement,
      ...start,
      ...(log === nullLog ? {} : { log: { hasText: log.text !== undefined } }),
    };
    connection().start(given, child());
  };
  /** False if there is no worker. */
  const tryBegin = (start: ScreenStart): boolean => {
    try {
      if (starts < MOST_STARTS) begin(start);
    } catch (error) {
      session.log.error(`the worker cannot be started: ${errorText(error)}`);
    }
    return connection().isRunning();
  };
  return {
    /** what a worker has recorded is not recorded again by the next one */
    note: ({ type }: FromWorker): void => {
      if (type === 'restart-taken') restartProgress = 'taken';
      if (type === 'restart-recorded') restartProgress = 'recorded';
    },
    isReplaced: () => starts > 1,
    first: (started: StartedChild, isScreenRead: () => boolean): boolean => {
      child = () => ({ type: 'child', ...started, isScreenRead: isScreenRead() });
      return tryBegin({ size: firstSize, seed: '', fed: 0 });
    },
    next: (): boolean => {
      if (performance.now() - startedAt >= HEALTHY_MS) starts = 1;
      return tryBegin({ size: sizeOf(filter.grid), seed: seedOf(filter), fed: counters.get('fed') });
    },
  };
};

/** Records the end where no worker could. */
const recordEnd = async (session: LaunchSession, status: ExitStatus): Promise<void> =>
  (await import('./lost-record.js')).endLostRecord(session, status);

interface Stopping {
  readonly status: ExitStatus;
  readonly isHurried: boolean;
  /** false if there is no worker to tell */
  readonly tell: (message: ToWorker) => boolean;
  readonly end: () => void;
}

/** How the worker ends with the session: it writes the last records, or fails. */
const makeWorkerEnding = (session: LaunchSession) => {
  let isDone = false;
  let isAwaited = false;
  let isLost = false;
  let summary: string | undefined;
  let onEnd: (() => void) | undefined;
  return {
    /** the session ends, so that no other worker is started */
    isAwaited: () => isAwaited,
    /** there is no worker any more, and the listener records the end */
    lose: (): void => {
      isLost = true;
    },
    settle: (done: boolean, lastSummary?: string): void => {
      isDone ||= done;
      summary = lastSummary;
      onEnd?.();
    },
    stop: async ({ status, isHurried, tell, end }: Stopping): Promise<string | undefined> => {
      isAwaited = true;
      const ended = new Promise<void>((resolve) => (onEnd = resolve));
      if (tell({ type: 'stop', status })) await endsWithin(isHurried ? HURRIED_STOP_MS : STOP_MS, ended);
      if (isDone || isLost) return summary;
      end(); // early, because it may take a while
      await endsWithin(isHurried ? HURRIED_RECORD_MS : STOP_MS, recordEnd(session, status));
      return undefined;
    },
  };
};

/** The worker of a session, and the one that replaces it when it fails. */
export const makeSessionWorker = (options: SessionWorkerOptions): SessionWorker => {
  const { session, filter, counters, startThread } = options;
  const questions = makeQuestions();
  let listener: WorkerListener | undefined;
  const ending = makeWorkerEnding(session);
  const onMessage = (message: FromWorker): void => {
    starts.note(message);
    if (message.type === 'measured' || message.type === 'saved') questions.answer(message.id, message);
    else if (message.type === 'log') session.log[message.level]?.(message.message);
    else if (message.type === 'stopped') ending.settle(true, message.summary);
    else if (message.type !== 'restart-recorded') listener?.onRequest(message);
    if (message.type === 'footer') feed.setUrgent(message.drawing.due === 'countdown');
  };
  const onFailure = (why: string, wasReady: boolean): void => {
    session.log.error(`the worker has failed: ${why}`);
    feed.reset();
    questions.giveUp();
    ending.settle(false);
    if (ending.isAwaited()) return end();
    if (starts.next()) listener?.onFailure(false, wasReady);
    else giveUp();
  };
  const end = (): void => [feed.end, connection.end, questions.giveUp].forEach((act) => act());
  const giveUp = (): void => {
    ending.lose();
    end();
    listener?.onFailure(true, true);
  };
  const connection: Connection = makeConnection(startThread, { onMessage, onFailure });
  const starts = makeStarts(options, () => connection);
  const post = (message: ToWorker): boolean => {
    feed.flush();
    return connection.send(message);
  };
  const tell = (message: ToWorker): boolean => connection.isRunning() && post(message);
  const isBlank = (): boolean => starts.isReplaced() && !connection.isReady();
  const feed: Feed = makeFeed({
    counters,
    ...placeIn(filter),
    send: connection.send,
    settled: () => measureIn({ post, questions }, filter.grid.columns),
  });
  return {
    screen: makeWorkerScreen({ feed, post, questions, filter, isBlank }),
    post: (message) => void post(message),
    handle: (event) => void (event.type === 'user-keys' ? feed.keys() : post({ type: 'event', event })),
    start: (child, isScreenRead, given) => {
      listener = given;
      if (!starts.first(child, isScreenRead)) giveUp();
    },
    isRunning: connection.isRunning,
    isReady: connection.isReady,
    isOver: connection.isOver,
    stop: (status, isHurried) => ending.stop({ status, isHurried, tell, end }),
    close: () => {
      end();
      return endsWithin(THREAD_MS, connection.ended());
    },
  };
};
