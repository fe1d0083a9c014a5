import type { ActivityReport, PercentBasis, ScreenView } from '../../core/reading.js';
import { rowText } from './layout.js';

// Claude's flat screen for screen readers (`--ax-screen-reader`; docs/facts/claude-background.md): no bars, no signs, every row in the first
// column. The prompt is the last thing on it, a `$` with the cursor behind it; a no-break space and a blank stand before its text. Where the
// conversation ends and Claude's own rows begin is not drawn, so only the rows directly above the prompt count, and rest is proved by the
// title, the state report and the status file, never by the screen alone.

const HEADER = /^\[Screen Reader Mode: on\b/;
const VERSION_ROW = /^Claude Code v(\d[\d.]*)/;
const MODEL_ROW = /^(\S.*?)(?: with \w+ effort)? · \S/;
const TEXT_COLUMN = 3;
const EMPTY_COLUMN = 1; // of the cursor in an empty prompt
const TALLEST = 30; // rows of a draft
const LIVE_ROWS = 5; // of Claude's own above the prompt: work, a tip, the mode, a notification

/** The prompt of a flat screen. */
export interface FlatPrompt {
  readonly row: number;
  /** of a single row; '' where it is empty, undefined where it has several rows */
  readonly text: string | undefined;
  /** Claude's own rows above it, the nearest first; a message may be among them where there are few */
  readonly above: readonly string[];
}

/** True if Claude has written that it draws for a screen reader. */
export const hasFlatHeader = (screen: ScreenView): boolean =>
  Array.from({ length: screen.rows }, (_, row) => rowText(screen, row)).some((text) => HEADER.test(text));

/** The model and Claude's version in the rows below that. */
export const readFlatBanner = (
  screen: ScreenView,
): { readonly model: string; readonly version: string } | undefined => {
  for (let row = 0; row + 2 < screen.rows; row += 1) {
    if (!HEADER.test(rowText(screen, row))) continue;
    const version = VERSION_ROW.exec(rowText(screen, row + 1))?.[1];
    const model = MODEL_ROW.exec(rowText(screen, row + 2))?.[1];
    return version === undefined || model === undefined ? undefined : { model, version };
  }
  return undefined;
};

/** The prompt with the cursor in it, below everything else. */
export const findFlatPrompt = (screen: ScreenView): FlatPrompt | undefined => {
  const { cursorRow, cursorColumn } = screen;
  const last = lastTextRow(screen);
  if (last === undefined || cursorRow < last || cursorRow > last + 1) return undefined;
  let row = cursorRow;
  while (row > 0 && cursorRow - row < TALLEST && !isPromptRow(screen.text(row))) row -= 1;
  if (!isPromptRow(screen.text(row))) return undefined;
  const isSingle = row === last && cursorRow === last && !continuesDraft(screen, row);
  if (!isSingle) return { row, text: undefined, above: rowsOver(screen, row) };
  const text = rowText(screen, row).slice(TEXT_COLUMN);
  if (text === '' && cursorColumn !== EMPTY_COLUMN && cursorColumn < TEXT_COLUMN) return undefined;
  const blanks = ' '.repeat(Math.max(0, cursorColumn - TEXT_COLUMN - text.length));
  return { row, text: text + blanks, above: rowsOver(screen, row) };
};

/** Claude puts a no-break space before the text of a prompt; a `$` of the conversation has none. */
const isPromptRow = (text: string): boolean =>
  text === '$' || text === '$\u00a0' || text.startsWith('$\u00a0 ');

// A line of a draft can be a single `$`.
const continuesDraft = (screen: ScreenView, row: number): boolean =>
  Array.from({ length: TALLEST }, (_, index) => screen.text(row - 1 - index)).some((text) =>
    text.startsWith('$\u00a0 '),
  );

const lastTextRow = (screen: ScreenView): number | undefined => {
  for (let row = screen.rows - 1; row >= 0; row -= 1) if (screen.text(row) !== '') return row;
  return undefined;
};

const rowsOver = (screen: ScreenView, row: number): readonly string[] =>
  Array.from({ length: Math.min(LIVE_ROWS, row) }, (_, index) => rowText(screen, row - 1 - index));

// Claude's own rows.

const NOT_NOW = /^(?:search prompts:|! for (?:shell|bash) mode$|Press Ctrl-[CD] again)/;
const INSERT = /(?:^| · +)-- INSERT --/;
const COMPACTING = /^(?:Compacting conversation|Running \w*Compact hooks)…/;
const WORKING = /^[^\s:]+…(?: \(.*\))?$|^(?:Compacting|Running) \S.*…/;
const AGENTS = /^Waiting for \d+ background agents? to finish/;
const CHOOSING = /\bSelect with numbers \[|\b(?:Esc|Escape) to cancel\b|\bEnter to (?:continue|confirm)\b/;
const TRANSCRIPT = /^Showing detailed transcript\b/;
const SHELL = /^! for (?:shell|bash) mode/;
const SEARCH = /^search prompts:/;
const LAST_ROWS = 4;

/** What a flat screen alone can tell: that something blocks the prompt, or what kind of work goes on. */
export interface FlatScreen {
  readonly prompt: FlatPrompt | undefined;
  readonly isDialog: boolean;
  readonly isCompacting: boolean;
  readonly isInsertMode: boolean;
  /** why text typed now would not become a message */
  readonly obstacle: string | undefined;
  readonly place: ActivityReport['place'];
}

export const readFlatScreen = (screen: ScreenView): FlatScreen => {
  const prompt = findFlatPrompt(screen);
  const last = lastTextRow(screen) ?? -1;
  const lastRows = Array.from({ length: LAST_ROWS }, (_, index) => rowText(screen, last - index));
  const above = prompt?.above ?? [];
  const work = above.find((row) => WORKING.test(row)) ?? '';
  return {
    prompt,
    isDialog: prompt === undefined && lastRows.some((row) => CHOOSING.test(row)),
    isCompacting: COMPACTING.test(work),
    isInsertMode: above.some((row) => INSERT.test(row) || (row.startsWith('/compact ') && isCommand(prompt))),
    obstacle: above.slice(0, 2).find((row) => NOT_NOW.test(row)),
    place: placeIn(lastRows, prompt),
  };
};

// The list of commands hides the sign of insert mode, and opens only while a command is typed.
const isCommand = (prompt: FlatPrompt | undefined): boolean => prompt?.text?.startsWith('/compact') === true;

const placeIn = (
  [last = '', ...before]: readonly string[],
  prompt: FlatPrompt | undefined,
): ActivityReport['place'] => {
  if (TRANSCRIPT.test(last)) return 'the transcript';
  if (SHELL.test(last)) return 'shell mode';
  if (SEARCH.test(last) || SEARCH.test(before[0] ?? '')) return 'the history search';
  return prompt?.above.some((row) => AGENTS.test(row)) ? 'a background agent is running' : undefined;
};

// The notification, directly above the prompt and below the mode: `4% until auto-compact  ·  draft stashed`.

const MODE_ROW =
  /^(?:-- INSERT -- )?(?:manual mode|plan mode|accept edits|auto mode|bypass permissions) on\b/;

const notes = ({ above: [note = '', mode = ''] }: FlatPrompt): readonly string[] =>
  MODE_ROW.test(mode) ? note.split(/ +· +/) : [];

export const isFlatStashed = (prompt: FlatPrompt): boolean => notes(prompt).includes('draft stashed');

interface Shown {
  readonly usedPercent: number;
  readonly basis: PercentBasis;
}

const UNTIL = /^(\d{1,3})% until auto-compact$/;
const USED = /^(\d{1,3})% context used$/;
const LOW = /^Context low \((\d{1,3})% remaining\)$/;

export const flatPercent = (prompt: FlatPrompt): Shown | undefined => {
  for (const note of notes(prompt)) {
    if (note === 'auto-compact next') return { usedPercent: 100, basis: 'auto-compact' };
    const [until, used, low] = [UNTIL, USED, LOW].map((each) => percentIn(note, each));
    if (until !== undefined) return { usedPercent: 100 - until, basis: 'auto-compact' };
    if (used !== undefined) return { usedPercent: used, basis: 'effective' };
    if (low !== undefined) return { usedPercent: 100 - low, basis: 'effective' };
  }
  return undefined;
};

const percentIn = (note: string, pattern: RegExp): number | undefined => {
  const number = Number(pattern.exec(note)?.[1]);
  return number <= 100 ? number : undefined;
};

const LISTED = /^(\/\S+)(?: {2,}|$)/;

/** Enter runs the first command of the list directly above a typed one. */
export const flatListed = (screen: ScreenView, { row, text }: FlatPrompt): string | undefined => {
  if (text?.startsWith('/') !== true) return undefined;
  let first: string | undefined;
  for (let above = row - 1; above >= 0; above -= 1) {
    const listed = LISTED.exec(rowText(screen, above))?.[1];
    if (listed === undefined) break;
    first = listed;
  }
  return first;
};
