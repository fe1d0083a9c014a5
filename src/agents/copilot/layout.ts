import type { ScreenView } from '../../core/reading.js';
import { joinWrappedRows } from '../compress.js';

// Copilot's prompt (docs/facts/copilot.md): rows of text in a frame as wide as the screen, with the status row below. Where the terminal tells
// its colours it is a box with a bar at its left, elsewhere two lines. While the sidebar is open it is narrower, and no prompt is found. Lists
// of commands open directly above the frame.

const TEXT_COLUMN = 2; // behind the sign or the bar, and a blank
const TALLEST = 30;
const MOST_LISTED = 14;

interface Frame {
  readonly top: RegExp;
  readonly bottom: RegExp;
  /** the first row of a message */
  readonly first: RegExp;
}

const FRAMES: readonly Frame[] = [
  { top: /^╻▄+$/, bottom: /^╹▀+$/, first: /^┃/ },
  { top: /^─+$/, bottom: /^─+$/, first: /^❯/ },
];

/** The prompt on the screen. */
export interface Composer {
  /** the rows of the frame's upper and lower edge */
  readonly top: number;
  readonly bottom: number;
  /** what is typed may be a message or a command; false for a search and, between lines, for a shell command */
  readonly isMessage: boolean;
  /** the rows of text without sign or bar */
  readonly rows: readonly string[];
  /** the status row */
  readonly footer: string;
  readonly hasCursor: boolean;
}

const isEdge = (screen: ScreenView, row: number, edge: RegExp): boolean => {
  const text = screen.text(row);
  return text.length === screen.columns && edge.test(text);
};

export const findComposer = (screen: ScreenView): Composer | undefined => {
  let bottom = screen.rows - 1;
  const frameAt = (row: number): Frame | undefined => FRAMES.find((each) => isEdge(screen, row, each.bottom));
  while (bottom > 0 && !frameAt(bottom)) bottom -= 1;
  const frame = frameAt(bottom);
  if (!frame) return undefined;
  let top = bottom - 1;
  while (top >= 0 && bottom - top <= TALLEST && !isEdge(screen, top, frame.top)) top -= 1;
  if (top < 0 || bottom - top < 2 || !isEdge(screen, top, frame.top)) return undefined;
  const rows = Array.from({ length: bottom - top - 1 }, (_, index) => screen.text(top + 1 + index));
  const { cursorRow, cursorColumn } = screen;
  return {
    top,
    bottom,
    isMessage: frame.first.test(rows[0] ?? ''),
    rows: rows.map((row) => row.slice(TEXT_COLUMN)),
    footer: screen.text(bottom + 1),
    hasCursor: cursorRow > top && cursorRow < bottom && cursorColumn >= TEXT_COLUMN,
  };
};

/** ` [focus instructions]` behind a typed command */
const HINT = /^ ?\[[^\]]+\]$/;

/**
 * The user's text; '' where nothing was typed. Behind a typed command Copilot draws a hint, and behind its first letters the rest of the
 * chosen one, in the colour of what was typed: only the cursor tells them apart.
 */
export const composerText = (screen: ScreenView, composer: Composer): string => {
  const { top, rows } = composer;
  const text = joinWrappedRows(rows, screen.columns - TEXT_COLUMN);
  const isCommand = rows.length === 1 && text.startsWith('/') && screen.cursorRow === top + 1;
  if (!isCommand) return text;
  const typed = text.slice(0, Math.max(0, screen.cursorColumn - TEXT_COLUMN));
  const isAdded = HINT.test(text.slice(typed.length)) || text === listedAbove(screen, composer);
  return isAdded ? typed.trimEnd() : text;
};

/** The command that is chosen in the list above the prompt; undefined where no list is open. */
export const listedAbove = (screen: ScreenView, { top }: Composer): string | undefined => {
  for (let row = top - 1; row >= 0 && row >= top - MOST_LISTED; row -= 1) {
    const name = /^[ ┃] ❯ ([/@]\S+)/.exec(screen.text(row))?.[1];
    if (name !== undefined) return name;
  }
  return undefined;
};

/** A row of the conversation without the scrollbar at its right edge. */
export const conversationRow = (screen: ScreenView, row: number): string =>
  screen
    .text(row)
    .replace(/ *[┃│]$/, '')
    .trimEnd();
