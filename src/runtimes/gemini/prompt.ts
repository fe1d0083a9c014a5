// What stands in Gemini's input box, and what of it is not the user's: its placeholder, which also tells vim's mode.
import type { ScreenView } from '../../core/screen-view.js';
import type { Composer, InputKind } from '../compress-screen.js';

const PLACEHOLDERS = ['  Type your message or @path/to/file', "  Press 'Esc' for NORMAL mode."];
const VIM_NORMAL_HINT = "  Press 'i' for INSERT mode.";
const VIM_NORMAL_FOOTER = /^ *\[NORMAL\](?: |$)/;

export const inputKind = (screen: ScreenView, { mode, rows, bottom, atStart }: Composer): InputKind => {
  if (mode === '!') return 'shell';
  if (mode === '') return 'search';
  const isHinted = atStart && rows[0] === VIM_NORMAL_HINT;
  return isHinted || hasNormalFooter(screen, bottom) ? 'vim-normal' : 'message';
};

/** '' where only the placeholder is seen; undefined where there is neither it nor a text, in the middle of a change. */
export const inputText = (screen: ScreenView, { top, rows, atStart }: Composer): string | undefined => {
  const [first = ''] = rows;
  if (rows.length > 1) return rows.join('\n');
  if (first === '') return undefined;
  const isPlaceholder = atStart && PLACEHOLDERS.includes(first) && !isPathTyped(screen, top + 1);
  return isPlaceholder ? '' : first;
};

/**
 * The first command in the list below a command that is typed. The list follows the text with a delay, and Enter takes its first entry
 * (seen: a typed `/permissions` ran `/clear`). Without a list the footer's row is there, which names no command.
 */
export const listedBelow = (
  screen: ScreenView,
  { bottom }: Composer,
  text: string,
): { readonly listed?: string } => {
  const name = text.startsWith('/') ? /^ (\S+)/.exec(screen.text(bottom + 1))?.[1] : undefined;
  return name === undefined ? {} : { listed: `/${name}` };
};

const hasNormalFooter = (screen: ScreenView, bottom: number): boolean => {
  for (let row = bottom + 1; row < screen.rows; row += 1)
    if (VIM_NORMAL_FOOTER.test(screen.text(row))) return true;
  return false;
};

// A path that was typed has a colour of its own; the one in the placeholder has not.
const isPathTyped = (screen: ScreenView, row: number): boolean => {
  const text = screen.text(row);
  const [word, path] = ['Type', '@'].map((each) => screen.styleAt(row, text.indexOf(each))?.foreground);
  return word !== path;
};
