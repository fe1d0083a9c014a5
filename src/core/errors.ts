// Errors of ctxwrap and of the system, as text.

/**
 * An error that the user can fix: `message` says what is wrong and what was given, `hint` is the command that fixes it.
 * Only cli/main.ts prints it and sets the exit code.
 */
export class UserError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: number;

  constructor(message: string, options: { readonly exitCode: number; readonly hint?: string }) {
    super(message);
    this.name = 'UserError';
    this.hint = options.hint;
    this.exitCode = options.exitCode;
  }
}

/** A summary could not be written: `message` is a sentence without a full stop, and holds nothing of the conversation. */
export class SummaryError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SummaryError';
  }
}

/** A file holds more than is read of one: it is left out. `message` says what the limit is: `reading it takes more than 10 s`. */
export class LimitError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'LimitError';
  }
}

/** The error's message. */
export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Why something was not read, for the log and the overview. */
export const troubleText = (error: unknown): string =>
  error instanceof LimitError ? `left out: ${error.message}` : errorText(error);

/** The error's message and stack, for the log. */
export const errorStack = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

/** The code of a failed system call: `ENOENT`. */
export const errorCode = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined;
