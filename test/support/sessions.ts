import type { Event } from '../../src/core/event.js';
import type { PercentBasis, Reading, Source, WindowSource } from '../../src/core/reading.js';
import { startSession, stepSession } from '../../src/core/session.js';
import type { SessionStart } from '../../src/core/session.js';
import type { Session } from '../../src/core/session.js';

/** An event and its time in seconds. */
export type Timed = readonly [seconds: number, event: Event];

/** A session after events at their times. */
export const sessionAfter = (events: readonly Timed[], start: Partial<SessionStart> = {}): Session =>
  events.reduce(
    (state, [seconds, event]) => stepSession(state, event, seconds * 1000),
    startSession({ agent: 'claude', ...start }, 0),
  );

/** Tokens; the window is 200 000 from the model table unless given. */
export const tokens = (source: Source, usedTokens: number, more: Partial<Reading> = {}): Event => ({
  type: 'reading',
  reading: { usedTokens, windowTokens: 200_000, windowSource: 'table', source, at: 1, ...more },
});

/** A percentage on the screen. */
export const shows = (usedPercent: number, basis?: PercentBasis, basisTokens?: number): Event => ({
  type: 'reading',
  reading: {
    usedPercent,
    ...(basis ? { basis } : {}),
    ...(basisTokens ? { basisTokens } : {}),
    source: 'screen',
    at: 1,
  },
});

export const claim = (windowTokens: number, windowSource: WindowSource, model?: string): Event => ({
  type: 'window',
  claim: { windowTokens, windowSource, ...(model === undefined ? {} : { model }) },
});

export const grew = (count: number): Event => ({ type: 'growth', tokens: count });
export const compacted = (source?: 'log' | 'screen'): Event => ({
  type: 'boundary',
  boundary: { at: 1, ...(source ? { source } : {}) },
});
export const inSession = (sessionId: string): Event => ({ type: 'session-changed', sessionId });
export const blank: Event = { type: 'screen-blank' };
export const output: Event = { type: 'output' };
export const alarm: Event = { type: 'alarm' };
