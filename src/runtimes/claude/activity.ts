// What Claude Code is doing, from its frame, its title, its own state and its status file (facts/claude.md §5). Each must agree before it is
// ready.
import type { Activity, ActivityReport } from '../../core/activity.js';
import type { Millis } from '../../core/reading.js';
import type { ScreenView } from '../../core/screen-view.js';
import type { AgentStatus, Seen } from '../seen.js';
import { colouredBelow, colouredEnd, isMessageGlyph, ownRowAbove, rowsBelow, rowText } from './layout.js';
import type { Layout, Panel, Prompt } from './layout.js';
import { ownWord } from './own-word.js';
import type { OwnWord } from './own-word.js';
import { POINTER } from './signs.js';
import { isCompactionRow, isSpinnerRow } from './spinner.js';
import { titleAfter, titleWord } from './title.js';
import type { TitleSeen, TitleWord } from './title.js';

/** What only earlier screens can tell. */
export interface Habits {
  /** the prompt has vim's modes: without `-- INSERT --` it takes keys as commands, and shows nothing of that */
  readonly vim: boolean;
  readonly title?: TitleSeen;
}

const INSERT_MODE = /^ *-- INSERT --/;

// The keys that a dialog, a picker or a view takes; the choice of a question.
const KEYS =
  /\bEsc(?:\/\w+)* to (?:cancel|close|clear|exit|go back)\b|\bEnter(?:\/\w+)* to (?:confirm|select|continue|set|view|change)\b/;
const CHOICE = new RegExp(String.raw`^ {0,3}${POINTER} \d\. `);

// Below the prompt, in a row of Claude's own: something else than the prompt takes the next keys, or they mean something else.
const NOT_NOW =
  /^ *(?:search prompts:|! for (?:shell|bash) mode|Press Ctrl-[CD] again)|\bEsc to (?:cancel|close)\b|\bEnter to (?:confirm|select|continue)\b/;

// The view of all agents has a prompt, too, but what is typed there starts another session; and rows that look like a spinner.
const AGENTS_VIEW = /^ *enter to (?:open|create|collapse|expand)\b/;

/** What is known after this screen. */
export const habitsAfter = (
  { vim, title }: Habits,
  { screen, signals }: Seen,
  layout: Layout,
  now: Millis,
): Habits => {
  const sign = titleAfter(title, signals.title, now);
  const hasModes = vim || (layout.kind === 'prompt' && isInsertMode(screen, layout));
  return { vim: hasModes, ...(sign ? { title: sign } : {}) };
};

/** The activity with what speaks for it. */
export const activityOf = (seen: Seen, layout: Layout, habits: Habits, now?: Millis): ActivityReport => {
  const { screen, status } = seen;
  const said = saidBy(seen, habits, now);
  const report: Report = (activity, ...witnesses) => ({
    activity,
    witnesses: [...witnesses, ...said.witnesses],
    ...(activity === 'dialog' && said.asks !== undefined ? { asks: said.asks } : {}),
  });
  if (said.isStrange) return report('unknown');
  if (said.isAsking) return report('dialog');
  // a permission is asked for under the title of an idle prompt; a draft may be cut off from its bar for a moment
  if (layout.kind === 'panel' && said.isWorking) return report('busy');
  if (layout.kind === 'panel') return panelReport(screen, layout, report);
  if (layout.kind === 'none') {
    if (said.isBusy) return report('busy');
    return KEYS.test(colouredEnd(screen)) ? report('dialog', 'keys of a dialog') : report('unknown');
  }
  if (AGENTS_VIEW.test(rowsBelow(screen, layout.lower)[0] ?? ''))
    return report('unknown', 'view of all agents');
  const spinner = spinnerAbove(screen, layout);
  const witnesses = spinner ? ['spinner row'] : [];
  if (said.isDisagreed) return report('unknown', ...witnesses);
  if (spinner === 'compacting' && !said.isAtRest) return report('compacting', 'compaction row');
  if (said.isBusy || (spinner && !said.isAtRest)) return report('busy', ...witnesses);
  if (spinner || said.isOpen) return report('unknown', ...witnesses);
  return promptReport(screen, layout, { habits, status, report });
};

