// The child's output while the terminal shows a screen of ours: kept for later, but for the questions, which are asked at once.
import { makeCutter } from '../../terminal/cover/cut.js';
import { probeFor, type Covered } from '../../terminal/cover/probe.js';
import { noQuestions, takeQuestions, type TerminalQuestion } from '../../terminal/cover/take-questions.js';
import type { CursorQuestion } from '../cursor-question.js';
import type { OutputCover, Stage } from '../stage.js';

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

export const keepOutput = (
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
