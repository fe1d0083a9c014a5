import type { Event } from '../core/event.js';
import { errorStack, UserError } from '../core/errors.js';
import { compactKeys } from '../core/format.js';
import type { DirectAction } from '../core/overlay-keys.js';
import { resizeGrid } from '../terminal/filter/grid.js';
import { removeFooterSequence, reserveFooterSequence } from '../terminal/footer-sequences.js';
import type { SttyProcess } from '../terminal/stty-process.js';
import { type Child, startChild, type ChildListener } from '../terminal/pty.js';
import { catchUncaughtErrors, listenToSignals } from '../terminal/tty.js';
import { type Ending, hangUp, makeEnding, restoreTerminal, statusOf } from './ending.js';
import { type Footer, makeFooter } from './footer.js';
import { isPixelMouseAsked } from './input-context.js';
import { type Keyboard, makeKeyboard } from './keyboard.js';
import type { ExitStatus, SessionEnd, WrapSession, RestartPlan } from '../session/options.js';
import { type Output, makeOutput } from './output.js';
import {
  makeOverlay,
  makeOverlayHint,
  makeOverlayTour,
  type Overlay,
  type OverlayContents,
  type OverlayTour,
} from './overlay.js';
import { type CursorQuery, makeCursorQuery } from './cursor-query.js';
import { makeProtection, type Protection } from './protection.js';
import { type Resize, makeResize } from './resize.js';
import { makeSuspend, type Suspend } from './suspend.js';
import {
  type TerminalSession,
  runGuarded,
  armSttyProcess,
  openTerminalSession,
  childSize,
} from './terminal-session.js';
import type { StartThread } from './worker-host.js';
import { hotkeyCompactRequest } from '../session/thread-messages.js';
import { makeWorkerContents, serveWorker, type WorkerContents } from './worker-effects.js';
import { makeTitleAnimation, type TitleAnimation } from './title-animation.js';
import { type IdleWriter, makeIdleWriter } from './idle-writer.js';

// Runs one wrapped session from start to end: builds its parts, starts the child, handles signals, and restores the terminal.

const ALIVE_MS = 60_000;

// After a failure in the wrapper, the session continues as if there were no wrapper.

/** From here on bytes pass through unchanged, and the child gets the whole screen. Each step is guarded on its own. */
export const switchToPassthrough = (terminal: TerminalSession, footer: Pick<Footer, 'stop'>): void => {
  if (terminal.isPassthrough) return;
  const { grid } = terminal.filter;
  terminal.isPassthrough = true;
  terminal.session.log.error('going on as a plain passthrough');
  // the footer or the reading may be what has failed
  runGuarded(terminal, 'stopping the footer', () => footer.stop());
  runGuarded(terminal, 'stopping to read the screen', () => terminal.worker.post({ type: 'stop-reading' }));
  const size = terminal.tty.size();
  terminal.stateProxy?.stop();
  runGuarded(terminal, 'giving out what the filter holds', () => terminal.tty.write(terminal.filter.flush()));
  terminal.tty.write(removeFooterSequence(grid));
  resizeGrid(grid, size.columns, size.rows, size.rows);
  terminal.child?.resize(size);
};

/** The parts of a running wrap. */
export interface Parts {
  readonly terminal: TerminalSession;
  readonly cursorQuery: CursorQuery;
  readonly output: Output;
  readonly footer: Footer;
  readonly overlay: Overlay;
  readonly overlayTour: OverlayTour;
  readonly onDrawn: WorkerContents['onDrawn'];
  readonly resize: Resize;
  readonly suspend: Suspend;
  readonly keyboard: Keyboard;
  /** writes notifications */
  readonly idleWriter: IdleWriter;
  readonly titleAnimation: TitleAnimation;
  readonly protection: Protection;
}

/** Makes the overlay's contents; `close` closes the overlay. */
export type MakeContents = (terminal: TerminalSession, close: () => void) => WorkerContents;

