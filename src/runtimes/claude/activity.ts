// What Claude Code is doing, from its frame, its title and its own status file (facts/claude.md §5). Each must agree before it is ready.
import type { Activity, ActivityReport } from '../../core/activity.js';
import type { ScreenView } from '../../core/screen-view.js';
import type { AgentStatus, Seen } from '../seen.js';
import { colouredBelow, colouredEnd, ownRowAbove, rowsBelow, rowText } from './layout.js';
import type { Layout, Panel, Prompt } from './layout.js';

/** What only earlier screens can tell. */
export interface Habits {
  /** the prompt has vim's modes: without `-- INSERT --` it takes keys as commands, and shows nothing of that */
  readonly vim: boolean;
}

const INSERT_MODE = /^ *-- INSERT --/;

// In the first column, where no message begins: a finished turn reads `✻ Brewed for 4s`, without the ellipsis.
const SPINNER = /^[·✢✳✶✻✽*] \S.*…/;
const COMPACTING = /^[·✢✳✶✻✽*] (?:Compacting conversation|Running \w*Compact hooks)/;

// The keys that a dialog, a picker or a view takes; the choice of a question.
const KEYS =
  /\bEsc(?:\/\w+)* to (?:cancel|close|clear|exit|go back)\b|\bEnter(?:\/\w+)* to (?:confirm|select|continue|set|view|change)\b/;
const CHOICE = /^ {0,3}❯ \d\. /;

// Below the prompt, in a row of Claude's own: something else than the prompt takes the next keys, or they mean something else.
const NOT_NOW =
  /^ *(?:search prompts:|! for (?:shell|bash) mode|Press Ctrl-[CD] again)|\bEsc to (?:cancel|close)\b|\bEnter to (?:confirm|select|continue)\b/;

// The view of all agents has a prompt, too, but what is typed there starts another session; and rows that look like a spinner.
const AGENTS_VIEW = /^ *enter to (?:open|create|collapse|expand)\b/;

/** After this screen it is known whether the prompt has vim's modes. */
export const habitsAfter = (habits: Habits, { screen }: Seen, layout: Layout): Habits =>
  habits.vim || layout.kind !== 'prompt' || !isInsertMode(screen, layout) ? habits : { vim: true };

/** The activity with what speaks for it. */
export const activityOf = (seen: Seen, layout: Layout, habits: Habits): ActivityReport => {
  const title = titleWord(seen.signals.title);
  const { screen, status } = seen;
  const said = [title && `title ${title}`, status && `status file: ${status.state}`];
  const report = (activity: Activity, ...witnesses: readonly string[]): ActivityReport => ({
    activity,
    witnesses: [...witnesses, ...said.filter((word) => word !== undefined)],
  });
  if (title === 'of another program') return report('unknown');
  if (status?.state === 'waiting') return report('dialog');
  // a permission is asked for under the title of an idle prompt; a draft may be cut off from its bar for a moment
  if (layout.kind === 'panel' && title === 'busy') return report('busy');
  if (layout.kind === 'panel') return panelReport(screen, layout, report);
  if (layout.kind === 'none') {
    if (title === 'busy' || status?.state === 'busy') return report('busy');
    return KEYS.test(colouredEnd(screen)) ? report('dialog', 'keys of a dialog') : report('unknown');
  }
  if (AGENTS_VIEW.test(rowsBelow(screen, layout.lower)[0] ?? ''))
    return report('unknown', 'view of all agents');
  const spinner = spinnerAbove(screen, layout);
  if (spinner === 'compacting' && title !== 'idle') return report('compacting', 'compaction row');
  if (title === 'busy' || status?.state === 'busy' || (spinner && title !== 'idle'))
    return report('busy', ...(spinner ? ['spinner row'] : []));
  if (spinner) return report('unknown', 'spinner row');
  return promptReport(screen, layout, { habits, status, report });
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
  if (glyph === '!') return 'shell mode';
  const blocking = rowsBelow(screen, lower)
    .map((row) => NOT_NOW.exec(row)?.[0])
    .find((sign) => sign !== undefined);
  if (blocking !== undefined) return `footer: ${blocking.trim()}`;
  return isActive ? undefined : 'cursor outside the prompt';
};

type TitleWord = 'idle' | 'busy' | 'of another program';

// Absent in old versions and with CLAUDE_CODE_DISABLE_TERMINAL_TITLE; empty after the exit.
const titleWord = (title: string | undefined): TitleWord | undefined => {
  if (title === undefined) return undefined;
  if (title.startsWith('✳ ')) return 'idle';
  return /^[⠂⠐] /.test(title) ? 'busy' : 'of another program';
};

const spinnerAbove = (screen: ScreenView, { upper }: Prompt): 'spinner' | 'compacting' | undefined => {
  const row = ownRowAbove(screen, upper);
  const text = row === undefined ? '' : rowText(screen, row);
  if (!SPINNER.test(text)) return undefined;
  return COMPACTING.test(text) ? 'compacting' : 'spinner';
};

const isInsertMode = (screen: ScreenView, { lower }: Prompt): boolean =>
  rowsBelow(screen, lower).some((row) => INSERT_MODE.test(row));

// The list of commands hides the mark of the insert mode, and opens only while one is typed.
const isCommandListed = (screen: ScreenView, { lower, draft }: Prompt): boolean =>
  draft.startsWith('/compact') && rowText(screen, lower + 1).startsWith('/compact ');
