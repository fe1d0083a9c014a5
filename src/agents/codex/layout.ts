import type { ScreenView } from '../../core/reading.js';

// Where Codex draws its own part of the screen: the composer, the footer below it, and the conversation above it
// (docs/facts/codex.md#percentage-on-the-screen, #keys). Everything is located from the composer, whose glyph is drawn like nothing in the
// conversation.

export interface Pane {
  /** row of the composer's glyph; a draft may continue below it */
  readonly row: number;
  /** `›` for a prompt, `!` for a shell command */
  readonly glyph: string;
  /** the cursor is in the composer, so keys go there */
  readonly hasCursor: boolean;
  /** rows of the status line and the hints, top first; empty where nothing is shown */
  readonly footer: readonly number[];
}

/** The last item of the conversation above the composer. */
export interface ConversationEnd {
  readonly row: number;
  readonly text: string;
}

/** The column where the text of the composer and everything else indented begins. */
export const TEXT_COLUMN = 2;
const RED = 1; // palette index
const MOST_FOOTER_ROWS = 8; // all items at 40 columns take six
const QUEUE = /^• (?:Messages to be submitted|Queued follow-up inputs)/;
const LIVE = /^[•◦] .+? \(\d+[hms]/;
/** In the colour of text, but in the first column, where no message begins. */
export const INTERRUPTED = /^■ Conversation interrupted - /;
const COMPACTING = /^[•◦] Compacting context \(/;

/** Undefined while a picker, a view or another program has the screen. */
export const findPane = (screen: ScreenView): Pane | undefined => {
  for (let row = screen.cursorRow; row >= 0; row -= 1) {
    const glyph = glyphAt(screen, row);
    if (glyph === undefined) continue;
    const footer = footerBelow(screen, row);
    const end = (footer[0] ?? screen.rows + 1) - 2; // with a blank row in between
    return { row, glyph, hasCursor: screen.cursorRow <= end, footer };
  }
  return undefined;
};

// Sent messages have a dim glyph, a picker's choice is inverse, and the model's text is indented.
const glyphAt = (screen: ScreenView, row: number): string | undefined => {
  const glyph = /^[›!](?= |$)/.exec(screen.text(row))?.[0];
  const style = glyph === undefined ? undefined : screen.styleAt(row, 0);
  if (!style?.bold || style.dim || style.inverse) return undefined;
  return glyph === '!' && style.foreground === undefined ? undefined : glyph;
};

/** A message of the user's in the conversation: its glyph is bold and dim, and its text is neither. */
export const isSentMessage = (screen: ScreenView, row: number): boolean => {
  if (!/^› \S/.test(screen.text(row))) return false;
  const style = screen.styleAt(row, 0);
  return style?.bold === true && style.dim && screen.styleAt(row, TEXT_COLUMN)?.dim === false;
};

const footerBelow = (screen: ScreenView, row: number): readonly number[] => {
  let last = screen.rows - 1;
  while (last > row && screen.text(last) === '') last -= 1;
  let first = last;
  while (first > row && screen.text(first - 1) !== '') first -= 1;
  if (first <= row + 1 || last - first >= MOST_FOOTER_ROWS) return [];
  // only Codex's own search field puts the cursor into the footer; otherwise these are the last lines of a draft
  if (screen.cursorRow >= first && !isDrawn(screen, screen.cursorRow)) return [];
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
};

/** The last item of the conversation above the composer: continuation rows are indented, and queued messages do not count. */
export const endAbove = (
  screen: ScreenView,
  { row: composer }: Pick<Pane, 'row'>,
): ConversationEnd | undefined => {
  for (let row = composer - 1; row >= 0; row -= 1) {
    const text = screen.text(row);
    if (text === '' || text.startsWith(' ') || QUEUE.test(text) || isOfPopup(screen, row)) continue;
    const first = errorAt(screen, row) ?? row;
    return { row: first, text: screen.text(first) };
  }
  return undefined;
};

// A long error continues in the first column, where nothing else does.
const errorAt = (screen: ScreenView, row: number): number | undefined => {
  for (let above = row; above >= 0 && screen.text(above) !== ''; above -= 1)
    if (isError(screen, above)) return above;
  return undefined;
};

const isError = (screen: ScreenView, row: number): boolean =>
  INTERRUPTED.test(screen.text(row)) ||
  (/^■ \S/.test(screen.text(row)) && screen.styleAt(row, 0)?.foreground === RED);

/** Codex's own error message at the end of the conversation; undefined when it ends with something else. */
export const readError = (screen: ScreenView, { row }: ConversationEnd): string | undefined => {
  if (!isError(screen, row)) return undefined;
  const rows: string[] = [];
  for (let next = row; next < screen.rows && screen.text(next) !== ''; next += 1)
    rows.push(screen.text(next).trim());
  return rows.join(' ');
};

// A popup between the conversation and the composer: its choice is inverse, its arrows stand alone.
const isOfPopup = (screen: ScreenView, row: number): boolean =>
  /^[↑↓]$/.test(screen.text(row)) || screen.styleAt(row, 0)?.inverse === true;

/** The last item of the conversation above the row of the running task. */
export const endAboveTask = (screen: ScreenView, pane: Pane): ConversationEnd | undefined => {
  const head = endAbove(screen, pane);
  return head && isTask(screen, head) ? endAbove(screen, { ...pane, row: head.row }) : head;
};

/** The row of a task: its clock is dim, the space before it is not. Reasoning is dim throughout, and an answer nowhere. */
export const isTask = (screen: ScreenView, { row, text }: ConversationEnd): boolean => {
  const blank = text.indexOf(' (');
  return (
    LIVE.test(text) &&
    screen.styleAt(row, blank)?.dim === false &&
    screen.styleAt(row, blank + 1)?.dim === true
  );
};

/** A model may name its task freely, but the row below it is Codex's own. */
export const isCompacting = (screen: ScreenView, head: ConversationEnd): boolean =>
  COMPACTING.test(head.text) &&
  isTask(screen, head) &&
  /^ {2}└ Making room/.test(screen.text(head.row + 1)) &&
  screen.styleAt(head.row + 1, TEXT_COLUMN)?.dim === true;

/**
 * Nothing is typed: the cursor is before a dim text, which is always Codex's own (0.137 suggests a different question each time). Typed
 * text is never dim, and spaces are a draft, too.
 */
export const isEmpty = (screen: ScreenView, { row, footer }: Pane): boolean => {
  if (screen.cursorRow !== row || screen.cursorColumn !== TEXT_COLUMN) return false;
  const last = footer[0] === undefined ? row + 1 : footer[0] - 2; // with a blank row in between
  for (let each = row; each <= last; each += 1) if (!isDimThroughout(screen, each)) return false;
  return screen.text(row).length > TEXT_COLUMN;
};

const isDimThroughout = (screen: ScreenView, row: number): boolean => {
  const text = screen.text(row);
  for (let column = TEXT_COLUMN; column < text.length; column += 1)
    if (text[column] !== ' ' && screen.styleAt(row, column)?.dim !== true) return false;
  return true;
};

/** Not in the colour of a draft: footer items have their own colour or are dim. */
export const isDrawn = (screen: ScreenView, row: number): boolean => {
  const style = screen.styleAt(row, TEXT_COLUMN);
  return style !== undefined && (style.dim || style.foreground !== undefined);
};
