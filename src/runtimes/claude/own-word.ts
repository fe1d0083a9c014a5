// Claude's own word on its state, from 2.1.330 on to a terminal that answers its question (facts/updates-2026-11-22.md).
import type { Signals } from '../../core/screen-view.js';
import { parseAgentState, type AgentState } from '../agent-state.js';

const APP = 'claude-code';

export interface OwnWord {
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

/** It is at rest, and tells of commands that it has left running in the background (seen in 2.1.330's program). */
const STILL_RUNNING = / still running$/;

/** What this state says of Claude; `working` is also told at rest, while commands run in the background. */
export const meaningOf = ({ state, message }: AgentState): OwnWord['says'] =>
  state === 'working' && STILL_RUNNING.test(message ?? '') ? 'rest' : meanings[state];

/** Undefined where none was told. At the exit Claude clears the state without its name. */
export const ownWord = ({ agentState }: Signals): OwnWord | undefined => {
  const told = parseAgentState(agentState);
  if (!told) return undefined;
  const { state, app, message } = told;
  if (state !== 'clear' && app !== APP)
    return { says: 'of another program', witness: 'state of another program' };
  return { says: meaningOf(told), witness: `state: ${state}`, ...(message ? { asks: message } : {}) };
};

/** Claude itself has told it. */
export const isOwnWord = (word: OwnWord | undefined): boolean =>
  word !== undefined && word.says !== 'gone' && word.says !== 'of another program';
