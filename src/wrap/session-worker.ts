import { errorText } from '../core/errors.js';
import type { Event } from '../core/event.js';
import { nullLog } from '../storage/log-file.js';
import { cursorSequence } from '../terminal/filter/motion.js';
import type { Grid } from '../terminal/filter/grid.js';
import { noMeasures, type ChildScreen, type ScreenMeasures } from '../terminal/screen-model.js';
import type { ExitStatus, WrapSession } from './options.js';
import { endsWithin } from './timing.js';
import type { Counters, FromWorker, ToWorker, WorkerStart } from './worker-messages.js';

// The worker of a session, seen from the main thread: sends it the child's output and what the user does, and notices when it hangs.

/** A worker thread that has been started. */
export interface WorkerThread {
  readonly post: (message: ToWorker, transfer: readonly ArrayBuffer[]) => void;
  /** it ends even in the middle of a loop */
  readonly terminate: () => void;
}

export interface ThreadListener {
  readonly onMessage: (message: FromWorker) => void;
  /** it has ended by itself; called once */
  readonly onEnd: (reason: string) => void;
}

export type StartThread = (start: WorkerStart, listener: ThreadListener) => WorkerThread;

/** What the worker asks for, beside what is answered here. */
export type WorkerRequest = Exclude<FromWorker, { readonly type: 'measured' | 'saved' | 'log' | 'stopped' }>;

export interface WorkerListener {
  readonly onRequest: (request: WorkerRequest) => void;
  /** it has failed; `isLast`: no other one is started */
  readonly onFailure: (isLast: boolean) => void;
}

export interface SessionWorker {
  /** the screen model, which is in the worker */
  readonly screen: ChildScreen;
  readonly post: (message: ToWorker) => void;
  readonly handle: (event: Event) => void;
  /** starts it when the child runs; what was sent before is kept for it */
  readonly start: (childPid: number, isScreenRead: () => boolean, listener: WorkerListener) => void;
  readonly isRunning: () => boolean;
  /** it runs, and has sent something */
  readonly isReady: () => boolean;
  /** the child has ended; resolves when the last records are written, or after a while, with a line for the user's shell if there is one */
  readonly stop: (status: ExitStatus) => Promise<string | undefined>;
  readonly close: () => void;
}

export interface SessionWorkerOptions {
  readonly session: WrapSession;
  readonly grid: Grid;
  readonly counters: Counters;
  readonly startThread: StartThread;
}

const SEND_MS = 8; // output and keys are told together
const MOST_TOLD = 256 * 1024; // bytes told together
const MOST_UNREAD = 256 * 1024; // bytes that the screen model has not read; more are left out, and it starts anew
const RESTART_MS = 250; // between two such starts, while a child writes without a pause
const TICK_MS = 500;
const HUNG_TICKS = 10; // so often nothing was handled: 5 s, because a busy machine may leave it without a core for a while
const START_TICKS = 60; // loading takes seconds on a busy machine
const LATE_MS = 250; // a tick that is so late says that this thread has not run either
const ANSWER_MS = 1_000; // the child's output is held meanwhile
const STOP_MS = 1_500; // for the last records; a disk that hangs must not keep the user's shell waiting
const MOST_STARTS = 2;
const HEALTHY_MS = 600_000; // a worker that has run for so long may be replaced, however often that was done before
const RESTARTED = 'ctxwrap had to restart a part of itself: it asks before it compacts';

