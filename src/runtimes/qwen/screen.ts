// What Qwen's screen and title say (facts/qwen.md). Its title has no word for idle, and becomes plain a moment before its compaction
// ends; after an answer a suggested prompt stands in the empty input. Before 0.16 the title says nothing at all: there the session file
// must say that the turn is over.
import type { ActivityReport } from '../../core/activity.js';
import type { Millis } from '../../core/reading.js';
import type { ScreenView, Signals } from '../../core/screen-view.js';
import { screenReader } from '../runtime.js';
import { compressWords, watchCommand } from '../compress-command.js';
import type { CommandWatch } from '../compress-command.js';
import {
  KIND_NAMES,
  percentShown,
  reportOutsideInput,
  reportUnder,
  reportWithoutInput,
} from '../compress-screen.js';
import type { Composer, Live, Title } from '../compress-screen.js';
import type { AgentScreen, Seeing } from '../runtime.js';
import type { Seen } from '../seen.js';
import { conversationAbove } from './conversation.js';
import { findComposer, isParked, textOf } from './layout.js';
import { footerRows, inputKind, inputText, listedBelow, placeholderColour } from './prompt.js';
import { shownPercent } from './shown-percent.js';
import { readStatus } from './status.js';

interface QwenScreen {
  readonly watch: CommandWatch;
  /** how a text that is not typed is coloured in the input; undefined until the placeholder was seen */
  readonly ghostColour?: number;
}

const LIVE_ROWS = 24; // queued messages, hints and the spinner above the input
const ITEM = /^(?: {2}(?:[◆✦●✕⚠ℹ✓?>-]\uFE0E? )|[╭╰│]| {2}[╭╰│])/;
// Braille patterns take turns; other versions may turn any sign that stands before no item.
const SIGN = String.raw`[^\p{L}\p{N}\s◆✦●✕⚠ℹ✓?>*!-] `;
const SPINNER = new RegExp(
  String.raw`^ {0,2}(?:[\u2800-\u28ff] |${SIGN}\S.*\([^)]*\d[hms]\b[^)]*\)(?: {2,}|$))`,
  'u',
); // with a clock
const ASKING = new RegExp(`^ {0,2}${SIGN}Waiting for user confirmation`, 'u');
const COMPACTING = new RegExp(`^ {0,2}${SIGN}Compressing chat history$`, 'u');
const FOOTER_BUSY = /^ {2}Enter to steer · |⏳ \d+ queued/;

const titleOf = ({ title }: Signals): Title => {
  if (title === '') return 'cleared';
  if (title?.startsWith('◐') === true) return 'working';
  return /^✳\uFE0E? /.test(title ?? '') ? 'approval' : 'plain';
};

export const qwenScreen: AgentScreen = {
  recognises: ({ signals }) => /^(?:[◐✳]\uFE0E? )?Qwen - /.test(signals.title ?? ''),
  reader: () => screenReader<QwenScreen>({ watch: { kind: 'none' } }, readScreen),
  prompt: ({ screen, signals, status }) => {
    const composer = findComposer(screen);
    const title = titleOf(signals);
    if (!composer || title === 'cleared' || title === 'approval') return undefined;
    if (liveRows(screen, composer.top).asking) return undefined;
    if (isParked(screen) && status === undefined) return undefined; // nothing tells whether it rests
    const text = messageIn(screen, composer);
    return text === undefined ? undefined : { text, ...listedBelow(screen, composer, text) };
  },
  status: readStatus,
};

const messageIn = (screen: ScreenView, composer: Composer, ghostColour?: number): string | undefined =>
  inputKind(screen, composer) === 'message' ? inputText(screen, composer, ghostColour) : undefined;

const readScreen = (state: QwenScreen, seen: Seen, now: Millis): Seeing<QwenScreen> => {
  const { screen } = seen;
  const composer = findComposer(screen);
  const below = composer?.top ?? screen.cursorRow + 1;
  const live = liveRows(screen, below);
  const ghostColour = placeholderColour(screen, composer) ?? state.ghostColour;
  const sight = {
    columns: screen.columns,
    draft: composer && (messageIn(screen, composer, ghostColour) ?? ''),
    isRunning: live.compacting,
    isCovered: false,
    items: conversationAbove(screen, below),
    words: compressWords,
  };
  const { watch, facts } = watchCommand(state.watch, sight, now);
  const shown = composer ? percentShown(shownPercent(screen, composer), now) : [];
  return {
    state: { watch, ...(ghostColour === undefined ? {} : { ghostColour }) },
    activity: activityOf(seen, { composer, live, ghostColour }),
    facts: [...shown, ...facts],
  };
};

const liveRows = (screen: ScreenView, below: number): Live => {
  const live = { compacting: false, spinning: false, asking: false };
  for (let row = below - 1; row >= 0 && row >= below - LIVE_ROWS; row -= 1) {
    const text = textOf(screen, row);
    if (COMPACTING.test(text)) return { ...live, compacting: true };
    if (ITEM.test(text)) return live;
    if (ASKING.test(text)) live.asking = true;
    if (SPINNER.test(text)) live.spinning = true;
  }
  return live;
};

interface Sight {
  readonly composer: Composer | undefined;
  readonly live: Live;
  readonly ghostColour: number | undefined;
}

const activityOf = (
  { screen, signals, status }: Seen,
  { composer, live, ghostColour }: Sight,
): ActivityReport => {
  const title = titleOf(signals);
  const outside = reportOutsideInput(title, live);
  if (outside) return outside;
  if (!composer) return reportWithoutInput(title, isDialog(screen));
  const is = reportUnder(title);
  if (footerRows(screen, composer).some((row) => FOOTER_BUSY.test(row)))
    return is('busy', 'footer of a running turn');
  const kind = inputKind(screen, composer);
  if (kind !== 'message') return is('unknown', KIND_NAMES[kind]);
  const text = inputText(screen, composer, ghostColour);
  if (text !== '') return is('draft', 'text in the input');
  if (!isParked(screen)) return is('ready', 'empty prompt row');
  if (status?.state !== 'idle')
    return is('unknown', 'empty prompt row', `session file ${status?.state ?? 'not found'}`);
  return is('ready', 'its last turn has ended', 'empty prompt row');
};

// Dialogs take the place of the input and its footer.
const isDialog = (screen: ScreenView): boolean => {
  let last = screen.rows - 1;
  while (last >= 0 && textOf(screen, last) === '') last -= 1;
  return /^ *(?:╰─+╯|└─+┘)$/.test(textOf(screen, last));
};
