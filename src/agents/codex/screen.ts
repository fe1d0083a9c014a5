import type { Fact } from '../../core/event.js';
import { present } from '../../core/present.js';
import { toOneLine } from '../../core/text.js';
import type { Activity, ActivityReport, ScreenView, Millis } from '../../core/reading.js';
import {
  type ScreenEvidence,
  type PromptReader,
  makeScreenReader,
  type AgentScreen,
  type ScreenReading,
} from '../agent.js';
import { joinWrappedRows } from '../compress.js';
import { parseAgentState } from '../tested.js';
import { readStatus } from './files.js';
import {
  endAbove,
  isCompacting,
  isEmpty,
  isTask,
  type Pane,
  readError,
  INTERRUPTED,
  type ConversationEnd,
  findPane,
  TEXT_COLUMN,
  endAboveTask,
  isDrawn,
} from './layout.js';
import { LONGEST_ERROR } from './session.js';
import {
  isCompacted,
  type PercentSighting,
  updateTrust,
  exactWindow,
  initialTrust,
  hasRunOut,
  isTrusted,
  isConfiguring,
  updateKnownPlaces,
  withoutThreadNames,
  type PercentTrust,
  type KnownPlaces,
  usableTokens,
  agreedPercent,
  findPlaces,
  type DisplayedPlaces,
} from './percent.js';
import { type CodexLook, lookAt, remembered, viewFacts } from './view.js';

// What Codex is doing: its own state report (OSC 7501) first, and the composer must agree before anything may be typed
// (docs/facts/codex.md#state-reports). Versions before 0.163 send none; for them the title and the rollout must both tell.

