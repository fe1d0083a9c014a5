import { constants } from 'node:os';
import type { Event } from '../core/event.js';
import { errorStack, UserError } from '../core/json.js';
import { resizeGrid } from '../terminal/filter/grid.js';
import { tidySequence, abandonSequence, holdRegionSequence } from '../terminal/painter.js';
import { type ChildEnd, type Child, startChild, type ChildListener } from '../terminal/pty.js';
import { catchStrayErrors, listenToSignals } from '../terminal/tty.js';
import { type Footer, makeFooter } from './footer.js';
import { type Keys, makeKeys } from './keyboard.js';
import { type Notifier, makeNotifier } from './notifier.js';
import type { ExitStatus, WrapSession } from './options.js';
import { type Output, makeOutput } from './output.js';
import { makeOverlay, type Overlay, type OverlayContents } from './overlay.js';
import { type Outside, openOutside } from './publish.js';
import { followReadings } from './readings.js';
import {
  type CursorQuestion,
  type Resize,
  makeCursorQuestion,
  makeResize,
  DEVICE_ATTRIBUTES,
} from './resize.js';
import { makeSuspend, type Suspend } from './suspend.js';
import { type Stage, survive, armWatchdog, setStage, childSize } from './terminal-session.js';
import { atMost } from './timing.js';
import { makeTitleTurns, type TitleTurns } from './title-turns.js';

const SCREEN_MS = 300; // for the screen model to catch up, so that the cursor can be put below its content
const ENDING_ANSWER_MS = 300; // for an answer that would else be typed into the user's shell
const STUCK_MS = 1_000; // a terminal that takes nothing, after we were told to end

/** Takes everything written so far; gives up on a stuck terminal only when somebody wants us to end. */
const drain = async (stage: Stage, isToldToEnd: () => boolean): Promise<boolean> => {
  const drained = stage.tty.drained();
  let left = stage.tty.pending();
  while (!(await atMost(STUCK_MS, drained))) {
    if (isToldToEnd() && stage.tty.pending() >= left) return false;
    left = stage.tty.pending();
  }
  return true;
};

const nothing = new Uint8Array();
const NOWHERE = -1; // a child that had the terminal to itself leaves the cursor where it likes

/** Tidies the terminal after the child's end. If the terminal has not taken it, the watchdog does it. */
const tidyUp = async (
  stage: Stage,
  end: ChildEnd,
  { question, isToldToEnd }: { question: CursorQuestion; isToldToEnd: () => boolean },
): Promise<void> => {
  const { filter, screen, tty, watchdog } = stage;
  await question.settled(ENDING_ANSWER_MS); // the first output waits for the answer, too
  const unterminated = !filter.isGround();
  const rest = stage.verbatim ? nothing : filter.flush(); // a filter that has failed is not asked again
  if (rest.length > 0) tty.write(rest);
  const hasModel = stage.cursorKnown && !stage.verbatim;
  const isCurrent = hasModel && (await atMost(SCREEN_MS, screen.settled()));
  const isOff = stage.session.mode === 'off';
  const lastRow = isOff ? NOWHERE : isCurrent ? screen.lastRow() : undefined;
  tty.write(
    tidySequence(filter.grid, filter.ledger, {
      unterminated: unterminated || rest.length > 0,
      died: end.signal > 0 || isToldToEnd(), // an agent told to end may leave its cursor inside its box
      lastRow,
      abandoned: stage.verbatim && !isOff,
    }),
  );
  if (await drain(stage, isToldToEnd)) watchdog.dismiss();
};

/** The user asks by a key: what was tried before does not count. */
export const compactByKey = (): Event => ({
  type: 'compact-requested',
  request: { id: `key-${crypto.randomUUID()}`, force: true, isByKey: true },
});

// The way out when something of ours has failed: the session goes on as if we were not there.

/** From here on bytes go through as they are, and the child gets the whole screen. What fails in here fails alone. */
export const goVerbatim = (stage: Stage, footer: Pick<Footer, 'stop'>): void => {
  if (stage.verbatim) return;
  const { grid } = stage.filter;
  stage.verbatim = true;
  stage.session.log.error('going on as a plain passthrough');
  // it may be these that have failed
  survive(stage, 'stopping the footer', () => footer.stop());
  survive(stage, 'stopping to read the screen', () => stage.readings?.goBlind());
  const size = stage.tty.size();
  stage.standIn?.stop();
  survive(stage, 'giving out what the filter holds', () => stage.tty.write(stage.filter.flush()));
  stage.tty.write(abandonSequence(grid));
  resizeGrid(grid, size.columns, size.rows, size.rows);
  stage.child?.resize(size);
};

