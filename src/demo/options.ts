import { UserError } from '../core/user-error.js';

export interface Options {
  /** a scripted user plays; otherwise the keyboard does */
  readonly auto: boolean;
  /** how much faster than real time, for tests */
  readonly pace: number;
  /** file with a script; see `Step` */
  readonly script?: string;
}

export const parseOptions = (args: readonly string[]): Options => {
  let options: Options = { auto: true, pace: 1 };
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at];
    const value = args[at + 1];
    switch (arg) {
      case '--auto':
        options = { ...options, auto: true };
        break;
      case '--interactive':
        options = { ...options, auto: false };
        break;
      case '--pace':
        options = { ...options, pace: parsePace(value) };
        at += 1;
        break;
      case '--script':
        if (value === undefined) throw wrong('--script needs a file');
        options = { ...options, script: value };
        at += 1;
        break;
      default:
        throw wrong(`unknown option ${arg}`);
    }
  }
  return options;
};

const parsePace = (text: string | undefined): number => {
  const pace = Number(text);
  if (pace > 0 && Number.isFinite(pace)) return pace;
  throw wrong(`--pace must be a number above 0, got "${text ?? ''}"`);
};

const wrong = (message: string): UserError =>
  new UserError(message, {
    exitCode: 2,
    hint: 'options: --auto, --interactive, --pace N, --script FILE.json',
  });
