import { present } from '../../core/present.js';
import type { ScreenView, ActivityReport, Millis, Signals } from '../../core/reading.js';
import { makeScreenReader, type AgentScreen, type ScreenReading, type ScreenEvidence } from '../agent.js';
import {
  type ConversationItem,
  itemsAbove,
  type Composer,
  parseCompressResult,
  watchCommand,
  type CommandWatch,
  inputPlaces,
  readFill,
  reportActivity,
  type LiveRows,
  type TitleState,
} from '../compress.js';
import { FULL, findRefusalAtEnd, type Refusal } from '../shown-text.js';
import { readStatus } from './files.js';
import {
  rowText,
  findComposer,
  isParked,
  footerRows,
  inputKind,
  inputText,
  listedBelow,
  placeholderColour,
} from './layout.js';

// The items of Qwen's conversation on the screen: a sign two columns from the left edge, with indented rows below.

const BEGIN = /^ {2}([◆✦●✕⚠ℹ✓?>*!]\uFE0E? (?=\S).*)$/;
const MORE = /^ {4,6}\S/;

/** All items above the row, oldest first. */
const conversationAbove = (screen: ScreenView, below: number): readonly ConversationItem[] =>
  itemsAbove(below, {
    rowText: (row) => rowText(screen, row),
    begin: (text) => BEGIN.exec(text)?.[1]?.replace(/^\*/, '>'),
    more: MORE,
  });

// The percentage in Qwen's footer (docs/facts/qwen.md#percentage-on-the-screen), directly below the input. It is relative to the whole
// window, has one decimal, and appears in one of two places: as an item of Qwen's own status line, or at the right edge where the user's
// status line replaces it.

const MARGIN = 2; // free columns at both ends of the footer
const NUMBER = '(>?\\d{1,3}(?:\\.\\d)?)%';
const ITEM_USED = new RegExp(`^[\\d.]+[km]? Context ${NUMBER} used$`);
const ITEM_LEFT = new RegExp(`^Context ${NUMBER} left$`);
const RIGHT = new RegExp(`(?:^| {2,}| \\| {1,2})${NUMBER} (?:context )?used$`); // without "context" below 100 columns
const NARROW = 80; // columns; in narrower terminals the footer is one column and the right end comes last

/** The footer's percentage, 0…100 used, more where it says that the window is over-full; undefined when there is none. */
const shownPercent = (screen: ScreenView, { bottom }: Composer): number | undefined => {
  const row = screen.text(bottom + 1);
  const own = atRightEnd(screen, row) ?? lastOfColumn(screen, bottom + 1);
  return own ?? (isUsers(screen, bottom + 1) ? undefined : inStatusLine(row));
};

// A user's status line may print anything. It is drawn dim; Qwen's own is dim only without theme colours.
const isUsers = (screen: ScreenView, row: number): boolean => screen.styleAt(row, MARGIN)?.dim === true;

const inStatusLine = (row: string): number | undefined => {
  const items = row.trim().split(' · ');
  if (items.length < 2) return undefined;
  const used = items.map((item) => numberIn(ITEM_USED, item)).find((each) => each !== undefined);
  const left = items.map((item) => numberIn(ITEM_LEFT, item)).find((each) => each !== undefined);
  return used ?? (left === undefined ? undefined : oneDecimal(100 - left));
};

const atRightEnd = (screen: ScreenView, row: string): number | undefined =>
  row.length === screen.columns - MARGIN ? numberIn(RIGHT, row) : undefined;

const lastOfColumn = (screen: ScreenView, first: number): number | undefined => {
  if (screen.columns >= NARROW) return undefined;
  let last = first;
  while (screen.text(last + 1) !== '') last += 1;
  return last > first ? numberIn(RIGHT, screen.text(last)) : undefined;
};

const OVER = 101; // `>100%` does not say by how much

const numberIn = (pattern: RegExp, text: string): number | undefined => {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) return undefined;
  if (found.startsWith('>')) return found === '>100' ? OVER : undefined;
  const percent = Number(found);
  return percent <= 100 ? percent : undefined;
};

const oneDecimal = (percent: number): number => Math.round(percent * 10) / 10;

// What Qwen's screen and title tell (docs/facts/qwen.md#states). Its title has no word for idle, and becomes plain a moment before a
// compaction ends; after an answer a suggested prompt is in the empty input. Before 0.16 the title shows no state: there the session file
// must show that the turn is over.

interface QwenScreen {
  readonly watch: CommandWatch;
  /** the colour of untyped text in the input; undefined until the placeholder was seen */
  readonly ghostColour?: number;
}

