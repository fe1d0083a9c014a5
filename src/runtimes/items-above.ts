import type { Item } from './compress-command.js';

/** The rows of a conversation: as the screen shows them, and how an item is told from the rows that it was wrapped to. */
export interface ConversationRows {
  readonly textOf: (row: number) => string;
  /** the first row of an item, its glyph in front; undefined for any other row */
  readonly begin: (text: string) => string | undefined;
  /** of the row right below; after an empty one something else may begin */
  readonly more: RegExp;
}

/** All items of the conversation above the row, oldest first. */
export const itemsAbove = (below: number, { textOf, begin, more }: ConversationRows): readonly Item[] => {
  const items: Item[] = [];
  let end = 0; // the row after the newest item
  for (let row = 0; row < below; row += 1) {
    const text = textOf(row);
    const begun = begin(text);
    const last = items.at(-1);
    if (begun !== undefined) items.push({ row, text: begun });
    else if (last && row === end && more.test(text))
      items[items.length - 1] = { ...last, text: `${last.text} ${text.trim()}` };
    else continue;
    end = row + 1;
  }
  return items;
};
