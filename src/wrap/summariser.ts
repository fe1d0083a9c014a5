import type { Agent } from '../agents/agent.js';
import type { Values } from '../core/config/keys.js';
import { AGENT_ITSELF, findSummariserFault } from '../core/config/summariser.js';
import { errorCode, SummaryError } from '../core/errors.js';
import type { Summarise } from '../core/strategies/strategy.js';
import { summaryIn } from '../core/summary-text.js';
import { systemReason } from '../storage/errors.js';

// Who writes summaries, as the user has configured it: a model server, or the agent's own print mode. What they need is loaded when it is
// used. Nothing of a conversation is logged, and no error repeats what a server or an agent has said.

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

/** Undefined where the user has configured none. A configuration that cannot work rejects each summary with the command that fixes it. */
export const openSummariser = (options: SummariserOptions): Summarise | undefined => {
  const { 'summariser.url': url, 'summariser.timeout': seconds } = options.values;
  if (url === undefined) return undefined;
  return async (request, signal) => {
    const fault = findSummariserFault(options.values);
    if (fault) throw new SummaryError(`${fault.reason}; fix it with: ${fault.fix}`);
    const late = AbortSignal.timeout(seconds * 1_000);
    try {
      const ask = url === AGENT_ITSELF ? await loadAgent() : await loadServer();
      return summaryIn(await ask(request, options, AbortSignal.any([signal, late])));
    } catch (error) {
      if (signal.aborted) throw new SummaryError('the summary was withdrawn');
      if (late.aborted) throw new SummaryError(`no summary within ${seconds} s (summariser.timeout)`);
      throw toSummaryError(error);
    }
  };
};

const loadAgent = async (): Promise<AskForSummary> => (await import('./summary-agent.js')).askAgent;
const loadServer = async (): Promise<AskForSummary> => (await import('./summary-server.js')).askServer;

/** The message of an unknown error could hold what is being summarised. */
const toSummaryError = (error: unknown): SummaryError => {
  if (error instanceof SummaryError) return error;
  if (typeof errorCode(error) === 'string') return new SummaryError(`no summary: ${systemReason(error)}`);
  return new SummaryError(`no summary: ${error instanceof Error ? error.name : 'unknown error'}`);
};
