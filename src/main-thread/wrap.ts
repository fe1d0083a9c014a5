import type { ExitStatus, RestartPlan, SessionEnd, StartedChild, LaunchSession } from '../session/options.js';
import { atLatest } from '../storage/timing.js';
import type { Child, ChildListener, UnreadChild } from '../terminal/pty.js';
import { catchUncaughtErrors, listenToSignals } from '../terminal/tty.js';
import { restoreTerminal, statusOf } from './ending.js';
import { makeEvents } from './route.js';
import type { Emit } from './terminal-event.js';
import type { PreparedTerminal } from './prepared-terminal.js';
import { type MakeContents, makeParts, type Parts } from './session-parts.js';
import {
  armSttyProcess,
  makeTerminalSession,
  runGuarded,
  type TerminalParts,
  type TerminalSession,
} from './terminal-session.js';
import { serveWorker } from './worker-effects.js';

// Runs one wrapped session from the child's first output to its end: builds its parts, starts the worker, and restores the terminal. What
// happens in between is in route.ts.

const ALIVE_MS = 60_000;

const SILENCE_MS = 25; // after the first questions, and again after a first answer: what does not answer by then is not waited for

/** Holds the child's output until the cursor position is known, because the filter tracks the cursor from there. */
const findCursor = async (
  { terminal, cursorQuery, output }: Parts,
  asked: NonNullable<PreparedTerminal['asked']>,
): Promise<void> => {
  output.hold();
  const cursor = await cursorQuery.awaitStart(asked, SILENCE_MS);
  const { screen, filter } = terminal;
  const { grid } = filter;
  if (cursor)
    Object.assign(grid, {
      row: Math.min(cursor.row, grid.rows - 1),
      column: cursor.column,
      isRowKnown: true,
    });
  screen.alignCursor(grid.row);
  terminal.isCursorKnown = cursor !== undefined;
  output.release();
};

const listenTo = (unread: UnreadChild, terminal: TerminalSession, listener: ChildListener): Child => {
  const { grid } = terminal.filter;
  const child = unread.listen(listener);
  terminal.child = child;
  terminal.session.recording?.resize(grid.columns, grid.rows);
  return child;
};

const listenToTerminal = ({ tty }: TerminalSession, emit: Emit): void =>
  tty.listen({
    onInput: (bytes) => emit({ type: 'input', bytes }),
    onDrain: () => emit({ type: 'terminal-drained' }),
    onHangUp: () => emit({ type: 'terminal-gone' }),
  });

/** Handles signals and stray errors until the returned function is called. */
const listen = (emit: Emit): (() => void) => {
  const stopCatching = catchUncaughtErrors((error) => emit({ type: 'uncaught-error', error }));
  const stopListening = listenToSignals({
    onForward: (signal) => emit({ type: 'signal', signal }),
    onResize: () => emit({ type: 'size-changed' }),
    onSuspend: () => emit({ type: 'suspend-asked' }),
    onChild: () => emit({ type: 'process-changed' }),
  });
  return () => {
    stopListening();
    stopCatching();
  };
};

const startWorker = (parts: Parts, child: StartedChild): void => {
  const { terminal, protection } = parts;
  const onLost = (): void => protection.lose(child);
  terminal.worker.start(child, () => !terminal.isPassthrough, serveWorker({ ...parts, onLost }));
};

const WORKER_MS = 60; // for the child to draw first: loading the worker takes a core for longer than that

/** Returns what starts the worker, if it has not been started: when the child has drawn something, or after a while. */
const startWorkerSoon = (parts: Parts, child: StartedChild): (() => void) =>
  atLatest(
    WORKER_MS,
    () => void runGuarded(parts.terminal, 'starting the worker', () => startWorker(parts, child)),
  );

/** What to start after the child's end, if it has ended because it was told to. */
const restartOf = ({ terminal, ending }: Parts, { kind }: ExitStatus): RestartPlan | undefined =>
  kind === 'code' && !ending.isTerminating ? terminal.restart : undefined;

/** Whether a child that was started again has ended by itself, without the session that it was to go on with. */
const hasLostRestart = (
  { terminal: { session, isRestartTaken, counters }, ending: { isTerminating } }: Parts,
  status: ExitStatus,
): boolean =>
  session.restarted !== undefined &&
  !isRestartTaken &&
  !isTerminating &&
  status.kind === 'code' &&
  (status.code !== 0 || counters.get('typed') === 0);

/**
 * Restores the terminal, and has the end recorded meanwhile: whatever keeps the worker from its last records, the terminal does not wait
 * for it.
 */
