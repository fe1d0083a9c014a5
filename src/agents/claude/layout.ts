import { countCharacters, type ScreenView } from '../../core/reading.js';
import type { ScreenEvidence } from '../agent.js';

// The signs that Claude draws change from version to version; the place of each kind of sign has not changed. Each class holds the signs
// seen (docs/facts/claude.md#start, #activities) and similar ones, so that a new sign of the kind still matches.

/** Points to the right: before the text being typed and before the user's messages. `❯`, in old versions `>`. */
export const POINTER = '[>›»❯❱⟩〉➜➤→▶▸►▷▹⏵‣]';

/** Connects an answer to what it belongs to: `⎿`. */
export const CORNER = '[⎿└╰┗╚↳⌊∟]';

/** Before Claude's messages and tool calls: `●`, on other systems `⏺`. */
export const BULLET = '[●⏺•◆■○◉◦∙]';

/** Before the row that shows work, alternating. */
export const SPINNER = '[·✢✳✶✻✽*]';

/** A sign that begins a known kind of message: such a row says nothing about Claude's state. */
export const MESSAGE_SIGN = `(?:${POINTER}|[●⏺])`;

/** Any other sign that is not a letter, a digit, or part of a picture or a line. */
export const ANY_SIGN = String.raw`(?!${MESSAGE_SIGN})[^\p{L}\p{N}\s\u2500-\u259f…]`;

// One character across the whole width. No dashes: in a dialog they separate the content from the question.
const SOLID = '─━═⎯—―_‾▁';

/** The character of a bar across the whole width; undefined where the row holds anything else. */
const barOf = (row: string, columns: number): string | undefined => {
  const [sign] = row;
  return sign !== undefined && SOLID.includes(sign) && row === sign.repeat(columns) ? sign : undefined;
};

// Where Claude Code's frame is on the screen. It grows from the top, so nothing is assumed about the bottom rows
// (docs/facts/claude.md#percentage-on-the-screen).

/** The prompt between its two bars. */
export interface Prompt {
  readonly kind: 'prompt';
  readonly upper: number;
  readonly lower: number;
  /**
   * `❯`, `>` in old versions, `!` in shell mode; with an unknown sign it is unclear what the text goes to. '' where the first row of a long
   * draft is scrolled out of sight
   */
  readonly glyph: string;
  /** no text of the user's: blank, or a dim suggestion */
  readonly isEmpty: boolean;
  /** the draft's first row in sight; '' where it is empty */
  readonly draft: string;
  /** the prompt has the keyboard: the cursor is in it */
  readonly isActive: boolean;
}

/** The bar above a dialog, a picker or a view. */
export interface Panel {
  readonly kind: 'panel';
  readonly bar: number;
  /** it lies over the conversation, as only pickers and dialogs do */
  readonly isOverlay: boolean;
}

export type Layout = Prompt | Panel | { readonly kind: 'none' };

const OVERLAY_BAR = '▔'; // of panels that the fullscreen renderer draws over the conversation
const GLYPH = /^([^\p{L}\p{N}\s\u2500-\u259f])(?: |$)/u;
const KNOWN_GLYPH = new RegExp(`^(?:${POINTER}|!)$`);
// The session's name in the bar above the prompt: `──── my-task ─`. Cells left over from an earlier screen have no spaces around them.
const MARGIN_OF_NAME = 3; // most columns of the bar behind the name
const NAME_IN_BAR = / \S(?:.*\S)? $/;
/** In the bar above a draft that has more rows than its box: `─── ↑ 26 more ───`. Seen: 2.1.332, in the alternate screen. */
const ROWS_ABOVE = /^ ↑ \d+ more(?= )/;
/** Where the prompt's text begins: after its glyph and a space. */
export const TEXT_COLUMN = 2;

/** A row as text, with no-break spaces as spaces: Claude puts one after its glyph. */
export const rowText = (screen: ScreenView, row: number): string =>
  screen.text(row).replaceAll('\u00a0', ' ');