/** Builds the parts and connects them. */
export const makeParts = (
  terminal: TerminalSession,
  makeContents: MakeContents = makeWorkerContents,
): Parts => {
  const { contents: drawn, onDrawn } = makeContents(terminal, () => overlay.close());
  const onLate = (): void => {
    if (!terminal.isCursorKnown && !terminal.overlayOutput) void resize.realign();
  };
  const cursorQuery: CursorQuery = makeCursorQuery(terminal, onLate, () => footer.redraw());
  const hint = makeOverlayHint(terminal, () => footer.redraw());
  const footer = makeFooter(
    terminal,
    () => resize.check(),
    () => (overlay.hindrance() === undefined ? hint.text() : undefined),
  );
  const onOutput = (bytes: Uint8Array): void => {
    for (const part of [footer, overlay, titleAnimation]) part.noteOutput();
    suspend.noteOutput(bytes);
    const { modeTracker } = terminal.filter;
    if (modeTracker.takeChanged()) armSttyProcess(terminal);
    if (isPixelMouseAsked(modeTracker)) cursorQuery.askCellHeight();
  };
  const output = makeOutput(terminal, {
    isResized: () => resize.check(),
    onOutput,
    onUnsure: () => void resize.locate(),
    onFailure: () => fallBackToPassthrough({ terminal, footer, overlay }),
  });
  const onUncovered = (): void => footer.noteOutput();
  const overlayTour = makeOverlayTour(terminal, () => overlay);
  const contents = withTour(drawn, overlayTour, hint.noteOpened);
  const overlay: Overlay = makeOverlay(terminal, { output, cursorQuery, onUncovered }, contents);
  const onDone = (): void => {
    footer.refresh();
    armSttyProcess(terminal);
    overlay.resume();
  };
  const onStart = (): void => overlay.pause();
  const resize = makeResize(terminal, { output, cursorQuery, onStart, onDone });
  const onStopping = (): void => overlay.close();
  const suspend = makeSuspend(terminal, { output, cursorQuery, onStopping, onResumed: () => resize.force() });
  const titleAnimation = makeTitleAnimation(terminal, (elements) => keyboard.forward(elements));
  const protection = makeProtection(terminal, { footer, resize });
  const others = { terminal, cursorQuery, resize, suspend, footer, overlay, titleAnimation, protection };
  const keyboard = connectKeyboard(others);
  const idleWriter = makeIdleWriter(terminal);
  return { ...others, output, onDrawn, overlayTour, keyboard, idleWriter };
};

/** Tells a tour what happens to the overlay. */
const withTour = (
  contents: OverlayContents,
  overlayTour: OverlayTour,
  onOpenedByUser: () => void,
): OverlayContents => ({
  ...contents,
  onOpen: () => {
    if (!overlayTour.noteOpened()) onOpenedByUser();
  },
  onKey: (key, isByItself) => {
    if (!isByItself) overlayTour.noteKey();
    contents.onKey(key, isByItself);
  },
  onClose: (isByItself) => {
    contents.onClose?.(isByItself);
    overlayTour.noteClosed();
  },
});

/** Handles a failure in the wrapper: closes the overlay and gives the terminal to the child. */
const fallBackToPassthrough = ({
  terminal,
  footer,
  overlay,
}: Pick<Parts, 'terminal' | 'footer' | 'overlay'>): void => {
  runGuarded(terminal, 'closing the overlay', () => void overlay.stop());
  switchToPassthrough(terminal, footer);
};

const connectKeyboard = ({
  terminal,
  resize,
  suspend,
  footer,
  overlay,
  titleAnimation,
  protection,
}: Omit<Parts, 'output' | 'onDrawn' | 'overlayTour' | 'keyboard' | 'idleWriter' | 'cursorQuery'>): Keyboard =>
  makeKeyboard(terminal, {
    onEscape: () => {
      if (!footer.countsDown() || terminal.overlayOutput) return false;
      terminal.counters.add('typed', 1); // keys that the worker decided on before it knows must not be written
      emit(terminal, { type: 'postpone' });
      emit(terminal, { type: 'user-keys' });
      return true;
    },
    onHotkey: () => {
      if (protection.onHotkey()) return;
      if (terminal.session.values.footer)
        return emit(terminal, noOverlayNotice(terminal, overlay.hindrance() ?? NOT_YET));
      terminal.isFooterWanted = !terminal.isFooterWanted; // there was none from the beginning
      resize.check();
    },
    onLeave: protection.onLeave,
    overlay,
    onDirectAction: terminal.session.agent.recipe && ((action) => actDirectly(terminal, action)),
    onTyped: () => emit(terminal, { type: 'user-keys' }),
    onEntered: () => terminal.worker.post({ type: 'entered', at: Date.now() }),
    onForward: (elements) => {
      suspend.noteKeys(elements);
      titleAnimation.noteKeys(elements);
    },
  });

