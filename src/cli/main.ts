import { errorText, UserError } from '../core/errors.js';
import { stripControls } from '../core/text.js';
import { exitCodeOfSignal, exitBySignal } from '../wrap/exit-status.js';
import { demo, run } from './commands/run.js';
import { applyConfiguration } from './config/apply.js';
import { commandWithoutNotify, OWN_FAILURE } from './messages.js';
import { print, toAsciiIfNeeded, version } from './print.js';
import { parseArguments } from './program.js';
import type { Task } from './request.js';
import type { Outcome } from './session.js';

// The only place that prints an error and decides how this process ends.

const main = async (): Promise<void> => {
  const request = parseArguments(process.argv.slice(2), version());
  if (request.kind === 'print') {
    await print(request.text);
    return;
  }
  const task = await applyConfiguration(request);
  // a file may say when, and the command line what
  const { flags, values } = task.options;
  if (flags['notify.command'] !== undefined && !values['notify.on']) throw commandWithoutNotify();
  finish(await perform(task), values.quiet);
};

const perform = async (request: Task): Promise<Outcome> => {
  switch (request.kind) {
    case 'run':
      return run(request);
    case 'demo':
      return demo(request);
    case 'init':
      // at each start of a shell
      return printed((await import('./shell/init.js')).init(request));
    case 'complete':
      return printed(await (await import('./shell/complete.js')).complete(request));
    case 'replay':
      // with a screen model of its own, which nothing else must wait for
      return (await import('./commands/replay.js')).replay(request);
    case 'verify':
      // with a model server and a terminal of its own
      return (await import('./commands/verify.js')).verify(request);
    default:
      return performLater(request);
  }
};

type LaterTask = Exclude<Task, { readonly kind: 'run' | 'demo' | 'init' | 'complete' | 'replay' | 'verify' }>;

const performLater = async (request: LaterTask): Promise<Outcome> => {
  const { compact, config, context, doctor, hold, ps } = await import('./commands/later.js');
  switch (request.kind) {
    case 'ps':
      return printed(await ps(request));
    case 'context':
      return printed(await context(request));
    case 'doctor':
      return doctor(request);
    case 'compact':
      return compact(request);
    case 'hold':
      return hold();
    case 'config':
      return config(request);
  }
};

const printed = async (text: string): Promise<Outcome> => {
  await print(text);
  return { status: { kind: 'code', code: 0 }, notices: [] };
};

const finish = ({ status, notices }: Outcome, quiet: boolean): void => {
  for (const notice of quiet ? [] : notices) say(toAsciiIfNeeded(notice, process.env));
  if (status.kind === 'signal') exitBySignal(status.signal);
  // The child is gone: nothing of ours that is still open may keep the user's shell waiting.
  process.exit(status.kind === 'signal' ? exitCodeOfSignal(status.signal) : status.code);
};

const fail = (error: unknown): void => {
  say(toAsciiIfNeeded(errorText(error), process.env));
  if (error instanceof UserError && error.hint !== undefined) say(error.hint); // it may be a command, to be copied
  process.exitCode = error instanceof UserError ? error.exitCode : OWN_FAILURE;
};

// What is told was given by somebody: a name of a file, a word of a definition.
const say = (text: string): void =>
  void process.stderr.write(`ctxwrap: ${text.split('\n').map(stripControls).join('\n')}\n`);

process.stderr.on('error', () => undefined); // there is no other place to tell of it

main().catch(fail);