const leaveTerminal = async (
  parts: Parts,
  isRaw: Promise<void>,
): Promise<Pick<SessionEnd, 'summary' | 'hasStuckThread'>> => {
  const { terminal, ending, cursorQuery, footer, overview, resize, suspend, keyboard, idleWriter } = parts;
  const { session, tty, worker, child } = terminal;
  const alive = setInterval(() => undefined, ALIVE_MS); // nothing else that is awaited here keeps the process running
  const end = child ? await ending.ended : { exitCode: 0, signal: 0 };
  const status = statusOf(end);
  parts.overviewTour.stop();
  // nothing follows that could tell what came of it
  if (terminal.restart && !restartOf(parts, status))
    worker.handle({ type: 'restart-planned', isPlanned: false });
  const recorded = child && worker.stop(status, ending.isTerminating);
  const failureRecorded = parts.protection.stop(status);
  await overview.stop();
  await resize.stop(); // a late change of size must not come after the terminal was restored
  for (const part of [footer, suspend, keyboard, idleWriter, parts.titleAnimation]) part.stop();
  await isRaw; // the first output waits for it
  await restoreTerminal(terminal, end, { cursorQuery, isTerminating: () => ending.isTerminating });
  const summary = await recorded;
  await failureRecorded;
  const hasStuckThread = !(await worker.close());
  session.log.info(`ended: exit code ${end.exitCode}, signal ${end.signal}`);
  if (!restartOf(parts, status)) await session.recording?.close();
  tty.restoreTermios();
  tty.close();
  clearInterval(alive);
  return { summary, hasStuckThread };
};

/** Runs the child to its end, and restores the terminal afterwards. */
const runChild = async (
  { child: unread, sttyProcess, prepared: { asked, takeSignals } }: Started,
  parts: Parts,
  emit: Emit,
): Promise<SessionEnd> => {
  const { terminal, ending, output, resize } = parts;
  const { session } = terminal;
  output.hold();
  const isRaw = sttyProcess.disableOutputProcessing().then(output.release); // not sooner: it takes a core from the child that starts
  let left: Pick<SessionEnd, 'summary' | 'hasStuckThread'>;
  try {
    if (asked) void findCursor(parts, asked);
    armSttyProcess(terminal);
    let startWorkerNow = (): void => undefined;
    const child = listenTo(unread, terminal, {
      onOutput: (bytes) => {
        emit({ type: 'child-output', bytes });
        if (!output.hasHeldBytes()) startWorkerNow();
      },
      onDrain: () => emit({ type: 'child-drained' }),
      onGone: () => emit({ type: 'child-gone' }),
      onEnd: (end) => emit({ type: 'child-ended', end }),
    });
    listenToTerminal(terminal, emit);
    parts.suspend.noteChild(); // it may have stopped when nobody has listened
    for (const signal of takeSignals())
      emit(signal === 'SIGTSTP' ? { type: 'suspend-asked' } : { type: 'signal', signal });
    resize.check(); // the terminal may have changed its size since the child was started, when nobody has listened
    session.log.info(`started ${session.file} as process ${child.pid}, runtime ${session.agent.name}`);
    startWorkerNow = startWorkerSoon(parts, { pid: child.pid, startedAt: unread.startedAt });
    await ending.ended;
    startWorkerNow(); // it records the end
  } finally {
    left = await leaveTerminal(parts, isRaw);
  }
  return { status: statusOf(await ending.ended), ...left };
};

/** What a wrapped session runs on. */
export interface Started extends TerminalParts {
  /** the agent, of which nothing has been read yet */
  readonly child: UnreadChild;
}

/** Shows the child with the footer below it, until it ends. Afterwards the terminal is in the state that the user's shell needs. */
export const wrap = async (
  session: LaunchSession,
  started: Started,
  makeContents?: MakeContents,
): Promise<SessionEnd> => {
  const { emit, connect } = makeEvents();
  const terminal = makeTerminalSession(session, started);
  const parts = makeParts(terminal, emit, makeContents);
  connect(parts);
  const stopListening = listen(emit);
  try {
    const end = await runChild(started, parts, emit);
    // Node crashes in an ordinary exit when its terminal is gone
    return parts.ending.hasHungUp
      ? { status: { kind: 'signal', signal: 'SIGHUP' } }
      : {
          ...end,
          isLineOpen: terminal.filter.grid.column > 0,
          restart: restartOf(parts, end.status),
          hasLostRestart: hasLostRestart(parts, end.status),
        };
  } finally {
    stopListening();
  }
};
