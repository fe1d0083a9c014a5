import type { DueKind } from './compaction/policy.js';
import { isStale } from './evidence.js';
import { type FusedReading, updateDisplayed } from './fusion.js';
import type { Tier } from './ladder.js';
import { isOverFull, percentUsed, type Millis, type Reading } from './reading.js';
import type { NoNumberReason, Session } from './session.js';
import type { KnownWindow } from './window.js';

/** What the footer shows, as plain values. A number that is not known is absent: the footer never draws one it does not have. */
export interface FooterView {
  /** name of the runtime: claude, codex, gemini, qwen, demo, generic */
  readonly runtime: string;
  readonly usedTokens?: number;
  readonly windowTokens?: number;
  /** 0…100, not rounded */
  readonly usedPercent?: number;
  /** more is used than there is room for: shown as `>100%` */
  readonly isOver?: true;
  readonly tier?: Tier;
  /** used is an estimate, or a worse source has raised it: shown with `~` */
  readonly estimated: boolean;
  /** the window is inferred, not reported: shown with `?` */
  readonly windowInferred: boolean;
  /** the number has not moved while the agent wrote for minutes: shown dim */
  readonly stale?: boolean;
  /** as the agent names it; what runs now, if that is known */
  readonly model?: string;
  /** compactions seen in this session */
  readonly compactions: number;
  /** a fact in words when there is no number: `no reading`, `size pending`, `waiting for the first turn` */
  readonly note?: string;
  /** what is done about a full window, or keeps it from being done; or a notice */
  readonly words?: string;
  /** a compaction is due: the row is wanted, and a countdown stands before everything else in it */
  readonly due?: DueKind;
}

/** What the footer shows of a session now. */
export const footerView = (state: Session, now: Millis): FooterView => {
  const { agent, compactions, blank, flow } = state;
  const { model } = state.windows;
  const base = {
    runtime: agent,
    compactions,
    estimated: false,
    windowInferred: false,
    ...(model === undefined ? {} : { model }),
  };
  const shown = updateDisplayed(state.shown, state.fused, now);
  if (!shown) return { ...base, note: noteOf(blank) };
  return { ...base, ...numbers(shown.fused), ...(isStale(flow) ? { stale: true } : {}) };
};

const noteOf = ({ why }: NoNumberReason): string => {
  switch (why) {
    case 'waiting':
      return 'waiting for the first turn';
    case 'pending':
      return 'size pending';
    case 'gone':
    case 'unreadable':
      return 'no reading';
  }
};

/** What the footer says where tokens are counted and nobody has told in what; other words come before it. */
const WINDOW_UNKNOWN = 'window not known: --window';

const numbers = ({
  reading,
  window,
  raised,
  tier,
}: FusedReading): Omit<FooterView, 'runtime' | 'compactions'> => {
  const { usedTokens } = reading;
  const usedPercent = percentUsed(reading);
  return {
    estimated: reading.source === 'estimate' || (raised && reading.source === 'screen'),
    windowInferred: window !== undefined && !window.certain,
    ...(usedTokens === undefined ? {} : { usedTokens }),
    ...(window === undefined ? {} : { windowTokens: window.windowTokens }),
    ...(usedPercent === undefined ? {} : { usedPercent, ...(isOverFull(reading) ? { isOver: true } : {}) }),
    ...(tier === undefined ? {} : { tier }),
    ...(isWindowUnknown({ reading, window }) ? { words: WINDOW_UNKNOWN } : {}),
  };
};

interface Numbers {
  readonly reading: Reading;
  readonly window?: KnownWindow | undefined;
}

/** The agent counts tokens, and neither says how large its window is nor what share of it they are. */
export const isWindowUnknown = ({ reading, window }: Numbers): boolean =>
  window === undefined && reading.source !== 'estimate' && percentUsed(reading) === undefined;
