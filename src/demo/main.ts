import { appendFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { startInput } from '../core/terminal-input.js';
import { advance, demoDeadline, startDemo, type Demo, type DemoEvent } from './agent.js';
import { enableModes, type Size } from './draw.js';
import { escapeWaitMs, flushKeys, readKeys, type Key, type KeyRead } from './keys.js';
import { tourScript, tourTurns } from './tour.js';

// The demo agent: a program that looks and behaves like a coding agent, without a model. `ctxwrap demo` runs it as its child. This file
// does its I/O: terminal, clock, signals, session log.

const signals = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const;

/** Plays a scripted user, or waits for keys, until it ends the process. `pace`: virtual milliseconds in a real one. */
const run = (start: Demo, pace: number, log: string | undefined): void => {
  let demo = start;
  let timer: NodeJS.Timeout | undefined;
  const began = performance.now();
  const now = (): number => (performance.now() - began) * pace;
  const dispatch = (event: DemoEvent): void => {
    if (demo.agent.end) return;
    const { output, records, ...advanced } = advance(demo, event, now());
    demo = advanced.demo;
    if (output !== '') process.stdout.write(output);
    for (const record of records) appendLine(log, JSON.stringify({ ...record, at: Date.now() }));
    clearTimeout(timer);
    if (demo.agent.end) return leave(demo.agent.end.signal);
    const due = demoDeadline(demo, now());
    if (due === undefined) return;
    timer = setTimeout(() => dispatch({ type: 'tick' }), Math.max(0, Math.ceil((due - now()) / pace)));
  };

  listenToKeys((key) => dispatch({ type: 'key', key, isReal: true }));
  process.stdout.on('error', () => process.exit(1)); // the terminal is gone
  process.stdout.on('resize', () => dispatch({ type: 'resize', size: sizeNow() }));
  process.on('SIGCONT', () => {
    if (demo.agent.end) return;
    prepareTerminal();
    dispatch({ type: 'continued' });
  });
  process.on('SIGUSR2', () => dispatch({ type: 'over' })); // ctxwrap has shown its overview
  for (const signal of signals) process.on(signal, () => dispatch({ type: 'signal', signal }));
  prepareTerminal(); // before any output: whoever sees output may send a key or a signal at once
  dispatch({ type: 'start' });
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
  // the end of the input ends the agent, as SIGHUP would; without a terminal the script continues
  process.stdin.on('end', () => process.stdin.isTTY && process.exit(0));
};

const appendLine = (log: string | undefined, line: string): void => {
  if (!log) return;
  try {
    appendFileSync(log, `${line}\n`, { mode: 0o600 });
  } catch {
    // the agent continues without its log
  }
};

/** Turns raw mode off and on again: after a stop the terminal is in cooked mode although Node assumes raw mode. */
const setRaw = (on: boolean): void => {
  if (!process.stdin.isTTY) return;
  process.stdin.setRawMode(false);
  if (on) process.stdin.setRawMode(true);
};

/** Sets raw mode before any output: whoever sees the prompt box may press a key. */
const prepareTerminal = (): void => {
  setRaw(true);
  process.stdout.write(enableModes);
};

const leave = (signal: NodeJS.Signals | undefined): void => {
  setRaw(false);
  if (signal === undefined) process.exit(0);
  for (const each of signals) process.removeAllListeners(each);
  process.kill(process.pid, signal);
};

const { values } = parseArgs({
  options: {
    interactive: { type: 'boolean', default: false },
    mode: { type: 'string', default: 'auto' },
    pace: { type: 'string', default: '1' },
  },
});
const drawOptions = { size: sizeNow(), hasColors: !process.env['NO_COLOR'] };
const steps = values.interactive ? [] : tourScript;
const planned = values.interactive ? [] : tourTurns(values.mode);
run(startDemo(drawOptions, steps, planned), Number(values.pace), process.env['CTXWRAP_DEMO_LOG']);
