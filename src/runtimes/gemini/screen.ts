// What Gemini's screen and title say (facts/gemini.md §2, §4.3, §5, §6). Its title stays `Ready` during a compaction that the user asked
// for, and its spinner may outlive the title `Working…`: whatever speaks against an idle prompt wins.
import type { ActivityReport } from '../../core/activity.js';
import type { Millis } from '../../core/reading.js';
import type { ScreenView, Signals } from '../../core/screen-view.js';
import { screenReader } from '../runtime.js';
import { compressWords, watchCommand } from '../compress-command.js';
import type { CommandWatch } from '../compress-command.js';
import { proofAfter } from './compaction-end.js';
import type { Proof } from './compaction-end.js';
import { readStatus } from './status.js';
import {
  KIND_NAMES,
  numberShown,
  percentShown,
  reportOutsideInput,
  reportUnder,
  reportWithoutInput,
} from '../compress-screen.js';
import type { Composer, Live, Report, Title } from '../compress-screen.js';
import { refusalAtEnd } from '../refusal.js';
import type { AgentScreen, Seeing } from '../runtime.js';
import type { Seen } from '../seen.js';
import { conversationAbove } from './conversation.js';
import { findComposer, panelTop, textOf } from './layout.js';
import { inputKind, inputText, listedBelow } from './prompt.js';
import { shownPercent } from './shown-percent.js';

interface GeminiLive extends Live {
  /** it begins above the screen, because the screen is low or a panel tall */
  readonly covered: boolean;
}

interface GeminiScreen {
  readonly watch: CommandWatch;
  readonly proof: Proof;
}

