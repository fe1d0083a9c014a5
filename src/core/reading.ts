/** Milliseconds since the epoch, passed in by the shell; the core never asks a clock. */
export type Millis = number;

/** Where a number comes from, in order of trust (facts/ say what each runtime offers). */
export type Source = 'official' | 'log' | 'screen' | 'estimate';

/** Who said how large the window is; everything after `derived` is an inference and is shown with `?`. */
export type WindowSource = 'user' | 'agent' | 'derived' | 'table' | 'default';

/** One observation of how full the context window is. A field that was not observed is absent, never zero. */
export interface Reading {
  /** tokens in the window now, by the runtime's own definition */
  readonly usedTokens?: number;
  /** context window in tokens, effective for this session */
  readonly windowTokens?: number;
  readonly windowSource?: WindowSource;
  /** 0…100 by the runtime's own formula, when it has one that is not used/window */
  readonly usedPercent?: number;
  readonly source: Source;
  readonly model?: string;
  readonly at: Millis;
}
