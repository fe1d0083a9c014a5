import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isRunningAs } from '../../src/core/report/records.js';
import { isRunning, processStart } from '../../src/storage/processes.js';
import { listSessions } from '../../src/storage/sessions.js';
import { stateFolder } from '../../src/storage/state-folder.js';
import { asOnPlatform } from '../like-macos/environment.js';
import { makeScriptedChild, type ScriptedChild } from './scripted-child.js';
import { bin, programPath } from './programs.js';
import { openWindow, type Window } from './window.js';
import { eventually } from './eventually.js';

/** How a program ended, as its parent sees it. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The built program in a terminal window, started by a parent that outlives it, with the player as its child. */
export interface Wrapped {
  readonly window: Window;
  readonly player: ScriptedChild;
  /** pid of the wrapper */
  pid: () => number;
  /** resolves when the footer is on the last row and the player runs */
  started: () => Promise<void>;
  /** resolves when all output of the player so far is in the window */
  caughtUp: () => Promise<void>;
  /** resolves when the text at the end of this output is in the window; writes nothing else for that */
  passed: (output: Uint8Array) => Promise<void>;
  /** resolves with the wrapper's end, when all output before it is on the screen */
  ended: () => Promise<Ending>;
  /** what was typed, and is left for the program that reads the terminal after the wrapper */
  left: () => string;
  /** termios of the terminal before the wrapper took it */
  readonly termios: string;
}

export interface WrappedOptions {
  /** the program, where it is not the built one */
  readonly program?: string;
  readonly options?: readonly string[];
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** written to the terminal before the wrapper starts; lines end in \n */
  readonly before?: string;
}

/** A folder for one test, removed after it. */
export const inFolder = async (act: (folder: string) => Promise<void>): Promise<void> => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ctxwrap-e2e-')));
  try {
    await act(folder);
    await wrappersGone(folder); // not after a failure, which it would hide
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** Resolves when no wrapper with this home runs any more: one whose window was closed still writes its last record. */
const wrappersGone = (home: string): Promise<void> =>
  eventually(async () => {
    const sessions = await listSessions(stateFolder({}, home), Date.now());
    const running = sessions.filter(({ liveness }) => isRunningAs(liveness));
    expect(running.map(({ record }) => record.pid)).toEqual([]);
  });

/** The environment without variables that change the terminal or the footer. */
export const plainEnv = (folder: string): Record<string, string> =>
  asOnPlatform({
    PATH: process.env['PATH'] ?? '/usr/bin:/bin',
    HOME: folder,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
  });

/** The footer's text below an unknown program. */
export const FOOTER = /^ generic {1,2}\S/;

export const lastRow = (window: Window): string => window.rows().at(-1) ?? '';

/** False while the row is being painted, because the cursor is in it then. */
const hasFooter = (window: Window): boolean => {
  const { buffer, rows } = window.emulator.terminal;
  return FOOTER.test(lastRow(window)) && buffer.active.cursorY < rows - 1;
};

/** Resolves when the footer is on the last row of the window. */
export const footerShown = (window: Window): Promise<void> =>
  window.until(() => hasFooter(window), 'the footer on the last row');

const countOf = (text: string, needle: string): number => text.split(needle).length - 1;

const CAUGHT_UP = '\x1b]7778;caught up\x1b\\';

/** Runs the built program around the player while `act` runs, and ends both afterwards. */
export const withWrapped = (
  { program = bin, options = [], columns = 80, rows = 24, env = {}, before = '' }: WrappedOptions,
  act: (wrapped: Wrapped) => Promise<void>,
): Promise<void> =>
  inFolder(async (folder) => {
    const player = makeScriptedChild(folder);
    const command = [process.execPath, program, ...options, '--', ...player.command];
    const window = openWindow({
      file: process.execPath,
      args: [programPath('parent.js'), before, ...command],
      cwd: folder,
      env: { ...plainEnv(folder), ...player.env, ...env },
      columns,
      rows,
    });
    let termios = '';
    let pid = 0;
    let start: string | undefined;
    let ending: Ending | undefined;
    let caughtUp = 0;
    let left = '';
    const { parser } = window.emulator.terminal;
    parser.registerOscHandler(7777, (text) => {
      const message = JSON.parse(text) as Ending & { pid?: number; termios?: string; left?: string };
      if (message.left !== undefined) left += message.left;
      else if (message.pid === undefined) ending = message;
      else {
        pid = message.pid;
        termios = message.termios ?? '';
        start = processStart(pid);
      }
      return true;
    });
    parser.registerOscHandler(7778, () => {
      caughtUp += 1;
      return true;
    });
    const wrapped: Wrapped = {
      window,
      player,
      get termios() {
        return termios;
      },
      pid: () => pid,
      left: () => left,
      started: async () => {
        await player.ready();
        await footerShown(window);
      },
      caughtUp: async () => {
        const next = caughtUp + 1;
        await player.write(CAUGHT_UP);
        await window.until(() => caughtUp >= next, 'the end of what the player wrote');
      },
      passed: async (output) => {
        const text = Buffer.from(output).toString('latin1');
        const last = text.match(/[\w;.-]{2,8}/g)?.at(-1) ?? ''; // letters and digits pass the filter unchanged
        const isThere = (): boolean =>
          countOf(window.bytes().toString('latin1'), last) >= countOf(text, last);
        await window.until(isThere, `all of the output, up to ${last}`);
      },
      ended: async () => {
        await window.until(() => ending !== undefined, 'the end of the wrapper');
        return ending ?? { code: null, signal: null };
      },
    };
    try {
      await act(wrapped);
    } finally {
      window.close();
      player.close();
      // it still writes its last record, and may create the folder for it
      await eventually(() => expect(pid > 0 && isRunning(pid, start)).toBe(false));
    }
  });
