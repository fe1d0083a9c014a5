// The built program around the demo agent, in a terminal whose clock is in our hand.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { bin } from '../support/programs.js';
import { openWindow, type Window } from '../support/window.js';
import { inFolder, lastRow, plainEnv } from '../support/wrapped.js';
import { pieceRows, type PieceRow } from './cells.js';

export interface Stage {
  readonly window: Window;
  /** presses keys, and waits until the agent has worked, is at rest, and the footer reads so */
  readonly turn: (keys: string, footer: string) => Promise<void>;
  readonly untilFooter: (text: string) => Promise<void>;
  /** lets time pass for the program and the agent, when what was under way has come */
  readonly pass: (ms: number) => Promise<void>;
  /** the same while something is under way */
  readonly passNow: (ms: number) => void;
  /** resolves when the wrapper's log has a line with this text that nobody has waited for yet */
  readonly untilLog: (text: string) => Promise<void>;
  /** the rows that are there when nothing moves any more */
  readonly rows: (first?: number, end?: number) => Promise<readonly PieceRow[]>;
}

export interface StageOptions {
  readonly columns: number;
  readonly rows: number;
  readonly script?: readonly object[];
}

const pathOf = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const agent = pathOf('../../dist/demo-agent.js');
const clockProgram = pathOf('hand-clock.js');

const PACE = '2'; // of the demo agent: fast, but not so fast that nobody sees it work
const WAIT = { timeout: 20_000, interval: 20 };
const STILL_MS = 300; // longer than a footer or an overlay waits with anything

export const onStage = (
  { columns, rows, script }: StageOptions,
  act: (stage: Stage) => Promise<void>,
): Promise<void> =>
  inFolder(async (folder) => {
    const [clock, logFile, scriptFile] = ['clock', 'log', 'script.json'].map((name) => join(folder, name));
    const passNow = makeClock(clock ?? '');
    writeFileSync(scriptFile ?? '', JSON.stringify(script ?? []));
    const node = [process.execPath, '--import', clockProgram];
    const played = ['--pace', PACE, '--script', scriptFile ?? ''];
    const options = ['--runtime', 'demo', '--no-tips', '--log', logFile ?? ''];
    const [file = '', ...args] = [...node, bin, ...options, '--', ...node, agent, ...played];
    const env = {
      ...plainEnv(folder),
      COLORTERM: 'truecolor',
      HAND_CLOCK: clock ?? '',
      CTXWRAP_DEMO_LOG: join(folder, 'demo.jsonl'),
    };
    const window = openWindow({ file, args, cwd: folder, env, columns, rows });
    try {
      await act(stageOf(window, logFile ?? '', passNow));
    } finally {
      window.close();
    }
  });

const stageOf = (window: Window, logFile: string, passNow: (ms: number) => void): Stage => {
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
    turn: async (keys, footer) => {
      window.type(keys);
      await untilLog(' activity busy');
      await untilLog(' activity ready');
      await untilFooter(footer);
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

/** The time when it is made; the function lets milliseconds pass. */
const makeClock = (file: string): ((ms: number) => void) => {
  let now = Date.now();
  const pass = (ms: number): void => {
    now += ms;
    writeFileSync(`${file}.next`, String(now));
    renameSync(`${file}.next`, file); // a program that reads meanwhile sees the one or the other
  };
  pass(0);
  return pass;
};
