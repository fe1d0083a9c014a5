import type { Fact } from './event.js';
import { formatTokens } from './format.js';
import { isGuessedWindow, type Reading, type WindowClaim, type WindowSource } from './reading.js';
import type { Session } from './session.js';
import { present } from './present.js';

// The size of the window, by model: all claims about it, and which one to believe.

/** All claims about windows. They outlast the conversation, because `/clear` keeps the model. */
export interface WindowClaims {
  readonly userTokens?: number;
  /** the last claim of each source for each model; a claim without a model belongs to readings without one */
  readonly claims: readonly WindowClaim[];
  /** claims about "the current model", which are assigned to the model of the next number */
  readonly open: readonly WindowClaim[];
  /** the last claim of the screen, which repeats it as long as it is displayed */
  readonly lastHeard?: WindowClaim;
  /** the current model */
  readonly model?: string;
  /** what was last known in other sessions, by model */
  readonly remembered?: readonly WindowClaim[];
  /** the user's assumption, used if there is nothing better than a default */
  readonly assumedTokens?: number;
}

/** A window with the source of its size. */
export interface KnownWindow {
  readonly windowTokens: number;
  readonly windowSource: WindowSource;
  /** the user or the agent stated it, or nothing observed contradicts it; a default never is */
  readonly certain: boolean;
}

export const noWindowClaims: WindowClaims = { claims: [], open: [] };

const trust: readonly WindowSource[] = ['user', 'agent', 'derived', 'table', 'remembered', 'default'];

/** Adds a claim about the size of the window. */
export const addClaim = (windows: WindowClaims, claim: WindowClaim): WindowClaims => {
  const { windowTokens, windowSource, model } = claim;
  if (!(windowTokens > 0) || !Number.isFinite(windowTokens)) return windows;
  if (windowSource === 'user')
    return windows.userTokens === windowTokens ? windows : { ...windows, userTokens: windowTokens };
  if (windowSource === 'derived') return withDerived(windows, claim);
  if (isSameClaim(claim, windows.lastHeard)) return windows;
  if (model === undefined) return { ...windows, open: remembered(windows.open, claim), lastHeard: claim };
  return { ...windows, claims: remembered(windows.claims, claim), open: [], lastHeard: claim, model };
};

/** Sets the size that the user assumes. */
export const setAssumedWindow = (windows: WindowClaims, assumedTokens: number): WindowClaims =>
  windows.assumedTokens === assumedTokens ? windows : { ...windows, assumedTokens };

/** Sets what was last known in other sessions. */
export const setRememberedWindows = (
  windows: WindowClaims,
  remembered: readonly WindowClaim[],
): WindowClaims => ({ ...windows, remembered });

/** Sets the size that the user configured; undefined removes it. */
export const setUserWindow = (windows: WindowClaims, userTokens: number | undefined): WindowClaims => {
  const { userTokens: before, ...rest } = windows;
  if (before === userTokens) return windows;
  return userTokens === undefined ? rest : { ...rest, userTokens };
};

/** The agent runs another model, or the same one with another window, given by `claim`. */
export const changeModel = (
  windows: WindowClaims,
  { model, claim, isInferred }: Omit<Extract<Fact, { type: 'model' }>, 'type'>,
): WindowClaims => {
  if (isInferred) return { ...windows, ...present({ model }) };
  const { model: _, ...rest } = windows;
  const { claims, lastHeard } = windows;
  if (model === undefined) return { ...rest, claims: [], open: [] };
  if (!claim) return { ...rest, open: [], model };
  const others = { ...rest, claims: claims.filter((each) => each.model !== model), open: [], model };
  const heard = { ...claim, model };
  return isSameClaim(heard, lastHeard)
    ? { ...others, claims: [...others.claims, heard] }
    : addClaim(others, heard);
};

// Two matching numbers give the size of the window, but not the name of the model.
const withDerived = (
  windows: WindowClaims,
  { windowTokens, windowSource, model = windows.model }: WindowClaim,
): WindowClaims => {
  const claim: WindowClaim = { windowTokens, windowSource, ...present({ model }) };
  const claims = remembered(windows.claims, claim);
  return claims === windows.claims ? windows : { ...windows, claims };
};

/** Processes a number of this model: it is the current model, and the window in the reading is a claim. */
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

/** The claims when another conversation is in view: it may have another model. */
export const forAnotherConversation = (windows: WindowClaims): WindowClaims => {
  const { model: _, lastHeard: __, ...rest } = windows;
  return { ...rest, open: [] };
};

