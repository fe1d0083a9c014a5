import { vi } from 'vitest';
import { applyConfiguration } from '../../src/cli/config/apply.js';
import { perform } from '../../src/cli/commands/run.js';
import { printError } from '../../src/cli/print.js';
import { parseArguments } from '../../src/cli/program.js';
import type { Outcome } from '../../src/cli/session.js';
import { errorText, UserError } from '../../src/core/errors.js';
import { toPrintableLines } from '../../src/core/printable.js';
import type { Bench, Ended } from '../cli/launcher.js';

const performed = async (words: readonly string[]): Promise<Outcome> => {
  const request = parseArguments(words, '0.1.0');
  if (request.kind !== 'print') return perform(await applyConfiguration(request));
  process.stdout.write(request.text);
  return { status: { kind: 'code', code: 0 }, notices: [] };
};

const FAILURE = 70; // an error that is nobody's

/**
 * A command that reads, writes files and prints, in this process: starting one of its own takes ten times as long as what it does. One at a
 * time. What the entry point makes of notices and errors is said here again, so each command runs as a process somewhere, too.
 */
export const ctxwrapHere = async (words: readonly string[], bench: Bench): Promise<Ended> => {
  const told = { stdout: '', stderr: '' };
  const folder = process.cwd();
  for (const name of Object.keys(process.env)) vi.stubEnv(name, undefined);
  for (const [name, value] of Object.entries(bench.env)) vi.stubEnv(name, value);
  process.chdir(bench.folder);
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((text, ...rest) => {
      told[stream] += String(text);
      for (const done of rest) if (typeof done === 'function') done();
      return true;
    }),
  );
  const say = (text: string): void => printError(toPrintableLines(`ctxwrap: ${text}`.split('\n')));
  let code = FAILURE;
  try {
    const { status, notices } = await performed(words);
    notices.forEach(say);
    code = status.kind === 'code' ? status.code : FAILURE;
  } catch (error) {
    say(errorText(error));
    if (error instanceof UserError && error.hint !== undefined) say(error.hint);
    code = error instanceof UserError ? error.exitCode : FAILURE;
  } finally {
    spies.forEach((spy) => spy.mockRestore());
    vi.unstubAllEnvs();
    process.chdir(folder);
  }
  return { ...told, code, signal: null };
};