/**
 * Claude's frame on this screen. Only Claude draws a bar from the first to the last column: the conversation is indented by two or follows
 * a glyph. A bar with anything else on it does not count, so cells left over from an earlier screen make the layout unknown.
 */
export const readLayout = (screen: ScreenView): Layout => {
  const overlay = lastRow(screen, screen.rows - 1, (text) => text === OVERLAY_BAR.repeat(screen.columns));
  const lower = lastRow(screen, screen.rows - 1, (text) => barOf(text, screen.columns) !== undefined);
  if (overlay !== undefined && overlay > (lower ?? -1))
    return { kind: 'panel', bar: overlay, isOverlay: true };
  if (lower === undefined) return { kind: 'none' };
  const [sign = ''] = screen.text(lower);
  const upper = lastRow(screen, lower - 1, (text) => isUpperBar(text, screen.columns, sign));
  const panel: Panel = { kind: 'panel', bar: lower, isOverlay: false };
  if (upper === undefined || upper + 1 === lower) return panel;
  const isScrolled = ROWS_ABOVE.test(withoutEnds(screen.text(upper), sign));
  const text = rowText(screen, upper + 1);
  const glyph = isScrolled ? '' : GLYPH.exec(text)?.[1];
  if (glyph === undefined) return panel;
  const isEmpty = !isScrolled && lower === upper + 2 && isGhost(screen, upper + 1, text);
  const draft = isEmpty ? '' : text.slice(TEXT_COLUMN);
  const isCursorIn = isActive(screen, upper, lower, isEmpty);
  if (!isCursorIn && !KNOWN_GLYPH.test(glyph)) return panel;
  return { kind: 'prompt', upper, lower, glyph, isEmpty, draft, isActive: isCursorIn };
};

/** Text typed after it is a message, not a shell command. */
export const isMessageGlyph = (glyph: string): boolean => new RegExp(`^${POINTER}$`).test(glyph);

/** In columns. */
export const columnsOf = (text: string): number => {
  const { ascii, wide } = countCharacters(text);
  return ascii + 2 * wide;
};

/** The non-blank rows below a row. */
export const rowsBelow = (screen: ScreenView, row: number): readonly string[] => {
  const rows: string[] = [];
  for (let next = row + 1; next < screen.rows; next += 1) {
    const text = rowText(screen, next);
    if (text.trim() !== '') rows.push(text);
  }
  return rows;
};

/** The non-blank rows below a row whose first cell is coloured; drafts and messages never begin in a colour. */
export const colouredRowsBelow = (screen: ScreenView, row: number): readonly string[] => {
  const rows: string[] = [];
  for (let next = row + 1; next < screen.rows; next += 1)
    if (isColoured(screen, next)) rows.push(rowText(screen, next));
  return rows;
};

/** The last row and those directly above it up to a blank one, joined, because a narrow screen wraps them. '' unless all are coloured. */
export const colouredLastRows = (screen: ScreenView): string => {
  let row = screen.rows - 1;
  while (row > 0 && rowText(screen, row).trim() === '') row -= 1;
  let joined = '';
  for (; row >= 0; row -= 1) {
    const text = rowText(screen, row);
    if (text.trim() === '') break;
    if (!isColoured(screen, row)) return '';
    joined = `${text.trim()} ${joined}`;
  }
  return joined.trimEnd();
};

/** The nearest row above that begins in the first column: Claude's own text, never the inside of a message. */
export const ownRowAbove = (screen: ScreenView, row: number): number | undefined => {
  for (let above = row - 1; above >= 0; above -= 1) if (/^\S/.test(rowText(screen, above))) return above;
  return undefined;
};

const lastRow = (screen: ScreenView, from: number, isIt: (text: string) => boolean): number | undefined => {
  for (let row = from; row >= 0; row -= 1) if (isIt(screen.text(row))) return row;
  return undefined;
};

