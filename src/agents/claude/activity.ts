import { present } from '../../core/present.js';
import type { Millis, Activity, ActivityReport, Place, ScreenView } from '../../core/reading.js';
import type { AgentStatus, ScreenEvidence } from '../agent.js';
import { readFlatScreen } from './flat-screen.js';
import {
  ANY_SIGN,
  isAgentList,
  SPINNER,
  MESSAGE_SIGN,
  colouredRowsBelow,
  colouredLastRows,
  isMessageGlyph,
  ownRowAbove,
  rowsBelow,
  rowText,
  type Layout,
  type Panel,
  type Prompt,
  POINTER,
} from './layout.js';
import { readStateWord, type StateWord } from './state-report.js';

// The row above the prompt that shows work: in the first column, where no message begins, a sign and words that end in an ellipsis. A
// finished turn reads `✻ Brewed for 4s`, without the ellipsis.

const KNOWN = new RegExp(String.raw`^${SPINNER} \S.*…`);
// An unknown sign counts only where nothing but a remark in parentheses follows: Claude begins other rows with signs, too.
const LIKELY = new RegExp(String.raw`^${ANY_SIGN} \S[^…]*…(?: \([^()]*\)?)?$`, 'u');
const TIMED = new RegExp(String.raw`^(?!${MESSAGE_SIGN})\S \S[^…]*… \((?:\d+[smh]|esc )`);
// Announcements also begin with a few box-drawing characters; they are longer.
const DRAWN = /^[\u2500-\u259f] (?:[^\s…]+ ){0,2}[^\s…]+…(?: \([^()]*\)?)?$/;
const COMPACTION = /^\S (?:Compacting conversation|Running \w*Compact hooks)/;

export const isSpinnerRow = (row: string): boolean =>
  [KNOWN, LIKELY, TIMED, DRAWN].some((pattern) => pattern.test(row));

/** The last row of a turn that background agents will go on with. */
const AGENTS_ROW = new RegExp(String.raw`^${SPINNER} Waiting for \d+ background agents? to finish`);

/** The working row of a compaction. */
const isCompactionRow = (row: string): boolean => isSpinnerRow(row) && COMPACTION.test(row);

// What the terminal's title shows about Claude: a sign and a space before a name, one sign at rest and alternating ones while it works
// (docs/facts/claude.md#state-reports).

export type TitleWord = 'idle' | 'busy' | 'with an unknown sign' | 'without a sign';

/** The sign of a title, and when it last changed. */
export interface TitleSign {
  readonly sign: string;
  readonly changedAt?: Millis;
}