/** The parts of a running wrap. */
export interface Parts {
  readonly stage: Stage;
  readonly question: CursorQuestion;
  readonly output: Output;
  readonly footer: Footer;
  readonly overlay: Overlay | undefined;
  readonly resize: Resize;
  readonly suspend: Suspend;
  readonly keys: Keys;
  readonly notifier: Notifier;
  readonly titles: TitleTurns;
}

/** What the overlay shows, made for the overlay that it is shown in. */
export type MakeContents = (overlay: Pick<Overlay, 'close' | 'redraw'>, stage: Stage) => OverlayContents;

/** The parts, each told of the others. Without contents there is no overlay. */
export const makeParts = (stage: Stage, makeContents?: MakeContents): Parts => {
  const question: CursorQuestion = makeCursorQuestion(stage, () => {
    if (!stage.cursorKnown && !stage.cover) void resize.realign();
  });
  const footer = makeFooter(stage, () => resize.check());
  const output = makeOutput(stage, {
    isResized: () => resize.check(),
    onOutput: (bytes) => {
      footer.noteOutput();
      overlay?.noteOutput();
      stage.readings?.noteOutput();
      suspend.noteOutput(bytes);
      titles.noteOutput();
      if (stage.filter.ledger.takeChanged()) armWatchdog(stage);
    },
    onFailure: () => goPlain({ stage, footer, overlay }),
  });
  const overlay = makeContents && overlayWith({ stage, output, question, footer }, makeContents);
  const onDone = (): void => {
    footer.refresh();
    armWatchdog(stage);
    overlay?.resume();
  };
  const onStart = (): void => overlay?.pause();
  const resize = makeResize(stage, { output, question, onStart, onDone });
  const onStopping = (): void => overlay?.close();
  const suspend = makeSuspend(stage, { output, question, onStopping, onResumed: () => resize.renew() });
  const titles = makeTitleTurns(stage, (elements) => keys.forward(elements));
  const keys = keysOf({ stage, question, resize, suspend, overlay, titles });
  const notifier = makeNotifier(stage);
  return { stage, question, output, footer, overlay, resize, suspend, keys, notifier, titles };
};

/** Something of ours has failed: the child gets the terminal to itself. */
const goPlain = ({ stage, footer, overlay }: Pick<Parts, 'stage' | 'footer' | 'overlay'>): void => {
  survive(stage, 'closing the overlay', () => void overlay?.stop());
  goVerbatim(stage, footer);
};

const overlayWith = (
  { stage, output, question, footer }: Pick<Parts, 'stage' | 'output' | 'question' | 'footer'>,
  makeContents: MakeContents,
): Overlay => {
  const contents = makeContents({ close: () => overlay.close(), redraw: () => overlay.redraw() }, stage);
  const overlay: Overlay = makeOverlay(
    stage,
    { output, question, onUncovered: () => footer.noteOutput() },
    contents,
  );
  return overlay;
};

const keysOf = ({
  stage,
  question,
  resize,
  suspend,
  overlay,
  titles,
}: Pick<Parts, 'stage' | 'question' | 'resize' | 'suspend' | 'overlay' | 'titles'>): Keys =>
  makeKeys(stage, {
    onHotkey: () => {
      stage.footerWanted = !stage.footerWanted;
      resize.check();
    },
    overlay,
    onCompactKey: stage.session.runtime.recipe && (() => told(stage, compactByKey())),
    onTyped: () => told(stage, { type: 'user-keys' }),
    onAnswer: question.answered,
    onForward: (elements) => {
      suspend.noteKeys(elements);
      titles.noteKeys(elements);
    },
  });

/** A failure here must not look as if the keys had not been sent. */
const told = (stage: Stage, event: Event): void => {
  survive(stage, 'noting the keys', () => stage.readings?.take(event));
};

const HANGUP_MS = 3_000; // for the child to end after the terminal has hung up

/** How a session comes to its end. */
export interface Ending {
  readonly ended: Promise<ChildEnd>;
  readonly finish: (end: ChildEnd) => void;
  /** somebody has sent us a signal to end, or the terminal has hung up */
  isToldToEnd: boolean;
  /** the terminal has hung up */
  isGone: boolean;
}

const makeEnding = (): Ending => {
  let finish: (end: ChildEnd) => void = () => undefined;
  const ended = new Promise<ChildEnd>((resolve) => (finish = resolve));
  return { ended, finish, isToldToEnd: false, isGone: false };
};

/** The terminal has hung up: the child hears of it, and if it does not end we do, which closes its terminal. */
const hangUp = (ending: Ending, child: Child | undefined): void => {
  ending.isToldToEnd = true;
  ending.isGone = true;
  child?.signal('SIGHUP');
  setTimeout(() => ending.finish({ exitCode: 0, signal: constants.signals.SIGHUP }), HANGUP_MS).unref();
};

/** The child's end in the words of the command line. */
const statusOf = ({ exitCode, signal }: ChildEnd): ExitStatus => {
  const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
  if (name !== undefined) return { kind: 'signal', signal: name as NodeJS.Signals };
  return { kind: 'code', code: signal > 0 ? 128 + signal : exitCode }; // Node has no names for real-time signals
};

