import { UserError } from '../core/errors.js';

// What all messages of the command line share.

const usage = 2;

/** The command line is wrong; `hint` is one that is right. */
export const usageError = (message: string, hint: string): UserError =>
  new UserError(message, { exitCode: usage, hint });

/** The command line is right, and what it asks for cannot be done; `hint` is what helps. */
export const failure = (message: string, hint: string): UserError =>
  new UserError(message, { exitCode: 1, hint });

const MOST_LISTED = 20;

/** Sessions one below the other, the first of them and how many more there are. */
export const listed = (names: readonly string[]): string => {
  const more = names.length - MOST_LISTED;
  const shown = more > 0 ? [...names.slice(0, MOST_LISTED), `and ${more} more: ctxwrap ps --all`] : names;
  return shown.map((name) => `\n  ${name}`).join('');
};
