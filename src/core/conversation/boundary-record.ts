import type { Initiator } from '../compaction/outcome.js';
import type { Boundary } from '../event.js';
import type { Millis } from '../reading.js';
import type { NotUnderstood } from './conversation-evidence.js';
import type { KeptCount } from './receipt.js';
import { formatIsoTime } from '../time.js';
import { present } from '../present.js';

// The record of a compaction as JSON, with the field names of the common schema for sessions of several agents. docs/internals/history.md says what
// each field means.

/** Who wanted a compaction; `agent-idle`: the agent by itself, while it was at rest. */
export type BoundaryInitiator = Initiator | 'agent-idle';

/** What is known of any compaction. Unknown fields are left out. */
export interface BoundaryRecord {
  readonly schema: 'ctxwrap.boundary/1';
  readonly runtime: string;
  /** the agent's id of the conversation */
  readonly session_id?: string;
  /** id of the agent's record */
  readonly uuid?: string;
  /** `auto` if the agent started it by itself */
  readonly trigger?: 'manual' | 'auto';
  readonly initiator?: BoundaryInitiator;
  readonly pre_tokens?: number;
  /** the agent did not record it: it is the last number before the compaction */
  readonly pre_tokens_estimated?: true;
  readonly post_tokens?: number;
  readonly duration_ms?: number;
  /** UTC, `2026-11-21T08:37:12.289Z` */
  readonly timestamp: string;
  /** recorded by the agent; text on the screen alone proves nothing */
  readonly verified: boolean;
}

/** A compaction, and what is known besides the agent's record. */
export interface BoundaryFacts extends Omit<Boundary, 'initiator' | 'summary'> {
  readonly runtime: string;
  readonly sessionId?: string | undefined;
  readonly initiator?: BoundaryInitiator;
  /** the last number before it, if the record has none */
  readonly lastTokens?: number | undefined;
}

export const boundaryRecord = (facts: BoundaryFacts): BoundaryRecord => {
  const { runtime: agent, sessionId, uuid, initiator, preTokens, lastTokens, postTokens, durationMs } = facts;
  const estimated = preTokens === undefined ? lastTokens : undefined;
  return {
    schema: 'ctxwrap.boundary/1',
    runtime: agent,
    ...present({ session_id: sessionId, uuid }),
    ...(initiator === undefined ? {} : { trigger: triggerOf(initiator), initiator }),
    ...present({ pre_tokens: preTokens }),
    ...(estimated === undefined ? {} : { pre_tokens: estimated, pre_tokens_estimated: true }),
    ...present({ post_tokens: postTokens, duration_ms: durationMs }),
    timestamp: formatIsoTime(facts.at),
    verified: facts.source !== 'screen',
  };
};

export const triggerOf = (initiator: BoundaryInitiator): 'manual' | 'auto' =>
  initiator === 'agent' || initiator === 'agent-idle' ? 'auto' : 'manual';

// The same from an agent's session files, with what only they tell. What is not known is null.

/** A text that stands for the conversation before a compaction. */
export interface CompactionSummary {
  readonly kind: 'text' | 'encrypted' | 'empty';
  /** its first lines, or all of it; '' unless it is a text */
  readonly text: string;
  /** there is more of it in the session file */
  readonly isCut: boolean;
  /** of the whole text, in hexadecimal digits */
  readonly sha256: string;
  /** of the whole text */
  readonly characters: number;
  /** of the session file, counted from 1 */
  readonly line: number;
}

/** Notes of the whole session that its agent keeps in a file of their own, as they are now. */
export interface SessionMemory extends Omit<CompactionSummary, 'kind' | 'line'> {
  readonly path: string;
}

/** First and last number of a row of messages, counted from 1. */
export type MessageRange = readonly [first: number, last: number];

/** A compaction in a session file. */
export interface RecordedCompaction {
  /** within its session, counted from 1 */
  readonly number: number;
  readonly at: Millis;
  readonly initiator?: BoundaryInitiator;
  /** as the agent recorded it; otherwise the last number before */
  readonly preTokens?: number;
  /** `preTokens` is the last number before it */
  readonly isEstimated?: true;
  /** as the agent recorded it */
  readonly postTokens?: number;
  /** `postTokens` is an estimate of ctxwrap, which has shortened the conversation itself */
  readonly isPostEstimated?: true;
  /** what every request sends besides, where `postTokens` leaves it out */
  readonly fixedTokens?: number;
  /** the first number of an answer after it */
  readonly nextTokens?: number;
  readonly uuid?: string;
  readonly durationMs?: number;
  /** the messages of the conversation before it */
  readonly afterMessage: number;
  /** those that left the window with it; absent where that is not known */
  readonly replaced?: readonly MessageRange[];
  readonly summary?: CompactionSummary;
  /** of the last one of its session, where there are any */
  readonly memory?: SessionMemory;
  /** how much of the evidence that was in the window before it has kept; absent where that was not asked for, or is not known */
  readonly kept?: readonly KeptCount[];
  /** tools in that window of which ctxwrap cannot tell what they did; absent as `kept` is */
  readonly notUnderstood?: readonly NotUnderstood[];
  /** where the agent's record is: line from 1, and bytes before it */
  readonly line: number;
  readonly offset: number;
  /** the record proves it; some agents write the same one for a failure */
  readonly isVerified: boolean;
}

