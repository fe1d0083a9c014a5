// A compaction of any agent as JSON, with the names that the schema of sessions of several agents has for it. What is not known is left out.
import type { Boundary } from './event.js';
import type { Initiator } from './compaction/outcome.js';
import { isoText } from './time.js';

export interface BoundaryRecord {
  readonly schema: 'ctxwrap.boundary/1';
  readonly runtime: string;
  /** the agent's own id of the conversation */
  readonly session_id?: string;
  /** of the agent's record */
  readonly uuid?: string;
  /** `auto` where the agent began by itself */
  readonly trigger?: 'manual' | 'auto';
  readonly initiator?: Initiator;
  readonly pre_tokens?: number;
  /** the record does not tell: it is the last number before it */
  readonly pre_tokens_estimated?: true;
  readonly post_tokens?: number;
  readonly duration_ms?: number;
  /** UTC, `2026-11-21T08:37:12.289Z` */
  readonly timestamp: string;
  /** the agent has recorded it; a text on the screen alone proves nothing */
  readonly verified: boolean;
}

/** A compaction and what is known beside its own record. */
export interface ToldBoundary extends Omit<Boundary, 'initiator'> {
  readonly runtime: string;
  readonly sessionId?: string | undefined;
  readonly initiator?: Initiator;
  /** the last number before it, where it tells none */
  readonly lastTokens?: number | undefined;
}

export const boundaryRecord = (told: ToldBoundary): BoundaryRecord => {
  const { runtime, sessionId, uuid, initiator, preTokens, lastTokens, postTokens, durationMs } = told;
  const estimated = preTokens === undefined ? lastTokens : undefined;
  return {
    schema: 'ctxwrap.boundary/1',
    runtime,
    ...(sessionId === undefined ? {} : { session_id: sessionId }),
    ...(uuid === undefined ? {} : { uuid }),
    ...(initiator === undefined ? {} : { trigger: initiator === 'agent' ? 'auto' : 'manual', initiator }),
    ...(preTokens === undefined ? {} : { pre_tokens: preTokens }),
    ...(estimated === undefined ? {} : { pre_tokens: estimated, pre_tokens_estimated: true }),
    ...(postTokens === undefined ? {} : { post_tokens: postTokens }),
    ...(durationMs === undefined ? {} : { duration_ms: durationMs }),
    timestamp: isoText(told.at),
    verified: told.source !== 'screen',
  };
};
