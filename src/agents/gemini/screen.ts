import type { Fact } from '../../core/event.js';
import type { Millis, ScreenView, ActivityReport, Signals } from '../../core/reading.js';
import {
  type AgentStatus,
  makeScreenReader,
  type AgentScreen,
  type ScreenReading,
  type ScreenEvidence,
} from '../agent.js';
import {
  type CommandWatch,
  type ConversationItem,
  itemsAbove,
  type Composer,
  parseCompressResult,
  watchCommand,
  inputPlaces,
  readFill,
  reportActivity,
  type LiveRows,
  type ReportActivity,
  type TitleState,
} from '../compress.js';
import { findRefusalAtEnd } from '../shown-text.js';
import { hasNewMark, readStatus } from './files.js';
import { parseRefusal } from './session.js';
import { rowText, findComposer, panelTop, inputKind, inputText, listedBelow } from './layout.js';

// The message on the screen that a compaction succeeded, and the marker of its end in the session document of old versions: together they
// are as reliable as a record, alone neither is.

type BoundaryFact = Extract<Fact, { readonly type: 'boundary' }>;

export interface CompressionProof {
  /** the last state of the document before the compaction was seen running */
  readonly before?: AgentStatus;
  /** the message, which waits for the marker */
  readonly message?: BoundaryFact;
}

/** The evidence of one look. */
export interface ScreenWitnesses {
  readonly watch: CommandWatch;
  /** from the screen */
  readonly facts: readonly Fact[];
  readonly status: AgentStatus | undefined;
}

const PATIENCE_MS = 3_000; // the marker is written before the message is drawn; the file is read twice a second

/** A message waits for its marker only where there are markers, and not for long. */
export const updateProof = (
  proof: CompressionProof,
  { watch, facts, status }: ScreenWitnesses,
  now: Millis,
): { readonly proof: CompressionProof; readonly facts: readonly Fact[] } => {
  const words = facts.find((fact) => fact.type === 'boundary');
  const message = words ?? proof.message;
  const before = watch.kind === 'running' || message ? proof.before : status;
  const rest = facts.filter((fact) => fact !== words);
  const kept = before === undefined ? {} : { before };
  if (!message) return { proof: kept, facts: rest };
  if (hasNewMark(proof.before, status)) {
    const { source: _, ...boundary } = message.boundary;
    return {
      proof: status === undefined ? {} : { before: status },
      facts: [...rest, { type: 'boundary', boundary }],
    };
  }
  const isWaiting = status !== undefined && now - message.boundary.at < PATIENCE_MS;
  return isWaiting
    ? { proof: { ...kept, message }, facts: rest }
    : { proof: kept, facts: [...rest, message] };
};

// The items of Gemini's conversation on the screen. The user's messages are between two lines, or behind a sign at the left edge in old
// versions; of a model's or a tool's text only the first row begins that far left.

const USER = /^ ?([>*!]) (?=\S)/;
const SAID = /^[✦ℹ✕⚠✓] /;
const MORE = /^ {2,3}\S/;

/** All items above the row, oldest first. */
const conversationAbove = (screen: ScreenView, below: number): readonly ConversationItem[] =>
  itemsAbove(below, { rowText: (row) => rowText(screen, row), begin, more: MORE });

const begin = (text: string): string | undefined => {
  const by = USER.exec(text)?.[1];
  if (by !== undefined) return `${by === '*' ? '>' : by} ${text.replace(USER, '')}`;
  return SAID.test(text) ? text : undefined;
};

// The percentage in Gemini's footer (docs/facts/gemini.md#percentage-on-the-screen). It is off by default, and is read only where Gemini
// puts it: directly below the input box with the cursor. Other footers on the screen are left over from a wider terminal, and any text may
// imitate one.

/** Words of a row laid out in columns, with the screen columns they cover. */
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
const USED_BELOW_HEADER = /^(\d{1,3})%(?: used)?$/; // narrower than 100 columns, the word is omitted
// 0.29…0.32 and, in brackets, before. A bare `98%` is not read: it is what is left in 0.32 and what is used in 0.33.
const LEFT = / (\d{1,3})% context left$/;
const LEFT_BRACKETED = / \((\d{1,3})%(?: context left)?\)$/;
const MARKS_BEHIND = / {1,3}\| ✖ .*$/; // `| ✖ 1 error (F12 for details)`
// An unlabelled quota looks like the context percentage. Below its warning it is drawn in the default colour, unlike the context.
const QUOTA_WARNING_PERCENT = 80;