const ANSWER_MS = 60; // for the terminal to say where its cursor is; the child is starting meanwhile

/** The child's output waits until we know where the cursor is, so that the filter can count from there. */
const findCursor = async ({ stage, question, output }: Parts): Promise<void> => {
  output.hold();
  const cursor = await question.ask(DEVICE_ATTRIBUTES, ANSWER_MS);
  const { screen, filter } = stage;
  const { grid } = filter;
  if (cursor) Object.assign(grid, { row: Math.min(cursor.row, grid.rows - 1), column: cursor.column });
  screen.alignCursor(grid.row);
  stage.cursorKnown = cursor !== undefined;
  output.release();
};

const startIn = (stage: Stage, listener: ChildListener): Child => {
  const { session, tty } = stage;
  const { file, args, cwd, env } = session;
  const size = childSize(tty.size(), stage);
  session.recording?.resize(size.columns, size.rows);
  try {
    return startChild({ file, args, cwd, env, size, termios: tty.termios }, listener);
  } catch (error) {
    throw new UserError(`can't start ${file} in a pseudo-terminal: ${String(error)}`, { exitCode: 125 });
  }
};

/** Listens to signals and stray errors until the returned function is called. */
const listen = (parts: Parts, ending: Ending): (() => void) => {
  const { stage, resize, suspend } = parts;
  const stopCatching = catchStrayErrors((error) => {
    stage.session.log.error(`unexpected: ${errorStack(error)}`);
    goPlain(parts);
  });
  const stopListening = listenToSignals({
    onForward: (signal) => {
      ending.isToldToEnd ||= signal === 'SIGTERM' || signal === 'SIGHUP'; // a child may live on after the others
      if (signal !== 'SIGUSR1' && signal !== 'SIGUSR2') parts.overlay?.close(); // the agent may have something to say to it
      stage.child?.signal(signal);
    },
    onResize: () => resize.check(),
    onStop: suspend.now,
  });
  return () => {
    stopListening();
    stopCatching();
  };
};

/** Runs the child to its end, and tidies the terminal after it. */
const play = async (parts: Parts, ending: Ending): Promise<ChildEnd> => {
  const { stage, question, output, footer, overlay, resize, suspend, keys, notifier, titles } = parts;
  const { session, tty, filter, verbatim } = stage;
  tty.hold();
  try {
    if (!verbatim) tty.write(holdRegionSequence(filter.grid));
    if (!verbatim) void findCursor(parts);
    armWatchdog(stage);
    const child = startIn(stage, {
      onOutput: output.fromChild,
      onDrain: tty.resumeInput,
      onEnd: ending.finish,
    });
    stage.child = child;
    session.log.info(`started ${session.file} as process ${child.pid}, runtime ${session.runtime.name}`);
    let outside: Outside | undefined;
    survive(stage, 'following the session', () => {
      outside = openOutside(session, child.pid, (event) => stage.readings?.take(event));
      if (!verbatim) stage.readings = followReadings({ ...parts, outside }, child.pid);
    });
    const end = await ending.ended;
    survive(stage, 'ending the readings', () => stage.readings?.stop());
    await outside?.end(statusOf(end));
    return end;
  } finally {
    await overlay?.stop();
    await resize.stop(); // a late change of size must not come after the tidy end
    for (const part of [footer, suspend, keys, notifier, titles]) part.stop();
    const end = stage.child ? await ending.ended : { exitCode: 0, signal: 0 };
    await tidyUp(stage, end, { question, isToldToEnd: () => ending.isToldToEnd });
    session.log.info(`ended: exit code ${end.exitCode}, signal ${end.signal}`);
    await session.recording?.close();
    tty.release();
    tty.close();
  }
};

/**
 * Runs the child in a pseudo-terminal with the footer below it, until it ends. Afterwards the terminal is as the user's shell needs
 * it. Fails with a UserError (125) when no pseudo-terminal can be had; nothing else of ours ends the session.
 */
export const wrap = async (session: WrapSession, makeContents?: MakeContents): Promise<ExitStatus> => {
  const ending = makeEnding();
  let parts: Parts | undefined;
  const stage = setStage(session, {
    onInput: (bytes) => parts?.keys.fromUser(bytes),
    onDrain: () => parts?.output.drained(),
    onGone: () => hangUp(ending, parts?.stage.child),
  });
  parts = makeParts(stage, makeContents);
  const stopListening = listen(parts, ending);
  try {
    const status = statusOf(await play(parts, ending));
    // Node crashes in an ordinary exit when its terminal is gone
    return ending.isGone ? { kind: 'signal', signal: 'SIGHUP' } : status;
  } finally {
    stopListening();
  }
};
