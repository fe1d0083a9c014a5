import { makeCover } from '../terminal/overlay/cover.js';
import { pictureSequence, type Picture } from '../terminal/overlay/picture.js';
import {
  makeCutter,
  probeFor,
  type Covered,
  noQuestions,
  takeQuestions,
  type TerminalQuestion,
} from '../terminal/overlay/queries.js';
import type { Size } from '../terminal/tty.js';
import { HIGH_WATER, pauseIfBehind } from './output.js';
import { type CursorQuestion, nudge } from './resize.js';
import { type OutputCover, type Stage, armWatchdog, childSize, survive } from './terminal-session.js';

// The child's output while the terminal shows a screen of ours: kept for later, but for the questions, which are asked at once.

export interface KeptOutput extends OutputCover {
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
  stage: Stage,
  question: CursorQuestion,
  covered: Omit<Covered, 'grid' | 'ledger'>,
  { onSpoiled, onFull }: KeptOutputListener,
): KeptOutput => {
  const { filter, tty } = stage;
  const now: Covered = { ...covered, grid: filter.grid, ledger: filter.ledger };
  const blocks: Uint8Array[] = [];
  let pieces: Uint8Array[] = [];
  let piecesSize = 0;
  let size = 0;
  let state = noQuestions;

  const pass = (asked: TerminalQuestion): void => {
    const probe = probeFor(asked, now);
    if (probe.type === 'answer')
      return question.inTurn(ANSWER_MS, () => stage.child?.write(Buffer.from(probe.bytes)));
    tty.write(Buffer.from(probe.bytes, 'latin1'));
    if (probe.spoiledRow !== undefined) onSpoiled(probe.spoiledRow);
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
    cut: makeCutter(),
    take: (parts) => {
      for (const part of parts) {
        const taken = takeQuestions(state, part);
        ({ state } = taken);
        for (const bytes of taken.kept) keep(bytes);
        for (const asked of taken.questions) pass(asked);
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
  readonly question: CursorQuestion;
  readonly draw: (size: Size) => readonly string[];
  /** the child's rows, where ours are drawn over them */
  readonly picture: Picture | undefined;
  /** it cannot stay: `takeAway` is to be called */
  readonly onEnd: () => void;
}

const rowSequence = (row: number, text: string): string => `\x1b[${row + 1};1H\x1b[0m\x1b[2K${text}\x1b[0m`;

/** Puts it on the terminal; the moment must be one in which that is possible. */
export const showOverlay = (stage: Stage, { question, draw, picture, onEnd }: ShowParts): ShownOverlay => {
  const { tty, filter } = stage;
  const { grid, ledger } = filter;
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
    if (!survive(stage, 'drawing the overlay', () => (bytes = changed(draw(size))))) return onEnd();
    if (bytes !== '') tty.write(bytes);
  };
  const onSpoiled = (row: number): void => {
    const text = shown[row];
    if (text !== undefined) tty.write(rowSequence(row, text));
  };
  const wasSet = ledger.modesNow();
  const cover = makeCover(grid, ledger);
  const kept = keepOutput(stage, question, { cover, wasSet }, { onSpoiled, onFull: onEnd });
  armWatchdog(stage, cover.leave);
  stage.cover = kept;
  tty.write(cover.open);
  return {
    redraw,
    takeAway: () => {
      const { columns, rows } = tty.size();
      let drawn = '';
      survive(stage, 'drawing the screen again', () => {
        if (picture) drawn = pictureSequence(picture, columns, rows);
      });
      stage.cover = undefined;
      tty.write(Buffer.concat([Buffer.from(cover.close(drawn)), ...kept.all()]));
      pauseIfBehind(stage);
      armWatchdog(stage);
      if (picture?.isWhole === false) askToRepaint(stage);
    },
  };
};

/** Parts of the child's screen are not known: it has to draw them itself. */
const askToRepaint = (stage: Stage): void => {
  nudge(stage);
  stage.child?.resize(childSize(stage.tty.size(), stage));
};
