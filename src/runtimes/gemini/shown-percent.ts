// The percentage in Gemini's footer (facts/gemini.md §2). It is off by default, and it is read only where Gemini puts it: right below the
// input box with the cursor. Other footers on the screen are left over from a wider terminal, and text may imitate any of them.
import type { ScreenView } from '../../core/screen-view.js';
import type { Composer } from '../compress-screen.js';

/** Tokens of a row that is laid out in columns, with the screen columns they cover. */
interface Cell {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const HEADERS = [
  'workspace (/directory)',
  'branch',
  'sandbox',
  '/model',
  'context',
  'quota',
  'memory',
  'session',
  'machine',
  '/auth',
  'diff',
  'tokens',
];
const USED = /^(\d{1,3})% used$/;
const USED_BELOW_HEADER = /^(\d{1,3})%(?: used)?$/; // narrower than 100 columns the word is left out
// 0.29…0.32 and, in brackets, before. A bare `98%` is left out: it is what is left in 0.32 and what is used in 0.33.
const LEFT = / (\d{1,3})% context left$/;
const LEFT_BRACKETED = / \((\d{1,3})%(?: context left)?\)$/;
const MARKS_BEHIND = / {1,3}\| ✖ .*$/; // `| ✖ 1 error (F12 for details)`
// An unlabelled quota looks the same as the context. Below its warning it is drawn in the default colour, unlike the context.
const QUOTA_WARNING_PERCENT = 80;

/** How full the footer says the window is, 1…100 used; undefined when it says nothing. */
export const shownPercent = (screen: ScreenView, { bottom }: Composer): number | undefined => {
  const row = bottom + 1;
  const percent = belowHeader(screen, row) ?? unlabelled(screen, row) ?? oldFooter(screen.text(row));
  // After a resume, a compaction and a failed one Gemini shows an estimate that is 0 % of any large window, also when it is full.
  return percent !== undefined && percent > 0 && percent <= 100 ? percent : undefined;
};

const belowHeader = (screen: ScreenView, row: number): number | undefined => {
  const headers = cellsOf(screen.text(row), /\S+(?: \S+)*/g);
  const context = headers.find(({ text }) => text === 'context');
  if (!context || !headers.every(({ text }) => HEADERS.includes(text))) return undefined;
  const values = cellsOf(screen.text(row + 1), /\S+(?: \S+)*/g);
  const below = values.filter(({ start, end }) => start < context.end && end > context.start);
  return below.length === 1 ? numberIn(USED_BELOW_HEADER, below[0]?.text) : undefined;
};

const unlabelled = (screen: ScreenView, row: number): number | undefined => {
  const text = screen.text(row);
  if (!/ · /.test(text)) return undefined;
  const found = cellsOf(text, /[^\s·]+(?: [^\s·]+)*/g).filter((cell) => USED.test(cell.text));
  const [cell] = found;
  if (!cell || found.length > 1) return undefined;
  const percent = numberIn(USED, cell.text);
  const isColoured = screen.styleAt(row, cell.start)?.foreground !== undefined;
  return isColoured && percent !== undefined && percent < QUOTA_WARNING_PERCENT ? percent : undefined;
};

const oldFooter = (row: string): number | undefined => {
  if (!row.startsWith(' ')) return undefined;
  const text = row.replace(MARKS_BEHIND, '');
  const left = numberIn(LEFT, text) ?? numberIn(LEFT_BRACKETED, text);
  return left === undefined ? undefined : 100 - left;
};

const cellsOf = (text: string, cell: RegExp): readonly Cell[] =>
  [...text.matchAll(cell)].map((found) => ({
    text: found[0],
    start: found.index,
    end: found.index + found[0].length,
  }));

const numberIn = (pattern: RegExp, text: string | undefined): number | undefined => {
  const digits = text === undefined ? undefined : pattern.exec(text)?.[1];
  return digits === undefined ? undefined : Number(digits);
};
