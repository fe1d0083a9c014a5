// Which shown percentages are believed (facts/codex.md §2.2 traps, §6). Codex shows 0 % used before the first count, from the start of a
// manual compaction on, and after one that failed; and some percentage without meaning after a context-length error.
// A thread may be named `Context 97% used`, by the user or by the model, and its name is among the items of the status line and of the title.
import type { ScreenView } from '../../core/screen-view.js';
import type { AgentState } from '../agent-state.js';
import type { Head } from './layout.js';
import type { Place, Shown, ShownPlaces } from './shown-percent.js';

export interface Doubt {
  /** the percentage that is not believed until it changes or a turn has ended well */
  readonly percent?: number;
  /** the last one shown */
  readonly shown?: number;
  /** the request was refused as too long: the window is full, whatever is shown */
  readonly isFull: boolean;
  /** windows shown so far, in tokens: the model's own before the first count, 95 % of it after */
  readonly windows: readonly number[];
}

/** One look at the screen. */
export interface Look {
  readonly state: AgentState['state'] | undefined;
  readonly isCompacting: boolean;
  /** what the conversation ends with */
  readonly head: Head | undefined;
  readonly shown: Shown | undefined;
}

/** What is known of a place. */
interface Known {
  /** it had a percentage when it was seen first */
  readonly isConfigured: boolean;
  /** its percentages, until they change: a name stays */
  readonly still?: string;
  /** as seen last: a picker covers the status line */
  readonly text: string;
}

/** What Codex is told to show is there from the first time on; a name comes later, or is in both places at once. */
export interface KnownPlaces {
  readonly line?: Known;
  readonly title?: Known;
}

/** Nothing was counted yet. */
export const firstDoubt: Doubt = { isFull: false, windows: [] };

const COMPACTED = /^• Context compacted(?: · |$)/;
const RAN_OUT = /^■ Codex ran out of room/;
const CONFIGURING = /^ {2}Configure (?:Status Line|Terminal Title)$/;
const EFFECTIVE_SHARE = 0.95; // of the model's window
const ROUNDING = 0.006; // three digits of each of the two are shown
const MOST_WINDOWS = 8;

export const isCompacted = (head: Head | undefined): boolean => COMPACTED.test(head?.text ?? '');

export const hasRunOut = (head: Head | undefined): boolean => RAN_OUT.test(head?.text ?? '');

export const doubtAfter = (doubt: Doubt, look: Look): Doubt => {
  const { state, head } = look;
  const shown = look.shown?.usedPercent;
  const window = look.shown?.windowTokens;
  // versions before 0.163 do not tell their state: there the words count as long as they are the last ones
  const isFull =
    state === 'error' || state === undefined ? hasRunOut(head) : doubt.isFull && state !== 'working';
  const known = window === undefined || doubt.windows.includes(window);
  return {
    ...doubted(doubt, look, isFull),
    ...((shown ?? doubt.shown) === undefined ? {} : { shown: shown ?? doubt.shown }),
    isFull:
      isFull && (state === 'error' || state === undefined || shown === undefined || shown === doubt.shown),
    windows: known ? doubt.windows : [...doubt.windows, window].slice(-MOST_WINDOWS),
  };
};

const doubted = (doubt: Doubt, look: Look, isFull: boolean): Pick<Doubt, 'percent'> => {
  const { state, isCompacting, head } = look;
  const shown = look.shown?.usedPercent;
  if (isCompacting || (state === 'done' && isCompacted(head))) return { percent: 0 };
  // only a turn that ended well has surely been counted
  if (state === 'done' && head) return {};
  if (state === 'error') return isFull ? percentOf(shown ?? doubt.percent) : { percent: 0 };
  if (shown === undefined) return percentOf(doubt.percent);
  if (shown === 0) return doubt.shown === 0 ? percentOf(doubt.percent) : { percent: 0 };
  return percentOf(shown === doubt.percent ? shown : undefined);
};

const percentOf = (percent: number | undefined): Pick<Doubt, 'percent'> =>
  percent === undefined ? {} : { percent };

export const isBelieved = ({ percent, windows }: Doubt, { usedPercent, windowTokens }: Shown): boolean =>
  usedPercent !== percent &&
  !(usedPercent === 0 && windowTokens !== undefined && windows.some((each) => isShare(each, windowTokens)));

/** The window to count with, exactly: where the model's own was shown, too. */
export const exactWindow = ({ windows }: Doubt, shownTokens: number | undefined): number | undefined => {
  const own = windows.find((each) => shownTokens !== undefined && isShare(shownTokens, each));
  return own === undefined ? undefined : Math.round(own * EFFECTIVE_SHARE);
};

const isShare = (effective: number, own: number): boolean =>
  Math.abs(effective / own - EFFECTIVE_SHARE) < ROUNDING;

/** The user is choosing the items. */
export const isConfiguring = (screen: ScreenView): boolean => {
  for (let row = 0; row < screen.rows; row += 1) if (CONFIGURING.test(screen.text(row))) return true;
  return false;
};

export const knownAfter = (known: KnownPlaces, shown: ShownPlaces): KnownPlaces => {
  const line = knownOf(known.line, shown.line);
  const title = knownOf(known.title, shown.title);
  return { ...(line ? { line } : {}), ...(title ? { title } : {}) };
};

/** Without the places whose percentage may be a thread's name. */
export const withoutNames = (shown: ShownPlaces, { line, title }: KnownPlaces): ShownPlaces => ({
  ...shown,
  line: isSure(line, title) ? shown.line : undefined,
  title: isSure(title, line) ? shown.title : undefined,
});

const isSure = (known: Known | undefined, other: Known | undefined): boolean => {
  if (!known?.isConfigured) return false;
  return known.still === undefined || !other?.text.includes(known.still);
};

const knownOf = (known: Known | undefined, place: Place | undefined): Known | undefined => {
  if (!place) return known;
  const { percents, text } = place;
  const isConfigured = known ? known.isConfigured : percents !== '';
  const stays = percents === '' || !known || percents === known.still;
  const still = known ? known.still : percents;
  return { isConfigured, text, ...(stays && still ? { still } : {}) };
};