const actDirectly = (terminal: TerminalSession, action: DirectAction): void =>
  action === 'compact'
    ? emit(terminal, hotkeyCompactRequest())
    : terminal.worker.post({ type: 'overlay-action', action });

const NOT_YET = 'the overview is not ready yet';

/** Says why the overlay does not open, and what works without it. */
const noOverlayNotice = ({ session }: TerminalSession, why: string): Event => {
  const compact = session.agent.recipe && compactKeys(session.values);
  return {
    type: 'notice',
    text: compact === undefined ? why : `${why} · ${compact} compacts`,
    priority: 300,
  };
};

/** Guarded, because a failure here must not look as if the keys had not been sent. */
const emit = (terminal: TerminalSession, event: Event): void => {
  runGuarded(terminal, 'noting the keys', () => terminal.worker.handle(event));
};

const ANSWER_MS = 60; // for the terminal to report its cursor position; the child starts meanwhile

/** Holds the child's output until the cursor position is known, because the filter tracks the cursor from there. */
const findCursor = async ({ terminal, cursorQuery, output }: Parts): Promise<void> => {
  output.hold();
  const cursor = await cursorQuery.askAtStart(ANSWER_MS);
  const { screen, filter } = terminal;
  const { grid } = filter;
  if (cursor) Object.assign(grid, { row: Math.min(cursor.row, grid.rows - 1), column: cursor.column });
  screen.alignCursor(grid.row);
  terminal.isCursorKnown = cursor !== undefined;
  output.release();
};

const startInTerminal = (terminal: TerminalSession, listener: ChildListener): Child => {
  const { session, tty, sttyProcess } = terminal;
  const { file, args, cwd, env } = session;
  const size = childSize(tty.size(), terminal);
  session.recording?.resize(size.columns, size.rows);
  try {
    return startChild({ file, args, cwd, env, size, termios: sttyProcess.termios }, listener);
  } catch (error) {
    throw new UserError(`can't start ${file} in a pseudo-terminal: ${String(error)}`, { exitCode: 125 });
  }
};

/** Handles signals and stray errors until the returned function is called. */
const listen = (parts: Parts, ending: Ending): (() => void) => {
  const { terminal, resize, suspend } = parts;
  const stopCatching = catchUncaughtErrors((error) => {
    terminal.session.log.error(`unexpected: ${errorStack(error)}`);
    fallBackToPassthrough(parts);
  });
  const stopListening = listenToSignals({
    onForward: (signal) => {
      ending.isTerminating ||= signal === 'SIGTERM' || signal === 'SIGHUP'; // a child may keep running after the other signals
      if (signal !== 'SIGUSR1' && signal !== 'SIGUSR2') parts.overlay.close(); // the agent may print something because of the signal
      terminal.child?.signal(signal);
    },
    onResize: () => resize.check(),
    onSuspend: suspend.suspend,
    onChild: suspend.noteChild,
  });
  return () => {
    stopListening();
    stopCatching();
  };
};

/** Starts the worker when the child runs, because loading it must not delay the child. */
const startWorker = (parts: Parts, childPid: number): void => {
  const { terminal, protection } = parts;
  const child = { pid: childPid, startedAt: Date.now() };
  protection.prepare();
  const onLost = (): void => protection.lose(child);
  terminal.worker.start(child, () => !terminal.isPassthrough, serveWorker({ ...parts, onLost }));
};

/** What to start after the child's end, if it has ended because it was told to. */
const restartOf = (
  { terminal }: Pick<Parts, 'terminal'>,
  { isTerminating }: Ending,
  { kind }: ExitStatus,
): RestartPlan | undefined => (kind === 'code' && !isTerminating ? terminal.restart : undefined);

