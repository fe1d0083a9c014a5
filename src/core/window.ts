import { formatTokens } from './format.js';
import type { Reading, WindowClaim, WindowSource } from './reading.js';
import type { Session } from './session.js';

// Who said how large the window is, for each model of a session, and whom to believe.

/** Everything that was said about windows. It outlives the conversation: `/clear` keeps the model. */
export interface WindowClaims {
  readonly userTokens?: number;
  /** one for each model and source, the last one said; a claim without a model belongs to readings without one */
  readonly claims: readonly WindowClaim[];
  /** said about "the model that runs now" and not yet given to one: they belong to the model of the next number */
  readonly open: readonly WindowClaim[];
  /** a screen says the same thing as long as it shows it: that is not news */
  readonly lastHeard?: WindowClaim;
  /** the model that runs now */
  readonly model?: string;
  /** what the user takes it to be, where nobody says more than a default */
  readonly assumedTokens?: number;
}

/** A window with what speaks for it. */
export interface KnownWindow {
  readonly windowTokens: number;
  readonly windowSource: WindowSource;
  /** the user or the agent said so, or nothing that was seen contradicts it; a default never is */
  readonly certain: boolean;
}

export const noWindowClaims: WindowClaims = { claims: [], open: [] };

const trust: readonly WindowSource[] = ['user', 'agent', 'derived', 'table', 'default'];

/** After somebody said how large the window is. */
export const addClaim = (windows: WindowClaims, claim: WindowClaim): WindowClaims => {
  const { windowTokens, windowSource, model } = claim;
  if (!(windowTokens > 0) || !Number.isFinite(windowTokens)) return windows;
  if (windowSource === 'user')
    return windows.userTokens === windowTokens ? windows : { ...windows, userTokens: windowTokens };
  if (windowSource === 'derived') return withDerived(windows, claim);
  if (isSame(claim, windows.lastHeard)) return windows;
  if (model === undefined) return { ...windows, open: remembered(windows.open, claim), lastHeard: claim };
  return { ...windows, claims: remembered(windows.claims, claim), open: [], lastHeard: claim, model };
};

/** After the user said what it may be. */
export const setAssumedWindow = (windows: WindowClaims, assumedTokens: number): WindowClaims =>
  windows.assumedTokens === assumedTokens ? windows : { ...windows, assumedTokens };

/** After the user said how large it is, or that nothing is said any more. */
export const setUserWindow = (windows: WindowClaims, userTokens: number | undefined): WindowClaims => {
  const { userTokens: before, ...rest } = windows;
  if (before === userTokens) return windows;
  return userTokens === undefined ? rest : { ...rest, userTokens };
};

// Two numbers tell how large a window is, but not which model runs.
const withDerived = (
  windows: WindowClaims,
  { windowTokens, windowSource, model = windows.model }: WindowClaim,
): WindowClaims => {
  const claim: WindowClaim = { windowTokens, windowSource, ...(model === undefined ? {} : { model }) };
  const claims = remembered(windows.claims, claim);
  return claims === windows.claims ? windows : { ...windows, claims };
};

/** After a number of this model: the model runs, and the window it names is a claim. */
export const addReadingClaim = (windows: WindowClaims, reading: Reading): WindowClaims => {
  const { windowTokens, windowSource = 'default' } = reading;
  const model = reading.model ?? windows.model;
  const key = model === undefined ? {} : { model };
  const own = windowTokens === undefined ? [] : [{ windowTokens, windowSource }];
  const claims = [...windows.open, ...own].reduce<readonly WindowClaim[]>(
    (all, each) => remembered(all, { ...each, ...key }),
    windows.claims,
  );
  return { ...windows, claims, open: [], ...key };
};

