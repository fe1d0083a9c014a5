// Whether the window of a session has become smaller, as when another model runs now.
import { tokensText } from './figures.js';
import type { WindowSource } from './reading.js';
import type { Session } from './session-state.js';

/** The last window that the agent or its model told, and nobody contested. */
export interface Capacity {
  readonly windowTokens: number;
  readonly source: WindowSource;
  readonly model: string | undefined;
}

/** What is known after a step; the one before while nothing new is. */
export const capacityAfter = (
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
export const reducedCapacity = (
  before: Capacity | undefined,
  after: Capacity | undefined,
): string | undefined => {
  if (!before || !after || after.windowTokens >= before.windowTokens) return undefined;
  if (after.model === before.model && after.source !== before.source) return undefined;
  const sizes = `${tokensText(before.windowTokens)} → ${tokensText(after.windowTokens)}`;
  return `reduced capacity: window ${sizes}${after.model === undefined ? '' : ` (${after.model})`}`;
};