/** What is told beside the screen. */
interface Said {
  readonly witnesses: readonly string[];
  readonly asks?: string;
  /** another program speaks, or Claude has taken leave */
  readonly isStrange: boolean;
  readonly isAsking: boolean;
  /** its title or its state says so */
  readonly isWorking: boolean;
  /** or its status file */
  readonly isBusy: boolean;
  /** its title or its state says so; the status file follows later */
  readonly isAtRest: boolean;
  readonly isDisagreed: boolean;
  /** the title has a sign that was never seen, and nothing else says that it rests */
  readonly isOpen: boolean;
}

const saidBy = ({ signals, status }: Seen, habits: Habits, now: Millis | undefined): Said => {
  const own = ownWord(signals);
  const title = ownTitle(titleWord(signals.title, habits.title, now), own);
  const [isBusyByTitle, isIdleByTitle] = [title === 'busy', title === 'idle'];
  const isWorking = isBusyByTitle || own?.says === 'busy';
  const isDisagreed = (own?.says === 'busy' && isIdleByTitle) || (own?.says === 'rest' && isBusyByTitle);
  const told = [title && `title ${title}`, own?.witness, status && `status file: ${status.state}`];
  return {
    witnesses: told.filter((word) => word !== undefined),
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

// Claude puts no sign into its title where it tells its state.
const ownTitle = (
  title: TitleWord | undefined,
  own: OwnWord | undefined,
): Exclude<TitleWord, 'without a sign'> | 'of another program' | undefined => {
  if (title !== 'without a sign') return title;
  return own === undefined ? 'of another program' : undefined;
};

type Report = (activity: Activity, ...witnesses: readonly string[]) => ActivityReport;

// A bar without a prompt: a question, a picker, or a view.
const panelReport = (screen: ScreenView, { bar, isOverlay }: Panel, report: Report): ActivityReport => {
  if (isOverlay) return report('dialog', 'over the conversation');
  const rows = colouredBelow(screen, bar);
  const isDialog = rows.some((row) => CHOICE.test(row)) || KEYS.test(joined(rows));
  return isDialog ? report('dialog', 'dialog below its bar') : report('unknown', 'no prompt');
};

// A narrow screen wraps the keys.
const joined = (rows: readonly string[]): string => rows.map((row) => row.trim()).join(' ');

interface PromptContext {
  readonly habits: Habits;
  readonly status: AgentStatus | undefined;
  readonly report: Report;
}

const promptReport = (
  screen: ScreenView,
  prompt: Prompt,
  { habits, status, report }: PromptContext,
): ActivityReport => {
  const obstacle = obstacleOf(screen, prompt);
  if (obstacle !== undefined) return report('unknown', obstacle);
  if (status && status.state !== 'idle') return report('unknown');
  if (habits.vim && !isInsertMode(screen, prompt) && !isCommandListed(screen, prompt))
    return report('unknown', 'vim without insert mode');
  return prompt.isEmpty ? report('ready', 'empty prompt row') : report('draft', 'text in the prompt');
};

/** Why what is typed now would be no message, though the prompt is there. */
export const obstacleOf = (screen: ScreenView, { glyph, lower, isActive }: Prompt): string | undefined => {
  if (!isMessageGlyph(glyph))
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

const isInsertMode = (screen: ScreenView, { lower }: Prompt): boolean =>
  rowsBelow(screen, lower).some((row) => INSERT_MODE.test(row));

// The list of commands hides the mark of the insert mode, and opens only while one is typed.
const isCommandListed = (screen: ScreenView, { lower, draft }: Prompt): boolean =>
  draft.startsWith('/compact') && rowText(screen, lower + 1).startsWith('/compact ');
