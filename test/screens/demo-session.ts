// The built program around the demo agent, with a manual clock. The agent's session file is written by hand, too: it holds the numbers of
// the pictures instead of the agent's own.
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { publishedBin } from '../support/programs.js';
import { openWindow, type Window } from '../support/window.js';
import { inFolder, lastRow, plainEnv } from '../support/wrapped.js';
import { pieceRows, type PieceRow } from './cells.js';

export interface DemoSession {
  readonly window: Window;
  /** presses keys, and waits until the agent has worked and is idle */
  readonly turn: (keys: string) => Promise<void>;
  /** writes a line of the agent's session file */
  readonly record: (line: object) => void;
  readonly untilFooter: (text: string) => Promise<void>;
  /** advances the clock of program and agent when running work is done */
  readonly pass: (ms: number) => Promise<void>;
  /** advances the clock while work is running */
  readonly passNow: (ms: number) => void;
  /** resolves when the wrapper's log has a new line with this text */
  readonly untilLog: (text: string) => Promise<void>;
  /** the rows when nothing changes any more */
  readonly rows: (first?: number, end?: number) => Promise<readonly PieceRow[]>;
}

export interface DemoSessionOptions {
  readonly columns: number;
  readonly rows: number;
  /** of ctxwrap */
  readonly options?: readonly string[];
}

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const agent = pathOf('../../dist/demo-agent.js');
const clockProgram = pathOf('hand-clock.cjs');

const PACE = '2'; // of the demo agent: fast, but slow enough to be seen working
const WAIT = { timeout: 20_000, interval: 20 };
const QUIET_MS = 2_000; // before Ink is loaded
const STILL_MS = 300; // longer than a footer or an overview waits with anything

export const withDemoSession = (
  { columns, rows, options: given = [] }: DemoSessionOptions,
  act: (demo: DemoSession) => Promise<void>,
): Promise<void> =>
  inFolder(async (folder) => {
    const [clock = '', log = '', session = ''] = ['clock', 'log', 'demo.jsonl'].map((name) =>
      join(folder, name),
    );
    const passNow = makeClock(clock);
    const options = ['--runtime', 'demo', '--no-tips', '--log', log, ...given];
    const wrapper = ['--require', clockProgram, publishedBin, ...options, '--'];
    const silent = ['env', 'CTXWRAP_DEMO_LOG=', process.execPath, agent, '--interactive', '--pace', PACE];
    const env = {
      ...plainEnv(folder),
      COLORTERM: 'truecolor',
      HAND_CLOCK: clock,
      CTXWRAP_DEMO_LOG: session,
    };
    const args = [...wrapper, ...silent];
    const window = openWindow({ file: process.execPath, args, cwd: folder, env, columns, rows });
    const record = (line: object): void => appendFileSync(session, `${JSON.stringify(line)}\n`);
    try {
      const stage = stageOf(window, log, passNow);
      await stage.untilFooter('waiting for the first turn');
      await stage.pass(QUIET_MS);
      await stage.untilLog('Ink is loaded');
      await act({ ...stage, record });
    } finally {
      window.close();
    }
  });

const stageOf = (
  window: Window,
  logFile: string,
  passNow: (ms: number) => void,
): Omit<DemoSession, 'record'> => {
  let read = 0; // characters of the log
  const untilLog = async (text: string): Promise<void> => {
    const log = await vi.waitFor(() => {
      const all = readFileSync(logFile, 'utf8');
      expect(all.slice(read)).toContain(text);
      return all;
    }, WAIT);
    read = log.indexOf(text, read) + text.length;
  };
  const untilFooter = (text: string): Promise<void> =>
    window.until(() => lastRow(window).includes(text), `the footer with ${text}`);
  return {
    window,
    pass: async (ms) => {
      await still(window);
      passNow(ms);
    },
    passNow,
    untilLog,
    untilFooter,
    turn: async (keys) => {
      window.type(keys);
      await untilLog(' activity busy');
      await untilLog(' activity ready');
    },
    rows: async (first, end) => {
      await still(window);
      return pieceRows(window.emulator.terminal, first, end);
    },
  };
};

const still = async (window: Window): Promise<void> => {
  for (let seen = -1; seen !== window.bytes().length;) {
    seen = window.bytes().length;
    await pause(STILL_MS);
  }
};

/** Starts at the time of its creation; the function advances it. */
const makeClock = (file: string): ((ms: number) => void) => {
  let now = Date.now();
  const pass = (ms: number): void => {
    now += ms;
    writeFileSync(`${file}.next`, String(now));
    renameSync(`${file}.next`, file); // atomic, for a program that reads meanwhile
  };
  pass(0);
  return pass;
};
