import type { Grid } from './grid.js';
import { isBlockedBelow, noteScrolled, edgeOf, wrap } from './motion.js';

/*
 * REP (ECMA-48 8.3.103, `CSI n b`) prints the preceding character n times more. It is reckoned row by row and never character by
 * character: a child that asks for thousands with a few bytes gets them for a few bytes of ours.
 */

const MAX_REPEAT = 65_535; // the largest parameter that xterm and others take

/** The character `count` times: itself, and REP for the rest where that is shorter. */
const repeated = (character: string, count: number): string => {
  if (count === 0) return '';
  const short = `${character}\x1b[${count - 1}b`;
  return Buffer.byteLength(character) * count <= Buffer.byteLength(short) ? character.repeat(count) : short;
};

/** Fills the cursor's row from its column on with up to `count` characters; returns how many went into it. */
const fillRow = (grid: Grid, width: number, count: number): number => {
  const edge = edgeOf(grid);
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
  grid.autowrap && (grid.pendingWrap || grid.column + width - 1 > edgeOf(grid));

/**
 * Moves the cursor as `count` repetitions do. Returns what to send instead: spelled out where a repetition would wrap into the footer,
 * or the terminal would repeat something else; undefined leaves it to the terminal.
 */
export const repeat = (grid: Grid, asked: number): string | undefined => {
  const width = grid.lastWidth;
  if (width === 0) return ''; // terminals differ in what they repeat after a control, if anything
  const withMarks = grid.quirks.isXtermJs ? grid.lastMarks : ''; // it repeats all of the cell, others disagree
  const character = String.fromCodePoint(grid.lastCodePoint) + withMarks;
  let spelled = '';
  let isSpelled = grid.repeatLost || grid.repeated || grid.lastMarks !== withMarks || asked > MAX_REPEAT;
  let run = 0; // repetitions that the terminal can do in one go
  const insert = (_at: number, bytes: string): void => {
    spelled += repeated(character, run) + bytes;
    run = 0;
    isSpelled = true;
  };
  let filledFrom = -1; // where the row above this one was begun, if this one lies at the same place
  for (let left = Math.min(asked, MAX_REPEAT); left > 0;) {
    if (isRowFull(grid, width)) {
      const { row } = grid;
      const isBlocked = isBlockedBelow(grid);
      wrap(grid, 0, insert);
      const isSame = grid.row === row && grid.column === filledFrom;
      filledFrom = grid.row === row ? grid.column : -1;
      if (isSame) {
        // from here on whole rows only scroll the screen, or draw over the last row what is on it already
        const perRow = Math.max(1, Math.floor((edgeOf(grid) - grid.column + 1) / width));
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
  if (grid.quirks.isXtermJs) grid.lastWidth = 0; // it repeats a character once
  if (!isSpelled) return undefined;
  grid.repeatLost = false;
  return spelled + repeated(character, run);
};
