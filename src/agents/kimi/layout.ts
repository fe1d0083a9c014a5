import { parseDisplayedAmount } from '../../core/format.js';
import type { ScreenView } from '../../core/reading.js';
import { joinWrappedRows } from '../compress.js';

// Kimi Code's own part of the screen (docs/facts/kimi.md): a box for the input, one column from the left edge, and below it a list of commands
// or the footer. The cursor is in the box; a dialog or a picker replaces the box.

export interface Box {
  readonly top: number;
  readonly bottom: number;
  /** `>` for a message, `!` for a shell command */
  readonly mode: string;
  /** the rows of the input without frame and prefix, trailing spaces removed */
  readonly rows: readonly string[];
}

const TALLEST = 30; // rows; a longer draft scrolls
const TEXT_COLUMN = 5;
const MARGIN = 5; // free columns between a full row of text and the right edge, with the frame
const TOP = /^ ╭─{10,}╮$/;
const OTHER_TOP = /^ ╭[ ─].*─╮$/;
const BOTTOM = /^ ╰─{10,}╯$/;

/** The box around the cursor; undefined where there is none, or its frame carries a label. */
export const findBox = (screen: ScreenView): Box | undefined => {
  const top = seek(screen, -1);
  const bottom = seek(screen, 1);
  if (top === undefined || bottom === undefined) return undefined;
  const framed = Array.from({ length: bottom - top - 1 }, (_, index) => screen.text(top + 1 + index));
  const mode = /^ │ ([>!])(?: |$)/.exec(framed[0] ?? '')?.[1];
  if (mode === undefined || !framed.every((row) => /^ │.*│$/.test(row))) return undefined;
  return {
    top,
    bottom,
    mode: TOP.test(screen.text(top)) ? mode : '!',
    rows: framed.map((row) => row.slice(TEXT_COLUMN, -1).trimEnd()),
  };
};

const seek = (screen: ScreenView, step: 1 | -1): number | undefined => {
  const edge = step === 1 ? BOTTOM : OTHER_TOP;
  for (let row = screen.cursorRow + step; row >= 0 && row < screen.rows; row += step) {
    if (edge.test(screen.text(row))) return row;
    if (Math.abs(row - screen.cursorRow) > TALLEST) return undefined;
  }
  return undefined;
};

/** The typed text; '' where nothing is typed. */
export const inputText = (screen: ScreenView, { top, rows }: Box): string => {
  const [first = '', ...more] = rows;
  const typed = more.length === 0 ? withoutHint(screen, top + 1, first) : first;
  return joinWrappedRows([typed, ...more], screen.columns - TEXT_COLUMN - MARGIN);
};

/** True where the cursor is in the first cell of an input without text. */
export const isEmpty = (screen: ScreenView, { top, rows }: Box): boolean =>
  rows.length === 1 && rows[0] === '' && screen.cursorRow === top + 1 && screen.cursorColumn === TEXT_COLUMN;

// Behind a command and the cursor Kimi shows the argument that it takes: `/compact  <instruction>`, in a colour of its own.
const withoutHint = (screen: ScreenView, row: number, text: string): string => {
  const [hint = ''] = / {2}<[^<>]+[>…]$/.exec(text) ?? [];
  const from = TEXT_COLUMN + text.length - hint.length;
  if (hint === '' || screen.cursorColumn !== from) return text;
  const style = screen.styleAt(row, from + 2);
  return style?.foreground !== undefined && !style.bold ? text.slice(0, -hint.length) : text;
};

/** The command that is chosen in the list below the input, with its slash. */
export const listedBelow = (screen: ScreenView, { bottom }: Box): { readonly listed?: string } => {
  for (let row = bottom + 1; screen.text(row).startsWith(' │'); row += 1) {
    const name = /^ │ {3}→ (\S+)/.exec(screen.text(row))?.[1];
    if (name !== undefined) return { listed: `/${name}` };
  }
  return {};
};

/** Rows that tell what goes on, between the conversation and the input. */
export interface LiveRows {
  readonly compacting: boolean;
  readonly working: boolean;
  readonly queued: boolean;
}