/** A session file, and what was found in it. */
export interface SessionHistory {
  readonly runtime: string;
  readonly sessionId?: string;
  readonly path: string;
  /** the folder it was started in */
  readonly project?: string;
  readonly agentVersion?: string;
  /** when the file was last written */
  readonly writtenAt: Millis;
  /** the messages of the conversation at its end */
  readonly messages: number;
  /** lines that are no JSON objects, or longer than can be read */
  readonly damagedLines: number;
  readonly compactions: readonly RecordedCompaction[];
  /** a copy that ctxwrap kept, because the agent's own file is gone or was rewritten */
  readonly isKept?: true;
}

/** The record of a compaction in a session file. All fields are always there. */
export interface HistoryRecord {
  readonly schema: 'ctxwrap.boundary/1';
  readonly runtime: string;
  readonly session_id: string | null;
  readonly number: number;
  readonly project: string | null;
  readonly timestamp: string;
  readonly trigger: 'manual' | 'auto' | null;
  readonly initiator: BoundaryInitiator | null;
  readonly pre_tokens: number | null;
  readonly pre_tokens_estimated: boolean;
  readonly post_tokens: number | null;
  readonly post_tokens_estimated: boolean;
  readonly fixed_tokens: number | null;
  readonly next_tokens: number | null;
  readonly duration_ms: number | null;
  readonly after_message_index: number;
  readonly replaced_message_indices: readonly number[] | null;
  readonly uuid: string | null;
  readonly summary: string | null;
  readonly summary_kind: CompactionSummary['kind'] | null;
  readonly summary_is_cut: boolean;
  readonly summary_ref: {
    readonly path: string;
    readonly line: number;
    readonly characters: number;
    readonly sha256: string;
    readonly memory: Pick<SessionMemory, 'path' | 'characters' | 'sha256'> | null;
  } | null;
  readonly kept: readonly KeptCount[] | null;
  readonly not_understood: readonly NotUnderstood[] | null;
  readonly path: string;
  readonly line: number;
  readonly byte_offset: number;
  readonly kept_copy: boolean;
  readonly verified: boolean;
}

export const historyRecord = (session: SessionHistory, each: RecordedCompaction): HistoryRecord => {
  const { initiator, summary, memory } = each;
  const { path } = session;
  return {
    schema: 'ctxwrap.boundary/1',
    runtime: session.runtime,
    session_id: session.sessionId ?? null,
    number: each.number,
    project: session.project ?? null,
    timestamp: formatIsoTime(each.at),
    trigger: initiator === undefined ? null : triggerOf(initiator),
    initiator: initiator ?? null,
    pre_tokens: each.preTokens ?? null,
    pre_tokens_estimated: each.isEstimated === true,
    post_tokens: each.postTokens ?? null,
    post_tokens_estimated: each.isPostEstimated === true,
    fixed_tokens: each.fixedTokens ?? null,
    next_tokens: each.nextTokens ?? null,
    duration_ms: each.durationMs ?? null,
    after_message_index: each.afterMessage,
    replaced_message_indices: each.replaced ? each.replaced.flatMap(numbersOf) : null,
    uuid: each.uuid ?? null,
    summary: summary?.kind === 'text' ? summary.text : null,
    summary_kind: summary?.kind ?? null,
    summary_is_cut: summary?.isCut === true,
    summary_ref:
      summary?.kind === 'text'
        ? {
            path,
            line: summary.line,
            ...measured(summary),
            memory: memory ? { path: memory.path, ...measured(memory) } : null,
          }
        : null,
    kept: each.kept ?? null,
    not_understood: each.notUnderstood ?? null,
    path,
    line: each.line,
    byte_offset: each.offset,
    kept_copy: session.isKept === true,
    verified: each.isVerified,
  };
};

const measured = ({ characters, sha256 }: Pick<CompactionSummary, 'characters' | 'sha256'>) => ({
  characters,
  sha256,
});

const numbersOf = ([first, last]: MessageRange): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** A session with its compactions, for `ctxwrap history --json`. */
export const sessionHistoryRecord = (session: SessionHistory) => ({
  runtime: session.runtime,
  session_id: session.sessionId ?? null,
  project: session.project ?? null,
  agent_version: session.agentVersion ?? null,
  path: session.path,
  kept_copy: session.isKept === true,
  messages: session.messages,
  damaged_lines: session.damagedLines,
  compaction: { boundaries: session.compactions.map((each) => historyRecord(session, each)) },
});
