import { isatty } from 'node:tty';
import { errorText, UserError } from '../core/errors.js';
import { formatControlKey } from '../core/format.js';
import { own, toPrintableLines, toPrintableText } from '../core/printable.js';
import { startSttyProcess, type SttyProcess } from '../terminal/stty-process.js';
import { exitCodeOfSignal, exitBySignal, exitWithoutThreads } from '../main-thread/exit-status.js';
import { applyConfiguration } from './config/apply.js';
import { commandWithoutNotify, oneKeyForTwo, OWN_FAILURE } from './messages.js';
import { perform } from './commands/run.js';
import { print, printError, toAsciiIfNeeded, version } from './print.js';
import { sharedProgramFile } from './program-file.js';
import type { Task } from './request.js';
import { readLaunch } from './read-launch.js';
import type { Outcome } from './session.js';

// The entry point: the only place that prints errors and decides how this process exits.

const main = async (): Promise<void> => {
  const argv = process.argv.slice(2);
  const request = readLaunch(argv) ?? (await import('./program.js')).parseArguments(argv, version());
  if (request.kind === 'print') {
    await print(toPrintableText(request.text));
    return;
  }
  // it reads the terminal's settings while all else is prepared
  const stty = request.kind === 'run' && isatty(0) && isatty(1) ? startSttyProcess() : undefined;
  try {
    await carryOut(request, stty);
  } catch (error) {
    (await stty)?.disarm(); // its pipes would keep this process running
    throw error;
  }
};

const carryOut = async (request: Task, stty: Promise<SttyProcess> | undefined): Promise<void> => {
  const task = await applyConfiguration(request);
  // the mode may come from a file, the command only from the command line
  const { flags, values } = task.options;
  if (flags['notify.command'] !== undefined && !values['notify.on']) throw commandWithoutNotify();
  const isKeyGiven = flags.hotkey !== undefined || flags.notNow !== undefined;
  if (isKeyGiven && values.hotkey === values.notNow) throw oneKeyForTwo(formatControlKey(values.hotkey));
  finish(await perform(task, stty), values.quiet);
};

const finish = ({ status, notices, isLineOpen, hasStuckThread }: Outcome, quiet: boolean): void => {
  const printed = quiet ? [] : notices;
  if (isLineOpen && printed.length > 0 && process.stderr.isTTY) printError(own`\n`);
  for (const notice of printed) say(toAsciiIfNeeded(notice, process.env));
  if (status.kind === 'signal') exitBySignal(status.signal);
  // The child is gone: no open handle may keep the user's shell waiting.
  const code = status.kind === 'signal' ? exitCodeOfSignal(status.signal) : status.code;
  if (hasStuckThread) exitWithoutThreads(code);
  process.exit(code);
};

const fail = (error: unknown): void => {
  say(toAsciiIfNeeded(errorText(error), process.env));
  if (error instanceof UserError && error.hint !== undefined) say(error.hint); // it may be a command to copy
  process.exitCode = error instanceof UserError ? error.exitCode : OWN_FAILURE;
};

const say = (text: string): void => printError(toPrintableLines(`ctxwrap: ${text}`.split('\n')));

if (sharedProgramFile()?.isThread) void import('./worker-thread.js').then(({ runThread }) => runThread());
else main().catch(fail);
