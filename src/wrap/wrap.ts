import type { Event } from '../core/event.js';
import { UserError } from '../core/user-error.js';
import { startChild, type Child, type ChildEnd, type ChildListener } from '../terminal/child.js';
import { quirksOfDeviceAttributes } from '../terminal/filter/quirks.js';
import { holdRegionSequence } from '../terminal/painter.js';
import { catchStrayErrors, listenToSignals } from '../terminal/signals.js';
import { lookOf } from '../ui/look.js';
import { DEVICE_ATTRIBUTES, makeCursorQuestion, type CursorQuestion } from './cursor-question.js';
import { tidyUp } from './ending.js';
import { compactByKey, followChild } from './follow-child.js';
import { makeFooter, type Footer } from './footer.js';
import { makeKeys, type Keys } from './keys.js';
import { makeNotifier, type Notifier } from './notifier.js';
import { makeOutput, type Output } from './output.js';
import { openOutside, type Outside } from './outside.js';
import { makeResize, type Resize } from './resize.js';
import { hangUp, makeEnding, statusOf, type Ending } from './session-end.js';
import { armWatchdog, setStage } from './set-stage.js';
import { childSize, survive, type Stage } from './stage.js';
import { makeSuspend, type Suspend } from './suspend.js';
import { goVerbatim } from './verbatim.js';
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
  readonly notifier: Notifier;
}

const ANSWER_MS = 60; // for the terminal to say where its cursor is; the child is starting meanwhile

const makeParts = (stage: Stage): Parts => {
  const { session, filter } = stage;
  const { grid, ledger } = filter;
  const question = makeCursorQuestion(stage, {
    onAttributes: (text) => {
      grid.quirks = quirksOfDeviceAttributes(text, grid.quirks);
    },
    onLate: () => {
      if (!stage.cursorKnown) void resize.realign();
    },
  });
  const footer = makeFooter(
    stage,
    (columns) => lookOf(session.env, true, columns, session.theme),
    () => resize.check(),
  );
  const output = makeOutput(stage, {
    isResized: () => resize.check(),
    onOutput: (bytes) => {
      footer.noteOutput();
      stage.readings?.noteOutput();
      suspend.noteOutput(bytes);
      if (ledger.takeChanged()) armWatchdog(stage);
    },
    onFailure: () => goVerbatim(stage, footer),
  });
  const onDone = (): void => {
    footer.refresh();
    armWatchdog(stage);
  };
  const resize = makeResize(stage, { output, question, onDone });
  const suspend = makeSuspend(stage, { output, question, onResumed: () => resize.renew() });
  const keys = makeKeys(stage, {
    onHotkey: () => {
      stage.footerWanted = !stage.footerWanted;
      resize.check();
    },
    onCompactKey: session.runtime.recipe && (() => told(stage, compactByKey())),
    onTyped: () => told(stage, { type: 'user-keys' }),
    onAnswer: question.answered,
    onForward: suspend.noteKeys,
  });
  return { stage, question, output, footer, resize, suspend, keys, notifier: makeNotifier(stage) };
};

/** A failure here must not look as if the keys had not been sent. */
const told = (stage: Stage, event: Event): void => {
  survive(stage, 'noting the keys', () => stage.readings?.take(event));
};

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
  const size = childSize(tty.size(), stage.footerWanted && !stage.verbatim);
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
    stage.session.log.error(`unexpected: ${error instanceof Error ? (error.stack ?? '') : String(error)}`);
    goVerbatim(stage, parts.footer);
  });
  const stopListening = listenToSignals({
    onForward: (signal) => {
      ending.isToldToEnd ||= signal === 'SIGTERM' || signal === 'SIGHUP'; // a child may live on after the others
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
  const { stage, question, output, footer, resize, suspend, keys, notifier } = parts;
  const { session, tty, filter, verbatim } = stage;
  tty.hold();
  try {
    if (!verbatim) tty.write(holdRegionSequence(filter.grid));
    if (!verbatim) void findCursor(parts);
    armWatchdog(stage);
    const child = startIn(stage, { onOutput: output.fromChild, onEnd: ending.finish });
    stage.child = child;
    session.log.info(`started ${session.file} as process ${child.pid}, runtime ${session.runtime.name}`);
    let outside: Outside | undefined;
    survive(stage, 'following the session', () => {
      outside = openOutside(session, child.pid, (event) => stage.readings?.take(event));
      if (!verbatim) stage.readings = followChild(parts, child.pid, outside);
    });
    const end = await ending.ended;
    survive(stage, 'ending the readings', () => stage.readings?.stop());
    await outside?.end(statusOf(end));
    return end;
  } finally {
    await resize.stop(); // a late change of size must not come after the tidy end
    for (const part of [footer, suspend, keys, notifier]) part.stop();
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
export const wrap = async (session: WrapSession): Promise<ExitStatus> => {
  const ending = makeEnding();
  let parts: Parts | undefined;
  const stage = setStage(session, {
    onInput: (bytes) => parts?.keys.fromUser(bytes),
    onDrain: () => parts?.output.drained(),
    onGone: () => hangUp(ending, parts?.stage.child),
  });
  parts = makeParts(stage);
  const stopListening = listen(parts, ending);
  try {
    const status = statusOf(await play(parts, ending));
    // Node crashes in an ordinary exit when its terminal is gone
    return ending.isGone ? { kind: 'signal', signal: 'SIGHUP' } : status;
  } finally {
    stopListening();
  }
};