const REFUSED = /^\[API Error: Context is too large to send safely\b/;
const refusalIn = (words: string): Refusal | undefined => (REFUSED.test(words) ? FULL : undefined);

const OWN_WORDS = /^[●ℹ✕⚠]\uFE0E? /; // two columns from the left edge, where no text of the model or the user is
const LIVE_ROWS = 24; // queued messages, hints and the spinner above the input
const ITEM = /^(?: {2}(?:[◆✦●✕⚠ℹ✓?>-]\uFE0E? )|[╭╰│]| {2}[╭╰│])/;
// Braille patterns alternate; other versions may use any sign that begins no item.
const SIGN = String.raw`[^\p{L}\p{N}\s◆✦●✕⚠ℹ✓?>*!-] `;
const SPINNER = new RegExp(
  String.raw`^ {0,2}(?:[\u2800-\u28ff] |${SIGN}\S.*\([^)]*\d[hms]\b[^)]*\)(?: {2,}|$))`,
  'u',
); // with a clock
const ASKING = new RegExp(`^ {0,2}${SIGN}Waiting for user confirmation`, 'u');
const COMPACTING = new RegExp(`^ {0,2}${SIGN}Compressing chat history$`, 'u');
const FOOTER_BUSY = /^ {2}Enter to steer · |⏳ \d+ queued/;

const titleOf = ({ title }: Signals): TitleState => {
  if (title === '') return 'cleared';
  if (title?.startsWith('◐') === true) return 'working';
  return /^✳\uFE0E? /.test(title ?? '') ? 'approval' : 'plain';
};

export const qwenScreen: AgentScreen = {
  recognises: ({ signals }) => /^(?:[◐✳]\uFE0E? )?Qwen - /.test(signals.title ?? ''),
  reader: () => makeScreenReader<QwenScreen>({ watch: { kind: 'none' } }, readScreen),
  prompt: ({ screen, signals, status }) => {
    const composer = findComposer(screen);
    const title = titleOf(signals);
    if (!composer || title === 'cleared' || title === 'approval') return undefined;
    if (liveRows(screen, composer.top).asking) return undefined;
    if (isParked(screen) && status === undefined) return undefined; // nothing tells whether it is at rest
    const text = messageIn(screen, composer);
    return text === undefined ? undefined : { text, ...listedBelow(screen, composer, text) };
  },
  status: readStatus,
};

const messageIn = (screen: ScreenView, composer: Composer, ghostColour?: number): string | undefined =>
  inputKind(screen, composer) === 'message' ? inputText(screen, composer, ghostColour) : undefined;

const readScreen = (state: QwenScreen, seen: ScreenEvidence, now: Millis): ScreenReading<QwenScreen> => {
  const { screen } = seen;
  const composer = findComposer(screen);
  const below = composer?.top ?? screen.cursorRow + 1;
  const live = liveRows(screen, below);
  const ghostColour = placeholderColour(screen, composer) ?? state.ghostColour;
  const context = {
    columns: screen.columns,
    draft: composer && (messageIn(screen, composer, ghostColour) ?? ''),
    isRunning: live.compacting,
    isCovered: false,
    items: conversationAbove(screen, below),
    words: parseCompressResult,
  };
  const { watch, facts } = watchCommand(state.watch, context, now);
  const shown = composer
    ? readFill(findRefusalAtEnd(context.items, OWN_WORDS, refusalIn), shownPercent(screen, composer), now)
    : [];
  return {
    state: { watch, ...present({ ghostColour }) },
    activity: activityOf(seen, { composer, live, ghostColour }),
    facts: [...shown, ...facts],
  };
};

const liveRows = (screen: ScreenView, below: number): LiveRows => {
  const live = { compacting: false, spinning: false, asking: false };
  for (let row = below - 1; row >= 0 && row >= below - LIVE_ROWS; row -= 1) {
    const text = rowText(screen, row);
    if (COMPACTING.test(text)) return { ...live, compacting: true };
    if (ITEM.test(text)) return live;
    if (ASKING.test(text)) live.asking = true;
    if (SPINNER.test(text)) live.spinning = true;
  }
  return live;
};

interface InputArea {
  readonly composer: Composer | undefined;
  readonly live: LiveRows;
  readonly ghostColour: number | undefined;
}

const activityOf = (
  { screen, signals, status }: ScreenEvidence,
  { composer, live, ghostColour }: InputArea,
): ActivityReport => {
  const around = { title: titleOf(signals), live, composer, isDialog: () => isDialog(screen) };
  return reportActivity(around, (input, is) => {
    if (footerRows(screen, input).some((row) => FOOTER_BUSY.test(row)))
      return is('busy', 'footer of a running turn');
    const kind = inputKind(screen, input);
    if (kind !== 'message') return { ...is('unknown', inputPlaces[kind]), place: inputPlaces[kind] };
    const text = inputText(screen, input, ghostColour);
    if (text !== '') return is('draft', 'text in the input');
    if (!isParked(screen)) return is('ready', 'empty prompt row');
    if (status?.state !== 'idle')
      return is('unknown', 'empty prompt row', `session file ${status?.state ?? 'not found'}`);
    return is('ready', 'its last turn has ended', 'empty prompt row');
  });
};

// Dialogs replace the input and its footer.
const isDialog = (screen: ScreenView): boolean => {
  let last = screen.rows - 1;
  while (last >= 0 && rowText(screen, last) === '') last -= 1;
  return /^ *(?:╰─+╯|└─+┘)$/.test(rowText(screen, last));
};
