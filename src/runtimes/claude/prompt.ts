// What stands in Claude's prompt: the user's text, without the suggestions that Claude draws dim behind it or in its place.
import type { ScreenView } from '../../core/screen-view.js';
import type { PromptReader } from '../recipe.js';
import { unwrapped } from '../wrapped-rows.js';
import { activityOf, obstacleOf } from './activity.js';
import { cursorIn, layoutOf, rowText, TEXT_COLUMN, widthOf } from './layout.js';
import { POINTER } from './signs.js';
import type { Prompt } from './layout.js';

// `draft stashed` in new versions, `› stashed` and `› Stashed (auto-restores after submit)` in older ones.
const STASHED = /(?:^| {2}| · )(?:[^\p{L}\p{N}\s] |draft )stashed(?= ·| \(|$)/iu;
const LISTED = /^(\/\S+)(?: {2,}|$)/;
const LISTED_ABOVE = new RegExp(String.raw`^ {2}(?:${POINTER}| ) (?:/\S| {3})`);
const CHOSEN = new RegExp(String.raw`^ {2}${POINTER} (/\S+)(?: {2,}|$)`);
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
    ...listedBeside(screen, layout, text),
    ...(isStashed(screen, layout) ? { isStashed: true } : {}),
  };
};

// Enter takes the first command of the list below one that is typed, or the one with the sign in the list above it, which the fullscreen
// renderer draws.
const listedBeside = (
  screen: ScreenView,
  { upper, lower }: Prompt,
  text: string,
): { readonly listed?: string } => {
  if (!text.startsWith('/')) return {};
  const listed = LISTED.exec(rowText(screen, lower + 1))?.[1] ?? chosenAbove(screen, upper);
  return listed === undefined ? {} : { listed };
};

const chosenAbove = (screen: ScreenView, upper: number): string | undefined => {
  for (let row = upper - 1; row >= 0 && LISTED_ABOVE.test(rowText(screen, row)); row -= 1) {
    const chosen = CHOSEN.exec(rowText(screen, row))?.[1];
    if (chosen !== undefined && screen.styleAt(row, TEXT_COLUMN)?.foreground !== undefined) return chosen;
  }
  return undefined;
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
  const cursor = cursorIn(screen, row);
  if (cursor === undefined || column <= cursor) return false;
  return screen.styleAt(row, column)?.foreground !== undefined && isBlank(screen, row, cursor);
};

const isBlank = (screen: ScreenView, row: number, at: number): boolean => {
  let column = 0;
  for (const character of rowText(screen, row)) {
    if (column >= at) return character === ' ';
    column += widthOf(character);
  }
  return true;
};

// Beside the prompt, where Claude tells of its own, in a colour: below it, and in the row above it in the fullscreen renderer and in old
// versions.
const isStashed = (screen: ScreenView, { upper, lower }: Prompt): boolean => {
  const below = Array.from({ length: screen.rows - lower - 1 }, (_, index) => lower + 1 + index);
  return [upper - 1, ...below].some((row) => isStashedIn(screen, row));
};

const isStashedIn = (screen: ScreenView, row: number): boolean => {
  const text = rowText(screen, row);
  const found = STASHED.exec(text);
  if (!found) return false;
  const style = screen.styleAt(row, widthOf(text.slice(0, found.index + found[0].length)) - 1);
  return style !== undefined && (style.foreground !== undefined || style.dim);
};
