// What Qwen's screen and title say (facts/qwen.md). Its title has no word for idle, and becomes plain a moment before its compaction
// ends; after an answer a suggested prompt stands in the empty input.
import type { Activity, ActivityReport } from '../../core/activity.js';
import type { Fact } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import type { ScreenView, Signals } from '../../core/screen-view.js';
import { screenReader } from '../runtime.js';
import type { AgentScreen, Seeing, Seen } from '../runtime.js';
import { findComposer, INPUT_COLUMN, textOf } from './layout.js';
import type { Composer } from './layout.js';
import { shownPercent } from './shown-percent.js';

interface QwenScreen {
  /** the last screen that could be understood showed a compaction in progress */
  readonly compacting: boolean;
  /** how a text that is not typed is coloured in the input; undefined until the placeholder was seen */
  readonly ghostColour?: number;
}

type Title = 'working' | 'approval' | 'plain' | 'cleared';

/** What stands between the conversation and the input. */
interface Live {
  /** the newest item of the conversation, its wrapped rows joined */
  readonly newest: string;
  readonly compacting: boolean;
  readonly spinning: boolean;
  readonly asking: boolean;
}

const LIVE_ROWS = 24; // queued messages, hints and the spinner above the input
const ITEM = /^(?: {2}(?:[◆●✕⚠ℹ✓?>-]\uFE0E? )|[╭╰│]| {2}[╭╰│])/;
const SPINNER = /^ {2}[\u2800-\u28ff] /;
const ASKING = /^ {2}[\u2800-\u28ff] Waiting for user confirmation/;
const COMPACTING = /^ {2}[\u2800-\u28ff] Compressing chat history$/;
const COMPACTED = /^ {2}◆\uFE0E? Chat history compressed from ~?(\d+) to ~?\d+ tokens\.$/;
const PLACEHOLDER = '  Type your message or @path/to/file';
const FOOTER_BUSY = /^ {2}Enter to steer · |⏳ \d+ queued/;
const FOOTER_ROWS = 8;
const VIM_NORMAL = '  -- NORMAL --';

const titleOf = ({ title }: Signals): Title => {
  if (title === '') return 'cleared';
  if (title?.startsWith('◐') === true) return 'working';
  return /^✳\uFE0E? /.test(title ?? '') ? 'approval' : 'plain';
};

export const qwenScreen: AgentScreen = {
  recognises: ({ signals }) => /^(?:[◐✳]\uFE0E? )?Qwen - /.test(signals.title ?? ''),
  reader: () => screenReader<QwenScreen>({ compacting: false }, readScreen),
};

const readScreen = (state: QwenScreen, seen: Seen, now: Millis): Seeing<QwenScreen> => {
  const { screen } = seen;
  const composer = findComposer(screen);
  const live = liveRows(screen, composer?.top ?? screen.cursorRow + 1);
  const ghostColour = placeholderColour(screen, composer) ?? state.ghostColour;
  const facts: readonly Fact[] = [
    ...(composer ? reading(shownPercent(screen, composer), now) : []),
    ...(state.compacting && composer && !live.compacting ? boundary(live.newest, now) : []),
  ];
  return {
    state: {
      compacting: live.compacting || (state.compacting && !composer),
      ...(ghostColour === undefined ? {} : { ghostColour }),
    },
    activity: activityOf(seen, { composer, live, ghostColour }),
    facts,
  };
};

const reading = (usedPercent: number | undefined, at: Millis): readonly Fact[] =>
  usedPercent === undefined
    ? []
    : [{ type: 'reading', reading: { usedPercent, basis: 'window', source: 'screen', at } }];

// Only after a compaction was seen in progress: a model can write the same words.
const boundary = (newest: string, at: Millis): readonly Fact[] => {
  const found = COMPACTED.exec(newest);
  if (!found) return [];
  const preTokens = Number(found[1]);
  return [{ type: 'boundary', boundary: { initiator: 'user', preTokens, source: 'screen', at } }];
};

