// How a compaction that was seen on the screen ended (facts/claude.md §6). An older one may be on the screen, too, and come into view
// again when a compaction is stopped: so it counts only what was not there before, or what a compaction throws away.
import type { Activity } from '../../core/activity.js';
import type { Fact } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import type { ScreenView } from '../../core/screen-view.js';
import { COMMAND, lastResult, rowsAbove, USER_ROW } from './command-answer.js';
import type { Layout } from './layout.js';
import { BULLET, CORNER, ANY_SIGN, POINTER } from './signs.js';
import { isSpinnerRow } from './spinner.js';

/** A compaction under way, or just over. */
export interface Compacting {
  readonly columns: number;
  /** the user asked for it */
  readonly isAsked: boolean;
  /** how many compactions that the user asked for are on the screen as done */
  readonly answers: number;
  /** the first row of the conversation on the screen, under the mark of an earlier compaction if there is one */
  readonly first: string | undefined;
  /** what waits to be sent when it is over, so that it may stand below the end */
  readonly waiting: readonly string[];
  /** when its row was seen last */
  readonly at: Millis;
}

const ANSWER = new RegExp(String.raw`^ {2}${CORNER} {1,2}Compacted \(ctrl\+o`);
const MARK = new RegExp(String.raw`^(?:${ANY_SIGN}|[═─━]+) Conversation compacted (?:\(|· )ctrl\+o`, 'u');
/** Claude gives the command back, with its focus; the user's own words may begin like it. */
const GIVEN_BACK = /^\/compact(?:\s|$)/;
/** The same, but it may be drawn over a bar (facts/claude.md §2 traps). */
const COMMAND_ON_BAR = /^([─━═])\1\/compact(?: |\1)/;
const WAITING_ROW = new RegExp(String.raw`^(?: {2})?${POINTER} (\S.*)$`); // below the compaction's own row
const QUEUED = new RegExp(String.raw`^ {2}${CORNER} {1,2}Queued(?: ·|$)`);
const MESSAGE_ROW = new RegExp(String.raw`^(?:${BULLET}|${POINTER}) \S`);

const LONG = 16; // characters of a message that waits further in, so that its rows are cut earlier than when it is sent
const REPAINT_MS = 2_000; // longest time the end may take to be painted

/** While the compaction's own row is above the prompt, in which something may be typed meanwhile. */
export const compactingOn = (screen: ScreenView, layout: Layout, now: Millis): Compacting => {
  const rows = rowsOf(screen).slice(0, layout.kind === 'prompt' ? layout.upper : screen.rows);
  const running = rows.findLastIndex(isSpinnerRow);
  const above = rows.slice(0, running === -1 ? rows.length : running);
  const queued = queuedIn(above);
  const said = above.slice(0, queued[0]?.row ?? above.length);
  return {
    columns: screen.columns,
    isAsked: COMMAND.test(said.findLast((row) => USER_ROW.test(row)) ?? ''),
    answers: answersIn(rows),
    first: underMark(rows).find((row) => MESSAGE_ROW.test(row)),
    waiting: [...queued.map(({ text }) => text), ...waitingIn(rows.slice(running + 1))],
    at: now,
  };
};

/** What this screen says of how it ended; nothing where only that it did, undefined while that is open. */
export const endOf = (
  before: Compacting,
  screen: ScreenView,
  { layout, activity }: { readonly layout: Layout; readonly activity: Activity },
  now: Millis,
): readonly Fact[] | undefined => {
  if (screen.columns !== before.columns) return []; // other rows hold the same text
  if (layout.kind === 'prompt') {
    if (GIVEN_BACK.test(layout.draft)) return before.isAsked ? INTERRUPTED : [];
    const rows = rowsAbove(screen, layout.upper);
    if (isDone(before, rows)) {
      const initiator = before.isAsked ? 'user' : 'agent';
      return [{ type: 'boundary', boundary: { initiator, source: 'screen', at: now } }];
    }
    const result = before.isAsked ? lastResult(rows) : undefined;
    if (result) return [{ type: 'compact-result', result }];
  } else if (before.isAsked && rowsOf(screen).some((row) => COMMAND_ON_BAR.test(row))) return INTERRUPTED;
  const isSettled = activity === 'ready' || activity === 'draft' || activity === 'dialog';
  return isSettled || now - before.at > REPAINT_MS ? [] : undefined;
};

const INTERRUPTED: readonly Fact[] = [{ type: 'compact-result', result: { kind: 'interrupted', by: 'Esc' } }];

const isDone = (before: Compacting, rows: readonly string[]): boolean => {
  const kept = underMark(rows);
  const isDropped = before.first !== undefined && !kept.includes(before.first);
  if (!before.isAsked) return isDropped && kept.length < rows.length;
  const last = lastUserRow(rows, before.waiting);
  const isAnswered = COMMAND.test(rows[last] ?? '') && ANSWER.test(rows[last + 1] ?? '');
  // what waited is also sent when a compaction is stopped, and scrolls others away
  return isAnswered && ((isDropped && before.waiting.length === 0) || answersIn(rows) > before.answers);
};

/** What new versions show above the compaction's row, each message with a mark of its own under it; the first one first. */
const queuedIn = (rows: readonly string[]): readonly { readonly row: number; readonly text: string }[] => {
  const mark = rows.findLastIndex((row) => row.trim() !== '');
  if (!QUEUED.test(rows[mark] ?? '')) return [];
  const row = rows.slice(0, mark).findLastIndex((each) => !/^ {2}\S/.test(each));
  const text = rows[row] ?? '';
  if (!USER_ROW.test(text)) return [];
  return [...queuedIn(rows.slice(0, row)), { row, text: text.slice(2).trimEnd() }];
};

const waitingIn = (rows: readonly string[]): readonly string[] =>
  rows.flatMap((row) => WAITING_ROW.exec(row)?.[1]?.trimEnd() ?? []);

/** The user's last words, without those that waited for the end. */
const lastUserRow = (rows: readonly string[], waiting: readonly string[]): number => {
  const left = [...waiting];
  return rows.findLastIndex((row) => {
    if (!USER_ROW.test(row)) return false;
    const text = row.slice(2).trimEnd();
    const sent = left.findIndex((each) => each === text || (each.length >= LONG && text.startsWith(each)));
    if (sent === -1) return true;
    left.splice(sent, 1);
    return false;
  });
};

const rowsOf = (screen: ScreenView): readonly string[] => rowsAbove(screen, screen.rows);

/** The conversation that a compaction has kept begins under its mark; all rows where there is none. */
const underMark = (rows: readonly string[]): readonly string[] =>
  rows.slice(rows.findLastIndex((row) => MARK.test(row)) + 1);

const answersIn = (rows: readonly string[]): number =>
  rows.filter((row, index) => ANSWER.test(row) && COMMAND.test(rows[index - 1] ?? '')).length;