const MOST_LIVE = 16; // a long hint wraps, and queued messages have a row each
const SPINNER = /^ {2}(?:[\u2800-\u28ff]|[\u{1F311}-\u{1F318}])(?: |$)/u;
const COMPACTING = /^ [● ] Compacting context…(?: · |$)/;
const QUEUED = /^ {2,3}(?:❯ |↑ to edit · )/;
/** How items of the conversation begin: answers and tools, messages of the user, failed tools. */
const ITEM = /^ [●✨✗] /u;

export const liveRows = (screen: ScreenView, { top }: Box): LiveRows => {
  const live = { compacting: false, working: false, queued: false };
  for (let row = top - 1; row >= 0 && row >= top - MOST_LIVE; row -= 1) {
    const text = screen.text(row);
    if (COMPACTING.test(text)) return { ...live, compacting: true };
    if (SPINNER.test(text)) live.working = true;
    if (QUEUED.test(text)) live.queued = true;
    if (ITEM.test(text)) return live;
  }
  return live;
};

/** The last item of the conversation with what is below it, without empty rows; as much as can be on the screen. */
export const lastItem = (screen: ScreenView, { top }: Box): readonly string[] => {
  const rows: string[] = [];
  for (let row = top - 1; row >= 0 && row >= top - MOST_LIVE; row -= 1) {
    const text = screen.text(row);
    if (text !== '') rows.unshift(text);
    if (ITEM.test(text)) break;
  }
  return rows;
};

// The fill in Kimi's footer: `context: 46% (87.9k/195k)` at the right end of its last row. `k` is 1024, and the percentage is rounded up, so the
// tokens count.

const FILL = /(?:^| )context: \d{1,3}% \((\d[\d.]*[kM]?)\/(\d[\d.]*[kM]?)\)$/;
const EDGE = 2; // free columns behind it, at most
const MOST_FOOTER = 14; // rows, with a list of commands above it

export interface ShownFill {
  readonly usedTokens: number;
  readonly roundingTokens: number;
  readonly windowTokens: number;
}

/** The fill in the footer below this row; undefined where there is none. The row above it may be the user's own. */
export const findFooter = (screen: ScreenView, bottom: number): ShownFill | undefined => {
  const last = lastRow(screen);
  const row = screen.text(last);
  if (last <= bottom || last > bottom + MOST_FOOTER || row.length < screen.columns - EDGE) return undefined;
  const [, used, window] = FILL.exec(row) ?? [];
  const [amount, whole] = [binaryAmount(used), binaryAmount(window)];
  if (!amount || !whole || whole.tokens === 0) return undefined;
  return {
    usedTokens: amount.tokens,
    roundingTokens: amount.rounding,
    windowTokens: likelyWindow(whole),
  };
};

const lastRow = (screen: ScreenView): number => {
  let row = screen.rows - 1;
  while (row > 0 && screen.text(row) === '') row -= 1;
  return row;
};

const BAR = /^ ─{10,}$/;
const MOST_BELOW = 6; // rows of the footer below a dialog

/** The lower of the two bars around a dialog or a picker, which replaces the input; undefined if there is none. */
export const findDialog = (screen: ScreenView): number | undefined => {
  const last = lastRow(screen);
  for (let row = last; row > last - MOST_BELOW; row -= 1) if (BAR.test(screen.text(row))) return row;
  return undefined;
};

interface BinaryAmount {
  readonly tokens: number;
  /** the true number differs by this at most */
  readonly rounding: number;
}

const K = 1024;
const WHOLE = 100; // there is no decimal from here on, but in millions

const binaryAmount = (text = ''): BinaryAmount | undefined => {
  const shown = parseDisplayedAmount(text.replace(/[kM]$/, ''));
  if (!shown) return undefined;
  const factor = text.endsWith('k') ? K : text.endsWith('M') ? K * K : 1;
  const step = factor === 1 ? 0 : factor === K && shown.value >= WHOLE ? factor : factor / 10;
  return { tokens: Math.round(shown.value * factor), rounding: Math.ceil(step / 2) };
};

const [ROUND, LARGE_ROUND] = [1_000, 10_000];

/** Windows are multiples of 1024, as shown, or round numbers: `195k` is 200 000, `31.3k` is 32 000. */
const likelyWindow = ({ tokens, rounding }: BinaryAmount): number => {
  const unit = rounding < K / 2 ? ROUND : LARGE_ROUND;
  const round = Math.round(tokens / unit) * unit;
  const isShownSo = rounding < K && Math.abs(round - tokens) <= rounding;
  return isShownSo ? round : tokens;
};
