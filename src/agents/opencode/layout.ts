import type { ScreenView } from '../../core/reading.js';
import { joinWrappedRows } from '../compress.js';

// opencode's prompt (docs/facts/opencode.md): a box with a bar at its left edge, drawn around the cursor. Its last row names agent and model, a
// half-height line closes it, and the status is below. Lists of commands open directly above, framed at both edges.

const BOTTOM = /^( *)╹▀{10,}(?=$| {2,})/; // in a wide terminal a panel is drawn at the right
const BAR = '┃';
const TEXT_COLUMN = 3; // behind the bar and two blanks
const LEAST_ROWS = 5; // bar, text, bar, agent and model, line
const TALLEST = 30;
const STATUS_ROWS = 3;
const PLACEHOLDER = /^Ask anything… ".*"$/;

/** The prompt on the screen. */
export interface Composer {
  /** its first row, above the text */
  readonly top: number;
  /** the row of the closing line */
  readonly bottom: number;
  /** the column of its bar */
  readonly left: number;
  /** the rows of text, without the bar and trailing blanks */
  readonly rows: readonly string[];
  /** agent and model, as `Build · Opus 4.5 Anthropic`, or `Shell` */
  readonly mode: string;
  /** the status: usually one row, but a long path wraps, and the rest with it */
  readonly below: readonly string[];
  /** the cursor is in the text, and in its first cell */
  readonly hasCursor: boolean;
  readonly isAtStart: boolean;
}

const MARGIN = 2; // columns behind the closing line, which the status may still take

/**
 * The screen without the panel that a terminal of more than 120 columns shows at the right: the prompt's closing line ends where the
 * conversation does, but for a margin. The screen itself where there is no prompt.
 */
export const withoutPanel = (screen: ScreenView): ScreenView => {
  for (let row = screen.rows - 1; row >= 0; row -= 1) {
    const edge = BOTTOM.exec(screen.text(row))?.[0].length;
    if (edge === undefined) continue;
    return {
      ...screen,
      text: (each) =>
        screen
          .text(each)
          .slice(0, edge + MARGIN)
          .trimEnd(),
    };
  }
  return screen;
};

/** The last prompt on the screen, also where something is drawn over the conversation. */
export const findComposer = (screen: ScreenView): Composer | undefined => {
  for (let bottom = screen.rows - 1; bottom >= LEAST_ROWS - 1; bottom -= 1) {
    const left = BOTTOM.exec(screen.text(bottom))?.[1]?.length;
    if (left !== undefined) return compose(screen, bottom, left);
  }
  return undefined;
};

const compose = (screen: ScreenView, bottom: number, left: number): Composer | undefined => {
  let top = bottom;
  while (top > 0 && bottom - top < TALLEST && isInBox(screen.text(top - 1), left)) top -= 1;
  if (bottom - top < LEAST_ROWS - 1 || boxText(screen, top, left) !== '') return undefined;
  const last = bottom - 2; // an empty row between the text and the names
  if (boxText(screen, last, left) !== '') return undefined;
  const { cursorRow, cursorColumn } = screen;
  const rows = Array.from({ length: last - top - 1 }, (_, index) => boxText(screen, top + 1 + index, left));
  const column = left + TEXT_COLUMN;
  return {
    top,
    bottom,
    left,
    rows,
    mode: boxText(screen, bottom - 1, left),
    below: Array.from({ length: STATUS_ROWS }, (_, index) => screen.text(bottom + 1 + index)),
    hasCursor: cursorRow > top && cursorRow < last && cursorColumn >= column,
    isAtStart: cursorRow === top + 1 && cursorColumn === column,
  };
};

const isInBox = (row: string, left: number): boolean => row.search(/\S/) === left && isBarAlone(row, left);

/** The rows of a list are closed at their right edge, too. */
const isBarAlone = (row: string, left: number): boolean =>
  row[left] === BAR && (row.length === left + 1 || !row.endsWith(BAR));

const boxText = (screen: ScreenView, row: number, left: number): string =>
  screen.text(row).slice(left + TEXT_COLUMN);

/** Nothing is typed, in a conversation that has no message yet. */
export const isPlaceholder = ({ rows, isAtStart }: Composer): boolean =>
  rows.length === 1 && isAtStart && PLACEHOLDER.test(rows[0] ?? '');

/** The user's text; '' where nothing was typed. */
export const composerText = (screen: ScreenView, composer: Composer): string => {
  const { rows, isAtStart, left, bottom } = composer;
  const isEmpty = rows.length === 1 && isAtStart && rows[0] === '';
  if (isEmpty || isPlaceholder(composer)) return '';
  const columns = screen.text(bottom).length - left - 2 * TEXT_COLUMN + 1;
  return joinWrappedRows(rows, columns);
};

const LISTED = /^ *┃ ([/@]\S+) .*┃$/;
const MOST_LISTED = 12;

interface ListEntry {
  readonly name: string;
  readonly colour: number | undefined;
}

/**
 * The command that Enter takes from the list above a typed one; undefined where no list is open. Its colour differs from that of the typed
 * text; where no colour does, it is the first one, as for every command that was typed whole.
 */
export const listedAbove = (screen: ScreenView, { top, left }: Composer): string | undefined => {
  const entries: ListEntry[] = [];
  for (let row = top - 1; row >= 0 && row >= top - MOST_LISTED; row -= 1) {
    const name = LISTED.exec(screen.text(row))?.[1];
    if (name === undefined) break;
    entries.unshift({ name, colour: screen.styleAt(row, left + 2)?.foreground });
  }
  const usual = screen.styleAt(top + 1, left + TEXT_COLUMN)?.foreground;
  const chosen = entries.filter(({ colour }) => colour !== usual);
  return (chosen.length === 0 || chosen.length === entries.length ? entries : chosen)[0]?.name;
};
