import { constants } from 'node:os';
import { UserError } from '../core/user-error.js';
import { startChild, type Child, type ChildEnd, type ChildListener } from '../terminal/child.js';
import { hasFooter, resizeGrid } from '../terminal/filter/grid.js';
import { quirksOfDeviceAttributes } from '../terminal/filter/quirks.js';
import { holdRegionSequence, tidySequence } from '../terminal/painter.js';
import { catchStrayErrors, listenToSignals } from '../terminal/signals.js';
import { lookOf } from '../ui/look.js';
import { DEVICE_ATTRIBUTES, makeCursorQuestion, type CursorQuestion } from './cursor-question.js';
import { tidyUp } from './ending.js';
import { makeFooter, type Footer } from './footer.js';
import { makeKeys, type Keys } from './keys.js';
import { makeOutput, type Output } from './output.js';
import { followReadings } from './readings.js';
import { makeResize, type Resize } from './resize.js';
import { armWatchdog, setStage } from './set-stage.js';
import { childSize, type Stage } from './stage.js';
import { makeSuspend, type Suspend } from './suspend.js';
import type { ExitStatus, WrapSession } from './wrap-session.js';

/** The parts of a running wrap. */
interface Parts {
  readonly stage: Stage;
  readonly question: CursorQuestion;
  readonly output: Output;
  readonly footer: Footer;
  readonly resize: Resize;
  readonly suspend: Suspend;
  readonly keys: Keys;
}

const ANSWER_MS = 60; // for the terminal to say where its cursor is; the child is starting meanwhile
const HANGUP_MS = 3_000; // for the child to end after the terminal has hung up

/** Something of ours has failed: from here on bytes go through as they are, and the child gets the whole screen. */
const goVerbatim = ({ stage, footer }: Pick<Parts, 'stage' | 'footer'>): void => {
  if (stage.verbatim) return;
  const { grid } = stage.filter;
  stage.verbatim = true;
  stage.session.log.error('going on as a plain passthrough');
  footer.stop();
  const size = stage.tty.size();
  if (hasFooter(grid)) stage.tty.write(`\x1b7\x1b[r\x1b[${size.rows};1H\x1b[0m\x1b[2K\x1b8`);
  resizeGrid(grid, size.columns, size.rows, size.rows);
  stage.child?.resize(size);
};

const makeParts = (stage: Stage): Parts => {
  const { session, filter } = stage;
  const { grid, ledger } = filter;
  const question = makeCursorQuestion(stage, (text) => {
    grid.quirks = quirksOfDeviceAttributes(text, grid.quirks);
  });
  const footer = makeFooter(
    stage,
    (columns) => lookOf(session.env, true, columns),
    () => resize.check(),
  );
  const output = makeOutput(stage, {
    isResized: () => resize.check(),
    onOutput: (bytes) => {
      footer.noteOutput();
      suspend.noteOutput(bytes);
      if (ledger.takeChanged()) armWatchdog(stage);
    },
    onFailure: () => goVerbatim({ stage, footer }),
  });
  const onDone = (): void => {
    footer.refresh();
    armWatchdog(stage);
  };
  const resize = makeResize(stage, { output, question, onDone });
  const suspend = makeSuspend(stage, { output, onResumed: () => resize.renew() });
  const keys = makeKeys(stage, {
    onHotkey: () => {
      stage.footerWanted = !stage.footerWanted;
      resize.check();
    },
    onAnswer: question.answered,
    onForward: suspend.noteKeys,
  });
  return { stage, question, output, footer, resize, suspend, keys };
};

/** The child's output waits until we know where the cursor is, so that the filter can count from there. */
const findCursor = async ({ stage, question, output }: Parts): Promise<void> => {
  output.hold();
  const cursor = await question.ask(DEVICE_ATTRIBUTES, ANSWER_MS);
  const { grid } = stage.filter;
  if (cursor) Object.assign(grid, { row: Math.min(cursor.row, grid.rows - 1), column: cursor.column });
  output.release();
};

const startIn = (stage: Stage, listener: ChildListener): Child => {
  const { session, tty } = stage;
  const { file, args, cwd, env } = session;
  const size = childSize(tty.size(), stage.footerWanted && !stage.verbatim);
  session.recording?.resize(size.columns, size.rows);
  try {
    return startChild({ file, args, cwd, env, size, termios: tty.termios }, listener);
  } catch (error) {
    const { filter } = stage;
    tty.write(tidySequence(filter.grid, filter.ledger, { unterminated: false, died: false, lastRow: -1 }));
    stage.watchdog.dismiss();
    tty.release();
    tty.close();
    throw new UserError(`can't start ${file} in a pseudo-terminal: ${String(error)}`, { exitCode: 125 });
  }
};

const statusOf = ({ exitCode, signal }: ChildEnd): ExitStatus => {
  const name = Object.entries(constants.signals).find(([, number]) => number === signal)?.[0];
  return name === undefined
    ? { kind: 'code', code: exitCode }
    : { kind: 'signal', signal: name as NodeJS.Signals };
};

/**
 * Runs the child in a pseudo-terminal with the footer below it, until it ends. Afterwards the terminal is as the user's shell needs
 * it. Fails with a UserError (125) when no pseudo-terminal can be had; nothing else of ours ends the session.
 */
export const wrap = async (session: WrapSession): Promise<ExitStatus> => {
  let parts: Parts | undefined;
  let isToldToEnd = false;
  let finish: (end: ChildEnd) => void = () => undefined;
  const ended = new Promise<ChildEnd>((resolve) => (finish = resolve));
  const onGone = (): void => {
    isToldToEnd = true;
    parts?.stage.child?.signal('SIGHUP');
    setTimeout(() => finish({ exitCode: 0, signal: constants.signals.SIGHUP }), HANGUP_MS).unref();
  };
  const stage = setStage(session, {
    onInput: (bytes) => parts?.keys.fromUser(bytes),
    onDrain: () => parts?.output.drained(),
    onGone,
  });
  const made = (parts = makeParts(stage));
  const stopCatching = catchStrayErrors((error) => {
    session.log.error(`unexpected: ${error instanceof Error ? (error.stack ?? '') : String(error)}`);
    goVerbatim(made);
  });
  const stopListening = listenToSignals({
    onForward: (signal) => {
      isToldToEnd ||= signal !== 'SIGUSR1' && signal !== 'SIGUSR2';
      stage.child?.signal(signal);
    },
    onResize: () => made.resize.check(),
    onStop: made.suspend.now,
  });
  stage.tty.hold();
  if (!stage.verbatim) stage.tty.write(holdRegionSequence(stage.filter.grid));
  if (!stage.verbatim) void findCursor(made);
  armWatchdog(stage);
  stage.child = startIn(stage, { onOutput: made.output.fromChild, onEnd: finish });
  const following = stage.verbatim ? undefined : followReadings(session, stage.child.pid, made.footer.show);
  const end = await ended;
  following?.stop();
  await made.resize.done();
  for (const part of [made.footer, made.suspend, made.keys]) part.stop();
  await tidyUp(stage, end, { question: made.question, isToldToEnd: () => isToldToEnd });
  await session.recording?.close();
  stage.tty.release();
  stage.tty.close();
  stopListening();
  stopCatching();
  return statusOf(end);
};