/** Calls back when `isIdle` is false for too long without progress. No timer runs while it is idle. */
const makeHangAlarm = (
  { isIdle, progress }: { readonly isIdle: () => boolean; readonly progress: () => number },
  onHang: () => void,
) => {
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
    stop: (): void => {
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
  readonly onFailure: (reason: string) => void;
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
  const send = (message: ToWorker, transfer: readonly ArrayBuffer[] = []): boolean => {
    if (isOver) return false;
    if (!thread) {
      early.push(message);
      return true;
    }
    sent = (sent + 1) | 0;
    thread.post(message, transfer);
    alarm.watch();
    return true;
  };
  const close = (): void => {
    alarm.stop();
    thread?.terminate();
    thread = undefined;
  };
  const leave = (reason: string): void => {
    close();
    onFailure(reason);
  };
  return {
    send,
    isRunning: () => thread !== undefined,
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

/** Bytes on their way to the worker, in a buffer of their own, which can be handed over without a copy. */
const join = (chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
};

interface FeedPort {
  readonly counters: Counters;
  readonly send: (message: ToWorker, transfer?: readonly ArrayBuffer[]) => boolean;
  /** resolves when the worker has read everything sent before */
  readonly settled: () => Promise<unknown>;
  /** bytes that bring a new screen model to the child's cursor and modes */
  readonly seed: () => string;
}

/** How much of the child's output the worker has read: one that is slow loses output, and its screen model starts anew. */
const makeFlowControl = ({ counters, send, settled, seed }: FeedPort) => {
  let unread = 0;
  let isAsked = false; // whether the worker has read what it got
  let skippedAt: number | undefined;

  const restart = (): void => {
    if (skippedAt === undefined) return;
    skippedAt = undefined;
    unread = 0;
    send({ type: 'restart', seed: seed(), fed: counters.get('fed') });
  };
  const ask = (): void => {
    if (isAsked) return;
    isAsked = true;
    const before = unread;
    void settled().then(() => {
      isAsked = false;
      unread = Math.max(0, unread - before);
      if (skippedAt === undefined) return;
      setTimeout(restart, Math.max(0, skippedAt + RESTART_MS - performance.now())).unref();
    });
  };
  return {
    restart,
    isSkipping: () => skippedAt !== undefined,
    hasRoom: (bytes: number): boolean => unread + bytes <= MOST_UNREAD,
    noteSent: (bytes: number): void => {
      unread += bytes;
      if (unread > MOST_UNREAD / 2) ask();
      if (unread > MOST_UNREAD) skippedAt ??= performance.now();
    },
    reset: (): void => {
      [unread, isAsked, skippedAt] = [0, false, undefined];
    },
  };
};

/** Sends the child's output, and the user's keys as an event, at most every 8 ms. */
const makeFeed = (port: FeedPort) => {
  const { counters, send } = port;
  const flow = makeFlowControl(port);
  let chunks: Uint8Array[] = [];
  let length = 0;
  let hasKeys = false;
  let timer: NodeJS.Timeout | undefined;

  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const flush = (): void => {
    cancel();
    if (length > 0) {
      const bytes = join(chunks, length);
      [chunks, length] = [[], 0];
      send({ type: 'output', bytes }, [bytes.buffer]);
      flow.noteSent(bytes.length);
    }
    if (hasKeys) send({ type: 'keys', typed: counters.get('typed') });
    hasKeys = false;
  };
  const flushSoon = (): void => {
    timer ??= setTimeout(flush, SEND_MS);
  };
  return {
    flush,
    restart: flow.restart,
    output: (bytes: Uint8Array): void => {
      counters.add('fed', bytes.length);
      if (flow.isSkipping()) return;
      chunks.push(bytes);
      length += bytes.length;
      if (length < MOST_TOLD && flow.hasRoom(length)) flushSoon();
      else flush();
    },
    keys: (): void => {
      hasKeys = true;
      flushSoon();
    },
    /** there is another worker, which has got nothing yet */
    reset: (): void => {
      cancel();
      flow.reset();
      [chunks, length, hasKeys] = [[], 0, false];
    },
  };
};

type Feed = ReturnType<typeof makeFeed>;

interface ScreenParts {
  readonly feed: Feed;
  readonly post: (message: ToWorker) => boolean;
  readonly questions: ReturnType<typeof makeQuestions>;
  readonly seed: () => string;
}

const measureIn = async (
  { post, questions }: Pick<ScreenParts, 'post' | 'questions'>,
  columns: number,
  waitMs?: number,
): Promise<ScreenMeasures> => {
  const answer = await questions.ask((id) => post({ type: 'measure', id, columns }), waitMs);
  return answer?.type === 'measured' ? answer.measures : noMeasures;
};

/** The screen whose model is in the worker. */
const makeWorkerScreen = ({ feed, post, questions, seed }: ScreenParts): ChildScreen => ({
  feed: feed.output,
  resize: (size) => void post({ type: 'resize', size, seed: seed() }),
  alignCursor: (row) => void post({ type: 'align', row }),
  eraseBelow: (rows) => void post({ type: 'erase', rows }),
  measure: (columns) => {
    feed.restart();
    return measureIn({ post, questions }, columns, ANSWER_MS);
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
}: WrapSession): WorkerStart['session'] => plain;

/** A replacement does not know what the user has chosen since the start, so it types nothing that nobody asks for. */
const forReplacement = (session: WorkerStart['session']): WorkerStart['session'] => {
  const { startingDraft: _, ...rest } = session; // it may be in the prompt already
  const { values, notices = [] } = session;
  const mode = values.mode === 'auto' ? 'ask' : values.mode;
  return { ...rest, values: { ...values, mode }, notices: [...notices, RESTARTED] };
};

/** Starts the first worker, and another one when it fails. */
const makeStarts = (
  { session, grid, counters }: SessionWorkerOptions,
  connection: () => Connection,
  seed: () => string,
) => {
  let starts = 0;
  let startedAt = -Infinity;
  let child: () => ToWorker | undefined = () => undefined;
  const begin = (start: Pick<WorkerStart, 'seed' | 'fed'>): void => {
    starts += 1;
    startedAt = performance.now();
    const isReplacement = starts > 1;
    const plain = plainSession(session);
    const { log } = session;
    const given = {
      session: isReplacement ? forReplacement(plain) : plain,
      counters: counters.memory,
      isReplacement,
      size: { columns: grid.columns, rows: grid.rows },
      ...start,
      ...(log === nullLog ? {} : { log: { hasText: log.text !== undefined } }),
    };
    connection().start(given, child());
  };
  /** False if there is no worker. */
  const tryBegin = (start: Pick<WorkerStart, 'seed' | 'fed'>): boolean => {
    try {
      if (starts < MOST_STARTS) begin(start);
    } catch (error) {
      session.log.error(`the worker cannot be started: ${errorText(error)}`);
    }
    return connection().isRunning();
  };
  return {
    first: (pid: number, isScreenRead: () => boolean): boolean => {
      const at = Date.now();
      child = () => ({ type: 'child', pid, startedAt: at, isScreenRead: isScreenRead() });
      return tryBegin({ seed: '', fed: 0 });
    },
    next: (): boolean => {
      if (performance.now() - startedAt >= HEALTHY_MS) starts = 1;
      return tryBegin({ seed: seed(), fed: counters.get('fed') });
    },
  };
};

/** How a worker that was told to stop has ended: it has written the last records, or has failed. */
const makeWorkerEnding = () => {
  let isDone = false;
  let summary: string | undefined;
  let onEnd: (() => void) | undefined;
  return {
    isDone: () => isDone,
    summary: () => summary,
    wait: (): Promise<void> => new Promise((resolve) => (onEnd = resolve)),
    settle: (done: boolean, told?: string): void => {
      isDone ||= done;
      summary = told;
      onEnd?.();
    },
  };
};

/** Records the end where no worker could. */
const recordEnd = async (session: WrapSession, status: ExitStatus): Promise<void> =>
  (await import('./publish.js')).endLostRecord(session, status);

/** The worker of a session, and the one that replaces it when it fails. */
export const makeSessionWorker = (options: SessionWorkerOptions): SessionWorker => {
  const { grid, counters, startThread } = options;
  const { log } = options.session;
  const questions = makeQuestions();
  let listener: WorkerListener | undefined;
  const ending = makeWorkerEnding();

  const seed = (): string => (grid.alternate ? `\x1b[?${grid.alternateMode}h` : '') + cursorSequence(grid);
  let isHeard = false;
  const onMessage = (message: FromWorker): void => {
    isHeard = true;
    if (message.type === 'measured' || message.type === 'saved') questions.answer(message.id, message);
    else if (message.type === 'log') log[message.level]?.(message.message);
    else if (message.type === 'stopped') ending.settle(true, message.summary);
    else listener?.onRequest(message);
  };
  const onFailure = (why: string): void => {
    log.error(`the worker has failed: ${why}`);
    isHeard = false;
    feed.reset();
    questions.giveUp();
    ending.settle(false);
    if (starts.next()) listener?.onFailure(false);
    else giveUp();
  };
  const giveUp = (): void => {
    connection.end();
    listener?.onFailure(true);
  };
  const connection: Connection = makeConnection(startThread, { onMessage, onFailure });
  const starts = makeStarts(options, () => connection, seed);
  const post = (message: ToWorker): boolean => {
    feed.flush();
    return connection.send(message);
  };
  const feed: Feed = makeFeed({
    counters,
    seed,
    send: connection.send,
    settled: () => measureIn({ post, questions }, grid.columns),
  });
  return {
    screen: makeWorkerScreen({ feed, post, questions, seed }),
    post: (message) => void post(message),
    handle: (event) => void (event.type === 'user-keys' ? feed.keys() : post({ type: 'event', event })),
    start: (childPid, isScreenRead, given) => {
      listener = given;
      if (!starts.first(childPid, isScreenRead)) giveUp();
    },
    isRunning: connection.isRunning,
    isReady: () => connection.isRunning() && isHeard,
    stop: async (status) => {
      const ended = ending.wait();
      if (connection.isRunning() && post({ type: 'stop', status })) await endsWithin(STOP_MS, ended);
      if (!ending.isDone()) await endsWithin(STOP_MS, recordEnd(options.session, status));
      return ending.summary();
    },
    close: () => [feed.reset, connection.end, questions.giveUp].forEach((act) => act()),
  };
};
