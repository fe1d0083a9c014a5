import type { Tier } from './ladder.js';
import { isOver } from './reading.js';
import type { Basis, Millis, Source, WindowSource } from './reading.js';
import { provenance } from './provenance.js';
import type { Session } from './session-state.js';

/** How full the window is, as JSON for scripts. What is not known is left out. */
export interface ReadingRecord {
  readonly schema: 'ctxwrap.reading/1';
  /** when this number was first seen */
  readonly at: Millis;
  readonly runtime: string;
  readonly source: Source;
  /** what `usedPercent` counts against */
  readonly basis: Basis;
  readonly usedTokens?: number;
  /** the agent's last answer, which counts for the tier and is not in the others; since 0.2 */
  readonly answerTokens?: number;
  readonly windowTokens?: number;
  readonly windowSource?: WindowSource;
  /** 0…100, one decimal; 0 and 100 only where nothing or everything is used */
  readonly usedPercent?: number;
  /** more is used than there is room for */
  readonly over?: true;
  /** not estimated, and the window is certain where one was needed */
  readonly exact: boolean;
  readonly tier?: Tier;
  readonly model?: string;
}

/** The number a session has now; undefined while it has none (no turn yet, or after a compaction). */
export const readingRecord = (state: Session, now: Millis): ReadingRecord | undefined => {
  const known = provenance(state, now);
  const { fused } = state;
  if (!known) return undefined;
  const { source, basis, usedTokens, answerTokens, windowTokens, windowSource, usedPercent } = known;
  const { exact, tier, model, at } = known;
  return {
    schema: 'ctxwrap.reading/1',
    at,
    runtime: state.runtime,
    source,
    basis,
    ...(usedTokens === undefined ? {} : { usedTokens }),
    ...(answerTokens === undefined ? {} : { answerTokens }),
    ...(windowTokens === undefined ? {} : { windowTokens }),
    ...(windowSource === undefined ? {} : { windowSource }),
    ...(usedPercent === undefined ? {} : { usedPercent: oneDecimal(usedPercent) }),
    ...(fused && isOver(fused.reading) ? { over: true } : {}),
    exact,
    ...(tier === undefined ? {} : { tier }),
    ...(model === undefined ? {} : { model }),
  };
};

/** Rounded for display, but never to 0 or 100 what is not. */
export const oneDecimal = (percent: number): number => {
  const rounded = Math.round(percent * 10) / 10;
  if (rounded === 0 && percent > 0) return 0.1;
  return rounded === 100 && percent < 100 ? 99.9 : rounded;
};
