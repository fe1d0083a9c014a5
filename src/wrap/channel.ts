import type { AgentChannel } from '../agents/channel.js';
import { listSessions } from '../storage/sessions.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import type { OpenChannel, WrapSession } from './options.js';
import { observeAfterPause, startAwakeClock, type TypistPort } from './typing-steps.js';
import { refusals, USER_TYPES } from './typist.js';

// Asks an agent to compact by its control channel. No key is typed, so text in the prompt stays; a turn and a dialog are waited for as ever.

export interface ChannelRequest {
  readonly channel: AgentChannel;
  readonly open: OpenChannel;
  /** the conversation of this terminal, as far as it is known */
  readonly sessionId: string | undefined;
  /** another terminal has the same one, as far as ctxwrap knows: one of the two is wrong about it. Must not reject */
  readonly isElsewhereToo: () => Promise<boolean>;
  readonly port: Pick<TypistPort, 'observe' | 'refresh' | 'typedCount' | 'hasUntoldKeys' | 'holdKeys'>;
  readonly signal: AbortSignal;
}

export type ChannelResult =
  /** the agent has taken the request, or may have */
  | { readonly kind: 'sent'; readonly evidence: string }
  /** it was not asked */
  | { readonly kind: 'skipped'; readonly reason: string }
  /** it has not taken the request, and would not do so later */
  | { readonly kind: 'closed'; readonly reason: string };

/** What came of one call. */
export type Answer =
  | { readonly kind: 'answer'; readonly answer: unknown }
  /** it was not reached, or has said no */
  | { readonly kind: 'refused'; readonly reason: string }
  /** it was reached, and what it has done is not known */
  | { readonly kind: 'lost'; readonly reason: string };

/** The agent at the other end. Nothing rejects. */
export interface ChannelCaller {
  readonly call: (what: 'state' | 'compact', waitMs: number) => Promise<Answer>;
  readonly close: () => void;
}

const UNKNOWN_FORM = 'an answer of an unknown form';
const ANSWER_MS = 5_000; // on a busy machine; it answers in milliseconds
const HELD_MS = 1_500; // the same while the user's keys are held
const ASKING_MS = 12_000; // all of it: later the attempt counts as one that did not end

/** Resolves as soon as the agent has taken the request, which is before it compacts. Never rejects. */
export const askToCompact = async (request: ChannelRequest): Promise<ChannelResult> => {
  const { port } = request;
  const given = { ...request, signal: AbortSignal.any([request.signal, AbortSignal.timeout(ASKING_MS)]) };
  const typedBefore = port.typedCount();
  if (given.channel.needsSession && (await given.isElsewhereToo()))
    return { kind: 'closed', reason: 'another terminal has this conversation, too' };
  const caller = await callerOf(given);
  try {
    const hindrance = await stateHindrance(given, caller, ANSWER_MS);
    if (hindrance) return hindrance;
    const reason = await screenRefusal(given, typedBefore);
    if (reason !== undefined) return { kind: 'skipped', reason };
    return await askHolding(given, caller, typedBefore);
  } finally {
    caller.close();
  }
};

/** Whether another running session says that it has this conversation of the agent. */
export const isInOtherTerminal = async (
  { agent, env, wrapper }: Pick<WrapSession, 'agent' | 'env' | 'wrapper'>,
  sessionId: string | undefined,
): Promise<boolean> => {
  const sessions = await listSessions(stateFolder(env, homeFolder(env)), Date.now()).catch(() => []);
  return sessions.some(
    ({ record: { id, runtime, agentSessionId }, liveness }) =>
      (liveness === 'live' || liveness === 'stale') &&
      id !== wrapper?.id &&
      runtime === agent.name &&
      agentSessionId === sessionId,
  );
};

const callerOf = async ({ channel, open, sessionId, signal }: ChannelRequest): Promise<ChannelCaller> => {
  if (channel.via === 'server' && open.via === 'server')
    return (await import('./agent-server.js')).makeServerCaller(channel, open, signal);
  if (channel.via === 'daemon' && open.via === 'daemon' && sessionId !== undefined)
    return (await import('./agent-daemon.js')).connectToDaemon({ channel, open, sessionId, signal });
  const refused = { kind: 'refused', reason: 'the conversation is not known' } as const;
  return { call: async () => refused, close: () => undefined };
};

/** Why it must not be asked now, by what it says of itself; undefined where it may. */
const stateHindrance = async (
  { channel, sessionId }: ChannelRequest,
  caller: ChannelCaller,
  waitMs: number,
): Promise<ChannelResult | undefined> => {
  const said = await caller.call('state', waitMs);
  if (said.kind !== 'answer') return { kind: 'closed', reason: said.reason };
  switch (channel.stateIn(said.answer, sessionId)) {
    case 'resting':
      return undefined;
    case 'busy':
      return { kind: 'skipped', reason: refusals.busy };
    case 'elsewhere':
      return { kind: 'closed', reason: 'it does not have this conversation' };
    case undefined:
      return { kind: 'closed', reason: UNKNOWN_FORM };
  }
};

/** The same by the screen and the user's keys. */
const screenRefusal = async (
  { port, signal }: ChannelRequest,
  typedBefore: number,
): Promise<string | undefined> => {
  await port.refresh();
  const observed = await observeAfterPause(port, signal, startAwakeClock());
  if (port.hasUntoldKeys() || port.typedCount() !== typedBefore) return USER_TYPES;
  if (!observed) return 'the screen is being drawn';
  const { activity } = observed;
  return activity === 'ready' || activity === 'draft' ? undefined : refusals[activity];
};

/** An Enter that reaches the agent between these two calls would begin a turn, which some agents break off in order to compact. */
const askHolding = async (
  given: ChannelRequest,
  caller: ChannelCaller,
  typedBefore: number,
): Promise<ChannelResult> => {
  const { channel, port, signal } = given;
  const hold = await port.holdKeys(typedBefore);
  if (!hold) return { kind: 'skipped', reason: USER_TYPES };
  try {
    const hindrance = await stateHindrance(given, caller, HELD_MS);
    if (hindrance)
      return { kind: 'skipped', reason: 'reason' in hindrance ? hindrance.reason : refusals.busy };
    if (hold.waitingCount() > 0) return { kind: 'skipped', reason: USER_TYPES };
    if (signal.aborted) return { kind: 'skipped', reason: 'it took too long' };
    const asked = await caller.call('compact', HELD_MS);
    if (asked.kind === 'refused') return { kind: 'closed', reason: asked.reason };
    if (asked.kind === 'lost') return { kind: 'sent', evidence: `asked ${channel.name}: ${asked.reason}` };
    return channel.isTaken(asked.answer)
      ? { kind: 'sent', evidence: `asked ${channel.name}` }
      : { kind: 'closed', reason: UNKNOWN_FORM };
  } finally {
    hold.release();
  }
};
