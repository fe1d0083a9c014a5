/** Milliseconds since the epoch, passed in by the shell; the core never asks a clock. */
export type Millis = number;

/** Where a number comes from, in order of trust (facts/ say what each runtime offers). */
export type Source = 'official' | 'log' | 'screen' | 'estimate';

/**
 * Who said how large the window is. A model table is certain where the model has one window only;
 * `default` is what a runtime guesses when it cannot know, which counts for nothing, or what the user assumes, which is shown with `?`.
 */
export type WindowSource = 'user' | 'agent' | 'derived' | 'table' | 'default';

/**
 * What a percentage counts against: the whole window; what the agent leaves of it for the conversation (`effective`); the point where
 * it compacts by itself (`auto-compact`); or the window above a fixed part that is always there (`baseline`, facts/codex.md §2.3).
 */
export type Basis = 'window' | 'effective' | 'auto-compact' | 'baseline';

/** One observation of how full the context window is. A field that was not observed is absent, never zero. */
export interface Reading {
  /** tokens in the window now, by the runtime's own definition */
  readonly usedTokens?: number;
  /** the agent's last answer, where the agent does not count it as used and its own compaction does */
  readonly answerTokens?: number;
  /** of a screen that shows the tokens rounded, as `124k`: by how much the true number may be smaller */
  readonly roundingTokens?: number;
  /** of the used ones: what the model's cache held; only where the agent says so */
  readonly cachedTokens?: number;
  /** context window in tokens, effective for this session */
  readonly windowTokens?: number;
  readonly windowSource?: WindowSource;
  /** 0…100 used (never left), as the agent itself counts it, more where it says that it is over-full; absent where it is used/window */
  readonly usedPercent?: number;
  /** what `usedPercent` counts against; `window` when absent */
  readonly basis?: Basis;
  /** tokens that are 100 % on that basis, where known */
  readonly basisTokens?: number;
  readonly source: Source;
  readonly model?: string;
  readonly at: Millis;
}

/** Somebody said how large the window is: a banner, a model switch, a record. It holds for this model until another claim of equal trust. */
export interface WindowClaim {
  readonly windowTokens: number;
  readonly windowSource: WindowSource;
  /** as in `Reading.model`; absent for whatever model runs now */
  readonly model?: string;
}

/** The reading with every impossible number (NaN, negative, far beyond any window, an empty window) left out; undefined if nothing says how full. */
export const validReading = (reading: Reading): Reading | undefined => {
  const { usedTokens, answerTokens, windowTokens, windowSource, usedPercent, ...rest } = reading;
  const used = possibleTokens(usedTokens);
  const answer = possibleTokens(answerTokens);
  const window = possibleTokens(windowTokens);
  const percent = possible(usedPercent);
  if (used === undefined && percent === undefined) return undefined;
  return {
    ...rest,
    ...(used === undefined ? {} : { usedTokens: used }),
    ...(used !== undefined && answer ? { answerTokens: answer } : {}),
    ...(window ? { windowTokens: window, windowSource: windowSource ?? 'default' } : {}),
    ...(percent === undefined ? {} : { usedPercent: percent }),
  };
};

/** 0…100 (not rounded): the runtime's own formula if it gave one, else used/window; undefined while one of them is unknown. */
export const percentOf = (reading: Reading): number | undefined => {
  const { usedTokens, windowTokens, usedPercent } = reading;
  if (usedPercent !== undefined) return Math.min(100, usedPercent);
  if (usedTokens === undefined || windowTokens === undefined) return undefined;
  return Math.min(100, (usedTokens * 100) / windowTokens);
};

/** More is used than there is room for, by the agent's own word or by its numbers: no percentage of it is true. */
export const isOver = ({
  usedTokens,
  windowTokens,
  usedPercent = 0,
}: Pick<Reading, 'usedTokens' | 'windowTokens' | 'usedPercent'>): boolean =>
  usedPercent > 100 || (usedTokens !== undefined && windowTokens !== undefined && usedTokens > windowTokens);

const MOST_TOKENS = 1e9; // a hundred times the largest window: beyond it a number is broken, not large

export const possibleTokens = (value: number | undefined): number | undefined =>
  value !== undefined && value <= MOST_TOKENS ? possible(value) : undefined;

const possible = (value: number | undefined): number | undefined =>
  value !== undefined && Number.isFinite(value) && value >= 0 ? value : undefined;
