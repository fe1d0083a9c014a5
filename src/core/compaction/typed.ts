import { endAttempt, sentPhase } from './running.js';
import {
  enterPhase,
  withStrategy,
  type Attempt,
  type Compaction,
  type CompactRequest,
  type SessionContext,
  type TypeResult,
} from './state.js';

// What came of typing the command, or of what stands in for it.

/** The state after the typing. */
export const afterTyping = (state: Compaction, typed: TypeResult, moment: SessionContext): Compaction => {
  const { phase } = state;
  if (phase.kind !== 'typing') return state; // the typing took too long and was already reported
  const attempt = { ...phase.attempt, evidence: [...phase.attempt.evidence, ...typed.evidence] };
  switch (typed.kind) {
    case 'sent':
      return enterPhase(state, sentPhase(attempt, typed, moment));
    case 'withdrawn':
      return phase.withdrawal === undefined || typed.isLeft
        ? endAttempt(state, attempt, { kind: 'not-delivered', reason: typed.reason }, moment)
        : afterWithdrawal(state, attempt, phase.withdrawal, moment);
    case 'nothing':
      return endAttempt(state, attempt, { kind: 'noop', text: typed.reason }, moment);
    case 'skipped':
      return afterSkip(
        typed.isStrategyLost ? withStrategy(state, 'auto') : state,
        attempt,
        typed.reason,
        moment,
      );
  }
};

/** The typed text is gone from the prompt, so the user's request can be tried again. */
const afterWithdrawal = (
  state: Compaction,
  attempt: Attempt,
  reason: string,
  moment: SessionContext,
): Compaction => {
  const { request } = attempt;
  const { skips } = state;
  const over = endAttempt(
    state,
    { ...attempt, request: undefined },
    { kind: 'skipped-busy', reason },
    moment,
  );
  return { ...over, skips, request: state.request ?? (request && { ...request, since: moment.now }) };
};

const afterSkip = (
  state: Compaction,
  attempt: Attempt,
  reason: string,
  moment: SessionContext,
): Compaction => {
  const { phase } = state;
  if (phase.kind === 'typing' && phase.withdrawal !== undefined)
    return afterWithdrawal(state, attempt, phase.withdrawal, moment);
  const request = requestForKeys(state, attempt);
  return request
    ? { ...enterPhase(state, { kind: 'rest' }), request: { ...request, since: moment.now } }
    : endAttempt(state, attempt, { kind: 'skipped-busy', reason }, moment);
};

/** The user's request, if the control channel no longer answers or the strategy is gone: it then waits for the command to be typed. */
const requestForKeys = (
  { isChannelClosed, settings, request }: Compaction,
  { request: asked, via, strategy }: Attempt,
): CompactRequest | undefined => {
  const isChannelGone = via !== undefined && isChannelClosed === true;
  const isStrategyGone = strategy !== undefined && settings.strategy === undefined;
  return !request && (isChannelGone || isStrategyGone) ? asked : undefined;
};
