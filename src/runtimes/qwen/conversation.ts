// The items of Qwen's conversation on the screen: a sign two columns from the left end, and what follows is further in.
import type { ScreenView } from '../../core/screen-view.js';
import type { Item } from '../compress-command.js';
import { textOf } from './layout.js';

const BEGIN = /^ {2}([◆●✕⚠ℹ✓?>*!]\uFE0E? (?=\S).*)$/;
const MORE = /^ {4,6}\S/;

/** All items above the row, oldest first. */
export const conversationAbove = (screen: ScreenView, below: number): readonly Item[] => {
  const items: Item[] = [];
  let end = 0; // the row after the newest item
  for (let row = 0; row < below; row += 1) {
    const text = textOf(screen, row);
    const begin = BEGIN.exec(text)?.[1];
    const last = items.at(-1);
    if (begin !== undefined) items.push({ row, text: begin.replace(/^\*/, '>') });
    else if (last && row === end && MORE.test(text))
      items[items.length - 1] = { ...last, text: `${last.text} ${text.trim()}` };
    else continue;
    end = row + 1;
  }
  return items;
};
