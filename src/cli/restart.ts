import type { SavedSession } from '../agents/agent.js';
import type { SessionEnd, WrapSession } from '../wrap/options.js';

// What is run after an agent that has ended to be started again: the same agent with the shortened session, or with the one that it had
// where it does not take that.

/** A run that has ended. */
export interface EndedRun {
  /** as the user has started it */
  readonly first: WrapSession;
  readonly session: WrapSession;
  readonly end: SessionEnd;
}

const NOT_TAKEN = 'the agent did not go on with the shorter conversation, and has the whole one again';

/** The next run; undefined if the last one was the end. */
export const sessionAfter = ({ first, session, end }: EndedRun): WrapSession | undefined => {
  const { restart, hasLostRestart = false } = end;
  const lost = hasLostRestart ? session.restarted : undefined;
  const plan = restart ?? lost;
  const args = plan && argsFor(first, restart ? plan.session : plan.before);
  if (!plan || !args) return undefined;
  const { startingDraft: _, tour: __, notices: ___, ...rest } = first;
  return {
    ...rest,
    args,
    values: { ...first.values, mode: plan.mode },
    shortenedAt: plan.times,
    ...(restart ? { restarted: restart } : { notices: [NOT_TAKEN] }),
  };
};

/** The user's options, and the session. */
const argsFor = (
  { agent, args }: Pick<WrapSession, 'agent' | 'args'>,
  session: SavedSession,
): readonly string[] | undefined => {
  const kept = agent.restarting?.options(args);
  const resume = agent.conversations?.resumeArgs(session);
  return kept && resume && [...kept, ...resume];
};
