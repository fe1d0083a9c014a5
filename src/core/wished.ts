// What the user has said of windows and tiers, to us or to the agent, at the start or while the session runs.
import { noEvidence } from './evidence.js';
import type { Event } from './event.js';
import { assumed, hearClaim, withUserTokens } from './windows.js';
import type { Windows } from './windows.js';
import type { Session } from './session-state.js';

export type Wish = Extract<Event, { type: 'user-window' | 'assumed-window' | 'own-compaction' | 'settings' }>;

export const wished = (state: Session, event: Wish): Session => {
  switch (event.type) {
    case 'user-window': {
      const claim = { windowTokens: event.windowTokens, windowSource: 'user' } as const;
      return inWindows(state, hearClaim(state.windows, claim));
    }
    case 'assumed-window':
      return inWindows(state, assumed(state.windows, event.windowTokens));
    case 'own-compaction': {
      const { native: _, ...rest } = state;
      const { trigger } = event;
      const evidence = { ...state.evidence, drift: noEvidence.drift }; // a screen that counts down to it is read anew
      return { ...rest, ...(trigger ? { native: trigger } : {}), evidence };
    }
    case 'settings': {
      const { ladder, windowTokens } = event.settings;
      return { ...inWindows(state, withUserTokens(state.windows, windowTokens)), ladder };
    }
  }
};

/** With another window or model a screen that was not believed gets another chance. */
export const inWindows = (state: Session, windows: Windows): Session =>
  windows === state.windows
    ? state
    : { ...state, windows, evidence: { ...state.evidence, drift: noEvidence.drift } };
