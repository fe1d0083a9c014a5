import type { Initiator } from '../compaction/outcome.js';
import { boundaryRecord, type RecordedCompaction } from '../conversation/boundary-record.js';
import type { Tier, OwnLadder, Threshold } from '../ladder.js';
import type { ToolResult } from '../reading.js';
import type { Liveness } from './records.js';
import type { ReadingRecord } from './report.js';
import { present } from '../present.js';

// Divides the window into parts that add up to the whole.

/** `system`: the agent's instructions and the definitions of its tools. */
export type PartName =
  | 'used'
  | 'cached'
  | 'fresh'
  | 'system'
  | 'messages'
  | 'files'
  | 'tools'
  | 'answer'
  | 'free'
  | 'buffer';

/** The names for users. */
export const partNames: Readonly<Record<PartName, string>> = {
  used: 'Used',
  cached: 'Cached input',
  fresh: 'Fresh input',
  system: 'System and tools',
  messages: 'Messages',
  files: 'Files read',
  tools: 'Tool results',
  answer: 'Last answer',
  free: 'Free',
  buffer: 'Compaction buffer',
};

export interface ContextPart {
  readonly name: PartName;
  readonly tokens: number;
  /** of the whole, one decimal; all parts add up to 100 */
  readonly percent: number;
  readonly estimated?: true;
}

/** What a session file records about the window's contents, in tokens estimated from the text. */
export interface FilledBy {
  /** in the window before the first prompt */
  readonly systemTokens: number;
  /** results of tools that read files, and of all others */
  readonly fileTokens: number;
  readonly toolTokens: number;
}

export interface SessionContents {
  readonly filled?: FilledBy | undefined;
  /** the largest ones since the last compaction, the largest first */
  readonly toolResults: readonly ToolResult[];
}

export interface PartsRequest {
  readonly usedTokens: number;
  /** unknown where absent: then nothing is free */
  readonly windowTokens?: number | undefined;
  /** in addition to the used tokens */
  readonly answerTokens?: number | undefined;
  /** part of the used tokens */
  readonly cachedTokens?: number | undefined;
  readonly filled?: FilledBy | undefined;
  /** where the agent compacts by itself: what is above cannot be filled */
  readonly nativeTokens?: number | undefined;
}

export interface ContextParts {
  /** the window, or the used tokens if they are more or it is unknown */
  readonly totalTokens: number;
  readonly parts: readonly ContextPart[];
}

/**
 * The used tokens by what they are, if the session file shows it, else with cached ones apart if known; then the free tokens, and those
 * reserved for the agent's own compaction.
 */
export const splitContext = (request: PartsRequest): ContextParts => {
  const { usedTokens, answerTokens = 0, nativeTokens } = request;
  const counted = usedTokens + answerTokens;
  const { windowTokens = counted } = request;
  const totalTokens = Math.max(counted, windowTokens);
  const unused = totalTokens - counted;
  const buffer = Math.min(unused, Math.max(0, windowTokens - (nativeTokens ?? windowTokens)));
  const sizes: readonly (readonly [PartName, number])[] = [
    ...usedSizes(request),
    ...(answerTokens === 0 ? [] : [['answer', answerTokens] as const]),
    ...(request.windowTokens === undefined ? [] : [['free', unused - buffer] as const]),
    ...(nativeTokens === undefined ? [] : [['buffer', buffer] as const]),
  ];
  return { totalTokens, parts: withPercents(sizes, totalTokens) };
};

const usedSizes = ({
  usedTokens,
  cachedTokens,
  filled,
}: PartsRequest): readonly (readonly [PartName, number])[] => {
  if (filled) return filledSizes(usedTokens, filled);
  if (cachedTokens === undefined) return [['used', usedTokens]];
  const cached = Math.min(usedTokens, cachedTokens);
  return [
    ['cached', cached],
    ['fresh', usedTokens - cached],
  ];
};

/** Estimates that are together too large are reduced alike; what they leave of the used tokens is the messages. */
const filledSizes = (
  usedTokens: number,
  { systemTokens, fileTokens, toolTokens }: FilledBy,
): readonly (readonly [PartName, number])[] => {
  const estimated = systemTokens + fileTokens + toolTokens;
  const factor = Math.min(1, usedTokens / Math.max(1, estimated));
  const [system, files, tools] = [systemTokens, fileTokens, toolTokens].map((tokens) =>
    Math.floor(tokens * factor),
  ) as [number, number, number];
  const sizes: readonly (readonly [PartName, number])[] = [
    ['system', system],
    ['messages', usedTokens - system - files - tools],
    ['files', files],
    ['tools', tools],
  ];
  return sizes.filter(([, tokens]) => tokens > 0);
};

const estimatedParts: readonly PartName[] = ['system', 'messages', 'files', 'tools'];

