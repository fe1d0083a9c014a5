// What Codex is doing: its own word in OSC 7501 first, and the composer must agree before anything may be typed (facts/codex.md §5).
// Versions before 0.163 do not say it. Of them the title and the rollout tell, and both must.
import type { Activity, ActivityReport } from '../../core/activity.js';
import type { ScreenView } from '../../core/screen-view.js';
import { parseAgentState } from '../agent-state.js';
import type { Seen } from '../seen.js';
import { headAbove, isCompacting, isEmpty, isTask } from './layout.js';
import type { Pane } from './layout.js';

const ACTION_REQUIRED = /^\[ [!.] \] Action Required/;
const SPINNER = /^[\u2800-\u28ff] /;
// `⠋ project`, `⠋ renaming... ⠋ | project`, or another single sign before the name: at rest the name stands alone
const WORKING = /^[^\p{L}\p{N}\s[(] |[\u2800-\u28ff]/u;
// "esc again to edit previous message" stands where vim's mode does, and after the Escape that leaves the insert mode
const AT_PROMPT = /\? for shortcuts|← for agents/;
const VIM_NORMAL = /Vim: N/;
const AFTER_ESCAPE = /^ {2}esc again/;
const LIST_KEYS = /^ {2}enter\/tab insert · esc close\b/;
const PICKER_KEYS = /\b(?:enter|esc)\b|reverse-i-search:/;

/** The title shows work while there is work. A user may have configured one that never does. */
export const isTitleWorking = (title = ''): boolean => WORKING.test(title);

/** `pane` as found on the same screen; `isTitleTelling`: the title has shown work before, so that one without it tells of rest. */
export const activityOf = (seen: Seen, pane: Pane | undefined, isTitleTelling: boolean): ActivityReport => {
  const { screen, signals } = seen;
  const said = parseAgentState(signals.agentState); // undefined for versions that do not tell, and before they do
  if (said === undefined) return withoutState(seen, pane, isTitleTelling);
  const { state, message } = said;
  const told = `state ${state}`;
  if (state === 'clear') return say('unknown', told);
  // the dialog itself is drawn up to a second later
  if (state === 'blocked')
    return { ...say('dialog', told), ...(message === undefined ? {} : { asks: message }) };
  // nobody else tells of it, and a thread may be named like that
  if (ACTION_REQUIRED.test(signals.title ?? '')) return say('unknown', told, 'title Action Required');
  if (state === 'working')
    return isCompactingNow(screen, pane) ? say('compacting', told, 'compacting row') : say('busy', told);
  return atRest(seen, pane, told);
};

const atRest = ({ screen, signals }: Seen, pane: Pane | undefined, told: string): ActivityReport => {
  const { title = '' } = signals;
  if (!pane?.hasCursor) return elsewhere(screen, told);
  const draft = draftOf(screen, pane);
  if (draft !== undefined) return say('draft', told, draft);
  if (hasTask(screen, pane)) return say('unknown', told, 'row of a task');
  if (SPINNER.test(title)) return say('unknown', told, 'spinner in the title');
  const hints = lastFooterRow(screen, pane);
  if (!AT_PROMPT.test(hints)) return say('unknown', told, 'empty composer', 'no prompt hints');
  if (VIM_NORMAL.test(hints)) return say('unknown', told, 'empty composer', 'vim normal mode');
  return say('ready', told, 'empty composer');
};

// The composer looks the same while an answer comes in, and the row of the task is gone then: only the others prove that they rest.
const withoutState = (
  { screen, signals, status }: Seen,
  pane: Pane | undefined,
  isTitleTelling: boolean,
): ActivityReport => {
  const { title = '' } = signals;
  if (!pane?.hasCursor) return elsewhere(screen);
  if (ACTION_REQUIRED.test(title)) return say('unknown', 'title Action Required');
  if (isCompactingNow(screen, pane)) return say('compacting', 'compacting row');
  if (hasTask(screen, pane)) return say('busy', 'row of a task');
  if (isTitleWorking(title)) return say('busy', 'sign in the title');
  const draft = draftOf(screen, pane);
  if (draft !== undefined) return say('draft', draft);
  const hints = lastFooterRow(screen, pane);
  if (VIM_NORMAL.test(hints)) return say('unknown', 'empty composer', 'vim normal mode');
  if (AFTER_ESCAPE.test(hints)) return say('unknown', 'empty composer', 'hint after Esc');
  if (title === '' || !isTitleTelling) return say('unknown', 'empty composer', 'no title that tells of work');
  if (status?.state !== 'idle')
    return say('unknown', 'title at rest', 'empty composer', `rollout ${status?.state ?? 'not found'}`);
  return say('ready', 'title at rest', 'its last turn has ended', 'empty composer');
};

// The cursor is in a picker, in a view of the transcript, in the search field, or Codex is not on the screen.
const elsewhere = (screen: ScreenView, ...told: readonly string[]): ActivityReport => {
  const isPicker = lastRows(screen).some((row) => PICKER_KEYS.test(row));
  return isPicker ? say('dialog', ...told, 'keys of a picker') : say('unknown', ...told, 'no composer');
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

const draftOf = (screen: ScreenView, pane: Pane): string | undefined => {
  if (pane.glyph === '!') return 'shell mode';
  return isEmpty(screen, pane) ? undefined : 'text in the composer';
};

/** What is typed goes to the model: not to a shell, to a command of the editor, or into a list that is open. */
export const isMessage = (screen: ScreenView, pane: Pane): boolean =>
  pane.glyph === '›' && !VIM_NORMAL.test(lastFooterRow(screen, pane)) && !isListOpen(screen, pane);

// Of files and skills, above the composer: its keys stand in its last row. The list of commands has none and takes nothing away.
const isListOpen = (screen: ScreenView, { row }: Pane): boolean => {
  for (let above = row - 1; above >= Math.max(0, row - 3); above -= 1)
    if (LIST_KEYS.test(screen.text(above))) return true;
  return false;
};

const hasTask = (screen: ScreenView, pane: Pane): boolean => {
  const head = headAbove(screen, pane);
  return head !== undefined && isTask(screen, head);
};

const isCompactingNow = (screen: ScreenView, pane: Pane | undefined): boolean => {
  const head = pane && headAbove(screen, pane);
  return head !== undefined && isCompacting(screen, head);
};

const lastFooterRow = (screen: ScreenView, { footer }: Pane): string => {
  const last = footer.at(-1);
  return last === undefined ? '' : screen.text(last);
};

const say = (activity: Activity, ...witnesses: readonly string[]): ActivityReport => ({
  activity,
  witnesses,
});
