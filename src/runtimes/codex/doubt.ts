// Which shown percentages are believed (facts/codex.md §2.2 traps, §6). Codex shows 0 % used before the first count, from the start of a
// manual compaction on, and after one that failed; and some percentage without meaning after a context-length error.
import type { AgentState } from './activity.js';
import type { Head } from './layout.js';
import type { Shown } from './shown-percent.js';

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
  readonly state: AgentState | undefined;
  readonly isCompacting: boolean;
  /** what the conversation ends with */
  readonly head: Head | undefined;
  readonly shown: Shown | undefined;
}

/** Nothing was counted yet. */
export const firstDoubt: Doubt = { isFull: false, windows: [] };

const COMPACTED = /^• Context compacted(?: · |$)/;
const RAN_OUT = /^■ Codex ran out of room/;
const EFFECTIVE_SHARE = 0.95; // of the model's window
const ROUNDING = 0.006; // three digits of each of the two are shown
const MOST_WINDOWS = 8;

export const isCompacted = (head: Head | undefined): boolean => COMPACTED.test(head?.text ?? '');

export const hasRunOut = (head: Head | undefined): boolean => RAN_OUT.test(head?.text ?? '');

export const doubtAfter = (doubt: Doubt, look: Look): Doubt => {
  const { state, head } = look;
  const shown = look.shown?.usedPercent;
  const window = look.shown?.windowTokens;
  const isFull = look.state === 'error' ? hasRunOut(head) : doubt.isFull && look.state !== 'working';
  const known = window === undefined || doubt.windows.includes(window);
  return {
    ...doubted(doubt, look, isFull),
    ...((shown ?? doubt.shown) === undefined ? {} : { shown: shown ?? doubt.shown }),
    isFull: isFull && (state === 'error' || shown === undefined || shown === doubt.shown),
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
