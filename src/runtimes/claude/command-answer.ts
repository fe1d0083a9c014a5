// A `/compact` on the screen with the words under it. Only what begins in the first column is the user's own command.
import type { CompactResult } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import type { ScreenView } from '../../core/screen-view.js';
import { resultIn } from './command-result.js';
import { rowText } from './layout.js';
import type { Layout } from './layout.js';
import { CORNER, POINTER } from './signs.js';

export const USER_ROW = new RegExp(String.raw`^${POINTER} \S`);
export const COMMAND = new RegExp(String.raw`^${POINTER} /compact(?: |$)`);
const ANSWER = new RegExp(String.raw`^ {2}${CORNER} {1,2}(?=\S)`);
const ANSWER_GOES_ON = /^ {5}\S/;

/** The command stands in the prompt, or did so a moment ago. */
export interface Asked {
  readonly columns: number;
  /** how many commands that changed nothing were on the screen then */
  readonly failures: number;
  readonly at: Millis;
}

const ANSWER_MS = 3_000; // longest time from the command to words that come without a compaction being seen

export const rowsAbove = (screen: ScreenView, end: number): readonly string[] =>
  Array.from({ length: end }, (_, row) => rowText(screen, row));

/** The words under the last command, where it is the last thing the user said and changed nothing. */
export const lastResult = (rows: readonly string[]): CompactResult | undefined => {
  const last = rows.findLastIndex((row) => USER_ROW.test(row));
  return COMMAND.test(rows[last] ?? '') ? resultUnder(rows, last) : undefined;
};

/** While the command is typed, and until it is answered. */
export const askedAfter = (
  asked: Asked | undefined,
  screen: ScreenView,
  layout: Layout,
  { isBusy, now }: { readonly isBusy: boolean; readonly now: Millis },
): Asked | undefined => {
  const { columns } = screen;
  if (layout.kind === 'prompt' && layout.draft.startsWith('/compact'))
    return { columns, failures: failuresIn(rowsAbove(screen, layout.upper)), at: now };
  if (!asked || asked.columns !== columns) return undefined;
  if (isBusy) return { ...asked, at: now }; // it may be queued behind a turn
  return now - asked.at > ANSWER_MS ? undefined : asked;
};

/** What became of a command that was answered at once; words that were there before are none. */
export const answerTo = (asked: Asked, screen: ScreenView, layout: Layout): CompactResult | undefined => {
  if (layout.kind !== 'prompt' || layout.draft.startsWith('/compact')) return undefined;
  const rows = rowsAbove(screen, layout.upper);
  return failuresIn(rows) > asked.failures ? lastResult(rows) : undefined;
};

const failuresIn = (rows: readonly string[]): number =>
  rows.filter((row, index) => COMMAND.test(row) && resultUnder(rows, index) !== undefined).length;

const resultUnder = (rows: readonly string[], command: number): CompactResult | undefined => {
  const from = rows.findIndex((row, index) => index > command && ANSWER.test(row));
  const between = rows.slice(command + 1, from);
  // a long focus goes on below the command
  if (from < 0 || between.some((row) => !/^ {2}\S/.test(row))) return undefined;
  const rest = rows.slice(from + 1);
  const end = rest.findIndex((row) => !ANSWER_GOES_ON.test(row));
  const more = end < 0 ? rest : rest.slice(0, end);
  const words = [(rows[from] ?? '').replace(ANSWER, ''), ...more.map((row) => row.trim())];
  return resultIn(words.join(' '));
};
