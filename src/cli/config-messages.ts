// Errors about the file of a configuration, and what a start says of one that is wrong.
import { UserError } from '../core/user-error.js';
import type { Finding } from './config-findings.js';

const usage = 2;

export const refusedConfig = (path: string, reason: string, fix: string): UserError =>
  new UserError(`cannot use the configuration "${path}": ${reason}`, {
    exitCode: usage,
    hint: `mend it with: ${fix}`,
  });

export const brokenConfig = (path: string, check: string): UserError =>
  new UserError(`"${path}" is not valid JSONC, so nothing is added to it`, {
    exitCode: usage,
    hint: `see what is wrong with: ${check}`,
  });

export const unwritableConfig = (path: string, reason: string): UserError =>
  new UserError(`cannot write the configuration "${path}": ${reason}`, {
    exitCode: usage,
    hint: 'name another one: ctxwrap --config FILE config init',
  });

/** One line for the footer. */
export const noticeOf = (findings: readonly Finding[]): string | undefined => {
  const [first] = findings;
  if (!first) return undefined;
  const what =
    findings.length === 1 ? `configuration: ${first.what}` : `configuration: ${findings.length} problems`;
  return `${what}, see ctxwrap config check`;
};

/** One line for the log. */
export const detailOf = ({ what, where, why, fix }: Finding): string =>
  `configuration: ${what} (${where}): ${why}; mend it with: ${fix}`;
