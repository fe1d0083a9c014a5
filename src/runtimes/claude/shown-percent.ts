// The percentage that Claude shows in its footer when the window fills up (facts/claude.md §2, sessions.md §F).
import type { Basis } from '../../core/reading.js';
import type { ScreenView } from '../../core/screen-view.js';
import { refusalIn } from '../refusal.js';
import { rowsAbove, USER_ROW } from './command-answer.js';
import { rowText, TEXT_COLUMN, widthOf } from './layout.js';
import type { Prompt } from './layout.js';
import { CORNER } from './signs.js';

export interface ShownPercent {
  readonly usedPercent: number;
  readonly basis: Basis;
}

interface Wording {
  readonly pattern: RegExp;
  readonly basis: Basis;
  readonly counts: 'left' | 'used' | 'nothing left';
}

// Two blanks or the row's start before it, the row's end or a cut after it.
const wordings: readonly Wording[] = [
  { pattern: /(?:^|\s\s)(\d{1,3})% until auto-compact(?: · \S.*)?$/, basis: 'auto-compact', counts: 'left' },
  { pattern: /(?:^|\s\s)(\d{1,3})% context used(?: · \S.*)?$/, basis: 'effective', counts: 'used' },
  {
    pattern: /(?:^|\s\s)Context low \((\d{1,3})% remaining\)(?: · \S.*)?$/,
    basis: 'effective',
    counts: 'left',
  },
  // instead of `0% until auto-compact`, in new versions
  { pattern: /(?:^|\s\s)auto-compact next(?: · \S.*)?$/, basis: 'auto-compact', counts: 'nothing left' },
  {
    pattern: /(?:^|\s\s)Context left until auto-compact: (\d{1,3})%$/,
    basis: 'auto-compact',
    counts: 'left',
  },
];

const ANSWER = new RegExp(String.raw`^ {2}${CORNER} {1,2}(\S.*)$`);
const RIGHT_MARGIN = 2; // blank columns; one in the fullscreen renderer

/** What stands under the user's last message, or the notification beside the prompt; undefined where neither tells a number now. */
export const shownPercent = (screen: ScreenView, prompt: Prompt): ShownPercent | undefined => {
  if (isRefused(screen, prompt)) return { usedPercent: 100, basis: 'effective' };
  for (const row of notificationRows(screen, prompt)) {
    const shown = readRow(screen, row);
    if (shown) return shown;
  }
  return undefined;
};

// Claude's own answer stands right under the message, its sign in another colour than the user's text. A compaction keeps the answer
// without the message, and every later message has an answer of its own.
const isRefused = (screen: ScreenView, { upper }: Prompt): boolean => {
  const rows = rowsAbove(screen, upper);
  const said = rows.findLastIndex((row) => USER_ROW.test(row));
  if (said < 0) return false;
  const more = rows.slice(said + 1).findIndex((row) => !/^ {2}\S/.test(row));
  return rows.slice(said + 1, more < 0 ? rows.length : said + 1 + more).some((row, index) => {
    const words = ANSWER.exec(row)?.[1];
    if (words === undefined || refusalIn(words.trimEnd()) === undefined) return false;
    const sign = screen.styleAt(said + 1 + index, TEXT_COLUMN)?.foreground;
    return sign !== undefined && sign !== screen.styleAt(said, TEXT_COLUMN)?.foreground;
  });
};

// Classic: the hint row below the lower bar, or a row of its own under it. Fullscreen: the row kept free above the upper bar; only the
// list of commands or files below a draft takes it, and then the conversation may come down to it.
const notificationRows = (screen: ScreenView, { upper, lower, isEmpty }: Prompt): readonly number[] => {
  if (!screen.alternate)
    return Array.from({ length: screen.rows - lower - 1 }, (_, index) => lower + 1 + index);
  return isEmpty || rowText(screen, upper - 2) === '' ? [upper - 1] : [];
};

// The user's own status line stands in the same rows, but at their left, and in the terminal's colour unless it sets another.
const readRow = (screen: ScreenView, row: number): ShownPercent | undefined => {
  const text = rowText(screen, row);
  const width = widthOf(text);
  const margin = screen.columns - width;
  if (margin < 1 || margin > RIGHT_MARGIN) return undefined;
  for (const { pattern, basis, counts } of wordings) {
    const match = pattern.exec(text);
    const number = counts === 'nothing left' ? 0 : Number(match?.[1]);
    if (!match || number > 100) continue;
    if (screen.styleAt(row, width - 1)?.foreground === undefined) return undefined;
    return { usedPercent: counts === 'used' ? number : 100 - number, basis };
  }
  return undefined;
};
