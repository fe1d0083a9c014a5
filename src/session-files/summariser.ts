import { AGENT_ITSELF, findSummariserFault } from '../core/config/summariser.js';
import { errorCode, SummaryError } from '../core/errors.js';
import type { Summarise } from '../core/strategies/strategy.js';
import { summaryIn } from '../core/conversation/summary-text.js';
import { systemReason } from '../storage/errors.js';
import type { SummariserOptions, AskForSummary } from './ask-for-summary.js';

// Who writes summaries, as the user has configured it: a model server, or the agent's own print mode. What they need is loaded when it is
// used. Nothing of a conversation is logged, and no error repeats what a server or an agent has said.

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
