import { isMainThread } from 'node:worker_threads';
import { errorText, UserError } from '../core/errors.js';
import { own, type Printable, toPrintableLines, toPrintableText } from '../core/printable.js';
import { exitCodeOfSignal, exitBySignal, exitWithoutThreads } from '../main-thread/exit-status.js';
import { run } from './commands/run.js';
import { applyConfiguration } from './config/apply.js';
import { commandWithoutNotify, OWN_FAILURE } from './messages.js';
import { print, printError, toAsciiIfNeeded, version } from './print.js';
import { parseArguments } from './program.js';
import type { Task } from './request.js';
import type { Outcome } from './session.js';
import { runThread } from './worker-thread.js';

// The entry point: the only place that prints errors and decides how this process exits.

const main = async (): Promise<void> => {
  const request = parseArguments(process.argv.slice(2), version());
  if (request.kind === 'print') {
    await print(toPrintableText(request.text));
    return;
  }
  const task = await applyConfiguration(request);
  // the mode may come from a file, the command only from the command line
  const { flags, values } = task.options;
  if (flags['notify.command'] !== undefined && !values['notify.on']) throw commandWithoutNotify();
  finish(await perform(task), values.quiet);
};

const perform = async (request: Task): Promise<Outcome> => {
  switch (request.kind) {
    case 'run':
      return run(request);
    case 'demo':
      return (await import('./commands/demo.js')).demo(request);
    case 'init':
      // runs at every start of a shell
      return printed(toPrintableText((await import('./shell/init.js')).init(request)));
    case 'complete':
      return printed(await (await import('./shell/complete.js')).complete(request));
    case 'replay':
      // loads a screen model, which other commands should not wait for
      return (await import('./commands/replay.js')).replay(request);
    case 'top':
      // loads Ink
      return (await import('./commands/top.js')).top(request);
    case 'report':
      // loads what draws the charts
      return printed(await (await import('./commands/report.js')).report(request, version()));
    case 'verify':
      // loads a mock model server and a terminal
      return (await import('./commands/verify.js')).verify(request);
    default:
      return performLater(request);
  }
};

type LaterTask = Exclude<
  Task,
  { readonly kind: 'run' | 'demo' | 'init' | 'complete' | 'replay' | 'report' | 'top' | 'verify' }
>;

const performLater = async (request: LaterTask): Promise<Outcome> => {
  const later = await import('./commands/later.js');
  const { checkpoint, compact, config, context, doctor, hold, ps, watchSessions } = later;
  switch (request.kind) {
    case 'ps':
      return request.watch ? watchSessions(request) : printed(await ps(request));
    case 'agents':
      return printed(await later.agentsCommand(request));
    case 'events':
      return later.events(request);
    case 'context':
      return context(request);
    case 'doctor':
      return doctor(request);
    case 'checkpoint':
      return printed(await checkpoint(request));
    case 'compact':
      return compact(request);
    case 'hold':
      return hold();
    case 'config':
      return config(request);
    case 'history':
      return later.history(request);
    case 'history-show':
      return later.historyShow(request);
    case 'brief':
      return later.brief(request);
    case 'receipt':
      return later.receipt(request);
    case 'handoff':
      return later.handoff(request, run);
    case 'undo':
      return later.undo(request, run);
    case 'shorten':
      return later.shortenCommand(request);
  }
};

const printed = async (text: Printable): Promise<Outcome> => {
  await print(text);
  return { status: { kind: 'code', code: 0 }, notices: [] };
};

const finish = ({ status, notices, isLineOpen, hasStuckThread }: Outcome, quiet: boolean): void => {
  const told = quiet ? [] : notices;
  if (isLineOpen && told.length > 0 && process.stderr.isTTY) printError(own`\n`);
  for (const notice of told) say(toAsciiIfNeeded(notice, process.env));
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

process.stderr.on('error', () => undefined); // there is nowhere else to report it

if (isMainThread) main().catch(fail);
else void runThread();
