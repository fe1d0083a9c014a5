import type { ScreenEvidence } from '../agents/agent.js';
import type { AgentChannel, ChannelContext, ChannelUndo, UndoEvidence } from '../agents/channel.js';
import { isRunningAs } from '../core/report/records.js';
import { listSessions } from '../storage/sessions.js';
import { homeFolder, stateFolder } from '../storage/state-folder.js';
import type { OpenChannel, WrapSession } from '../session/options.js';
import { withLimit } from '../storage/timing.js';
import { observeAfterPause, startAwakeClock, type TypistPort } from './typing-steps.js';
import { refusals, USER_TYPES } from './typist.js';
import type { NotDone } from './action.js';
import type { ChannelCaller } from './channel-caller.js';

// Asks an agent by its control channel to compact, to undo a compaction or to give the model a text. No key is typed, so text in the prompt stays; it still waits for turns and
// dialogs to end.

export interface ChannelRequest {
  readonly channel: AgentChannel;
  readonly open: OpenChannel;
  /** the agent's process */
  readonly childPid: number;
  /** the conversation of this terminal; undefined while it is not known */
  readonly sessionId: string | undefined;
  /** ctxwrap knows another terminal with the same one: one of the two is wrong about it. Must not reject */
  readonly isElsewhereToo: () => Promise<boolean>;
  readonly port: Pick<TypistPort, 'observe' | 'refresh' | 'typedCount' | 'hasUnreportedKeys' | 'holdKeys'>;
  readonly signal: AbortSignal;
}

type NotAsked =
  /** it was not asked */
  | { readonly kind: 'skipped'; readonly reason: string }
  /** it has not taken the request, and would not do so later */
  | { readonly kind: 'closed'; readonly reason: string };

export type ChannelResult =
  | NotAsked
  /** the agent has taken the request, or may have */
  | { readonly kind: 'sent'; readonly evidence: string };

/** What can be asked of the agent about this conversation. */
interface Connection<Call> {
  readonly caller: ChannelCaller<Call>;
  readonly state: Call;
  readonly compact: Call;
  readonly undo: ChannelUndo<Call> | undefined;
  readonly context: ChannelContext<Call> | undefined;
}

/** What is asked of an agent at rest, while the user's keys are held. */
type Request<Result> = <Call>(connection: Connection<Call>) => Promise<Result>;

const UNKNOWN_FORM = 'an answer in an unknown format';
const ANSWER_MS = 5_000; // on a busy machine; it answers in milliseconds
const HELD_MS = 1_500; // the same while the user's keys are held
const ASKING_MS = 12_000; // all of it: later the attempt counts as one that did not end
const UNDO_MS = 5_000; // it loads the conversation anew

/** Resolves as soon as the agent has taken the request, which is before it compacts. Never rejects. */
export const askToCompact = (given: ChannelRequest): Promise<ChannelResult> =>
  askAtRest<ChannelResult>(given, async ({ caller, compact }) => {
    const { channel } = given;
    const asked = await caller.call(compact, HELD_MS);
    if (asked.kind === 'refused') return { kind: 'closed', reason: asked.reason };
    if (asked.kind === 'lost') return { kind: 'sent', evidence: `asked ${channel.name}: ${asked.reason}` };
    return channel.isTaken(asked.answer)
      ? { kind: 'sent', evidence: `asked ${channel.name}` }
      : { kind: 'closed', reason: UNKNOWN_FORM };
  });

export interface ChannelUndoRequest extends ChannelRequest {
  readonly sessionId: string;
  /** the child's screen now */
  readonly seen: () => ScreenEvidence | undefined;
  /** when the last compaction ended (wall clock) */
  readonly compactedAt: UndoEvidence['compactedAt'];
}

export type ChannelUndoResult = NotAsked | NotDone | { readonly kind: 'undone' };

/** Has the agent take back its last compaction; resolves when it says that it has. Never rejects. */
export const askToUndo = (given: ChannelUndoRequest): Promise<ChannelUndoResult> =>
  askAtRest<ChannelUndoResult>(given, async ({ caller, undo }) => {
    const { sessionId, seen, compactedAt } = given;
    if (!undo) return { kind: 'refused', reason: `${given.channel.name} has no undo` };
    const answers: unknown[] = [];
    for (const look of undo.looks(sessionId)) {
      const reply = await caller.call(look, HELD_MS);
      if (reply.kind !== 'answer') return { kind: 'closed', reason: reply.reason };
      answers.push(reply.answer);
    }
    const target = undo.find({ answers, seen: seen(), compactedAt });
    if (!target) return { kind: 'closed', reason: UNKNOWN_FORM };
    if ('refusal' in target) return { kind: 'refused', reason: target.refusal };
    const asked = await caller.call(undo.undo(sessionId, target.id), UNDO_MS);
    if (asked.kind === 'lost') return { kind: 'unknown', reason: asked.reason };
    if (asked.kind === 'refused') return { kind: 'refused', reason: asked.reason };
    return undo.isUndone(asked.answer, target.id)
      ? { kind: 'undone' }
      : { kind: 'unknown', reason: 'the agent does not say that it has taken it back' };
  });