/** The footer's percentage, 1…100 used; undefined when there is none. */
const shownPercent = (screen: ScreenView, { bottom }: Composer): number | undefined => {
  const row = bottom + 1;
  const percent = belowHeader(screen, row) ?? unlabelled(screen, row) ?? oldFooter(screen.text(row));
  return percent !== undefined && percent <= 100 ? percent : undefined;
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

// What Gemini's screen and title tell (docs/facts/gemini.md#states, #compaction). Its title stays `Ready` during a compaction that the user
// asked for, and its spinner may outlive the title `Working…`: any sign against an idle prompt wins.

interface GeminiLive extends LiveRows {
  /** it begins above the screen, because the screen is low or a panel tall */
  readonly covered: boolean;
}

interface GeminiScreen {
  readonly watch: CommandWatch;
  readonly proof: CompressionProof;
}

const OWN_WORDS = /^[ℹ✕⚠] /; // in the first column, where no text of the model or the user is
const LIVE_ROWS = 24; // queued messages, hints, status and separator rows above the box
const LEAST_ROWS = 8; // at least so many of them, to include a compaction in progress
const LOW_SCREEN = 14; // rows, five of them for the box and its footer
const ITEM = /^[✦ℹ✕⚠✓>▀▄╰╭│]/; // the beginning of a conversation item; its other rows are indented
// or any sign that begins no item, followed by a clock: other versions may use other signs
const SPINNER = /^ ?(?:[\u2800-\u28ff] |[^\p{L}\p{N}\s✦ℹ✕⚠✓>*!?] \S.*\([^)]*\d[hms]\b[^)]*\)(?: {2,}|$))/u;
const COMPACTING = /^[^\p{L}\p{N}\s✦ℹ✕⚠✓>*!?] Compressing chat history$/u;
const ASKING = /^[^\p{L}\p{N}\s✦ℹ✕⚠✓>*!?] Waiting for user confirmation/u;
const FAREWELL = /gemini --resume |Agent powering down|`\/stats model`/;
const SESSIONS = /^ Chat Sessions \(\d+ total\)/;
const FIXED_TITLE = /^Gemini (?:- |CLI \()/;

// Gemini empties its title at exit.
const titleOf = ({ title = 'none' }: Signals): TitleState => {
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
  // After a resume and after a compaction, failed or not, it shows an estimate that is 0 % of any large window, even when that is full.
  showsLeft: true,
  reader: () => makeScreenReader<GeminiScreen>({ watch: { kind: 'none' }, proof: {} }, readScreen),
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

// The title can be disabled; only Gemini draws a box of half blocks around the cursor.
const hasOwnBox = (screen: ScreenView): boolean => {
  const composer = findComposer(screen);
  return composer !== undefined && /^[▄▀]+$/.test(screen.text(composer.top));
};

const messageIn = (screen: ScreenView, composer: Composer): string | undefined =>
  inputKind(screen, composer) === 'message' ? inputText(screen, composer) : undefined;

const readScreen = (state: GeminiScreen, seen: ScreenEvidence, now: Millis): ScreenReading<GeminiScreen> => {
  const { screen } = seen;
  const composer = findComposer(screen);
  const below = composer?.top ?? screen.cursorRow + 1;
  const live = liveRows(screen, below);
  const context = {
    columns: screen.columns,
    draft: composer && (messageIn(screen, composer) ?? ''),
    isRunning: live.compacting,
    isCovered: live.covered,
    items: conversationAbove(screen, below),
    words: parseCompressResult,
  };
  const { watch, facts: watched } = watchCommand(state.watch, context, now);
  const { proof, facts } = updateProof(state.proof, { watch, facts: watched, status: seen.status }, now);
  const shown = composer
    ? readFill(findRefusalAtEnd(context.items, OWN_WORDS, parseRefusal), shownPercent(screen, composer), now)
    : [];
  return { state: { watch, proof }, activity: activityOf(seen, composer, live), facts: [...shown, ...facts] };
};

const liveRows = (screen: ScreenView, below: number): GeminiLive => {
  const live = { compacting: false, spinning: false, asking: false, covered: false };
  let hidden = 0; // rows of panels
  let row = below - 1;
  for (; row >= 0 && row >= below - hidden - LIVE_ROWS; row -= 1) {
    const text = rowText(screen, row);
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
  { screen, signals }: ScreenEvidence,
  composer: Composer | undefined,
  live: GeminiLive,
): ActivityReport => {
  const around = { title: titleOf(signals), live, composer, isDialog: () => isDialog(screen) };
  return reportActivity(around, (input, is) => {
    const report = prompt(screen, input, is);
    return report.activity === 'ready' && live.covered ? is('unknown', 'too little to be seen') : report;
  });
};

const prompt = (screen: ScreenView, composer: Composer, is: ReportActivity): ActivityReport => {
  const kind = inputKind(screen, composer);
  if (kind !== 'message') return { ...is('unknown', inputPlaces[kind]), place: inputPlaces[kind] };
  const text = inputText(screen, composer);
  if (text === '') return is('ready', 'empty prompt row');
  return is(
    text === undefined ? 'unknown' : 'draft',
    /\S/.test(text ?? '') ? 'text in the input' : 'no placeholder',
  );
};

// Dialogs replace the input box; so does the summary at the end. The list of sessions has no frame.
const isDialog = (screen: ScreenView): boolean => {
  const rows = Array.from({ length: screen.rows }, (_, row) => screen.text(row));
  if (rows.some((row) => SESSIONS.test(row))) return true;
  let last = screen.rows - 1;
  while (last >= 0 && /^(?:Press Ctrl\+[CD] again to exit\.)?$/.test(screen.text(last))) last -= 1;
  if (!/^╰─+╯$/.test(rowText(screen, last))) return false;
  return ![1, 2, 3].some((above) => FAREWELL.test(screen.text(last - above)));
};