const ACTION_REQUIRED = /^\[ [!.] \] Action Required/;
const SPINNER = /^[\u2800-\u28ff] /;
// `⠋ project`, `⠋ renaming... ⠋ | project`, or another single sign before the name; at rest the name stands alone
const WORKING = /^[^\p{L}\p{N}\s[(] |[\u2800-\u28ff]/u;
// "esc again to edit previous message" is shown where vim's mode is, and after the Escape that leaves insert mode
const AT_PROMPT = /\? for shortcuts|← for agents/;
const VIM_NORMAL = /Vim: N/;
const AFTER_ESCAPE = /^ {2}esc again/;
const LIST_KEYS = /^ {2}enter\/tab insert · esc close\b/;
const PICKER_KEYS = /\b(?:enter|esc)\b/;
const HISTORY_SEARCH = /reverse-i-search:/;

/** The title shows work while there is work, unless the user has configured a title that never does. */
const isTitleWorking = (title = ''): boolean => WORKING.test(title);

/** `pane` is from the same screen; `isTitleTelling`: the title has shown work before, so a title without it means rest. */
const activityOf = (
  seen: ScreenEvidence,
  pane: Pane | undefined,
  isTitleTelling: boolean,
): ActivityReport => {
  const { screen, signals } = seen;
  const report = parseAgentState(signals.agentState); // undefined for versions that report none, and before the first report
  if (report === undefined) return withoutState(seen, pane, isTitleTelling);
  const { state, message } = report;
  const witness = `state ${state}`;
  if (state === 'clear') return reportOf('unknown', witness);
  // the dialog itself is drawn up to a second later
  if (state === 'blocked') return { ...reportOf('dialog', witness), ...present({ asks: message }) };
  // the title alone is no proof: a thread may have this name
  if (ACTION_REQUIRED.test(signals.title ?? '')) return reportOf('unknown', witness, 'title Action Required');
  if (state === 'working')
    return isCompactingNow(screen, pane)
      ? reportOf('compacting', witness, 'compacting row')
      : reportOf('busy', witness);
  return atRest(seen, pane, witness);
};

const atRest = (
  { screen, signals }: ScreenEvidence,
  pane: Pane | undefined,
  witness: string,
): ActivityReport => {
  const { title = '' } = signals;
  if (!pane?.hasCursor) return elsewhere(screen, witness);
  if (hasDraft(screen, pane)) return draftReport(pane, witness);
  if (hasTask(screen, pane)) return reportOf('unknown', witness, 'row of a task');
  if (SPINNER.test(title)) return reportOf('unknown', witness, 'spinner in the title');
  const hints = lastFooterRow(screen, pane);
  if (!AT_PROMPT.test(hints)) return reportOf('unknown', witness, 'empty composer', 'no prompt hints');
  if (VIM_NORMAL.test(hints))
    return { ...reportOf('unknown', witness, 'empty composer'), place: "vim's normal mode" };
  return reportOf('ready', witness, 'empty composer');
};

// The composer looks the same while an answer streams in, and the task's row is gone then: only the other sources prove rest.
const withoutState = (
  { screen, signals, status }: ScreenEvidence,
  pane: Pane | undefined,
  isTitleTelling: boolean,
): ActivityReport => {
  const { title = '' } = signals;
  if (!pane?.hasCursor) return elsewhere(screen);
  if (ACTION_REQUIRED.test(title)) return reportOf('unknown', 'title Action Required');
  if (isCompactingNow(screen, pane)) return reportOf('compacting', 'compacting row');
  if (hasTask(screen, pane)) return reportOf('busy', 'row of a task');
  if (isTitleWorking(title)) return reportOf('busy', 'sign in the title');
  if (hasDraft(screen, pane)) return draftReport(pane);
  const hints = lastFooterRow(screen, pane);
  if (VIM_NORMAL.test(hints)) return { ...reportOf('unknown', 'empty composer'), place: "vim's normal mode" };
  if (AFTER_ESCAPE.test(hints)) return reportOf('unknown', 'empty composer', 'hint after Esc');
  if (title === '' || !isTitleTelling)
    return reportOf('unknown', 'empty composer', 'no title that tells of work');
  if (status?.state !== 'idle')
    return reportOf('unknown', 'title at rest', 'empty composer', `rollout ${status?.state ?? 'not found'}`);
  return reportOf('ready', 'title at rest', 'its last turn has ended', 'empty composer');
};

// The cursor is in a picker, a view of the transcript, or the search field, or Codex is not on the screen.
const elsewhere = (screen: ScreenView, ...witnesses: readonly string[]): ActivityReport => {
  const rows = lastRows(screen);
  if (rows.some((row) => HISTORY_SEARCH.test(row)))
    return { ...reportOf('dialog', ...witnesses, 'keys of a picker'), place: 'the history search' };
  const isPicker = rows.some((row) => PICKER_KEYS.test(row));
  return isPicker
    ? reportOf('dialog', ...witnesses, 'keys of a picker')
    : reportOf('unknown', ...witnesses, 'no composer');
};

// A narrow picker wraps its keys.
const lastRows = (screen: ScreenView): readonly string[] => {
  let last = screen.rows - 1;
  while (last > 0 && screen.text(last) === '') last -= 1;
  const rows: string[] = [];
  while (last >= 0 && screen.text(last) !== '') {
    rows.push(screen.text(last));
    last -= 1;
  }
  return rows;
};

const hasDraft = (screen: ScreenView, pane: Pane): boolean => pane.glyph === '!' || !isEmpty(screen, pane);

const draftReport = ({ glyph }: Pane, ...witnesses: readonly string[]): ActivityReport =>
  glyph === '!'
    ? { ...reportOf('draft', ...witnesses, 'shell mode'), place: 'shell mode' }
    : reportOf('draft', ...witnesses, 'text in the composer');

/** Typed text goes to the model: not to a shell, an editor command, or an open list. */
const isMessage = (screen: ScreenView, pane: Pane): boolean =>
  pane.glyph === '›' && !VIM_NORMAL.test(lastFooterRow(screen, pane)) && !isListOpen(screen, pane);

// The list of files and skills above the composer: its key hints are in its last row. The list of commands has none and does not intercept
// keys.
const isListOpen = (screen: ScreenView, { row }: Pane): boolean => {
  for (let above = row - 1; above >= Math.max(0, row - 3); above -= 1)
    if (LIST_KEYS.test(screen.text(above))) return true;
  return false;
};

const hasTask = (screen: ScreenView, pane: Pane): boolean => {
  const head = endAbove(screen, pane);
  return head !== undefined && isTask(screen, head);
};

const isCompactingNow = (screen: ScreenView, pane: Pane | undefined): boolean => {
  const head = pane && endAbove(screen, pane);
  return head !== undefined && isCompacting(screen, head);
};

const lastFooterRow = (screen: ScreenView, { footer }: Pane): string => {
  const last = footer.at(-1);
  return last === undefined ? '' : screen.text(last);
};

const reportOf = (activity: Activity, ...witnesses: readonly string[]): ActivityReport => ({
  activity,
  witnesses,
});

// How a compaction seen on the screen ended. Rows of old compactions come and go as the conversation scrolls: only the end of one that was
// seen running counts, and text that was there before counts only if Codex's state says that it is new.

/** The turn has gone on, so its answer is below. What was there before the compaction is above its row, and so are all old rows. */
const isCompactedAbove = (last: ConversationEnd, before: string, screen: ScreenView): boolean => {
  let head: ConversationEnd | undefined = last;
  while (head && !isSame(head.text, before)) {
    head = endAbove(screen, head);
    if (isCompacted(head)) return !isSame(head?.text ?? '', before);
  }
  return false;
};

// Another width cuts the row elsewhere.
const isSame = (text: string, before: string): boolean =>
  before !== '' && (text.startsWith(before) || before.startsWith(text));

/** `before` is the last item of the conversation when the compaction began. */
const endFacts = (
  before: string,
  screen: ScreenView,
  look: PercentSighting,
  now: Millis,
): readonly Fact[] => {
  const { isCompacting, state, head } = look;
  if (isCompacting || !head) return [];
  const isOther = head.text !== before;
  if (isCompacted(head)) {
    const isNew = state === 'done' || (state === 'working' && isOther);
    return isNew ? [{ type: 'boundary', boundary: { source: 'screen', at: now } }] : [];
  }
  const words = readError(screen, head);
  if (words === undefined) {
    const isReported = (state === 'done' || state === 'working') && isCompactedAbove(head, before, screen);
    return isReported ? [{ type: 'boundary', boundary: { source: 'screen', at: now } }] : [];
  }
  if (INTERRUPTED.test(words))
    return isOther || state === 'idle'
      ? [{ type: 'compact-result', result: { kind: 'interrupted', by: 'the user' } }]
      : [];
  const text = toOneLine(words.slice('■ '.length), LONGEST_ERROR);
  return isOther || state === 'error'
    ? [{ type: 'compact-result', result: { kind: 'failed', failure: 'error', text } }]
    : [];
};

// The text in Codex's composer, where typed text becomes a message.

const MARGIN = 1; // columns at the right end of a row that never hold text of a draft

const prompt: PromptReader = (seen) => {
  const { screen } = seen;
  const pane = findPane(screen);
  if (!pane?.hasCursor || !isMessage(screen, pane)) return undefined;
  // only the reader, which has seen several screens, knows whether the title shows work
  const { activity } = activityOf(seen, pane, true);
  if (activity === 'unknown' || activity === 'dialog') return undefined;
  return { text: composerText(screen, pane) };
};

const composerText = (screen: ScreenView, pane: Pane): string => {
  if (isEmpty(screen, pane)) return '';
  const { cursorRow, cursorColumn } = screen;
  // a blank row separates the text from the footer; where no footer is visible, nothing is known below the cursor
  const last = pane.footer[0] === undefined ? cursorRow : Math.max(cursorRow, pane.footer[0] - 2);
  const rows = Array.from({ length: last - pane.row + 1 }, (_, index) =>
    screen.text(pane.row + index).slice(TEXT_COLUMN),
  );
  const end = rows.length - 1;
  // trailing spaces are visible only by the cursor behind them
  const final = cursorRow === last ? (rows[end] ?? '').padEnd(cursorColumn - TEXT_COLUMN) : (rows[end] ?? '');
  return joinWrappedRows([...rows.slice(0, end), final], screen.columns - TEXT_COLUMN - MARGIN);
};

// Codex's screen and signals as a source of facts: what it is doing, how full the window is where displayed, and visible compactions.

interface CodexScreen {
  readonly doubt: PercentTrust;
  readonly known: KnownPlaces;
  /** its title has shown work, so a title without it means rest */
  readonly isTitleTelling: boolean;
  /** the last item of the conversation while no turn ran; undefined while one runs */
  readonly restedAfter?: string;
  /** a compaction is running; the last item of the conversation before it */
  readonly compactingAfter?: string;
  /** the last screen that showed which conversation is in view */
  readonly look?: CodexLook;
}

const read = (before: CodexScreen, seen: ScreenEvidence, now: Millis): ScreenReading<CodexScreen> => {
  const { screen, signals } = seen;
  const pane = findPane(screen);
  const titles = [signals.title, ...(signals.titlesBefore ?? [])];
  const isTitleTelling = before.isTitleTelling || titles.some(isTitleWorking);
  const activity = activityOf(seen, pane, isTitleTelling);
  const head = pane && endAboveTask(screen, pane);
  const state = parseAgentState(signals.agentState)?.state;
  // the status line appears only after the start
  const shown = findPlaces(screen, pane, state === undefined ? undefined : signals.title);
  const known = knownNow(before.known, screen, pane, shown);
  const look: PercentSighting = {
    state,
    isCompacting: activity.activity === 'compacting',
    head,
    shown: agreedPercent(withoutThreadNames(shown, known)),
  };
  const doubt = updateTrust(before.doubt, look);
  const { compactingAfter: ended } = before;
  const ends = ended === undefined ? [] : endFacts(ended, screen, look, now);
  const view = lookAt(screen, pane, signals.title);
  const facts = [
    ...viewFacts(before.look, view), // first: the number is of the conversation that is in view
    ...ends,
    ...changeFacts(before.restedAfter, look),
    ...readingFacts(doubt, look, now),
  ];
  const memory = {
    compactingAfter: compactingAfter(before, look, pane),
    restedAfter: resting.includes(activity.activity) ? (head?.text ?? before.restedAfter ?? '') : undefined,
    look: remembered(before.look, view),
  };
  return {
    state: { doubt, known, isTitleTelling, ...present(memory) },
    activity,
    facts,
  };
};

const CHANGED = /^• Model changed to ([\w./:-]+)(?= |$)/;
const resting: readonly Activity[] = ['ready', 'draft', 'dialog'];

// An answer may look the same, but comes while a turn runs.
const changeFacts = (restedAfter: string | undefined, { head }: PercentSighting): readonly Fact[] => {
  const model = CHANGED.exec(head?.text ?? '')?.[1];
  const isNew = restedAfter !== undefined && restedAfter !== head?.text;
  return model === undefined || !isNew ? [] : [{ type: 'model', model }];
};

const knownNow = (
  known: KnownPlaces,
  screen: ScreenView,
  pane: Pane | undefined,
  shown: DisplayedPlaces,
): KnownPlaces => (!pane?.hasCursor && isConfiguring(screen) ? {} : updateKnownPlaces(known, shown));

// While a picker or a view covers the composer, the end of the compaction cannot be seen.
const compactingAfter = (
  before: CodexScreen,
  look: PercentSighting,
  pane: Pane | undefined,
): string | undefined => {
  if (look.isCompacting) return before.compactingAfter ?? look.head?.text ?? '';
  return pane ? undefined : before.compactingAfter;
};

const readingFacts = (
  doubt: PercentTrust,
  { isCompacting, head, shown }: PercentSighting,
  now: Millis,
): readonly Fact[] => {
  if (isCompacting) return [];
  const windowTokens = exactWindow(doubt, shown?.windowTokens);
  const window =
    windowTokens === undefined
      ? {}
      : { windowTokens, windowSource: 'agent' as const, basisTokens: usableTokens(windowTokens) };
  const rest = { basis: 'baseline', ...window, source: 'screen', at: now } as const;
  if (doubt.isFull)
    return hasRunOut(head) ? [{ type: 'reading', reading: { usedPercent: 100, ...rest } }] : [];
  if (!shown || !isTrusted(doubt, shown)) return [];
  return [{ type: 'reading', reading: { usedPercent: shown.usedPercent, ...rest } }];
};

const recognises = ({ screen, signals }: ScreenEvidence): boolean => {
  if (/(?:^|:)app=codex(?::|$)/.test(signals.agentState ?? '')) return true;
  const pane = findPane(screen);
  const footer = pane?.hasCursor ? pane.footer.at(-1) : undefined;
  return pane !== undefined && footer !== undefined && isEmpty(screen, pane) && isDrawn(screen, footer);
};

export const codexScreen: AgentScreen = {
  recognises,
  reader: () =>
    makeScreenReader<CodexScreen>({ doubt: initialTrust, known: {}, isTitleTelling: false }, read),
  prompt,
  status: readStatus,
};
