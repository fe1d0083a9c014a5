import { own, type Printable } from '../core/printable.js';
import { makeOverviewSequences } from '../terminal/overview/sequences.js';
import { restoreScreenSequence, type SavedScreen } from '../terminal/overview/saved-screen.js';
import {
  makeQuerySplitter,
  actionFor,
  type OverviewContext,
  startQueryState,
  extractQueries,
  type TerminalQuery,
} from '../terminal/overview/queries.js';
import type { Size } from '../terminal/tty.js';
import { HIGH_WATER, pauseIfBehind } from './output.js';
import type { CursorQuery } from './cursor-query.js';
import {
  type OverviewOutput,
  type TerminalSession,
  armSttyProcess,
  runGuarded,
  forceRepaint,
} from './terminal-session.js';
import { childSize } from '../terminal/child-size.js';

// Holds the child's output while the overview is open. Questions to the terminal are forwarded at once.

export interface KeptOutput extends OverviewOutput {
  /** everything held so far, in order, including a possible incomplete question */
  readonly all: () => readonly Uint8Array[];
}

export interface KeptOutputListener {
  /** a question has been sent while the cursor was on this row, which may have damaged it */
  readonly onSpoiled: (row: number) => void;
  /** the limit has been reached */
  readonly onFull: () => void;
}

const MAX_KEPT = 8 * 1024 * 1024; // bytes; a second of the fastest output
const BLOCK = 64 * 1024;
const ANSWER_MS = 300; // so that an answer of ctxwrap's comes in turn, after those of the terminal

const keepOutput = (
  terminal: TerminalSession,
  cursorQuery: CursorQuery,
  context: Omit<OverviewContext, 'grid' | 'modeTracker'>,
  { onSpoiled, onFull }: KeptOutputListener,
): KeptOutput => {
  const { filter, tty } = terminal;
  const now: OverviewContext = { ...context, grid: filter.grid, modeTracker: filter.modeTracker };
  const blocks: Uint8Array[] = [];
  let pieces: Uint8Array[] = [];
  let piecesSize = 0;
  let size = 0;
  let state = startQueryState;

  const pass = (asked: TerminalQuery): void => {
    const action = actionFor(asked, now);
    if (action.type === 'answer')
      return cursorQuery.afterAnswers(ANSWER_MS, () => terminal.child?.write(Buffer.from(action.bytes)));
    tty.write(Buffer.from(action.bytes, 'latin1'));
    if (action.dirtyRow !== undefined) onSpoiled(action.dirtyRow);
  };
  const keep = (bytes: Uint8Array): void => {
    pieces.push(bytes);
    piecesSize += bytes.length;
    size += bytes.length;
    if (piecesSize < BLOCK) return;
    blocks.push(Buffer.concat(pieces)); // stored separately, this many small pieces would take several times their size
    [pieces, piecesSize] = [[], 0];
  };
  return {
    cut: makeQuerySplitter(),
    take: (parts) => {
      for (const part of parts) {
        const taken = extractQueries(state, new Uint8Array(part)); // the next output overwrites the part
        ({ state } = taken);
        for (const bytes of taken.kept) keep(bytes);
        for (const asked of taken.queries) pass(asked);
      }
      if (size > MAX_KEPT) onFull();
    },
    all: () => [...blocks, ...pieces, state.held],
  };
};

// The overview on the terminal, from its first byte to its last.

export interface ShownOverview {
  /** writes the rows that have changed */
  readonly redraw: () => void;
  /** restores the child's screen, with everything written meanwhile */
  readonly takeAway: () => void;
}

export interface ShowParts {
  readonly cursorQuery: CursorQuery;
  readonly draw: (size: Size) => readonly Printable[];
  /** the child's rows, when the overview is drawn over them */
  readonly savedScreen: SavedScreen | undefined;
  /** it cannot stay open: call `takeAway` */
  readonly onEnd: () => void;
}

const rowSequence = (row: number, text: Printable): string =>
  `\x1b[${row + 1};1H\x1b[0m\x1b[2K${text}\x1b[0m`;

/** Draws the overview; only at a moment when that is possible. */
export const showOverview = (
  terminal: TerminalSession,
  { cursorQuery, draw, savedScreen, onEnd }: ShowParts,
): ShownOverview => {
  const { tty, filter } = terminal;
  const { grid, modeTracker } = filter;
  const shown: Printable[] = [];

  const changed = (texts: readonly Printable[]): string => {
    let output = '';
    for (let row = 0; row < grid.terminalRows; row += 1) {
      const text = texts[row] ?? own``;
      if (shown[row] === text) continue;
      shown[row] = text;
      output += rowSequence(row, text);
    }
    return output;
  };
  const redraw = (): void => {
    if (tty.pending() > HIGH_WATER) return; // the next redraw shows it
    const size = { columns: grid.columns, rows: grid.terminalRows };
    let bytes = '';
    if (!runGuarded(terminal, 'drawing the overview', () => (bytes = changed(draw(size))))) return onEnd();
    if (bytes !== '') tty.write(bytes);
  };
  const onSpoiled = (row: number): void => {
    const text = shown[row];
    if (text !== undefined) tty.write(rowSequence(row, text));
  };
  const wasModeSet = modeTracker.copyModes();
  const sequences = makeOverviewSequences(grid, modeTracker);
  const kept = keepOutput(terminal, cursorQuery, { sequences, wasModeSet }, { onSpoiled, onFull: onEnd });
  armSttyProcess(terminal, sequences.leave);
  terminal.overviewOutput = kept;
  tty.write(sequences.open);
  return {
    redraw,
    takeAway: () => {
      const { columns, rows } = tty.size();
      let drawn = '';
      runGuarded(terminal, 'drawing the screen again', () => {
        if (savedScreen) drawn = restoreScreenSequence(savedScreen, columns, rows);
      });
      terminal.overviewOutput = undefined;
      tty.write(Buffer.concat([Buffer.from(sequences.close(drawn)), ...kept.all()]));
      pauseIfBehind(terminal);
      armSttyProcess(terminal);
      if (savedScreen?.isComplete === false) askToRepaint(terminal);
    },
  };
};

/** Parts of the child's screen are unknown, so the child has to redraw them. */
const askToRepaint = (terminal: TerminalSession): void => {
  forceRepaint(terminal);
  terminal.child?.resize(childSize(terminal.tty.size(), terminal));
};
