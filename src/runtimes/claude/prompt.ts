// What stands in Claude's prompt: the user's text, without the suggestions that Claude draws dim behind it or in its place.
import type { ScreenView } from '../../core/screen-view.js';
import type { PromptReader } from '../recipe.js';
import { unwrapped } from '../wrapped-rows.js';
import { activityOf, obstacleOf } from './activity.js';
import { layoutOf, rowsBelow, rowText, TEXT_COLUMN, widthOf } from './layout.js';
import type { Prompt } from './layout.js';

const STASHED = /(?:^|\s)› stashed(?: ·|$)/;
const MARGIN = 2; // columns at the right end of a row that hold no text of a draft

/** One screen alone cannot tell vim's normal mode: that is the reader's business, which remembers its other mode. */
export const prompt: PromptReader = (seen) => {
  const { screen } = seen;
  const layout = layoutOf(screen);
  if (layout.kind !== 'prompt' || obstacleOf(screen, layout) !== undefined) return undefined;
  const { activity } = activityOf(seen, layout, { vim: false });
  if (activity === 'unknown' || activity === 'dialog') return undefined;
  const text = textOf(screen, layout);
  return {
    text,
    ...listedBelow(screen, layout, text),
    ...(isStashed(screen, layout) ? { isStashed: true } : {}),
  };
};

// Enter takes the first command of the list below one that is typed.
const listedBelow = (screen: ScreenView, { lower }: Prompt, text: string): { readonly listed?: string } => {
  const listed = text.startsWith('/')
    ? /^(\/\S+)(?: {2,}|$)/.exec(rowText(screen, lower + 1))?.[1]
    : undefined;
  return listed === undefined ? {} : { listed };
};

const textOf = (screen: ScreenView, { upper, lower, isEmpty }: Prompt): string => {
  if (isEmpty) return '';
  const last = lower - 1;
  const rows = Array.from({ length: last - upper }, (_, index) =>
    upper + 1 + index === last
      ? withBlanks(screen, last, withoutGhost(screen, last))
      : rowText(screen, upper + 1 + index).slice(TEXT_COLUMN),
  );
  return unwrapped(rows, screen.columns - TEXT_COLUMN - MARGIN);
};

// Blanks that were typed at the end are seen only by the cursor behind them.
const withBlanks = ({ cursorRow, cursorColumn }: ScreenView, row: number, text: string): string =>
  cursorRow === row ? text + ' '.repeat(Math.max(0, cursorColumn - TEXT_COLUMN - widthOf(text))) : text;

// The rest of a word, drawn dim: Claude's own cursor is then over the first character of it. Or what may follow a command, which has a
// colour as no argument has, behind the cursor.
const withoutGhost = (screen: ScreenView, row: number): string => {
  const text = rowText(screen, row).slice(TEXT_COLUMN);
  const characters = Array.from(text);
  const columnOf = (index: number) => TEXT_COLUMN + widthOf(characters.slice(0, index).join(''));
  const styleOf = (index: number) => screen.styleAt(row, columnOf(index));
  const isGhost = (index: number) =>
    characters[index] === ' ' ||
    styleOf(index)?.dim === true ||
    (text.startsWith('/') && isHint(screen, row, columnOf(index)));
  let end = characters.length;
  while (end > 0 && isGhost(end - 1)) end -= 1;
  const isCursorBehind = end < characters.length && styleOf(end - 1)?.inverse === true;
  return characters
    .slice(0, isCursorBehind ? end - 1 : end)
    .join('')
    .trimEnd();
};

const isHint = (screen: ScreenView, row: number, column: number): boolean => {
  const { cursorRow, cursorColumn } = screen;
  const isBehind = row === cursorRow && column > cursorColumn;
  return isBehind && screen.styleAt(row, column)?.foreground !== undefined && isBlank(screen, row);
};

const isBlank = (screen: ScreenView, row: number): boolean => {
  let column = 0;
  for (const character of rowText(screen, row)) {
    if (column >= screen.cursorColumn) return character === ' ';
    column += widthOf(character);
  }
  return true;
};

// Beside the prompt, where Claude tells of its own: below it, and above it in the fullscreen renderer.
const isStashed = (screen: ScreenView, { upper, lower }: Prompt): boolean =>
  rowsBelow(screen, lower).some((row) => STASHED.test(row)) ||
  (screen.alternate && STASHED.test(rowText(screen, upper - 1)));