export interface ChannelGiveRequest extends ChannelRequest {
  readonly sessionId: string;
  readonly text: string;
}

export type ChannelGiveResult =
  | NotAsked
  | { readonly kind: 'given' }
  /** the agent was told, and what it has done is not known */
  | { readonly kind: 'unknown'; readonly reason: string };

/** Has the agent add a text to what the model knows of the conversation; resolves when it says that it has. Never rejects. */
export const askToGive = (given: ChannelGiveRequest): Promise<ChannelGiveResult> =>
  askAtRest<ChannelGiveResult>(given, async ({ caller, context }) => {
    if (!context) return { kind: 'closed', reason: `${given.channel.name} takes no text` };
    const asked = await caller.call(context.give(given.sessionId, given.text), HELD_MS);
    if (asked.kind === 'refused') return { kind: 'closed', reason: asked.reason };
    if (asked.kind === 'lost') return { kind: 'unknown', reason: asked.reason };
    return context.isGiven(asked.answer) ? { kind: 'given' } : { kind: 'unknown', reason: UNKNOWN_FORM };
  });

/** Asks once the agent rests, by its own word and by its screen. */
const askAtRest = async <Result>(
  request: ChannelRequest,
  ask: Request<Result>,
): Promise<Result | NotAsked> => {
  const { channel, open, childPid, sessionId, port } = request;
  const signal = withLimit(request.signal, ASKING_MS);
  const given = { ...request, signal };
  const typedBefore = port.typedCount();
  if (channel.needsSession && (await given.isElsewhereToo()))
    return { kind: 'closed', reason: 'another terminal has this conversation, too' };
  if (channel.via === 'server' && open.via === 'server') {
    const { makeServerCaller } = await import('./agent-server.js');
    const { state, compact, undo, context } = channel;
    const caller = makeServerCaller({ channel, open, childPid, signal });
    return askThrough(given, { caller, state, compact, undo, context }, { ask, typedBefore });
  }
  if (channel.via === 'daemon' && open.via === 'daemon' && sessionId !== undefined) {
    const { connectToDaemon } = await import('./agent-daemon.js');
    const [state, compact] = [channel.state(sessionId), channel.compact(sessionId)];
    const { undo, context } = channel;
    const caller = await connectToDaemon({ channel, open, signal });
    return askThrough(given, { caller, state, compact, undo, context }, { ask, typedBefore });
  }
  return { kind: 'closed', reason: 'the conversation is not known' };
};

interface Asking<Result> {
  readonly ask: Request<Result>;
  /** how much the user had typed when this began */
  readonly typedBefore: number;
}

const askThrough = async <Call, Result>(
  given: ChannelRequest,
  connection: Connection<Call>,
  asking: Asking<Result>,
): Promise<Result | NotAsked> => {
  try {
    const hindrance = await stateHindrance(given, connection, ANSWER_MS);
    if (hindrance) return hindrance;
    const reason = await screenRefusal(given, asking.typedBefore);
    if (reason !== undefined) return { kind: 'skipped', reason };
    return await askHolding(given, connection, asking);
  } finally {
    connection.caller.close();
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
      isRunningAs(liveness) && id !== wrapper?.id && runtime === agent.name && agentSessionId === sessionId,
  );
};

/** Why it must not be asked now, by what it says of itself; undefined where it may. */
const stateHindrance = async <Call>(
  { channel, sessionId }: ChannelRequest,
  { caller, state }: Connection<Call>,
  waitMs: number,
): Promise<NotAsked | undefined> => {
  const reply = await caller.call(state, waitMs);
  if (reply.kind !== 'answer') return { kind: 'closed', reason: reply.reason };
  switch (channel.stateIn(reply.answer, sessionId)) {
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
  if (port.hasUnreportedKeys() || port.typedCount() !== typedBefore) return USER_TYPES;
  if (!observed) return 'the screen is being drawn';
  const { activity } = observed;
  return activity === 'ready' || activity === 'draft' ? undefined : refusals[activity];
};

/** An Enter that reaches the agent between these two calls would begin a turn, which some agents break off in order to compact. */
const askHolding = async <Call, Result>(
  given: ChannelRequest,
  connection: Connection<Call>,
  { ask, typedBefore }: Asking<Result>,
): Promise<Result | NotAsked> => {
  const { port, signal } = given;
  const hold = await port.holdKeys(typedBefore);
  if (!hold) return { kind: 'skipped', reason: USER_TYPES };
  try {
    const hindrance = await stateHindrance(given, connection, HELD_MS);
    if (hindrance) return { kind: 'skipped', reason: hindrance.reason };
    if (hold.waitingCount() > 0) return { kind: 'skipped', reason: USER_TYPES };
    if (signal.aborted) return { kind: 'skipped', reason: 'it took too long' };
    return await ask(connection);
  } finally {
    hold.release();
  }
};
