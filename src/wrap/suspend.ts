import type { Runtime } from '../agents/agent.js';
import { runtimes } from '../agents/index.js';
import { CONTROL, keyOf, type InputElement } from '../core/terminal-input.js';
import { processStat } from '../storage/processes.js';
import { holdRegionSequence, tidySequence } from '../terminal/painter.js';
import { stopOurselves } from '../terminal/tty.js';
import type { Output } from './output.js';
import type { CursorQuestion } from './resize.js';
import type { Stage } from './terminal-session.js';

/** Job control: gives the terminal back to the shell and stops, and takes both up again (facts/sessions.md §E). */
export interface Suspend {
  /** what the user types, on its way to the child */
  noteKeys: (elements: readonly InputElement[]) => void;
  noteOutput: (bytes: Uint8Array) => void;
  now: () => void;
  stop: () => void;
}

export interface SuspendParts {
  readonly output: Output;
  readonly question: CursorQuestion;
  /** nothing of ours may be over the child's screen from here on */
  readonly onStopping: () => void;
  /** the terminal is ours again: where the cursor is, and how large the screen, has to be found out anew */
  readonly onResumed: () => Promise<void>;
}

// Of all agents, for a start script hides which one it starts.
const SUSPENDED = Object.values<Runtime>(runtimes).flatMap(({ suspendedText }) => suspendedText ?? []);
const CONTROL_Z_MS = 2_000; // the words count only right after the key: conversations can contain them
const POLL_MS = 1_000; // for a child that somebody stopped
const ANSWER_MS = 150; // for the terminal to say where the shell has left its cursor

const isControlZ = ({ kind, text }: InputElement): boolean => {
  if (kind !== 'key') return false;
  const { name, modifiers, isRelease } = keyOf(text);
  return name === 'z' && modifiers === CONTROL && !isRelease;
};

const LONGEST = Math.max(...SUSPENDED.map((words) => words.length));

/** Finds the words although they may be split between chunks. */
const makeWordFinder = (): ((bytes: Uint8Array) => boolean) => {
  let tail = '';
  return (bytes) => {
    const text = tail + Buffer.from(bytes).toString('latin1');
    tail = text.slice(-LONGEST);
    return SUSPENDED.some((words) => text.includes(words));
  };
};

/** The terminal as the shell needs it, while we are stopped. */
const giveBack = async ({ tty, filter, watchdog }: Stage): Promise<void> => {
  const { grid, ledger } = filter;
  const state = { unterminated: !filter.isGround(), died: false, lastRow: grid.row };
  tty.write(tidySequence(grid, ledger, state));
  await tty.drained();
  watchdog.arm('');
  tty.release();
};

/** Below what the shell has written since: there the cursor must be when the child leaves its alternate screen. */
const moveMainCursor = async ({ filter: { grid } }: Stage, question: CursorQuestion): Promise<void> => {
  const cursor = await question.ask('', ANSWER_MS);
  if (!cursor) return;
  const { row, column } = cursor;
  grid.saved.main = { ...grid.saved.main, row: Math.min(row, grid.rows - 1), column };
  grid.mainCursorStale = true;
};

/** The terminal as the child left it, and the child running. */
const takeBack = async (stage: Stage, wasAlternate: boolean, question: CursorQuestion): Promise<void> => {
  const { tty, filter, child, verbatim } = stage;
  const { grid, ledger } = filter;
  tty.hold();
  if (wasAlternate) await moveMainCursor(stage, question);
  const enter = wasAlternate ? `\x1b[?${grid.alternateMode}h` : '';
  tty.write(enter + (verbatim ? '' : holdRegionSequence(grid)) + ledger.reapply(wasAlternate));
  grid.footerDirty = true;
  child?.signal('SIGCONT');
};

export const makeSuspend = (stage: Stage, parts: SuspendParts): Suspend => {
  const { output, question, onStopping, onResumed } = parts;
  const finder = makeWordFinder();
  let lastControlZ = -Infinity;
  let stopping = false;

  const suspend = async (): Promise<void> => {
    stopping = true;
    output.hold();
    try {
      onStopping();
      const wasAlternate = stage.filter.grid.alternate;
      await giveBack(stage);
      await stopOurselves();
      await takeBack(stage, wasAlternate, question);
    } finally {
      output.release();
      stopping = false;
    }
    await onResumed();
  };
  const now = (): void => {
    if (!stopping)
      suspend().catch((error: unknown) => stage.session.log.error(`suspending failed: ${String(error)}`));
  };
  const poll = setInterval(() => {
    const pid = stage.child?.pid;
    if (pid === undefined || stopping) return;
    if (processStat(pid)?.state === 'T') now();
  }, POLL_MS);
  return {
    noteKeys: (elements) => {
      if (elements.some(isControlZ)) lastControlZ = performance.now();
    },
    noteOutput: (bytes) => {
      if (performance.now() - lastControlZ < CONTROL_Z_MS && finder(bytes)) now();
    },
    now,
    stop: () => {
      clearInterval(poll);
      stopping = true; // there is nothing left to suspend
    },
  };
};
