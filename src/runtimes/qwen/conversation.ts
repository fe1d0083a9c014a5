// The items of Qwen's conversation on the screen: a sign two columns from the left end, and what follows is further in.
import type { ScreenView } from '../../core/screen-view.js';
import type { Item } from '../compress-command.js';
import { itemsAbove } from '../items-above.js';
import { textOf } from './layout.js';

const BEGIN = /^ {2}([◆✦●✕⚠ℹ✓?>*!]\uFE0E? (?=\S).*)$/;
const MORE = /^ {4,6}\S/;

/** All items above the row, oldest first. */
export const conversationAbove = (screen: ScreenView, below: number): readonly Item[] =>
  itemsAbove(below, {
    textOf: (row) => textOf(screen, row),
    begin: (text) => BEGIN.exec(text)?.[1]?.replace(/^\*/, '>'),
    more: MORE,
  });
