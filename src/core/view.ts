import type { Tier } from './ladder.js';

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
