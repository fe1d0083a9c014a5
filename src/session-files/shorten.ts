import type { Conversation, NewSession } from '../core/conversation/conversation.js';
import { errorText } from '../core/errors.js';
import { formatTokens } from '../core/format.js';
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
import { writeSession } from './write-session.js';
import { checkpointName } from './prepare-switch.js';

// Shortens the conversation of a session file by a strategy: the result becomes a new session of the same agent. The file is only read.

/** Why a conversation is not shortened; the message is a sentence without a full stop. */
export class ShortenError extends Error {
  override readonly name = 'ShortenError';
  readonly why: ShortenObstacle | undefined;

  constructor(message: string, why?: ShortenObstacle) {
    super(message);
    this.why = why;
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
  const size = sizeForBudget(before);
  const most = request.isTooLong ? Math.floor(size / 2) : Infinity;
  const { budgetTokens = Math.min(most, budget.budgetTokens) } = request;
  const options = { ...request.options, budgetTokens };
  const { signal } = options;
  if (size <= budgetTokens)
    throw new ShortenError(
      `about ${formatTokens(size)} tokens are within its budget of ${formatTokens(budgetTokens)}`,
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
  return { before, after, change: changeBetween(before, after), budgetTokens, windowTokens };
};

/** Where a shortened conversation went, and what the agent's command takes it by. */
export interface Written {
  readonly name: string;
  readonly path: string;
}

/** Writes it as a new session beside the file. Rejects with a ShortenError, and with the system's error. */
export const writeShortened = async (
  { source }: Pick<ShortenRequest, 'source'>,
  { after }: Pick<Shortened, 'after'>,
  as: NewSession,
): Promise<Written> => {
  const form = source.agent.newSessions;
  const there = { ...as, cwd: after.head.cwd ?? as.cwd };
  const lines = form?.write(after, there);
  if (!form || !lines) throw new ShortenError(`${source.agent.name} could not continue with what is left`);
  return { name: as.id, path: await writeSession(source.path, form, there, lines) };
};

/**
 * Writes what the running agent takes it from: a session, or a checkpoint for an agent that takes no other session while it runs. Rejects
 * as `writeShortened` does.
 */
export const writeForSwitch = async (
  request: Pick<ShortenRequest, 'source'>,
  shortened: Pick<Shortened, 'after'>,
  as: NewSession,
): Promise<Written> => {
  const { agent, path } = request.source;
  const checkpoint = agent.newSessions?.switching?.checkpoint;
  if (!checkpoint) return writeShortened(request, shortened, as);
  const name = checkpointName(as);
  const file = checkpoint(shortened.after, path, name);
  await createFile(file.path, [file.text]);
  return { name, path: file.path };
};