/** The window of the model that runs. `usedTokens` above a window that was only inferred prove it wrong. */
export const currentWindow = (
  { userTokens, claims, open, assumedTokens }: WindowClaims,
  model: string | undefined,
  usedTokens: number | undefined,
): KnownWindow | undefined => {
  if (userTokens !== undefined) return { windowTokens: userTokens, windowSource: 'user', certain: true };
  const told = [...claims.filter((claim) => claim.model === model), ...open];
  const said = withAssumed(told, assumedTokens);
  const possible = said.filter((claim) => !isDisproved(claim, usedTokens));
  const best = possible.reduce<WindowClaim | undefined>(
    (held, each) => (held && rank(held) < rank(each) ? held : each),
    undefined,
  );
  if (!best) return undefined;
  const { windowTokens, windowSource } = best;
  return { windowTokens, windowSource, certain: isCertain(best, possible) };
};

/** The window as the agent itself has it, in tokens, whatever the user says or assumes; undefined where that is not certain. */
export const agentWindowTokens = (
  { claims, open }: WindowClaims,
  model: string | undefined,
  usedTokens: number | undefined,
): number | undefined => {
  const own = currentWindow({ claims, open }, model, usedTokens);
  return own?.certain ? own.windowTokens : undefined;
};

/** Nothing is measured with what a runtime only guesses; what the user assumes takes its place. */
const withAssumed = (
  claims: readonly WindowClaim[],
  windowTokens: number | undefined,
): readonly WindowClaim[] => [
  ...claims.filter(({ windowSource }) => windowSource !== 'default'),
  ...(windowTokens === undefined ? [] : [{ windowTokens, windowSource: 'default' } as const]),
];

const rank = ({ windowSource }: WindowClaim): number => trust.indexOf(windowSource);

/** The agent's own word stands even then: some agents let a turn go over the end. A table is the agent's own word, too. */
const isDisproved = ({ windowSource, windowTokens }: WindowClaim, usedTokens: number | undefined): boolean =>
  (windowSource === 'default' || windowSource === 'derived') && (usedTokens ?? 0) > windowTokens;

const isCertain = ({ windowSource, windowTokens }: WindowClaim, all: readonly WindowClaim[]): boolean => {
  if (windowSource === 'default') return false;
  if (windowSource !== 'derived') return true;
  // A table that holds one window for the model and a size derived from the screen cannot both be right.
  return all.every((each) => each.windowSource !== 'table' || each.windowTokens === windowTokens);
};

const remembered = (claims: readonly WindowClaim[], claim: WindowClaim): readonly WindowClaim[] => {
  const last = claims.find((each) => isKin(each, claim));
  if (last && last.windowTokens === claim.windowTokens) return claims;
  return [...claims.filter((each) => !isKin(each, claim)), claim];
};

const isKin = (a: WindowClaim, b: WindowClaim): boolean =>
  a.model === b.model && a.windowSource === b.windowSource;

const isSame = (a: WindowClaim, b: WindowClaim | undefined): boolean =>
  b !== undefined && isKin(a, b) && a.windowTokens === b.windowTokens;

// Whether the window of a session has become smaller, as when another model runs now.

/** The last window that the agent or its model told, and nobody contested. */
export interface Capacity {
  readonly windowTokens: number;
  readonly source: WindowSource;
  readonly model: string | undefined;
}

/** What is known after a step; the one before while nothing new is. */
export const updateCapacity = (
  before: Capacity | undefined,
  { fused, windows }: Session,
): Capacity | undefined => {
  if (!fused?.window?.certain || fused.window.windowSource === 'user') return before;
  const { windowTokens, windowSource: source } = fused.window;
  return { windowTokens, source, model: windows.model ?? fused.reading.model };
};

/**
 * What the user should know when there is less room than before, in one line. The same model told by another source has not shrunk: the
 * one before was wrong.
 */
export const capacityNotice = (
  before: Capacity | undefined,
  after: Capacity | undefined,
): string | undefined => {
  if (!before || !after || after.windowTokens >= before.windowTokens) return undefined;
  if (after.model === before.model && after.source !== before.source) return undefined;
  const sizes = `${formatTokens(before.windowTokens)} → ${formatTokens(after.windowTokens)}`;
  return `reduced capacity: window ${sizes}${after.model === undefined ? '' : ` (${after.model})`}`;
};
