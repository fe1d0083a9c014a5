import type { CompactResult, Fact } from '../../core/event.js';
import { getRecord, getText, type JsonRecord } from '../../core/json.js';
import { toOneLine } from '../../core/text.js';
import type { Millis, ScreenView, Activity } from '../../core/reading.js';
import { isSpinnerRow } from './activity.js';
import { rowText, type Layout, CORNER, POINTER, BULLET, ANY_SIGN } from './layout.js';

// What Claude answers to a `/compact` that changed nothing, on the screen and in the session file (docs/facts/claude.md#compaction,
// #session-files). In the file, a prompt that imitates a command is not followed by such an answer.

const NOOP = /^(?:Error: )?(?:No messages|Not enough messages) to compact/;
const EMPTY =
  /^Error during compaction: summarization produced empty response|^Failed to generate conversation summary/;
const FAILED = /^(?:Error during compaction:|Compaction (?:failed|blocked|interrupted)\b)/;
const CANCELED = /^Compaction canceled/;
const COMMAND_NAME_TAG = /^<command-name>(\/\S+)<\/command-name>/;
const COMMAND_RESULT_ANSWER = /^<local-command-(?:stdout|stderr)>(.*)<\/local-command-(?:stdout|stderr)>$/s;

const LONGEST = 200; // characters of a server error, which may be a whole page

/** Undefined for words of success and for anything else. */
const resultIn = (words: string): CompactResult | undefined => {
  const text = toOneLine(words, LONGEST);
  if (NOOP.test(text)) return { kind: 'noop', text };
  if (EMPTY.test(text)) return { kind: 'failed', failure: 'empty', text };
  if (FAILED.test(text)) return { kind: 'failed', failure: 'error', text };
  return CANCELED.test(text) ? { kind: 'interrupted', by: 'Esc' } : undefined;
};

/** The command in this record, as `/compact`; undefined for other records. */
export const readCommand = (record: JsonRecord): string | undefined =>
  COMMAND_NAME_TAG.exec(getText(getRecord(record, 'message'), 'content') ?? '')?.[1];

/** Claude's answer to a `/compact` that changed nothing. */
export const readCompactResult = (record: JsonRecord): CompactResult | undefined =>
  resultIn(COMMAND_RESULT_ANSWER.exec(getText(record, 'content') ?? '')?.[1] ?? '');

// A `/compact` on the screen with the words under it. Only text that begins in the first column is the user's own command.

export const USER_ROW = new RegExp(String.raw`^${POINTER} \S`);
const COMMAND = new RegExp(String.raw`^${POINTER} /compact(?: |$)`);
const ANSWER_CORNER = new RegExp(String.raw`^ {2}${CORNER} {1,2}(?=\S)`);
const ANSWER_GOES_ON = /^ {5}\S/;

/** The command is in the prompt, or was a moment ago. */
export interface PendingCommand {
  readonly columns: number;
  /** how many failed commands were on the screen then */
  readonly failures: number;
  readonly at: Millis;
}

const ANSWER_MS = 3_000; // the longest time from the command to an answer without a visible compaction

export const rowsAbove = (screen: ScreenView, end: number): readonly string[] =>
  Array.from({ length: end }, (_, row) => rowText(screen, row));

/** The words under the last command, when it is the user's last message and changed nothing. */
const lastResult = (rows: readonly string[]): CompactResult | undefined => {
  const last = rows.findLastIndex((row) => USER_ROW.test(row));
  return COMMAND.test(rows[last] ?? '') ? resultUnder(rows, last) : undefined;
};

/** The command from when it is typed until it is answered. */
export const updatePendingCommand = (
  asked: PendingCommand | undefined,
  screen: ScreenView,
  layout: Layout,
  { isBusy, now }: { readonly isBusy: boolean; readonly now: Millis },
): PendingCommand | undefined => {
  const { columns } = screen;
  if (layout.kind === 'prompt' && layout.draft.startsWith('/compact'))
    return { columns, failures: failuresIn(rowsAbove(screen, layout.upper)), at: now };
  if (!asked || asked.columns !== columns) return undefined;
  if (isBusy) return { ...asked, at: now }; // it may be queued behind a turn
  return now - asked.at > ANSWER_MS ? undefined : asked;
};

/** The outcome of a command that was answered at once; words that were there before do not count. */
export const readAnswer = (
  asked: PendingCommand,
  screen: ScreenView,
  layout: Layout,
): CompactResult | undefined => {
  if (layout.kind !== 'prompt' || layout.draft.startsWith('/compact')) return undefined;
  const rows = rowsAbove(screen, layout.upper);
  return failuresIn(rows) > asked.failures ? lastResult(rows) : undefined;
};

const failuresIn = (rows: readonly string[]): number =>
  rows.filter((row, index) => COMMAND.test(row) && resultUnder(rows, index) !== undefined).length;

