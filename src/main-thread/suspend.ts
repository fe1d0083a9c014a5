import { launches } from '../agents/launches.js';
import { CONTROL, parseKey, type InputElement } from '../core/terminal-input.js';
import { processStat } from '../storage/processes.js';
import { reserveFooterSequence } from '../terminal/footer-room.js';
import { restoreTerminalSequence } from '../terminal/footer-sequences.js';
import { suspendProcessGroup } from '../terminal/tty.js';
import type { Output } from './output.js';
import type { CursorPosition, CursorQuery } from './cursor-query.js';
import type { Emit } from './terminal-event.js';
import type { TerminalSession } from './terminal-session.js';

// Job control: suspends the wrapper together with the child, and resumes both.

/** Gives the terminal back to the shell and stops; takes it again on resume (docs/facts/sessions.md#suspend). */
export interface Suspend {
  /** what the user types, on its way to the child */
  noteKeys: (elements: readonly InputElement[]) => void;
  noteOutput: (bytes: Uint8Array) => void;
  suspend: () => void;
  /** a process started by the wrapper has stopped or ended: the child may have been stopped from outside */
  noteChild: () => void;
  stop: () => void;
}

export interface SuspendParts {
  readonly output: Output;
  readonly cursorQuery: CursorQuery;
  readonly emit: Emit;
}

// Checked for every agent: a start script may hide which one runs.
const SUSPENDED = launches.flatMap(({ suspendedText }) => suspendedText ?? []);
const CONTROL_Z_MS = 2_000; // the text counts only right after the key, because a conversation can contain it
const ANSWER_MS = 150; // for the terminal to report where the shell has left its cursor

const isControlZ = ({ kind, text }: InputElement): boolean => {
  if (kind !== 'key') return false;
  const { name, modifiers, isRelease } = parseKey(text);
  return name === 'z' && modifiers === CONTROL && !isRelease;
};

const LONGEST = Math.max(...SUSPENDED.map((searched) => searched.length));

/** Finds the text even if it is split between chunks. */
const makeTextFinder = (): ((bytes: Uint8Array) => boolean) => {
  let tail = '';
  return (bytes) => {
    const text = tail + Buffer.from(bytes).toString('latin1');
    tail = text.slice(-LONGEST);
    return SUSPENDED.some((searched) => text.includes(searched));
  };
};

/** Restores the terminal for the shell, while the wrapper is stopped. */
const releaseTerminal = async ({ tty, filter, sttyProcess }: TerminalSession): Promise<void> => {
  const { grid, modeTracker } = filter;
  const state = { isStringOpen: !filter.isGround(), hasDied: false, lastRow: grid.row };
  tty.write(restoreTerminalSequence(grid, modeTracker, state));
  await tty.drained();
  sttyProcess.arm('');
  tty.restoreTermios();
};

/**
 * Sets the main screen's cursor below what the shell has written since: the child returns there when it leaves its alternate screen. An
 * answer that is late is still about the main screen.
 */
const moveMainCursor = async (
  { filter: { grid } }: TerminalSession,
  cursorQuery: CursorQuery,
): Promise<void> => {
  const before = grid.saved.main;
  const move = (cursor: CursorPosition | undefined): void => {
    const { main } = grid.saved;
    const isThere = grid.alternate && main.row === before.row && main.column === before.column;
    if (!cursor || !isThere) return; // the child has been on the main screen meanwhile
    grid.saved.main = { ...main, row: Math.min(cursor.row, grid.rows - 1), column: cursor.column };
    grid.mainCursorStale = true;
  };
  move(await cursorQuery.ask('', ANSWER_MS, (_, cursor) => move(cursor)));
};

/** Sets the terminal to the state the child left, and continues the child. */
const reclaimTerminal = async (
  terminal: TerminalSession,
  wasAlternate: boolean,
  cursorQuery: CursorQuery,
): Promise<void> => {
  const { tty, sttyProcess, filter, child, isPassthrough } = terminal;
  const { grid, modeTracker } = filter;
  tty.setRaw(); // the shell has changed the terminal
  await sttyProcess.disableOutputProcessing();
  if (wasAlternate) await moveMainCursor(terminal, cursorQuery);
  const enter = wasAlternate ? `\x1b[?${grid.alternateMode}h` : '';
  tty.write(enter + (isPassthrough ? '' : reserveFooterSequence(grid)) + modeTracker.reapply(wasAlternate));
  grid.footerDirty = true;
  child?.signal('SIGCONT');
};

export const makeSuspend = (
  terminal: TerminalSession,
  { output, cursorQuery, emit }: SuspendParts,
): Suspend => {
  const finder = makeTextFinder();
  let lastControlZ = -Infinity;
  let isSuspending = false;

  const suspend = async (): Promise<void> => {
    isSuspending = true;
    output.hold();
    try {
      emit({ type: 'suspending' });
      const wasAlternate = terminal.filter.grid.alternate;
      await releaseTerminal(terminal);
      await suspendProcessGroup();
      await reclaimTerminal(terminal, wasAlternate, cursorQuery);
    } finally {
      output.release();
      isSuspending = false;
    }
    emit({ type: 'resumed' });
  };
  const start = (): void => {
    if (!isSuspending)
      suspend().catch((error: unknown) => terminal.session.log.error(`suspending failed: ${String(error)}`));
  };
  return {
    noteKeys: (elements) => {
      if (elements.some(isControlZ)) lastControlZ = performance.now();
    },
    noteOutput: (bytes) => {
      if (performance.now() - lastControlZ < CONTROL_Z_MS && finder(bytes)) start();
    },
    suspend: start,
    noteChild: () => {
      const pid = terminal.child?.pid;
      if (pid !== undefined && !isSuspending && processStat(pid)?.state === 'T') start();
    },
    stop: () => {
      isSuspending = true; // the child has ended: nothing is left to suspend
    },
  };
};
