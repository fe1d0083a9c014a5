// Errors about the file of a configuration, and what a start says of one that is wrong.
import { UserError } from '../../core/user-error.js';
import { countOf } from '../../core/config/few-problems.js';
import type { Problem } from '../../core/config/setting.js';
import { oneLine } from '../../core/one-line.js';
import { findingOf } from './findings.js';
import type { Finding } from './findings.js';

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

/** One line for the footer; what is left of it in little room is what to do. */
export const noticeOf = (problems: readonly Problem[]): string | undefined => {
  const [first] = problems;
  if (!first) return undefined;
  return `see ctxwrap config check: ${problems.length === 1 ? shortly(first) : `${countOf(problems)} problems`}`;
};

/** In our own words only where a folder has written the file: it must not speak to the user in our place. */
const shortly = (problem: Problem): string => {
  if (problem.origin.layer === 'project') return 'a problem in .ctxwrap.jsonc';
  return oneLine(findingOf(problem).what, LONGEST_WHAT);
};

const LONGEST_WHAT = 80; // characters

/** One line for the log. */
export const detailOf = ({ what, where, why, fix }: Finding): string =>
  `configuration: ${what} (${where}): ${why}; mend it with: ${fix}`;
