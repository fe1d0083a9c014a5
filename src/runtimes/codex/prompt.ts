// What stands in Codex's composer, where what is typed is a message.
import type { ScreenView } from '../../core/screen-view.js';
import type { PromptReader } from '../recipe.js';
import { unwrapped } from '../wrapped-rows.js';
import { activityOf, isMessage } from './activity.js';
import { isEmpty, paneOf, TEXT_COLUMN } from './layout.js';
import type { Pane } from './layout.js';

const MARGIN = 1; // columns at the right end of a row that hold no text of a draft

export const prompt: PromptReader = (seen) => {
  const { screen } = seen;
  const pane = paneOf(screen);
  if (!pane?.hasCursor || !isMessage(screen, pane)) return undefined;
  // whether the title tells of work is for the reader that has seen more than one screen
  const { activity } = activityOf(seen, pane, true);
  if (activity === 'unknown' || activity === 'dialog') return undefined;
  return { text: textOf(screen, pane) };
};

const textOf = (screen: ScreenView, pane: Pane): string => {
  if (isEmpty(screen, pane)) return '';
  const { cursorRow, cursorColumn } = screen;
  // a blank row is between the text and the footer; where no footer is seen, nothing is known below the cursor
  const last = pane.footer[0] === undefined ? cursorRow : Math.max(cursorRow, pane.footer[0] - 2);
  const rows = Array.from({ length: last - pane.row + 1 }, (_, index) =>
    screen.text(pane.row + index).slice(TEXT_COLUMN),
  );
  const end = rows.length - 1;
  // blanks that were typed at the end are seen only by the cursor behind them
  const final = cursorRow === last ? (rows[end] ?? '').padEnd(cursorColumn - TEXT_COLUMN) : (rows[end] ?? '');
  return unwrapped([...rows.slice(0, end), final], screen.columns - TEXT_COLUMN - MARGIN);
};