/** Whether a child that was started again has ended by itself, without the session that it was to go on with. */
const hasLostRestart = (
  { terminal: { session, isRestartTaken, counters } }: Pick<Parts, 'terminal'>,
  { isTerminating }: Ending,
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
  ending: Ending,
  isRaw: Promise<void>,
): Promise<Pick<SessionEnd, 'summary' | 'hasStuckThread'>> => {
  const { terminal, cursorQuery, footer, overlay, resize, suspend, keyboard, idleWriter } = parts;
  const { session, tty, worker, child } = terminal;
  const alive = setInterval(() => undefined, ALIVE_MS); // nothing else that is awaited here keeps the process running
  const end = child ? await ending.ended : { exitCode: 0, signal: 0 };
  const status = statusOf(end);
  parts.overlayTour.stop();
  const recorded = child && worker.stop(status, ending.isTerminating);
  const failureRecorded = parts.protection.stop(status);
  await overlay.stop();
  await resize.stop(); // a late change of size must not come after the terminal was restored
  for (const part of [footer, suspend, keyboard, idleWriter, parts.titleAnimation]) part.stop();
  await isRaw; // the first output waits for it
  await restoreTerminal(terminal, end, { cursorQuery, isTerminating: () => ending.isTerminating });
  const summary = await recorded;
  await failureRecorded;
  const hasStuckThread = !(await worker.close());
  session.log.info(`ended: exit code ${end.exitCode}, signal ${end.signal}`);
  if (!restartOf(parts, ending, status)) await session.recording?.close();
  tty.restoreTermios();
  tty.close();
  clearInterval(alive);
  return { summary, hasStuckThread };
};

/** Runs the child to its end, and restores the terminal afterwards. */
const runChild = async (parts: Parts, ending: Ending): Promise<SessionEnd> => {
  const { terminal, output } = parts;
  const { session, tty, filter, isPassthrough } = terminal;
  const { queries } = filter.modeTracker;
  output.hold();
  const isRaw = tty.enterRawMode().then(output.release);
  let left: Pick<SessionEnd, 'summary' | 'hasStuckThread'>;
  try {
    if (!isPassthrough) tty.write(reserveFooterSequence(filter.grid));
    if (!isPassthrough) void findCursor(parts);
    armSttyProcess(terminal);
    const child = startInTerminal(terminal, {
      onOutput: output.fromChild,
      onDrain: tty.resumeInput,
      onGone: () => {
        session.log.info('the child is gone');
        if (!queries.isOwnAnswerExpected()) tty.leaveInput(); // an answer to the wrapper must not be left
      },
      onEnd: ending.finish,
    });
    terminal.child = child;
    session.log.info(`started ${session.file} as process ${child.pid}, runtime ${session.agent.name}`);
    runGuarded(terminal, 'starting the worker', () => startWorker(parts, child.pid));
    await ending.ended;
  } finally {
    left = await leaveTerminal(parts, ending, isRaw);
  }
  return { status: statusOf(await ending.ended), ...left };
};

/**
 * Runs the child in a pseudo-terminal with the footer below it, until it ends. Afterwards the terminal is in the state that the user's
 * shell needs. Fails with a UserError (125) when no pseudo-terminal can be opened; no other failure of the wrapper ends the session.
 */
export const wrap = async (
  session: WrapSession,
  sttyProcess: SttyProcess,
  startThread: StartThread,
  makeContents?: MakeContents,
): Promise<SessionEnd> => {
  const ending = makeEnding();
  let parts: Parts | undefined;
  const terminal = openTerminalSession(
    session,
    { sttyProcess, startThread },
    {
      onInput: (bytes) => parts?.keyboard.fromUser(bytes),
      onDrain: () => parts?.output.onDrained(),
      onHangUp: () => hangUp(ending, parts?.terminal.child),
    },
  );
  parts = makeParts(terminal, makeContents);
  const stopListening = listen(parts, ending);
  try {
    const end = await runChild(parts, ending);
    // Node crashes in an ordinary exit when its terminal is gone
    return ending.hasHungUp
      ? { status: { kind: 'signal', signal: 'SIGHUP' } }
      : {
          ...end,
          isLineOpen: terminal.filter.grid.column > 0,
          restart: restartOf(parts, ending, end.status),
          hasLostRestart: hasLostRestart(parts, ending, end.status),
        };
  } finally {
    stopListening();
  }
};