const liveRows = (screen: ScreenView, below: number): Live => {
  const live = { newest: '', compacting: false, spinning: false, asking: false };
  for (let row = below - 1; row >= 0 && row >= below - LIVE_ROWS; row -= 1) {
    const text = textOf(screen, row);
    if (COMPACTING.test(text)) return { ...live, compacting: true };
    if (ITEM.test(text)) return { ...live, newest: joined(screen, row, below) };
    if (ASKING.test(text)) live.asking = true;
    if (SPINNER.test(text)) live.spinning = true;
  }
  return live;
};

const joined = (screen: ScreenView, first: number, below: number): string => {
  let text = textOf(screen, first);
  for (let row = first + 1; row < below && /^ {4}\S/.test(textOf(screen, row)); row += 1)
    text += ` ${textOf(screen, row).trim()}`;
  return text;
};

const placeholderColour = (screen: ScreenView, composer: Composer | undefined): number | undefined => {
  if (!composer?.atStart || composer.rows[0] !== PLACEHOLDER) return undefined;
  return screen.styleAt(composer.top + 1, INPUT_COLUMN + 2)?.foreground;
};

interface Sight {
  readonly composer: Composer | undefined;
  readonly live: Live;
  readonly ghostColour: number | undefined;
}

const activityOf = ({ screen, signals }: Seen, { composer, live, ghostColour }: Sight): ActivityReport => {
  const title = titleOf(signals);
  const witnesses = title === 'plain' ? [] : [`title ${title}`];
  const is = (activity: Activity, ...more: readonly string[]): ActivityReport => ({
    activity,
    witnesses: [...witnesses, ...more],
  });
  if (title === 'cleared') return is('unknown');
  if (title === 'approval' || live.asking)
    return is('dialog', ...(live.asking ? ['waits for confirmation'] : []));
  if (live.compacting) return is('compacting', 'compressing chat history');
  if (title === 'working' || live.spinning) return is('busy', ...(live.spinning ? ['spinner'] : []));
  if (!composer) return isDialog(screen) ? is('dialog', 'a box instead of the input') : is('unknown');
  const footer = Array.from({ length: FOOTER_ROWS }, (_, index) => screen.text(composer.bottom + 1 + index));
  if (footer.some((row) => FOOTER_BUSY.test(row))) return is('busy', 'footer of a running turn');
  if (composer.mode === '!') return is('unknown', 'shell mode');
  if (composer.mode === '') return is('unknown', 'search');
  if (!isEmpty(screen, composer, ghostColour)) return is('draft', 'text in the input');
  return footer.some((row) => row.startsWith(VIM_NORMAL))
    ? is('unknown', 'vim normal mode')
    : is('ready', 'empty prompt row');
};

const isEmpty = (screen: ScreenView, { top, rows, atStart }: Composer, ghostColour?: number): boolean => {
  const [first = ''] = rows;
  if (!atStart || rows.length > 1 || first === '') return false;
  // The first cell is the cursor's own; all others of a placeholder have one colour, while a path that is typed stands out.
  const cells = Array.from({ length: first.length - 1 }, (_, index) =>
    screen.styleAt(top + 1, INPUT_COLUMN + 1 + index),
  );
  const colour = cells[0]?.foreground;
  if (!cells.every((cell) => cell?.foreground === colour)) return false;
  if (first === PLACEHOLDER || first.startsWith("  Press 'i' for INSERT mode")) return true;
  // A suggestion is coloured like the placeholder, and what is typed is not.
  return ghostColour !== undefined && cells.length > 0 && colour === ghostColour;
};

// Dialogs take the place of the input and its footer.
const isDialog = (screen: ScreenView): boolean => {
  let last = screen.rows - 1;
  while (last >= 0 && textOf(screen, last) === '') last -= 1;
  return /^ *(?:╰─+╯|└─+┘)$/.test(textOf(screen, last));
};
