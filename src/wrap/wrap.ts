import { UserError } from '../core/user-error.js';
import { startChild, type Child, type ChildEnd, type ChildListener } from '../terminal/child.js';
import { holdRegionSequence } from '../terminal/painter.js';
import { catchStrayErrors, listenToSignals } from '../terminal/signals.js';
import { DEVICE_ATTRIBUTES } from './cursor-question.js';
import { tidyUp } from './ending.js';
import { followChild } from './follow-child.js';
import { openOutside, type Outside } from './outside.js';
import { goPlain, makeParts, type MakeContents, type Parts } from './overlay/parts.js';
import { hangUp, makeEnding, statusOf, type Ending } from './session-end.js';
import { armWatchdog, setStage } from './set-stage.js';
import { childSize, survive, type Stage } from './stage.js';
import type { ExitStatus, WrapSession } from './wrap-session.js';

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
    stage.session.log.error(`unexpected: ${error instanceof Error ? (error.stack ?? '') : String(error)}`);
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
      if (!verbatim) stage.readings = followChild(parts, child.pid, outside);
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
