import type { UserError } from '../core/errors.js';
import { failure, listed, usageError } from './usage-error.js';

// Messages of `ctxwrap checkpoint`.

export const noRunningSession = (): UserError =>
  usageError('no session is running', 'start one with ctxwrap claude');

export const nothingKept = (given: string): UserError =>
  usageError(
    `the black box has no copy of "${given}"`,
    'ctxwrap checkpoint list shows what is kept; ctxwrap checkpoint --help lists the commands',
  );

export const noCheckpoint = (given: string): UserError =>
  usageError(`no copy in the black box has the id "${given}"`, 'ctxwrap checkpoint list shows what is kept');

export const severalCheckpoints = (given: string, ids: readonly string[]): UserError =>
  usageError(`"${given}" matches ${ids.length} copies`, `type more of the id of one:${listed(ids)}`);

export const blackBoxOff = (): UserError =>
  usageError('the black box is off, so nothing is copied', 'ctxwrap config show --origin says where');

export const noSessionFile = (agent: string): UserError =>
  usageError(
    `the session file of ${agent} is not known yet`,
    'send the agent a message first; ctxwrap doctor says what is read',
  );

export const copyFailed = (path: string, reason: string): UserError =>
  failure(`cannot copy "${path}": ${reason}`, 'ctxwrap doctor');

export const restoreExists = (path: string): UserError =>
  usageError(`"${path}" already exists, and ctxwrap overwrites no file`, 'choose a new file name');

/** `about`: what the reason is about, the copy or the file to be written */
export const restoreFailed = (id: string, path: string, reason: string, about: 'copy' | 'file'): UserError =>
  failure(
    `cannot restore ${id} to "${path}": ${reason}`,
    about === 'copy'
      ? 'ctxwrap checkpoint list shows the other copies'
      : 'name a file in a folder that exists and that you can write to',
  );

export const pruneFailed = (reason: string): UserError =>
  failure(`not everything could be removed: ${reason}`, 'ctxwrap checkpoint list shows what is left');

export const badAge = (given: string): UserError =>
  usageError(`--older-than must be a time such as 30d, 12h or 2w, got "${given}"`, 'try --older-than 30d');

export const badSize = (given: string): UserError =>
  usageError(`--limit must be a size such as 500MB, 2GB or 0, got "${given}"`, 'try --limit 500MB');