const SIGNED = /^([^\p{L}\p{N}\s"'([{/\\~.-])\ufe0f? +\S/u;
const AT_REST = '✳';
// `⠂ ⠐` until 2.1.230, `◐ ◑` since: shapes that spinners use.
const TURNING = /^[\u2801-\u28ff◐-◓◜-◟◠◡◴-◷⊙]$/u;

const IN_TURNS_MS = 2_500; // Claude changes its sign about once a second

/** Whether a title is one that only Claude sets. */
export const isTitleOfClaude = (title: string | undefined): boolean => /^[✳⠂⠐◐◑] /.test(title ?? '');

/** The sign after this title. */
const titleAfter = (
  before: TitleSign | undefined,
  title: string | undefined,
  now: Millis,
): TitleSign | undefined => {
  const sign = SIGNED.exec(title ?? '')?.[1];
  if (sign === undefined || sign === before?.sign) return sign === undefined ? undefined : before;
  return before === undefined || before.sign === AT_REST ? { sign } : { sign, changedAt: now };
};

/** Undefined without a title: in old versions, with CLAUDE_CODE_DISABLE_TERMINAL_TITLE, and after the exit. */
const titleWord = (title: string | undefined, seen?: TitleSign, now?: Millis): TitleWord | undefined => {
  if (title === undefined) return undefined;
  const sign = SIGNED.exec(title)?.[1];
  if (sign === undefined) return 'without a sign';
  if (sign === AT_REST) return 'idle';
  const isInTurns = seen?.changedAt !== undefined && now !== undefined && now - seen.changedAt <= IN_TURNS_MS;
  return TURNING.test(sign) || isInTurns ? 'busy' : 'with an unknown sign';
};

// What Claude Code is doing, from its frame, its title, its state report and its status file (docs/facts/claude.md#activities). All of them
// must agree before it counts as ready.

/** What only earlier screens can tell about the prompt. */
export interface PromptHistory {
  /** the prompt has vim modes: without `-- INSERT --` it takes keys as commands, and nothing on the screen shows that */
  readonly vim: boolean;
  readonly title?: TitleSign;
}

const INSERT_MODE = /^ *-- INSERT --/;

// Key hints of a dialog, a picker or a view; the options of a question.
const KEYS =
  /\bEsc(?:\/\w+)* to (?:cancel|close|clear|exit|go back)\b|\bEnter(?:\/\w+)* to (?:confirm|select|continue|set|view|change)\b/;
const CHOICE = new RegExp(String.raw`^ {0,3}${POINTER} \d\. `);

// Rows of Claude's own below the prompt that say the next keys go elsewhere or mean something else.
const NOT_NOW =
  /^ *(?:search prompts:|! for (?:shell|bash) mode|Press Ctrl-[CD] again)|\bEsc to (?:cancel|close)\b|\bEnter to (?:confirm|select|continue)\b/;

/** The history after this screen. */
export const updatePromptHistory = (
  { vim, title }: PromptHistory,
  { screen, signals }: ScreenEvidence,
  layout: Layout,
  now: Millis,
): PromptHistory => {
  const sign = titleAfter(title, signals.title, now);
  const isShown =
    layout.kind === 'prompt' ? isInsertMode(screen, layout) : readFlatScreen(screen).isInsertMode;
  const hasModes = vim || isShown;
  return { vim: hasModes, ...present({ title: sign }) };
};

/** The activity with its evidence. */
export const readActivity = (
  seen: ScreenEvidence,
  layout: Layout,
  habits: PromptHistory,
  now?: Millis,
): ActivityReport => {
  const { screen, status } = seen;
  const signs = signsFrom(seen, habits, now);
  const report: Report = (activity, ...witnesses) => ({
    activity,
    witnesses: [...witnesses, ...signs.witnesses],
    ...(activity === 'dialog' && signs.asks !== undefined ? { asks: signs.asks } : {}),
  });
  if (isAgentList(seen, layout))
    return { ...report('unknown', 'list of agents'), place: 'the list of agents' };
  if (signs.isStrange) return report('unknown');
  if (signs.isAsking) return report('dialog');
  // a permission dialog appears under the title of an idle prompt; a draft may be cut off from its bar for a moment
  if (layout.kind === 'panel' && signs.isWorking) return report('busy');
  if (layout.kind === 'panel') return panelReport(screen, layout, report);
  if (layout.kind === 'none') {
    if (signs.isBusy) return report('busy');
    if (TRANSCRIPT.test(colouredLastRows(screen))) return transcript(report);
    return KEYS.test(colouredLastRows(screen)) ? report('dialog', 'keys of a dialog') : report('unknown');
  }
  const spinner = spinnerAbove(screen, layout);
  const witnesses = spinner ? ['spinner row'] : [];
  if (signs.isDisagreed) return report('unknown', ...witnesses);
  if (spinner === 'compacting' && !signs.isAtRest) return report('compacting', 'compaction row');
  if (signs.isBusy && isWaitingForAgents(screen, layout))
    return { ...report('busy', 'row of background agents'), place: 'a background agent is running' };
  if (signs.isBusy || (spinner && !signs.isAtRest)) return report('busy', ...witnesses);
  if (spinner || signs.isOpen) return report('unknown', ...witnesses);
  return promptReport(screen, layout, { habits, status, report });
};

/** The activity on a flat screen, which alone proves neither rest nor work. */
export const readFlatActivity = (
  seen: ScreenEvidence,
  habits: PromptHistory,
  now?: Millis,
): ActivityReport => {
  const { screen, status } = seen;
  const signs = signsFrom(seen, habits, now);
  const { prompt, isDialog, isCompacting, isInsertMode, obstacle, place } = readFlatScreen(screen);
  const is = (activity: Activity, ...witnesses: readonly string[]): ActivityReport => ({
    activity,
    witnesses: ['flat screen', ...witnesses, ...signs.witnesses],
    ...(activity === 'dialog' && signs.asks !== undefined ? { asks: signs.asks } : {}),
    ...(activity === 'unknown' || activity === 'busy' ? present({ place }) : {}),
  });
  if (signs.isStrange) return is('unknown');
  if (signs.isAsking) return is('dialog');
  if (signs.isDisagreed) return is('unknown');
  if (signs.isBusy) return isCompacting ? is('compacting', 'compaction row') : is('busy');
  if (isDialog) return is('dialog', 'keys of a dialog');
  if (!prompt) return is('unknown', 'no prompt');
  if (obstacle !== undefined) return is('unknown', obstacle);
  if (!signs.isAtRest || !isResting(status)) return is('unknown', 'nothing tells of rest');
  if (habits.vim && !isInsertMode) return { ...is('unknown'), place: "vim's normal mode" };
  return prompt.text === '' ? is('ready', 'empty prompt row') : is('draft', 'text in the prompt');
};

/** Evidence besides the screen. */
interface Said {
  readonly witnesses: readonly string[];
  readonly asks?: string;
  /** another program reports a state, or Claude has exited */
  readonly isStrange: boolean;
  readonly isAsking: boolean;
  /** its title or state report says so */
  readonly isWorking: boolean;
  /** its title, state report or status file says so */
  readonly isBusy: boolean;
  /** its title or state report says so; the status file follows later */
  readonly isAtRest: boolean;
  readonly isDisagreed: boolean;
  /** the title has an unknown sign, and nothing else says that Claude is at rest */
  readonly isOpen: boolean;
}

const signsFrom = (
  { signals, status }: ScreenEvidence,
  habits: PromptHistory,
  now: Millis | undefined,
): Said => {
  const own = readStateWord(signals);
  const title = ownTitle(titleWord(signals.title, habits.title, now), own);
  const [isBusyByTitle, isIdleByTitle] = [title === 'busy', title === 'idle'];
  const isWorking = isBusyByTitle || own?.says === 'busy';
  const isDisagreed = (own?.says === 'busy' && isIdleByTitle) || (own?.says === 'rest' && isBusyByTitle);
  const witnesses = [title && `title ${title}`, own?.witness, status && `status file: ${status.state}`];
  return {
    witnesses: witnesses.filter((word) => word !== undefined),
    ...(own?.asks === undefined ? {} : { asks: own.asks }),
    isStrange: title === 'of another program' || own?.says === 'gone' || own?.says === 'of another program',
    isAsking: status?.state === 'waiting' || own?.says === 'asks',
    isWorking,
    isBusy: isWorking || status?.state === 'busy',
    isAtRest: isIdleByTitle || own?.says === 'rest',
    isDisagreed,
    isOpen: title === 'with an unknown sign' && own?.says !== 'rest' && status?.state !== 'idle',
  };
};

// Claude puts no sign into its title where it reports its state.
const ownTitle = (
  title: TitleWord | undefined,
  own: StateWord | undefined,
): Exclude<TitleWord, 'without a sign'> | 'of another program' | undefined => {
  if (title !== 'without a sign') return title;
  return own === undefined ? 'of another program' : undefined;
};

type Report = (activity: Activity, ...witnesses: readonly string[]) => ActivityReport;

// A bar without a prompt: a question, a picker, or a view.
const panelReport = (screen: ScreenView, { bar, isOverlay }: Panel, report: Report): ActivityReport => {
  if (isOverlay) return report('dialog', 'over the conversation');
  const rows = colouredRowsBelow(screen, bar);
  if (TRANSCRIPT.test(joined(rows))) return transcript(report);
  const isDialog = rows.some((row) => CHOICE.test(row)) || KEYS.test(joined(rows));
  return isDialog ? report('dialog', 'dialog below its bar') : report('unknown', 'no prompt');
};

const TRANSCRIPT = /\bShowing detailed transcript\b/;

const transcript = (report: Report): ActivityReport => ({
  ...report('unknown', 'view of the transcript'),
  place: 'the transcript',
});

// A narrow screen wraps the keys.
const joined = (rows: readonly string[]): string => rows.map((row) => row.trim()).join(' ');

interface PromptContext {
  readonly habits: PromptHistory;
  readonly status: AgentStatus | undefined;
  readonly report: Report;
}

const promptReport = (
  screen: ScreenView,
  prompt: Prompt,
  { habits, status, report }: PromptContext,
): ActivityReport => {
  const obstacle = findObstacle(screen, prompt);
  if (obstacle !== undefined)
    return { ...report('unknown', obstacle), ...present({ place: placeOf(obstacle) }) };
  if (!isResting(status)) return report('unknown');
  if (habits.vim && !isInsertMode(screen, prompt) && !isCommandListed(screen, prompt))
    return { ...report('unknown', 'vim without insert mode'), place: "vim's normal mode" };
  return prompt.isEmpty ? report('ready', 'empty prompt row') : report('draft', 'text in the prompt');
};

/** What the status file says at rest; `shell` while commands or monitors run in the background. */
const RESTING: ReadonlySet<string> = new Set(['idle', 'shell']);

const isResting = (status: AgentStatus | undefined): boolean => !status || RESTING.has(status.state);

const placeOf = (obstacle: string): Place | undefined => {
  if (/shell mode|bash mode/.test(obstacle)) return 'shell mode';
  return obstacle.includes('search prompts:') ? 'the history search' : undefined;
};

/** Why text typed now would not become a message, although the prompt is visible. */
export const findObstacle = (screen: ScreenView, { glyph, lower, isActive }: Prompt): string | undefined => {
  if (glyph !== '' && !isMessageGlyph(glyph))
    return glyph === '!' ? 'shell mode' : 'a sign before the prompt that is not known';
  const blocking = rowsBelow(screen, lower)
    .map((row) => NOT_NOW.exec(row)?.[0])
    .find((sign) => sign !== undefined);
  if (blocking !== undefined) return `footer: ${blocking.trim()}`;
  return isActive ? undefined : 'cursor outside the prompt';
};

const spinnerAbove = (screen: ScreenView, { upper }: Prompt): 'spinner' | 'compacting' | undefined => {
  const row = ownRowAbove(screen, upper);
  const text = row === undefined ? '' : rowText(screen, row);
  if (!isSpinnerRow(text)) return undefined;
  return isCompactionRow(text) ? 'compacting' : 'spinner';
};

const isWaitingForAgents = (screen: ScreenView, { upper }: Prompt): boolean => {
  const row = ownRowAbove(screen, upper);
  return row !== undefined && AGENTS_ROW.test(rowText(screen, row));
};

const isInsertMode = (screen: ScreenView, { lower }: Prompt): boolean =>
  rowsBelow(screen, lower).some((row) => INSERT_MODE.test(row));

// The list of commands hides the sign of insert mode, and opens only while a command is typed.
const isCommandListed = (screen: ScreenView, { lower, draft }: Prompt): boolean =>
  draft.startsWith('/compact') && rowText(screen, lower + 1).startsWith('/compact ');
