/**
 * An error the user can do something about: what is wrong and what was given (message), the command that fixes it (hint).
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
