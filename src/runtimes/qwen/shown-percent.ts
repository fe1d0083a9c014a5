// The percentage in Qwen's footer (facts/qwen.md), right below the input. It counts against the whole window, with one decimal, and is
// there twice: as an item of its own status line, or at the right end where the user's own status line takes its place.
import type { ScreenView } from '../../core/screen-view.js';
import type { Composer } from '../compress-screen.js';

const MARGIN = 2; // columns free at both ends of the footer
const NUMBER = '(>?\\d{1,3}(?:\\.\\d)?)%';
const ITEM_USED = new RegExp(`^[\\d.]+[km]? Context ${NUMBER} used$`);
const ITEM_LEFT = new RegExp(`^Context ${NUMBER} left$`);
const RIGHT = new RegExp(`(?:^| {2,}| \\| {1,2})${NUMBER} (?:context )?used$`); // without "context" below 100 columns
const NARROW = 80; // columns; below, the footer is one column and the right end comes last

/** How full the footer says the window is, 0…100 used, more where it says that it is over-full; undefined when it says nothing. */
export const shownPercent = (screen: ScreenView, { bottom }: Composer): number | undefined => {
  const row = screen.text(bottom + 1);
  const own = atRightEnd(screen, row) ?? lastOfColumn(screen, bottom + 1);
  return own ?? (isUsers(screen, bottom + 1) ? undefined : inStatusLine(row));
};

// A status line that a command of the user prints may say anything. It is drawn dim, as Qwen's own is only without theme colours.
const isUsers = (screen: ScreenView, row: number): boolean => screen.styleAt(row, MARGIN)?.dim === true;

const inStatusLine = (row: string): number | undefined => {
  const items = row.trim().split(' · ');
  if (items.length < 2) return undefined;
  const used = items.map((item) => numberIn(ITEM_USED, item)).find((each) => each !== undefined);
  const left = items.map((item) => numberIn(ITEM_LEFT, item)).find((each) => each !== undefined);
  return used ?? (left === undefined ? undefined : oneDecimal(100 - left));
};

const atRightEnd = (screen: ScreenView, row: string): number | undefined =>
  row.length === screen.columns - MARGIN ? numberIn(RIGHT, row) : undefined;

const lastOfColumn = (screen: ScreenView, first: number): number | undefined => {
  if (screen.columns >= NARROW) return undefined;
  let last = first;
  while (screen.text(last + 1) !== '') last += 1;
  return last > first ? numberIn(RIGHT, screen.text(last)) : undefined;
};

const OVER = 101; // `>100%` does not tell by how much

const numberIn = (pattern: RegExp, text: string): number | undefined => {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) return undefined;
  if (found.startsWith('>')) return found === '>100' ? OVER : undefined;
  const percent = Number(found);
  return percent <= 100 ? percent : undefined;
};

const oneDecimal = (percent: number): number => Math.round(percent * 10) / 10;
