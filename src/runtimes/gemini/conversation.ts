// The items of Gemini's conversation on the screen. What the user said stands between two lines, or behind a sign at the left end in the
// old versions; of what a model or a tool writes only the first row reaches that far.
import type { ScreenView } from '../../core/screen-view.js';
import type { Item } from '../compress-command.js';
import { itemsAbove } from '../items-above.js';
import { textOf } from './layout.js';

const USER = /^ ?([>*!]) (?=\S)/;
const SAID = /^[✦ℹ✕⚠✓] /;
const MORE = /^ {2,3}\S/;

/** All items above the row, oldest first. */
export const conversationAbove = (screen: ScreenView, below: number): readonly Item[] =>
  itemsAbove(below, { textOf: (row) => textOf(screen, row), begin, more: MORE });

const begin = (text: string): string | undefined => {
  const by = USER.exec(text)?.[1];
  if (by !== undefined) return `${by === '*' ? '>' : by} ${text.replace(USER, '')}`;
  return SAID.test(text) ? text : undefined;
};
