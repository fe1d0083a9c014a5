// Everything there is to say about the window of one session, as a plain value: for people as text, for scripts as JSON.
import { boundaryRecord } from './boundary-record.js';
import { contextParts } from './context-parts.js';
import type { ContextPart } from './context-parts.js';
import type { Tier } from './ladder.js';
import type { ReadingRecord } from './reading-record.js';
import type { Millis } from './reading.js';
import type { Liveness } from './session-record.js';
import type { OwnLadder, Threshold } from './thresholds.js';
import type { ToolResult } from './tool-result.js';

/** One compaction as the session file tells of it. */
export interface PastCompaction {
  readonly at: Millis;
  readonly initiator?: 'user' | 'agent';
  /** as recorded by the agent; otherwise its last number before */
  readonly preTokens?: number;
  /** `preTokens` is that last number */
  readonly isEstimated?: true;
  /** as recorded by the agent */
  readonly postTokens?: number;
  /** the first number of a turn after it */
  readonly nextTokens?: number;
  readonly uuid?: string;
  readonly durationMs?: number;
}

export interface ContextFacts {
  readonly runtime: string;
  /** the wrapper's, when it was asked about a session */
  readonly session?: { readonly id: string; readonly pid: number; readonly liveness: Liveness } | undefined;
  readonly agentSessionId?: string | undefined;
  readonly path?: string | undefined;
  readonly reading?: ReadingRecord | undefined;
  /** why there is no reading */
  readonly note?: string | undefined;
  readonly cachedTokens?: number | undefined;
  readonly thresholds: readonly Threshold[];
  readonly ownLadder?: OwnLadder | undefined;
  readonly compactions: readonly PastCompaction[];
  readonly toolResults: readonly ToolResult[];
}

export interface ContextReport {
  readonly schema: 'ctxwrap.context/1';
  readonly runtime: string;
  readonly session?: ContextFacts['session'];
  readonly agentSessionId?: string;
  readonly path?: string;
  readonly reading?: ReadingRecord;
  readonly note?: string;
  /** absent where tokens or the window are not known */
  readonly totalTokens?: number;
  readonly parts: readonly ContextPart[];
  readonly tier?: Tier;
  /** `current` for the boundary that was passed last; for none in the tier safe */
  readonly thresholds: readonly (Threshold & { readonly current: boolean })[];
  readonly ownLadder?: OwnLadder;
  readonly compactions: readonly PastCompaction[];
  /** the largest ones since the last compaction */
  readonly toolResults: readonly ToolResult[];
}

export const contextReport = (facts: ContextFacts): ContextReport => {
  const { session, agentSessionId, path, reading, note, ownLadder } = facts;
  const tier = reading?.tier;
  return {
    schema: 'ctxwrap.context/1',
    runtime: facts.runtime,
    ...(session ? { session } : {}),
    ...(agentSessionId === undefined ? {} : { agentSessionId }),
    ...(path === undefined ? {} : { path }),
    ...(reading ? { reading } : {}),
    ...(reading || note === undefined ? {} : { note }),
    ...partsOf(facts),
    ...(tier === undefined ? {} : { tier }),
    // before the first answer there is nothing to measure, and the window may be another one than it seems
    thresholds: reading ? facts.thresholds.map((each) => ({ ...each, current: each.name === tier })) : [],
    ...(ownLadder && reading ? { ownLadder } : {}),
    compactions: facts.compactions,
    toolResults: facts.toolResults,
  };
};

const partsOf = ({
  reading,
  cachedTokens,
  thresholds,
}: ContextFacts): Pick<ContextReport, 'parts' | 'totalTokens'> => {
  const { usedTokens, windowTokens } = reading ?? {};
  if (usedTokens === undefined || windowTokens === undefined) return { parts: [] };
  const nativeTokens = thresholds.find(({ name }) => name === 'native')?.value;
  return contextParts({ usedTokens, windowTokens, cachedTokens, nativeTokens });
};

/** The report for scripts: its compactions are boundary records. */
export const contextRecord = (report: ContextReport) => {
  const { runtime, agentSessionId: sessionId } = report;
  return {
    ...report,
    compactions: report.compactions.map(({ nextTokens, isEstimated, preTokens, ...past }) => ({
      ...boundaryRecord({
        ...past,
        runtime,
        sessionId,
        ...(preTokens === undefined ? {} : isEstimated ? { lastTokens: preTokens } : { preTokens }),
      }),
      ...(nextTokens === undefined ? {} : { next_tokens: nextTokens }),
    })),
  };
};
