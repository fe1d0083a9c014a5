import type { Values } from '../core/config/keys.js';
import type { Agent } from '../agents/agent.js';
import type { Summarise } from '../core/strategies/strategy.js';

// What is asked of whoever writes a summary, with what it needs.

export interface SummariserOptions {
  readonly values: Values;
  readonly agent: Agent;
  /** the user's environment, in which the agent runs and the key is */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** the agent's program, where it is known; otherwise the first one on PATH that does not start ctxwrap */
  readonly program?: string | undefined;
  /** the usual ones when absent */
  readonly waits?: ServerWaits;
}

/** How long a model server is waited for, beside `summariser.timeout`. */
export interface ServerWaits {
  /** before each retry */
  readonly retryMs: readonly number[];
  /** between two pieces of an answer that has begun; before that, a local model may read its input for minutes */
  readonly stallMs: number;
}

/** One request to whoever writes the summary. Resolves with the raw answer; rejects with a SummaryError, or as the system does. */
export type AskForSummary = (
  request: Parameters<Summarise>[0],
  options: SummariserOptions,
  signal: AbortSignal,
) => Promise<string>;
