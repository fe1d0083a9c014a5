// How a compaction that was seen on the screen ended (facts/claude.md §6).
import type { Boundary } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import type { ScreenView } from '../../core/screen-view.js';
import type { Activity } from '../../core/activity.js';
import { rowText } from './layout.js';
import type { Layout } from './layout.js';

/** A compaction under way, or just over. */
export interface Compacting {
  /** what stood under the mark of an earlier compaction, if one is on the screen */
  readonly earlier: string | undefined;
  /** when its row was seen last */
  readonly at: Millis;
}

const COMMAND = /^[❯>] \/compact(?: |$)/;
const USER_ROW = /^[❯>] \S/;
const ANSWER = /^ {2}⎿ {1,2}Compacted \(ctrl\+o/;
const MARK = /^(?:✻ Conversation compacted \(ctrl\+o|═+ Conversation compacted · ctrl\+o)/;

const REPAINT_MS = 2_000; // longest time the end may take to be painted

/** While the compaction's own row is on the screen. */
export const compactingOn = (screen: ScreenView, now: Millis): Compacting => ({
  earlier: underMark(screen),
  at: now,
});

/** The boundary if this screen says that it ended well, `over` if it ended otherwise, undefined while that is open. */
export const endOf = (
  compacting: Compacting,
  screen: ScreenView,
  shown: { readonly layout: Layout; readonly activity: Activity },
  now: Millis,
): Boundary | 'over' | undefined => {
  const { layout, activity } = shown;
  const isAborted = layout.kind === 'prompt' && layout.draft.startsWith('/compact');
  if (isAborted) return 'over';
  if (layout.kind === 'prompt') {
    if (isAnswered(screen, layout.upper)) return { initiator: 'user', source: 'screen', at: now };
    const under = underMark(screen);
    if (under !== undefined && under !== compacting.earlier)
      return { initiator: 'agent', source: 'screen', at: now };
  }
  const isSettled = activity === 'ready' || activity === 'draft' || activity === 'dialog';
  return isSettled || now - compacting.at > REPAINT_MS ? 'over' : undefined;
};

// The last thing the user said is the command, and Claude's answer is directly under it.
const isAnswered = (screen: ScreenView, upper: number): boolean => {
  for (let row = upper - 1; row >= 0; row -= 1) {
    const text = rowText(screen, row);
    if (USER_ROW.test(text)) return COMMAND.test(text) && ANSWER.test(rowText(screen, row + 1));
  }
  return false;
};

// The conversation that a compaction kept begins under its mark.
const underMark = (screen: ScreenView): string | undefined => {
  for (let row = screen.rows - 1; row >= 0; row -= 1) {
    if (!MARK.test(rowText(screen, row))) continue;
    const rows = Array.from({ length: 8 }, (_, index) => rowText(screen, row + 1 + index));
    return rows.filter((text) => text !== '').join('\n');
  }
  return undefined;
};
