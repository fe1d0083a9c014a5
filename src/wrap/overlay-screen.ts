import { makeOverlaySequences } from '../terminal/overlay/sequences.js';
import { restoreScreenSequence, type SavedScreen } from '../terminal/overlay/saved-screen.js';
import {
  makeQuerySplitter,
  actionFor,
  type OverlayContext,
  startQueryState,
  extractQueries,
  type TerminalQuery,
} from '../terminal/overlay/queries.js';
import type { Size } from '../terminal/tty.js';
import { HIGH_WATER, pauseIfBehind } from './output.js';
import { type CursorQuery, forceRepaint } from './resize.js';
import {
  type OverlayOutput,
  type TerminalSession,
  armWatchdog,
  childSize,
  runGuarded,
} from './terminal-session.js';

// The child's output while the terminal shows a screen of ours: kept for later, but for the questions, which are asked at once.

export interface KeptOutput extends OverlayOutput {
  /** everything kept so far, in its order, with what may be the beginning of a question */
  readonly all: () => readonly Uint8Array[];
}

export interface KeptOutputListener {
  /** a question has been asked on this row, so that something else may stand there */
  readonly onSpoiled: (row: number) => void;
  /** no more can be kept */
  readonly onFull: () => void;
}

const MAX_KEPT = 8 * 1024 * 1024; // bytes; a second of the fastest output
const BLOCK = 64 * 1024;
const ANSWER_MS = 300; // for an answer of ours to come in its turn, behind those of the terminal

const keepOutput = (
  terminal: TerminalSession,
  cursorQuery: CursorQuery,
  context: Omit<OverlayContext, 'grid' | 'modeTracker'>,
  { onSpoiled, onFull }: KeptOutputListener,
): KeptOutput => {
  const { filter, tty } = terminal;
  const now: OverlayContext = { ...context, grid: filter.grid, modeTracker: filter.modeTracker };
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
    blocks.push(Buffer.concat(pieces)); // so many small pieces would take several times their size
    [pieces, piecesSize] = [[], 0];
  };
  return {
    cut: makeQuerySplitter(),
    take: (parts) => {
      for (const part of parts) {
        const taken = extractQueries(state, part);
        ({ state } = taken);
        for (const bytes of taken.kept) keep(bytes);
        for (const asked of taken.queries) pass(asked);
      }
      if (size > MAX_KEPT) onFull();
    },
    all: () => [...blocks, ...pieces, state.held],
  };
};

// What is on the terminal while the overlay is there, from the first byte of it to the last.

export interface ShownOverlay {
  /** writes the rows that are not there already */
  readonly redraw: () => void;
  /** the child's screen is back, with everything that was written meanwhile */
  readonly takeAway: () => void;
}

export interface ShowParts {
  readonly cursorQuery: CursorQuery;
  readonly draw: (size: Size) => readonly string[];
  /** the child's rows, where ours are drawn over them */
  readonly savedScreen: SavedScreen | undefined;
  /** it cannot stay: `takeAway` is to be called */
  readonly onEnd: () => void;
}

const rowSequence = (row: number, text: string): string => `\x1b[${row + 1};1H\x1b[0m\x1b[2K${text}\x1b[0m`;

/** Puts it on the terminal; the moment must be one in which that is possible. */
export const showOverlay = (
  terminal: TerminalSession,
  { cursorQuery, draw, savedScreen, onEnd }: ShowParts,
): ShownOverlay => {
  const { tty, filter } = terminal;
  const { grid, modeTracker } = filter;
  const shown: string[] = [];

  const changed = (texts: readonly string[]): string => {
    let output = '';
    for (let row = 0; row < grid.terminalRows; row += 1) {
      const text = texts[row] ?? '';
      if (shown[row] === text) continue;
      shown[row] = text;
      output += rowSequence(row, text);
    }
    return output;
  };
  const redraw = (): void => {
    if (tty.pending() > HIGH_WATER) return; // the next one shows it all the same
    const size = { columns: grid.columns, rows: grid.terminalRows };
    let bytes = '';
    if (!runGuarded(terminal, 'drawing the overlay', () => (bytes = changed(draw(size))))) return onEnd();
    if (bytes !== '') tty.write(bytes);
  };
  const onSpoiled = (row: number): void => {
    const text = shown[row];
    if (text !== undefined) tty.write(rowSequence(row, text));
  };
  const wasModeSet = modeTracker.copyModes();
  const sequences = makeOverlaySequences(grid, modeTracker);
  const kept = keepOutput(terminal, cursorQuery, { sequences, wasModeSet }, { onSpoiled, onFull: onEnd });
  armWatchdog(terminal, sequences.leave);
  terminal.overlayOutput = kept;
  tty.write(sequences.open);
  return {
    redraw,
    takeAway: () => {
      const { columns, rows } = tty.size();
      let drawn = '';
      runGuarded(terminal, 'drawing the screen again', () => {
        if (savedScreen) drawn = restoreScreenSequence(savedScreen, columns, rows);
      });
      terminal.overlayOutput = undefined;
      tty.write(Buffer.concat([Buffer.from(sequences.close(drawn)), ...kept.all()]));
      pauseIfBehind(terminal);
      armWatchdog(terminal);
      if (savedScreen?.isComplete === false) askToRepaint(terminal);
    },
  };
};

/** Parts of the child's screen are not known: it has to draw them itself. */
const askToRepaint = (terminal: TerminalSession): void => {
  forceRepaint(terminal);
  terminal.child?.resize(childSize(terminal.tty.size(), terminal));
};
