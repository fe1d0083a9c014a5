import type { ShortenedSession } from '../core/compaction/shortened-session.js';
import type { Conversation, NewSession } from '../core/conversation/conversation.js';
import { errorText } from '../core/errors.js';
import { formatTokens } from '../core/format.js';
import { present } from '../core/present.js';
import { budgetFor, type KnownWindow } from '../core/strategies/budget.js';
import {
  changeBetween,
  checkShortened,
  isSameWindow,
  obstacleIn,
  type Change,
} from '../core/strategies/check.js';
import { sizeForBudget } from '../core/strategies/keep.js';
import type { Strategy, StrategyOptions } from '../core/strategies/strategy.js';
import { createFile } from '../storage/files.js';
import { readWritableConversation } from './read-conversation.js';
import type { RecordSource } from './session-records.js';
import { checkpointName, writeSession } from './write-session.js';

// Shortens the conversation of a session file by a strategy: the result becomes a new session of the same agent. The file is only read.

/** Why a conversation is not shortened; the message is a sentence without a full stop. */
export class ShortenError extends Error {
  override readonly name = 'ShortenError';
  readonly why: ShortenObstacle | undefined;
  /** the command that helps */
  readonly fix: string | undefined;

  constructor(message: string, why?: ShortenObstacle, fix?: string) {
    super(message);
    this.why = why;
    this.fix = fix;
  }
}

/** `nothing`: there is nothing that could be removed; `no-strategy`: there is no such strategy, or its module cannot be used. */
export type ShortenObstacle = 'nothing' | 'no-strategy';

export interface ShortenRequest {
  readonly source: RecordSource;
  readonly strategy: Strategy;
  readonly options: Omit<StrategyOptions, 'budgetTokens'>;
  /** in estimated tokens; what the window allows when absent */
  readonly budgetTokens?: number | undefined;
  readonly known: KnownWindow;
  /** the agent cannot go on with it as it is, whatever the numbers say */
  readonly isTooLong?: boolean;
}

/** A shortened conversation that was checked and is not written yet. */
export interface Shortened {
  readonly before: Conversation;
  readonly after: Conversation;
  readonly change: Change;
  readonly budgetTokens: number;
  /** the window before, as the agent reported it, or estimated */
  readonly preTokens: number;
  /** the agent's number is not known */
  readonly isEstimated?: true;
  /** the window afterwards, in the agent's tokens where it has reported them */
  readonly windowTokens: number;
}

/** Computes it. Rejects with a ShortenError, and with the system's error where the file cannot be read. */
export const shorten = async (request: ShortenRequest): Promise<Shortened> => {
  const { source, strategy } = request;
  const before = await readWritableConversation(source);
  if (!before)
    throw new ShortenError(`ctxwrap does not know the session files of ${source.agent.name} well enough`);
  const obstacle = obstacleIn(before);
  if (obstacle !== undefined) throw new ShortenError(obstacle);
  const budget = budgetFor(before, request.known);
  const estimated = sizeForBudget(before);
  const most = request.isTooLong ? Math.floor(estimated / 2) : Infinity;
  const { budgetTokens = Math.min(most, budget.budgetTokens) } = request;
  const options = { ...request.options, budgetTokens };
  const { signal } = options;
  if (estimated <= budgetTokens)
    throw new ShortenError(
      `about ${formatTokens(estimated)} tokens are within its budget of ${formatTokens(budgetTokens)}`,
      'nothing',
    );
  const after = await strategy(before, options).catch((error: unknown) => {
    throw new ShortenError(signal.aborted ? 'it was interrupted' : errorText(error));
  });
  if (isSameWindow(before, after)) throw new ShortenError('everything would be kept', 'nothing');
  const reason = checkShortened(before, after, options);
  if (reason !== undefined) throw new ShortenError(reason);
  const windowTokens = budget.toWindow(sizeForBudget(after));
  const { warnTokens = Infinity } = request.known;
  if (windowTokens >= warnTokens)
    throw new ShortenError(`the window would still be at ${formatTokens(windowTokens)}, not below warn`);
  const change = changeBetween(before, after);
  const { usedTokens } = request.known;
  const size =
    usedTokens === undefined
      ? ({ preTokens: change.tokensBefore, isEstimated: true } as const)
      : { preTokens: usedTokens, ...(request.known.isEstimated ? ({ isEstimated: true } as const) : {}) };
  return { before, after, change, budgetTokens, ...size, windowTokens };
};

/** Where a shortened conversation went, and what the agent's command takes it by. */
export interface Written {
  readonly name: string;
  readonly path: string;
}

export interface WriteRequest extends Pick<ShortenRequest, 'source'> {
  /** the name of the strategy */
  readonly strategy: string;
  readonly as: NewSession;
  /** told before the session can be seen, for the audit log */
  readonly onWrite: (session: ShortenedSession) => void | Promise<void>;
}

/** Writes it as a new session beside the file. Rejects with a ShortenError, and with the system's error. */
export const writeShortened = async (
  { source, strategy, as: given, onWrite }: WriteRequest,
  { after, preTokens, isEstimated, windowTokens }: Shortened,
): Promise<Written> => {
  const { agent, path: from } = source;
  const form = agent.newSessions;
  const as = { ...given, cwd: after.head.cwd ?? given.cwd, usedTokens: windowTokens, preTokens };
  const lines = form?.write(after, as);
  if (!form || !lines) throw new ShortenError(`${agent.name} could not continue with what is left`);
  const { id, now: at } = as;
  const sizes = { preTokens, ...present({ isEstimated }), postTokens: windowTokens };
  await onWrite({ runtime: agent.name, strategy, id, at, from, ...sizes });
  return { name: id, path: await writeSession(from, form, as, lines) };
};

/**
 * Writes what the running agent takes it from: a session, or a checkpoint for an agent that takes no other session while it runs. Rejects
 * as `writeShortened` does.
 */
export const writeForSwitch = async (request: WriteRequest, shortened: Shortened): Promise<Written> => {
  const { agent, path } = request.source;
  const checkpoint = agent.newSessions?.switching?.checkpoint;
  if (!checkpoint) return writeShortened(request, shortened);
  const name = checkpointName(request.as);
  const file = checkpoint(shortened.after, path, name);
  await createFile(file.path, [file.text]);
  return { name, path: file.path };
};