// Each part gets the difference of two rounded sums, so that the parts always add up to 100.
const withPercents = (
  sizes: readonly (readonly [PartName, number])[],
  totalTokens: number,
): readonly ContextPart[] => {
  const upTo = (count: number): number => {
    const sum = sizes.slice(0, count).reduce((total, [, tokens]) => total + tokens, 0);
    return totalTokens === 0 ? 0 : Math.round((sum * 1000) / totalTokens);
  };
  return sizes.map(([name, tokens], index) => ({
    name,
    tokens,
    percent: (upTo(index + 1) - upTo(index)) / 10,
    ...(estimatedParts.includes(name) ? { estimated: true } : {}),
  }));
};

// The report about the window of a session as plain data: text for people and JSON for scripts are made from it.

/** A compaction from the session file. */
export interface PastCompaction extends Pick<
  RecordedCompaction,
  | 'at'
  | 'preTokens'
  | 'isEstimated'
  | 'postTokens'
  | 'isPostEstimated'
  | 'fixedTokens'
  | 'nextTokens'
  | 'uuid'
  | 'durationMs'
> {
  /** `ctxwrap` if the audit log has an attempt at that time; absent if unknown */
  readonly initiator?: Initiator;
}

export interface ContextFacts {
  readonly runtime: string;
  /** the wrapper's session, if the report is about one */
  readonly session?: { readonly id: string; readonly pid: number; readonly liveness: Liveness } | undefined;
  readonly agentSessionId?: string | undefined;
  readonly path?: string | undefined;
  readonly reading?: ReadingRecord | undefined;
  /** why there is no reading */
  readonly note?: string | undefined;
  readonly cachedTokens?: number | undefined;
  readonly filled?: FilledBy | undefined;
  readonly thresholds: readonly Threshold[];
  readonly ownLadder?: OwnLadder | undefined;
  /** undefined where what lists them cannot be read */
  readonly compactions: readonly PastCompaction[] | undefined;
  /** as `compactions` */
  readonly toolResults: readonly ToolResult[] | undefined;
}

export interface ContextReport {
  readonly schema: 'ctxwrap.context/1';
  readonly runtime: string;
  readonly session?: ContextFacts['session'];
  readonly agentSessionId?: string;
  readonly path?: string;
  readonly reading?: ReadingRecord;
  readonly note?: string;
  /** what the parts add up to: the window; where that is unknown, the used tokens if the file shows what they are */
  readonly totalTokens?: number;
  readonly parts: readonly ContextPart[];
  readonly tier?: Tier;
  /** `current` marks the boundary that was passed last; none in the tier safe */
  readonly thresholds: readonly (Threshold & { readonly current: boolean })[];
  readonly ownLadder?: OwnLadder;
  /** absent where they are not known: an empty list says that there were none */
  readonly compactions?: readonly PastCompaction[];
  /** the largest ones since the last compaction; absent where they are not known */
  readonly toolResults?: readonly ToolResult[];
}

export const contextReport = (facts: ContextFacts): ContextReport => {
  const { session, agentSessionId, path, reading, note, ownLadder, compactions, toolResults } = facts;
  const tier = reading?.tier;
  return {
    schema: 'ctxwrap.context/1',
    runtime: facts.runtime,
    ...present({ session, agentSessionId, path, reading }),
    ...(reading || note === undefined ? {} : { note }),
    ...windowParts(facts),
    ...present({ tier }),
    // before the first answer nothing is measured, and the window may still change
    thresholds: reading ? facts.thresholds.map((each) => ({ ...each, current: each.name === tier })) : [],
    ...(ownLadder && reading ? { ownLadder } : {}),
    ...present({ compactions, toolResults }),
  };
};

const windowParts = ({
  reading,
  cachedTokens,
  filled,
  thresholds,
}: ContextFacts): Pick<ContextReport, 'parts' | 'totalTokens'> => {
  const { usedTokens, answerTokens, windowTokens } = reading ?? {};
  if (usedTokens === undefined || (windowTokens === undefined && !filled)) return { parts: [] };
  const native = thresholds.find(({ name }) => name === 'native')?.value ?? Infinity;
  const nativeTokens = native < (windowTokens ?? 0) ? native : undefined; // in a window set by the user it may lie beyond the end
  return splitContext({ usedTokens, answerTokens, windowTokens, cachedTokens, filled, nativeTokens });
};

/** The report for scripts; compactions are boundary records. */
export const contextRecord = (report: ContextReport) => {
  const { runtime: agent, agentSessionId: sessionId } = report;
  const compactions = report.compactions?.map(
    ({ nextTokens, fixedTokens, isEstimated, isPostEstimated, preTokens, ...past }) => ({
      ...boundaryRecord({
        ...past,
        runtime: agent,
        sessionId,
        ...(preTokens === undefined ? {} : isEstimated ? { lastTokens: preTokens } : { preTokens }),
      }),
      ...present({
        post_tokens_estimated: isPostEstimated,
        fixed_tokens: fixedTokens,
        next_tokens: nextTokens,
      }),
    }),
  );
  return { ...report, ...present({ compactions }) };
};
