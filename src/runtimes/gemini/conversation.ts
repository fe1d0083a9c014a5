// The items of Gemini's conversation on the screen. What the user said stands between two lines, or behind a sign at the left end in the
// old versions; of what a model or a tool writes only the first row reaches that far.
import type { ScreenView } from '../../core/screen-view.js';
import type { Item } from '../compress-command.js';
import { textOf } from './layout.js';

const USER = /^ ?([>*!]) (?=\S)/;
const SAID = /^[✦ℹ✕⚠✓] /;
const MORE = /^ {2,3}\S/; // of the row right below; after an empty one something else may begin

/** All items above the row, oldest first. */
export const conversationAbove = (screen: ScreenView, below: number): readonly Item[] => {
  const items: Item[] = [];
  let end = 0; // the row after the newest item
  for (let row = 0; row < below; row += 1) {
    const text = textOf(screen, row);
    const by = USER.exec(text)?.[1];
    const last = items.at(-1);
    if (by !== undefined) items.push({ row, text: `${by === '*' ? '>' : by} ${text.replace(USER, '')}` });
    else if (SAID.test(text)) items.push({ row, text });
    else if (last && row === end && MORE.test(text))
      items[items.length - 1] = { ...last, text: `${last.text} ${text.trim()}` };
    else continue;
    end = row + 1;
  }
  return items;
};
