// What stands in Qwen's input, and what of it is not the user's: the placeholder, and after an answer a suggestion of what to ask next.
import type { ScreenView } from '../../core/screen-view.js';
import type { Composer, InputKind } from '../compress-screen.js';
import { unwrapped } from '../wrapped-rows.js';
import { INPUT_COLUMN, isParked } from './layout.js';

const FOOTER_ROWS = 8;
// where Qwen breaks the rows of its input: columns of the text
const TEXT_SHARE = 0.9;
const TEXT_MARGIN = 6;
const PLACEHOLDER = '  Type your message or @path/to/file';
const VIM_PLACEHOLDER = "  Press 'i' for INSERT mode";
const VIM_NORMAL = '  -- NORMAL --';
const VIM_INSERT = '  -- INSERT --';
const ENTRY = /^( {2,6})([a-z][\w-]*)(?: [[(][^\])]*[\])])?(?: {2,}\S|$)/i;
const HINT = /\(shift \+ tab to cycle\)|\? for shortcuts/;

export const inputKind = (screen: ScreenView, composer: Composer): InputKind => {
  if (composer.mode === '!') return 'shell';
  if (composer.mode === '') return 'search';
  const footer = footerRows(screen, composer);
  if (footer.some((row) => row.startsWith(VIM_NORMAL))) return 'vim-normal';
  // A note takes the place of the mode for a while; only the placeholder tells then that there are modes.
  const isVim = composer.rows[0]?.startsWith(VIM_PLACEHOLDER) === true;
  return isVim && !footer.some((row) => row.startsWith(VIM_INSERT)) ? 'vim-normal' : 'message';
};

export const footerRows = (screen: ScreenView, { bottom }: Composer): readonly string[] =>
  Array.from({ length: FOOTER_ROWS }, (_, index) => screen.text(bottom + 1 + index));

/**
 * The command that is chosen in the list below a command that is typed: Enter takes it. It has a mark; before 0.16 a colour of its own,
 * which is no sign where the list has one entry alone.
 */
export const listedBelow = (
  screen: ScreenView,
  composer: Composer,
  text: string,
): { readonly listed?: string } => {
  if (!text.startsWith('/')) return {};
  const marked = footerRows(screen, composer).map((row) => /^ {2}> (\S+)/.exec(row)?.[1]);
  const name = marked.find((each) => each !== undefined) ?? colouredEntry(screen, composer);
  return name === undefined ? {} : { listed: `/${name}` };
};

const colouredEntry = (screen: ScreenView, composer: Composer): string | undefined => {
  if (!isParked(screen)) return undefined;
  const entries = footerRows(screen, composer).flatMap((row, index) => {
    const [, indent = '', name] = ENTRY.exec(row) ?? [];
    const colour = screen.styleAt(composer.bottom + 1 + index, indent.length)?.foreground;
    return name === undefined ? [] : [{ name, colour }];
  });
  const others = (colour: number | undefined): number =>
    entries.filter((each) => each.colour === colour).length;
  const chosen = entries.filter(({ colour }) => others(colour) === 1);
  return chosen.length === 1 ? chosen[0]?.name : undefined; // of two entries nobody can tell
};

/** '' where nothing was typed. `ghostColour`: how the placeholder was coloured; without it the hint in the footer tells. */
export const inputText = (
  screen: ScreenView,
  composer: Composer,
  ghostColour?: number,
): string | undefined => {
  const { rows } = composer;
  if (rows.length === 1 && rows[0] === '') return undefined;
  return isEmpty(screen, composer, ghostColour ?? hintColour(screen, composer))
    ? ''
    : unwrapped(rows, Math.floor(screen.columns * TEXT_SHARE) - TEXT_MARGIN);
};

const isEmpty = (screen: ScreenView, { top, rows, atStart }: Composer, ghostColour?: number): boolean => {
  const [first = ''] = rows;
  if (!atStart || rows.length > 1) return false;
  // The first cell is the cursor's own; all others of a placeholder have one colour, while a path that is typed stands out.
  const cells = Array.from({ length: first.length - 1 }, (_, index) =>
    screen.styleAt(top + 1, INPUT_COLUMN + 1 + index),
  );
  const colour = cells[0]?.foreground;
  if (!cells.every((cell) => cell?.foreground === colour)) return false;
  if (first === PLACEHOLDER || first.startsWith(VIM_PLACEHOLDER)) return true;
  // A suggestion is coloured like the placeholder, and what is typed is not.
  return ghostColour !== undefined && cells.length > 0 && colour === ghostColour;
};

/** The colour of the placeholder, while it is seen. */
export const placeholderColour = (screen: ScreenView, composer: Composer | undefined): number | undefined => {
  if (!composer?.atStart || composer.rows[0] !== PLACEHOLDER) return undefined;
  return screen.styleAt(composer.top + 1, INPUT_COLUMN + 2)?.foreground;
};

// The hint below the input has the same colour as the placeholder.
const hintColour = (screen: ScreenView, composer: Composer): number | undefined => {
  const rows = footerRows(screen, composer);
  const index = rows.findIndex((row) => HINT.test(row));
  const column = rows[index]?.search(HINT);
  return column === undefined ? undefined : screen.styleAt(composer.bottom + 1 + index, column)?.foreground;
};