const OWN_WORDS = /^[ℹ✕⚠] /; // in the first column, where no text of the model or of the user stands
const LIVE_ROWS = 24; // queued messages, hints, status and separator rows above the box
const LEAST_ROWS = 8; // of these, so that a compaction in progress is among them
const LOW_SCREEN = 14; // rows, five of them for the box and its footer
const ITEM = /^[✦ℹ✕⚠✓>▀▄╰╭│]/; // how an item of the conversation begins; its other rows are indented
// or any sign that stands before no item, and a clock: other versions may turn another one
const SPINNER = /^ ?(?:[\u2800-\u28ff] |[^\p{L}\p{N}\s✦ℹ✕⚠✓>*!?] \S.*\([^)]*\d[hms]\b[^)]*\)(?: {2,}|$))/u;
const COMPACTING = /^[^\p{L}\p{N}\s✦ℹ✕⚠✓>*!?] Compressing chat history$/u;
const ASKING = /^[^\p{L}\p{N}\s✦ℹ✕⚠✓>*!?] Waiting for user confirmation/u;
const FAREWELL = /gemini --resume |Agent powering down|`\/stats model`/;
const SESSIONS = /^ Chat Sessions \(\d+ total\)/;
const FIXED_TITLE = /^Gemini (?:- |CLI \()/;

// Gemini empties its title when it ends.
const titleOf = ({ title = 'none' }: Signals): Title => {
  if (title === '') return 'cleared';
  if (/^◇ {1,2}Ready\b/.test(title)) return 'ready';
  if (/^✋ {1,2}/.test(title)) return 'action';
  return /^[✦⏲]/.test(title) ? 'working' : 'plain';
};

export const geminiScreen: AgentScreen = {
  recognises: ({ screen, signals }) =>
    ['ready', 'working', 'action'].includes(titleOf(signals)) ||
    FIXED_TITLE.test(signals.title ?? '') ||
    (signals.title === undefined && hasOwnBox(screen)),
  reader: () => screenReader<GeminiScreen>({ watch: { kind: 'none' }, proof: {} }, readScreen),
  prompt: (seen) => {
    const composer = findComposer(seen.screen);
    const title = titleOf(seen.signals);
    if (!composer || title === 'cleared' || title === 'action') return undefined;
    const { asking, covered } = liveRows(seen.screen, composer.top);
    if (asking || covered) return undefined;
    const text = messageIn(seen.screen, composer);
    return text === undefined ? undefined : { text, ...listedBelow(seen.screen, composer, text) };
  },
  status: readStatus,
};

// The title can be switched off; nobody else draws a box of half blocks around the cursor.
const hasOwnBox = (screen: ScreenView): boolean => {
  const composer = findComposer(screen);
  return composer !== undefined && /^[▄▀]+$/.test(screen.text(composer.top));
};

const messageIn = (screen: ScreenView, composer: Composer): string | undefined =>
  inputKind(screen, composer) === 'message' ? inputText(screen, composer) : undefined;

const readScreen = (state: GeminiScreen, seen: Seen, now: Millis): Seeing<GeminiScreen> => {
  const { screen } = seen;
  const composer = findComposer(screen);
  const below = composer?.top ?? screen.cursorRow + 1;
  const live = liveRows(screen, below);
  const sight = {
    columns: screen.columns,
    draft: composer && (messageIn(screen, composer) ?? ''),
    isRunning: live.compacting,
    isCovered: live.covered,
    items: conversationAbove(screen, below),
    words: compressWords,
  };
  const { watch, facts: said } = watchCommand(state.watch, sight, now);
  const { proof, facts } = proofAfter(state.proof, { watch, facts: said, status: seen.status }, now);
  const refusal = composer && refusalAtEnd(sight.items, OWN_WORDS);
  const shown = refusal
    ? numberShown(refusal, now)
    : percentShown(composer && shownPercent(screen, composer), now);
  return { state: { watch, proof }, activity: activityOf(seen, composer, live), facts: [...shown, ...facts] };
};

const liveRows = (screen: ScreenView, below: number): GeminiLive => {
  const live = { compacting: false, spinning: false, asking: false, covered: false };
  let hidden = 0; // rows of panels
  let row = below - 1;
  for (; row >= 0 && row >= below - hidden - LIVE_ROWS; row -= 1) {
    const text = textOf(screen, row);
    const panel = panelTop(screen, row, below);
    if (COMPACTING.test(text)) return { ...live, compacting: true };
    if (panel === undefined && ITEM.test(text)) return live;
    if (ASKING.test(text)) live.asking = true;
    if (SPINNER.test(text)) live.spinning = true;
    if (panel === undefined) continue;
    hidden += row - panel;
    row = panel;
  }
  const isTight = hidden > 0 || screen.rows < LOW_SCREEN;
  return { ...live, covered: isTight && row < 0 && below - hidden < LEAST_ROWS };
};

const activityOf = (
  { screen, signals }: Seen,
  composer: Composer | undefined,
  live: GeminiLive,
): ActivityReport => {
  const title = titleOf(signals);
  const outside = reportOutsideInput(title, live);
  if (outside) return outside;
  if (!composer) return reportWithoutInput(title, isDialog(screen));
  const is = reportUnder(title);
  const report = prompt(screen, composer, is);
  return report.activity === 'ready' && live.covered ? is('unknown', 'too little to be seen') : report;
};

const prompt = (screen: ScreenView, composer: Composer, is: Report): ActivityReport => {
  const kind = inputKind(screen, composer);
  if (kind !== 'message') return is('unknown', KIND_NAMES[kind]);
  const text = inputText(screen, composer);
  if (text === '') return is('ready', 'empty prompt row');
  return is(
    text === undefined ? 'unknown' : 'draft',
    /\S/.test(text ?? '') ? 'text in the input' : 'no placeholder',
  );
};

// Dialogs take the place of the input box; so does the summary at the end. The list of sessions has no frame.
const isDialog = (screen: ScreenView): boolean => {
  const rows = Array.from({ length: screen.rows }, (_, row) => screen.text(row));
  if (rows.some((row) => SESSIONS.test(row))) return true;
  let last = screen.rows - 1;
  while (last >= 0 && /^(?:Press Ctrl\+[CD] again to exit\.)?$/.test(screen.text(last))) last -= 1;
  if (!/^╰─+╯$/.test(textOf(screen, last))) return false;
  return ![1, 2, 3].some((above) => FAREWELL.test(screen.text(last - above)));
};
