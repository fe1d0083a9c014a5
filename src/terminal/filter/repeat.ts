import type { Grid } from './grid.js';
import { isBlockedBelow, noteScrolled, lastColumnOf, wrap } from './motion.js';

/*
 * REP (ECMA-48 8.3.103, `CSI n b`) prints the preceding character n more times. The new cursor position is computed row by row, not
 * character by character, and the replacement stays short however large n is.
 */

const MAX_REPEAT = 65_535; // the largest parameter that xterm and others take

/** The character `count` times: written out, or once plus REP if that is shorter. */
const repeated = (character: string, count: number): string => {
  if (count === 0) return '';
  const short = `${character}\x1b[${count - 1}b`;
  return Buffer.byteLength(character) * count <= Buffer.byteLength(short) ? character.repeat(count) : short;
};

/** Fills the cursor's row from its column on with up to `count` characters; returns how many fit. */
const fillRow = (grid: Grid, width: number, count: number): number => {
  const edge = lastColumnOf(grid);
  const fitting = Math.max(1, Math.floor((edge - grid.column + 1) / width));
  const taken = grid.autowrap ? Math.min(count, fitting) : count;
  grid.column += taken * width;
  if (grid.column <= edge) return taken;
  grid.column = edge;
  grid.pendingWrap = true;
  grid.wrapLost = false;
  return taken;
};

const isRowFull = (grid: Grid, width: number): boolean =>
  grid.autowrap && (grid.pendingWrap || grid.column + width - 1 > lastColumnOf(grid));

/**
 * Moves the cursor for `asked` repetitions. Returns what to send instead if a repetition would wrap onto the footer or the terminal would
 * repeat another character; undefined if the terminal can do it.
 */
export const repeat = (grid: Grid, asked: number): string | undefined => {
  const width = grid.lastWidth;
  if (width === 0) return ''; // after a control terminals differ in what they repeat, if anything
  const withMarks = grid.quirks.isXtermJs ? grid.lastCombining : ''; // xterm.js repeats them too, others differ
  const character = String.fromCodePoint(grid.lastCodePoint) + withMarks;
  let spelled = '';
  let isSpelled = grid.repeatLost || grid.repeated || grid.lastCombining !== withMarks || asked > MAX_REPEAT;
  let run = 0; // repetitions that the terminal can do in one go
  const insert = (_at: number, bytes: string): void => {
    spelled += repeated(character, run) + bytes;
    run = 0;
    isSpelled = true;
  };
  let filledFrom = -1; // start column of the previous row, if this row has the same number
  for (let left = Math.min(asked, MAX_REPEAT); left > 0;) {
    if (isRowFull(grid, width)) {
      const { row } = grid;
      const isBlocked = isBlockedBelow(grid);
      wrap(grid, 0, insert);
      const isSame = grid.row === row && grid.column === filledFrom;
      filledFrom = grid.row === row ? grid.column : -1;
      if (isSame) {
        // from here on whole rows only scroll the screen or overwrite the last row with the same characters
        const perRow = Math.max(1, Math.floor((lastColumnOf(grid) - grid.column + 1) / width));
        const whole = Math.floor((left - 1) / perRow) * perRow;
        left -= whole;
        if (!isBlocked) {
          run += whole;
          if (grid.row === grid.bottom) noteScrolled(grid, whole / perRow);
        }
      }
    }
    const taken = fillRow(grid, width, left);
    left -= taken;
    run += taken;
  }
  grid.repeated = true;
  if (grid.quirks.isXtermJs) grid.lastWidth = 0; // xterm.js repeats a character only once
  if (!isSpelled) return undefined;
  grid.repeatLost = false;
  return spelled + repeated(character, run);
};
