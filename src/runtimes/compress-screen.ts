// What Gemini's and Qwen's screens have in common: an input with a mode, rows that are alive above it, and a title. Whatever speaks
// against an idle prompt wins.
import type { Activity, ActivityReport } from '../core/activity.js';
import type { Fact } from '../core/event.js';
import type { Millis, Reading } from '../core/reading.js';

/** The input on the screen. */
export interface Composer {
  readonly top: number;
  readonly bottom: number;
  /** the character before the input: `>`, `*` in YOLO mode, `!` for a shell command; empty for a search */
  readonly mode: string;
  /** the rows of the input without frame and prefix, blanks at the right end cut */
  readonly rows: readonly string[];
  /** the cursor stands on the first cell of the input */
  readonly atStart: boolean;
}

/** What is typed now goes to the shell, to a search, moves a cursor, or is a message. */
export type InputKind = 'shell' | 'search' | 'vim-normal' | 'message';

export const KIND_NAMES = { shell: 'shell mode', search: 'search', 'vim-normal': 'vim normal mode' } as const;

export type Title = 'ready' | 'working' | 'action' | 'approval' | 'plain' | 'cleared';

/** What stands between the conversation and the input. */
export interface Live {
  readonly compacting: boolean;
  readonly spinning: boolean;
  readonly asking: boolean;
}

export type Report = (activity: Activity, ...more: readonly string[]) => ActivityReport;

/** Reports whose first witness is the title, where it says something. */
export const reportUnder = (title: Title): Report => {
  const witnesses = title === 'plain' ? [] : [`title ${title}`];
  return (activity, ...more) => ({ activity, witnesses: [...witnesses, ...more] });
};

/** What title and live rows say without a look at the input; undefined when they leave it to the input. */
export const reportOutsideInput = (title: Title, live: Live): ActivityReport | undefined => {
  const is = reportUnder(title);
  if (title === 'cleared') return is('unknown'); // as both leave it when they end
  if (title === 'action' || title === 'approval' || live.asking)
    return is('dialog', ...(live.asking ? ['waits for confirmation'] : []));
  if (live.compacting) return is('compacting', 'compressing chat history');
  if (title === 'working' || live.spinning) return is('busy', ...(live.spinning ? ['spinner'] : []));
  return undefined;
};

/** What there is to say without an input. */
export const reportWithoutInput = (title: Title, isDialog: boolean): ActivityReport => {
  const is = reportUnder(title);
  return isDialog ? is('dialog', 'a box instead of the input') : is('unknown');
};

/** The percentage of the footer, as a fact. */
export const percentShown = (usedPercent: number | undefined, at: Millis): readonly Fact[] =>
  usedPercent === undefined ? [] : numberShown({ usedPercent, basis: 'window' }, at);

/** A number on the screen, as a fact. */
export const numberShown = (number: Omit<Reading, 'source' | 'at'>, at: Millis): readonly Fact[] => [
  { type: 'reading', reading: { ...number, source: 'screen', at } },
];
