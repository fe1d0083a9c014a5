import { appendFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { startInput } from '../core/terminal-input.js';
import { advance, demoDeadline, startDemo, type Event } from './agent.js';
import { holdModes, type Size } from './draw.js';
import { escapeWaitMs, flushKeys, readKeys, type Key, type KeyRead } from './keys.js';
import { story, type Step } from './story.js';

// The demo agent: a program that looks and behaves like a coding agent, without a model. `ctxwrap demo` runs it as its child. This is
// the side of it that touches the world: terminal, clock, signals, session log.

const signals = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const;

/** Plays the steps of a scripted user, or waits for keys, until it ends the process. `pace`: virtual milliseconds in a real one. */
const run = (steps: readonly Step[], pace: number, log: string | undefined): void => {
  let demo = startDemo({ size: sizeNow(), colors: !process.env['NO_COLOR'] }, steps);
  let alarm: NodeJS.Timeout | undefined;
  const began = performance.now();
  const now = (): number => (performance.now() - began) * pace;
  const happen = (event: Event): void => {
    if (demo.agent.end) return;
    const { output, records, ...advanced } = advance(demo, event, now());
    demo = advanced.demo;
    if (output !== '') process.stdout.write(output);
    for (const record of records) appendLine(log, JSON.stringify({ ...record, at: Date.now() }));
    clearTimeout(alarm);
    if (demo.agent.end) return leave(demo.agent.end.signal);
    const due = demoDeadline(demo, now());
    if (due === undefined) return;
    alarm = setTimeout(() => happen({ type: 'tick' }), Math.max(0, Math.ceil((due - now()) / pace)));
  };

  listenToKeys((key) => happen({ type: 'key', key }));
  process.stdout.on('error', () => process.exit(1)); // nobody reads any more
  process.stdout.on('resize', () => happen({ type: 'resize', size: sizeNow() }));
  process.on('SIGCONT', () => {
    if (demo.agent.end) return;
    holdTerminal();
    happen({ type: 'continued' });
  });
  for (const signal of signals) process.on(signal, () => happen({ type: 'signal', signal }));
  holdTerminal(); // who sees the first output may send a key or a signal at once
  happen({ type: 'start' });
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

const appendLine = (log: string | undefined, line: string): void => {
  if (!log) return;
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

/** Raw before anything is seen: who sees the prompt box may press a key. */
const holdTerminal = (): void => {
  setRaw(true);
  process.stdout.write(holdModes);
};

const leave = (signal: NodeJS.Signals | undefined): void => {
  setRaw(false);
  if (signal === undefined) process.exit(0);
  for (const each of signals) process.removeAllListeners(each);
  process.kill(process.pid, signal);
};

const { values } = parseArgs({
  options: { interactive: { type: 'boolean', default: false }, pace: { type: 'string', default: '1' } },
});
run(values.interactive ? [] : story, Number(values.pace), process.env['CTXWRAP_DEMO_LOG']);
