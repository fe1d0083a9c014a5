// What `ctxwrap verify` may say beside what it has found.
import { UserError } from '../../core/user-error.js';

const usage = 2;

const usageError = (message: string, hint: string): UserError =>
  new UserError(message, { exitCode: usage, hint });

export const verifyNeedsFolder = (folder: string, reason: string): UserError =>
  usageError(`verify cannot make a folder in "${folder}": ${reason}`, 'name another one in TMPDIR');

/** `absent`: one sentence for each agent. */
export const nothingToVerify = (absent: readonly string[]): UserError =>
  usageError(`there is nothing to verify: ${absent.join('; ')}`, 'install an agent, and put it on PATH');

export const badOrder = (): UserError =>
  usageError('--order is for ctxwrap itself', 'try ctxwrap verify without it');

export const verifyStopped = 'verify was stopped, and nothing of it is left';

export const verifiedNotKept = (reason: string): string => `what was verified cannot be kept: ${reason}`;
