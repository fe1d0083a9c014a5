import { appendFileSync, closeSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { UserError } from '../core/json.js';
import { startInput } from '../core/terminal-input.js';
import { advance, demoDeadline, startDemo, type Demo } from './agent.js';
import type { Size } from './draw.js';
import { escapeWaitMs, flushKeys, readKeys, type Key, type KeyRead } from './keys.js';
import { type Step, parseScript, story } from './script.js';
import type { Effect, Event } from './state.js';

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

// The side of the demo agent that touches the world: terminal, clock, signals, session log.

export interface Launch {
  readonly steps: readonly Step[];
  /** virtual milliseconds per real one */
  readonly pace: number;
  /** path of the session log */
  readonly log?: string;
}

const signals = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const;

/** Runs the agent until it ends the process. */
export const run = ({ steps, pace, log }: Launch): void => {
  let demo: Demo = startDemo({ size: sizeNow(), colors: !process.env['NO_COLOR'] }, steps);
  let alarm: NodeJS.Timeout | undefined;
  const began = performance.now();
  const now = (): number => (performance.now() - began) * pace;
  const happen = (event: Event): void => {
    const advanced = advance(demo, event, now());
    demo = advanced.demo;
    for (const effect of advanced.effects) perform(effect, log);
    clearTimeout(alarm);
    const due = demoDeadline(demo, now());
    if (due === undefined) return;
    alarm = setTimeout(() => happen({ type: 'tick' }), Math.max(0, Math.ceil((due - now()) / pace)));
  };

  listenToKeys((key) => happen({ type: 'key', key }));
  process.stdout.on('error', () => process.exit(1)); // nobody reads any more
  process.stdout.on('resize', () => happen({ type: 'resize', size: sizeNow() }));
  // keys that came before the signal are read first, and are lost
  process.on('SIGCONT', () => setImmediate(() => happen({ type: 'continued' })));
  for (const signal of signals) process.on(signal, () => happen({ type: 'signal', signal }));
  happen({ type: 'start' }); // who sees the first output may send a key or a signal at once
};

const sizeNow = (): Size => ({ columns: process.stdout.columns ?? 80, rows: process.stdout.rows ?? 24 });

const listenToKeys = (press: (key: Key) => void): void => {
  let state = startInput;
  let waiting: NodeJS.Timeout | undefined;
  const take = (read: KeyRead): void => {
    ({ state } = read);
    read.keys.forEach(press);
  };
  process.stdin.setEncoding('utf8');
  process.stdin.on('data', (bytes: string) => {
    clearTimeout(waiting);
    take(readKeys(state, bytes));
    if (state.held !== '') waiting = setTimeout(() => take(flushKeys(state)), escapeWaitMs);
  });
  // a terminal that is gone ends the agent, as SIGHUP would; a script without a terminal plays on
  process.stdin.on('end', () => process.stdin.isTTY && process.exit(0));
};

const perform = (effect: Effect, log: string | undefined): void => {
  switch (effect.type) {
    case 'write':
      process.stdout.write(effect.text);
      return;
    case 'record':
      appendLine(log, JSON.stringify({ ...effect.record, at: Date.now() }));
      return;
    case 'append':
      appendLine(log, effect.line);
      return;
    case 'raw':
      setRaw(effect.on);
      return;
    case 'stop':
      process.kill(process.pid, 'SIGTSTP');
      return;
    case 'close-output':
      closeSync(1);
      closeSync(2);
      return;
    case 'end':
      process.exit(effect.code);
      return;
    case 'die':
      for (const signal of signals) process.removeAllListeners(signal);
      process.kill(process.pid, effect.signal);
  }
};

const appendLine = (log: string | undefined, line: string): void => {
  if (log === undefined || log === '') return;
  try {
    appendFileSync(log, `${line}\n`, { mode: 0o600 });
  } catch {
    // an agent goes on without its log
  }
};

/** Off and on again: after a stop the terminal is cooked although Node believes that it is raw. */
const setRaw = (on: boolean): void => {
  if (!process.stdin.isTTY) return;
  process.stdin.setRawMode(false);
  if (on) process.stdin.setRawMode(true);
};

// The demo agent: a program that looks and behaves like a coding agent, without a model. `ctxwrap demo` runs it as its child.

const stepsOf = ({ script, auto }: Options): readonly Step[] => {
  if (script === undefined) return auto ? story : [];
  try {
    return parseScript(readFileSync(script, 'utf8'));
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`cannot read the script ${script}`, { exitCode: 2 });
  }
};

try {
  const options = parseOptions(process.argv.slice(2));
  const log = process.env['CTXWRAP_DEMO_LOG'];
  run({ steps: stepsOf(options), pace: options.pace, ...(log ? { log } : {}) });
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  process.stderr.write(`demo-agent: ${error.message}\n${error.hint === undefined ? '' : `${error.hint}\n`}`);
  process.exitCode = error.exitCode;
}