const isUpperBar = (text: string, columns: number, sign: string): boolean => {
  if (!text.startsWith(sign) || !text.endsWith(sign)) return false;
  const between = withoutEnds(text, sign);
  if (between === '') return text.length === columns;
  const isAtEnd = text.length - text.lastIndexOf(between) - between.length <= MARGIN_OF_NAME;
  const isNamed = isAtEnd && NAME_IN_BAR.test(between);
  return (isNamed || ROWS_ABOVE.test(between)) && columnsOf(text) === columns;
};

const withoutEnds = (text: string, sign: string): string => {
  let [start, end] = [0, text.length];
  while (start < end && text[start] === sign) start += 1;
  while (end > start && text[end - 1] === sign) end -= 1;
  return text.slice(start, end);
};

// Claude draws its cursor over the first character of a suggestion; the rest is dim.
const isGhost = (screen: ScreenView, row: number, text: string): boolean => {
  const columns = Array.from(text.slice(TEXT_COLUMN)).flatMap((character, index) =>
    character === ' ' ? [] : [TEXT_COLUMN + index],
  );
  const rest = columns[0] === TEXT_COLUMN && isInverse(screen, row, TEXT_COLUMN) ? columns.slice(1) : columns;
  if (rest.length < columns.length && rest.length === 0) return false;
  return rest.every((column) => screen.styleAt(row, column)?.dim === true);
};

const isActive = (screen: ScreenView, upper: number, lower: number, isEmpty: boolean): boolean => {
  const { cursorRow, cursorColumn } = screen;
  if (cursorRow > upper && cursorRow < lower) return !isEmpty || cursorColumn === TEXT_COLUMN;
  // Old versions leave the real cursor below everything they drew and draw an inverse cell.
  if (cursorRow <= lower || cursorColumn !== 0) return false;
  for (let row = upper + 1; row < lower; row += 1)
    for (let column = TEXT_COLUMN; column < screen.columns; column += 1)
      if (isInverse(screen, row, column)) return !isEmpty || column === TEXT_COLUMN;
  return false;
};

const isColoured = (screen: ScreenView, row: number): boolean => {
  const column = rowText(screen, row).search(/\S/);
  const style = column < 0 ? undefined : screen.styleAt(row, column);
  return style !== undefined && (style.foreground !== undefined || style.dim);
};

/**
 * The column of the prompt's cursor in this row. Old versions leave the real cursor below everything they drew and draw an inverse cell.
 * Undefined where it is in another row.
 */
export const cursorColumnIn = (screen: ScreenView, row: number): number | undefined => {
  if (screen.cursorRow === row) return screen.cursorColumn;
  for (let column = TEXT_COLUMN; column < screen.columns; column += 1)
    if (isInverse(screen, row, column)) return column;
  return undefined;
};

const isInverse = (screen: ScreenView, row: number, column: number): boolean =>
  screen.styleAt(row, column)?.inverse === true;

/** The session's name in the bar above the prompt; undefined where it has none. */
export const nameInBar = (screen: ScreenView, { upper }: Prompt): string | undefined => {
  const text = screen.text(upper);
  const sign = text[0] ?? '';
  return withoutEnds(withoutEnds(text, sign).replace(ROWS_ABOVE, '').trim(), sign).trim() || undefined;
};

// The list of Claude's agents, which also has a prompt; text typed there starts another session, and some of its rows look like a spinner.

/** The title over the list: `claude agents`, `1 awaiting input · claude agents`. */
export const LIST_TITLE = /(?:^|· )claude agents$/;
/** With this a title is no name of a session; `claude agents` alone can be one. */
const COUNTED = /^\d+ \w[\w ]* · /;
/** The keys below the prompt of the list, in which text starts another session. */
const LIST_KEYS = /^ *enter to (?:open|return|create|collapse|expand)\b/;

/** The list of agents is on the screen. */
export const isAgentList = ({ screen, signals }: ScreenEvidence, layout: Layout): boolean =>
  (LIST_TITLE.test(signals.title ?? '') && (layout.kind !== 'prompt' || COUNTED.test(signals.title ?? ''))) ||
  (layout.kind === 'prompt' && LIST_KEYS.test(rowsBelow(screen, layout.lower)[0] ?? ''));
