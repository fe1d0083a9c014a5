import { tidySequence } from '../terminal/painter.js';
import type { ChildEnd } from '../terminal/child.js';
import type { CursorQuestion } from './cursor-question.js';
import type { Stage } from './stage.js';

const SCREEN_MS = 300; // for the screen model to catch up, so that the cursor can be put below its content
const ANSWER_MS = 300; // for an answer that would else be typed into the user's shell
const STUCK_MS = 1_000; // a terminal that takes nothing, after we were told to end

const within = (promise: Promise<void>, milliseconds: number): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), milliseconds);
    void promise.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });

/** Takes everything written so far; gives up on a stuck terminal only when somebody wants us to end. */
const drain = async (stage: Stage, isToldToEnd: () => boolean): Promise<boolean> => {
  const drained = stage.tty.drained();
  let left = stage.tty.pending();
  while (!(await within(drained, STUCK_MS))) {
    if (isToldToEnd() && stage.tty.pending() >= left) return false;
    left = stage.tty.pending();
  }
  return true;
};

const nothing = new Uint8Array();
const NOWHERE = -1; // a child that had the terminal to itself leaves the cursor where it likes

/** Tidies the terminal after the child's end. False if the terminal has not taken it: the watchdog then does it. */
export const tidyUp = async (
  stage: Stage,
  end: ChildEnd,
  { question, isToldToEnd }: { question: CursorQuestion; isToldToEnd: () => boolean },
): Promise<boolean> => {
  const { filter, screen, tty, watchdog } = stage;
  await question.settled(ANSWER_MS); // the first output waits for the answer, too
  const unterminated = !filter.isGround();
  const rest = stage.verbatim ? nothing : filter.flush(); // a filter that has failed is not asked again
  if (rest.length > 0) tty.write(rest);
  const hasModel = stage.cursorKnown && !stage.verbatim;
  const isCurrent = hasModel && (await within(screen.settled(), SCREEN_MS));
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
  const taken = await drain(stage, isToldToEnd);
  if (taken) watchdog.dismiss();
  return taken;
};