/** The window of the current model. If `usedTokens` exceeds a window that was only inferred, that window is wrong. */
export const currentWindow = (
  { userTokens, claims, open, remembered: before = [], assumedTokens }: WindowClaims,
  model: string | undefined,
  usedTokens: number | undefined,
): KnownWindow | undefined => {
  if (userTokens !== undefined) return { windowTokens: userTokens, windowSource: 'user', certain: true };
  const reported = [...[...claims, ...before].filter((claim) => claim.model === model), ...open];
  const claimed = withAssumed(reported, assumedTokens);
  const possible = claimed.filter((claim) => !isDisproved(claim, usedTokens));
  const best = possible.reduce<WindowClaim | undefined>(
    (held, each) => (held && rank(held) < rank(each) ? held : each),
    undefined,
  );
  if (!best) return undefined;
  const { windowTokens, windowSource } = best;
  return { windowTokens, windowSource, certain: isCertain(best, possible) };
};

/** The agent's own window, regardless of the user's settings; undefined if uncertain. */
export const agentWindow = (
  { claims, open }: WindowClaims,
  model: string | undefined,
  usedTokens: number | undefined,
): KnownWindow | undefined => {
  const own = currentWindow({ claims, open }, model, usedTokens);
  return own?.certain ? own : undefined;
};

/** Its tokens. */
export const agentWindowTokens = (
  windows: WindowClaims,
  model: string | undefined,
  usedTokens: number | undefined,
): number | undefined => agentWindow(windows, model, usedTokens)?.windowTokens;

/** Replaces an agent's default by the user's assumption, because nothing is measured with a default. */
const withAssumed = (
  claims: readonly WindowClaim[],
  windowTokens: number | undefined,
): readonly WindowClaim[] => [
  ...claims.filter(({ windowSource }) => windowSource !== 'default'),
  ...(windowTokens === undefined ? [] : [{ windowTokens, windowSource: 'default' } as const]),
];

const rank = ({ windowSource }: WindowClaim): number => trust.indexOf(windowSource);

/** A window stated by the agent stays valid even then: some agents let a turn exceed it. A model table counts as the agent's statement. */
const isDisproved = ({ windowSource, windowTokens }: WindowClaim, usedTokens: number | undefined): boolean =>
  (isGuessedWindow(windowSource) || windowSource === 'derived') && (usedTokens ?? 0) > windowTokens;

const isCertain = ({ windowSource, windowTokens }: WindowClaim, all: readonly WindowClaim[]): boolean => {
  if (isGuessedWindow(windowSource)) return false;
  if (windowSource !== 'derived') return true;
  // A table with a single window for the model and a different size derived from the screen cannot both be right.
  return all.every((each) => each.windowSource !== 'table' || each.windowTokens === windowTokens);
};

const remembered = (claims: readonly WindowClaim[], claim: WindowClaim): readonly WindowClaim[] => {
  const last = claims.find((each) => isKin(each, claim));
  if (last && last.windowTokens === claim.windowTokens) return claims;
  return [...claims.filter((each) => !isKin(each, claim)), claim];
};

const isKin = (a: WindowClaim, b: WindowClaim): boolean =>
  a.model === b.model && a.windowSource === b.windowSource;

export const isSameClaim = (a: WindowClaim, b: WindowClaim | undefined): boolean =>
  b !== undefined && isKin(a, b) && a.windowTokens === b.windowTokens;

/** The model that the session's numbers are measured with. */
export const currentModel = ({ windows, fused }: Pick<Session, 'windows' | 'fused'>): string | undefined =>
  windows.model ?? fused?.reading.model;

// Detects that the window became smaller, after a switch of the model for example.

/** The last window that the agent or its model reported without contradiction. */
export interface Capacity {
  readonly windowTokens: number;
  readonly source: WindowSource;
  readonly model: string | undefined;
}

/** The capacity after a step; the previous one if there is nothing new. */
export const updateCapacity = (before: Capacity | undefined, session: Session): Capacity | undefined => {
  const { fused } = session;
  if (!fused?.window?.certain || fused.window.windowSource === 'user') return before;
  const { windowTokens, windowSource: source } = fused.window;
  return { windowTokens, source, model: currentModel(session) };
};

/**
 * A message for the user when there is less room than before. If another source reports a smaller window for the same model, nothing has
 * shrunk: the previous size was wrong.
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
