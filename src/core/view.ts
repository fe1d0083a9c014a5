import { ladderFor, tierOf } from './ladder.js';
import type { Tier } from './ladder.js';
import { percentOf, withUserWindow } from './reading.js';
import type { Millis, Reading } from './reading.js';
import type { Session } from './session.js';

/** What the footer shows, as plain values. A number that is not known is absent: the footer never draws one it does not have. */
export interface FooterView {
  /** name of the runtime: claude, codex, gemini, demo, generic */
  readonly runtime: string;
  readonly usedTokens?: number;
  readonly windowTokens?: number;
  /** 0…100, not rounded */
  readonly usedPercent?: number;
  readonly tier?: Tier;
  /** used is an estimate: shown with `~` */
  readonly estimated: boolean;
  /** the window is inferred, not reported: shown with `?` */
  readonly windowInferred: boolean;
  /** compactions seen in this session */
  readonly compactions: number;
  /** a fact in words when there is no number: `no reading`, `size pending`, `waiting for the first turn` */
  readonly note?: string;
}

/** What the footer shows of a session now. */
export const footerView = (state: Session, _now: Millis): FooterView => {
  const base = {
    runtime: state.runtime,
    compactions: state.compactions,
    estimated: false,
    windowInferred: false,
  };
  switch (state.fill.phase) {
    case 'waiting':
      return { ...base, note: 'waiting for the first turn' };
    case 'pending':
      return { ...base, note: 'size pending' };
    case 'unreadable':
      return { ...base, note: 'no reading' };
    case 'known':
      return { ...base, ...numbers(state.fill.reading, state) };
  }
};

const numbers = (
  seen: Reading,
  { userWindowTokens, native }: Session,
): Omit<FooterView, 'runtime' | 'compactions'> => {
  const reading = userWindowTokens === undefined ? seen : withUserWindow(seen, userWindowTokens);
  const { usedTokens, windowTokens } = reading;
  const usedPercent = percentOf(reading);
  const tier = tierOf(reading, ladderFor(reading, native));
  return {
    estimated: reading.source === 'estimate',
    windowInferred: reading.windowSource === 'default',
    ...(usedTokens === undefined ? {} : { usedTokens }),
    ...(windowTokens === undefined ? {} : { windowTokens }),
    ...(usedPercent === undefined ? {} : { usedPercent }),
    ...(tier === undefined ? {} : { tier }),
  };
};
