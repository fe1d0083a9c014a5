import type { Signals } from '../../core/reading.js';
import { parseAgentState, type AgentState } from '../tested.js';

// Claude's own state report (OSC 7501), sent from 2.1.330 on to a terminal that answers its question (docs/facts/claude.md#state-reports).

const APP = 'claude-code';

export interface StateWord {
  readonly says: 'rest' | 'busy' | 'asks' | 'gone' | 'of another program';
  /** `state: done` */
  readonly witness: string;
  /** what it asks of the user */
  readonly asks?: string;
}

const meanings = {
  idle: 'rest',
  done: 'rest',
  error: 'rest',
  working: 'busy',
  blocked: 'asks',
  clear: 'gone',
} as const;

/** At rest, while commands run in the background: `1 shell, 2 monitors still running` (docs/facts/claude-background.md). */
const STILL_RUNNING = / still running$/;
/** Its agents wake the conversation; so it does not rest. */
const AGENTS = /\b(?:agents?|teams?|workflows?)\b/;

/** What this state means; `working` is also reported at rest while commands run in the background. */
export const meaningOfState = ({ state, message = '' }: AgentState): StateWord['says'] =>
  state === 'working' && STILL_RUNNING.test(message) && !AGENTS.test(message) ? 'rest' : meanings[state];

/** Undefined when no state was reported. At exit Claude clears the state without naming itself. */
export const readStateWord = ({ agentState }: Signals): StateWord | undefined => {
  const report = parseAgentState(agentState);
  if (!report) return undefined;
  const { state, app, message } = report;
  if (state !== 'clear' && app !== APP)
    return { says: 'of another program', witness: 'state of another program' };
  return { says: meaningOfState(report), witness: `state: ${state}`, ...(message ? { asks: message } : {}) };
};

/** The state comes from Claude itself. */
export const isFromClaude = (word: StateWord | undefined): boolean =>
  word !== undefined && word.says !== 'gone' && word.says !== 'of another program';
