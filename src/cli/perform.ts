import { type Printable, toPrintableText } from '../core/printable.js';
import { run } from './commands/run.js';
import { print, version } from './print.js';
import type { Task } from './request.js';
import type { Outcome } from './session.js';

/** Does what was asked for. What few commands need is loaded with them. */
export const perform = async (request: Task): Promise<Outcome> => {
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
