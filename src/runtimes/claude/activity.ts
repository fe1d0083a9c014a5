// What Claude Code is doing, from its frame, its title and its own status file (facts/claude.md §5). Each must agree before it is ready.
import type { Activity, ActivityReport } from '../../core/activity.js';
import type { ScreenView } from '../../core/screen-view.js';
import type { AgentStatus, Seen } from '../runtime.js';
import { ownRowAbove, rowsBelow, rowText } from './layout.js';
import type { Layout, Prompt } from './layout.js';

/** What only earlier screens can tell. */
export interface Habits {
  /** the prompt has vim's modes: without `-- INSERT --` it takes keys as commands, and shows nothing of that */
  readonly vim: boolean;
}

const INSERT_MODE = /^ *-- INSERT --/;

// In the first column, where no message begins: a finished turn reads `✻ Brewed for 4s`, without the ellipsis.
const SPINNER = /^[·✢✳✶✻✽*] \S.*…/;
const COMPACTING = /^[·✢✳✶✻✽*] (?:Compacting conversation|Running \w*Compact hooks)/;

const DIALOG =
  /\bEsc to (?:cancel|close|clear|exit|go back)\b|\bEnter to (?:confirm|select|continue|set|view)\b|\bDo you want to\b|^ {0,3}❯ \d\. /;

// Below the prompt, in a row of Claude's own: something else than the prompt takes the next keys, or they mean something else.
const NOT_NOW =
  /^ *(?:search prompts:|! for (?:shell|bash) mode|Press Ctrl-[CD] again)|\bEsc to (?:cancel|close)\b|\bEnter to (?:confirm|select|continue)\b/;

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
  if (layout.kind === 'panel') return panelReport(screen, layout.bar, report);
  if (status?.state === 'waiting') return report('dialog');
  if (layout.kind === 'none')
    return report(title === 'busy' || status?.state === 'busy' ? 'busy' : 'unknown');
  const spinner = spinnerAbove(screen, layout);
  if (spinner === 'compacting' && title !== 'idle') return report('compacting', 'compaction row');
  if (title === 'busy' || status?.state === 'busy' || (spinner && title !== 'idle'))
    return report('busy', ...(spinner ? ['spinner row'] : []));
  if (spinner) return report('unknown', 'spinner row');
  return promptReport(screen, layout, { habits, status, report });
};

type Report = (activity: Activity, ...witnesses: readonly string[]) => ActivityReport;

// A bar without a prompt: a question, a picker, or a view.
const panelReport = (screen: ScreenView, bar: number, report: Report): ActivityReport =>
  rowsBelow(screen, bar).some((row) => DIALOG.test(row))
    ? report('dialog', 'dialog below its bar')
    : report('unknown', 'no prompt');

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
  const blocking = rowsBelow(screen, lower).find((row) => NOT_NOW.test(row));
  if (blocking !== undefined) return `footer: ${blocking.trim().slice(0, 40)}`;
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