const resultUnder = (rows: readonly string[], command: number): CompactResult | undefined => {
  const from = rows.findIndex((row, index) => index > command && ANSWER_CORNER.test(row));
  const between = rows.slice(command + 1, from);
  // a long focus text continues below the command, in new versions from the first column on
  if (from < 0 || between.some((row) => !/^(?: {2})?\S/.test(row))) return undefined;
  const rest = rows.slice(from + 1);
  const end = rest.findIndex((row) => !ANSWER_GOES_ON.test(row));
  const more = end < 0 ? rest : rest.slice(0, end);
  const words = [(rows[from] ?? '').replace(ANSWER_CORNER, ''), ...more.map((row) => row.trim())];
  return resultIn(words.join(' '));
};

// How a compaction seen on the screen ended (docs/facts/claude.md#compaction). An older one may be visible, too, and come back into view when a
// compaction is stopped: only something new counts, or rows that disappear.

/** A compaction under way, or just over. */
export interface RunningCompaction {
  readonly columns: number;
  /** the user asked for it */
  readonly isAsked: boolean;
  /** how many finished compactions of the user are on the screen */
  readonly answers: number;
  /** the first row of the conversation on the screen, below the marker of an earlier compaction if there is one */
  readonly first: string | undefined;
  /** messages queued to be sent afterwards, which may end up below the end of the compaction */
  readonly waiting: readonly string[];
  /** when its row was last seen */
  readonly at: Millis;
}

const ANSWER = new RegExp(String.raw`^ {2}${CORNER} {1,2}Compacted \(ctrl\+o`);
const MARK = new RegExp(String.raw`^(?:${ANY_SIGN}|[═─━]+) Conversation compacted (?:\(|· )ctrl\+o`, 'u');
/** Claude puts the command back into the prompt, with its focus; the user's own text may begin like it. */
const GIVEN_BACK = /^\/compact(?:\s|$)/;
/** The same, but it may be drawn over a bar (docs/facts/claude.md#percentage-on-the-screen). */
const COMMAND_ON_BAR = /^([─━═])\1\/compact(?: |\1)/;
const WAITING_ROW = new RegExp(String.raw`^(?: {2})?${POINTER} (\S.*)$`); // below the compaction's own row
const QUEUED = new RegExp(String.raw`^ {2}${CORNER} {1,2}Queued(?: ·|$)`);
const MESSAGE_ROW = new RegExp(String.raw`^(?:${BULLET}|${POINTER}) \S`);

const LONG = 16; // characters of a queued message; it is indented further, so its rows are cut earlier than after it is sent
const REPAINT_MS = 2_000; // the longest time until the end is painted

/** While the compaction's own row is above the prompt; the user may type meanwhile. */
export const findRunningCompaction = (screen: ScreenView, layout: Layout, now: Millis): RunningCompaction => {
  const rows = rowsOf(screen).slice(0, layout.kind === 'prompt' ? layout.upper : screen.rows);
  const running = rows.findLastIndex(isSpinnerRow);
  const above = rows.slice(0, running === -1 ? rows.length : running);
  const queued = queuedIn(above);
  const conversation = above.slice(0, queued[0]?.row ?? above.length);
  return {
    columns: screen.columns,
    isAsked: COMMAND.test(conversation.findLast((row) => USER_ROW.test(row)) ?? ''),
    answers: answersIn(rows),
    first: underMark(rows).find((row) => MESSAGE_ROW.test(row)),
    waiting: [...queued.map(({ text }) => text), ...waitingIn(rows.slice(running + 1))],
    at: now,
  };
};

/** How it ended, according to this screen: empty when only the fact that it did is known, undefined while it has not. */
export const readCompactionEnd = (
  before: RunningCompaction,
  screen: ScreenView,
  { layout, activity }: { readonly layout: Layout; readonly activity: Activity },
  now: Millis,
): readonly Fact[] | undefined => {
  if (screen.columns !== before.columns) return []; // at another width the same text breaks into other rows
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

const isDone = (before: RunningCompaction, rows: readonly string[]): boolean => {
  const kept = underMark(rows);
  const isDropped = before.first !== undefined && !kept.includes(before.first);
  if (!before.isAsked) return isDropped && kept.length < rows.length;
  const last = lastUserRow(rows, before.waiting);
  const isAnswered = COMMAND.test(rows[last] ?? '') && ANSWER.test(rows[last + 1] ?? '');
  // a queued message is also sent when a compaction is stopped, and scrolls others away
  return isAnswered && ((isDropped && before.waiting.length === 0) || answersIn(rows) > before.answers);
};

/** Queued messages, which new versions show above the compaction's row, each with its own sign; the first one first. */
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

/** The user's last message, without those that were queued. */
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

/** The conversation that a compaction keeps begins below its marker; all rows where there is none. */
const underMark = (rows: readonly string[]): readonly string[] =>
  rows.slice(rows.findLastIndex((row) => MARK.test(row)) + 1);

const answersIn = (rows: readonly string[]): number =>
  rows.filter((row, index) => ANSWER.test(row) && COMMAND.test(rows[index - 1] ?? '')).length;
