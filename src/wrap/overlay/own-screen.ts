// Whether the terminal has a screen for us beside the child's. Some have theirs switched off (xterm's titeInhibit, tmux's
// alternate-screen) and do not tell: there the switch is passed over, and what we draw would stay on the child's.
import { markSlotOverwritten } from '../../terminal/filter/grid.js';
import { cursorSequence } from '../../terminal/filter/saved-cursor.js';
import type { CursorQuestion } from '../cursor-question.js';
import type { Stage } from '../stage.js';

const ANSWER_MS = 300;
const SPOTS = [
  { row: 8, column: 8 },
  { row: 4, column: 4 },
] as const;

/** Goes there, moves the cursor and comes back: where it has stayed, there is no such screen. To be asked while output is held. */
export const hasSecondScreen = async (
  { filter: { grid }, tty }: Pick<Stage, 'filter' | 'tty'>,
  question: CursorQuestion,
): Promise<boolean> => {
  const { row, column } =
    SPOTS.find((each) => each.row !== grid.row || each.column !== grid.column) ?? SPOTS[0];
  markSlotOverwritten(grid); // the switch saves the cursor where the child may have saved its own
  const there = `\x1b[?1049h\x1b[${row + 1};${column + 1}H\x1b[?1049l`;
  const found = await question.ask(there, ANSWER_MS);
  const hasStayed = found !== undefined && found.row === row && found.column === column;
  if (hasStayed) tty.write(cursorSequence(grid));
  return !hasStayed;
};
