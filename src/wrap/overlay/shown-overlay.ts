// What is on the terminal while the overlay is there, from the first byte of it to the last.
import { makeCover } from '../../terminal/cover/cover.js';
import { pictureSequence, type Picture } from '../../terminal/cover/picture.js';
import type { Size } from '../../terminal/tty.js';
import type { CursorQuestion } from '../cursor-question.js';
import { keepOutput } from './kept-output.js';
import { HIGH_WATER, pauseIfBehind } from '../output.js';
import { nudge } from '../resize.js';
import { armWatchdog } from '../set-stage.js';
import { childSize, survive, type Stage } from '../stage.js';

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
