// The built program around a script that imitates the demo agent, with a window that is full from the first turn on.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { bin, programPath, publishedBin } from './programs.js';
import { openWindow, type Window } from './window.js';
import { inFolder, lastRow, plainEnv } from './wrapped.js';

export const COMPACT_KEYS = '\x1dc';
export const WAIT = { timeout: 60_000, interval: 20 };

export interface CompactSession {
  readonly window: Window;
  /** lines of the wrapper's log about ended attempts */
  readonly outcomes: () => readonly string[];
  /** resolves when an attempt has ended like this */
  readonly ended: (kind: string) => Promise<void>;
  /** everything written to the agent so far, by the user and by the wrapper */
  readonly keys: () => string;
  /** resolves when exactly this was written to the agent; the recording of it is written a little later */
  readonly expectKeys: (keys: string) => Promise<void>;
  /** the wrapper's log so far */
  readonly log: () => string;
  /** the agent's process */
  readonly agentPid: () => number;
}

/** What the agent is started by, and the size of the terminal. */
interface Surroundings {
  readonly launcher?: readonly string[];
  /** the program with its real times, where the test acts within them: while a countdown runs */
  readonly hasRealTimes?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

/** An agent with a window that is full from the first turn on, with these options of `demo-like.js`. */
export const withCompactSession = (
  agentOptions: readonly string[],
  act: (scene: CompactSession) => Promise<void>,
  options: readonly string[] = [],
  { launcher = [], hasRealTimes = false, columns = 110, rows = 30 }: Surroundings = {},
): Promise<void> =>
  inFolder(async (folder) => {
    const [logFile, castFile] = ['log', 'run.cast'].map((name) => join(folder, name));
    const bounds = ['--warn', '20k', '--auto', '30k', '--hard', '190k'];
    const program = [...launcher, process.execPath, programPath('demo-like.js'), ...agentOptions];
    const records = ['--log', logFile ?? '', '--record', castFile ?? '', '--record-input'];
    const window = openWindow({
      file: process.execPath,
      args: [
        hasRealTimes ? publishedBin : bin,
        '--runtime',
        'demo',
        ...bounds,
        ...records,
        ...options,
        '--',
        ...program,
      ],
      cwd: folder,
      env: { ...plainEnv(folder), CTXWRAP_DEMO_LOG: join(folder, 'demo.jsonl') },
      columns,
      rows,
    });
    const read = (file: string | undefined): string =>
      existsSync(file ?? '') ? readFileSync(file ?? '', 'utf8') : '';
    const outcomes = (): readonly string[] => read(logFile).match(/compaction by .*/g) ?? [];
    const keys = (): string =>
      read(castFile)
        .split('\n')
        .slice(1)
        .filter((line) => line.endsWith(']'))
        .map((line) => JSON.parse(line) as [number, string, string])
        .filter(([, type]) => type === 'i')
        .map(([, , text]) => text)
        .join('');
    const ended = (kind: string): Promise<void> =>
      vi.waitFor(() => expect(outcomes().join('\n')).toContain(`compaction by us: ${kind}`), WAIT);
    const expectKeys = (expected: string): Promise<void> =>
      vi.waitFor(() => expect(keys()).toBe(expected), WAIT);
    try {
      const agentPid = (): number => Number(/as process (\d+)/.exec(read(logFile))?.[1]);
      await act({ window, outcomes, ended, keys, expectKeys, log: () => read(logFile), agentPid });
    } finally {
      window.close();
    }
  });

/** In mode ask, when the window is full: it stays until the user has decided. */
export const isOffered = (window: Window): Promise<void> => says(window, 'full · Ctrl-] c compacts now');

export const says = (window: Window, words: string): Promise<void> =>
  window.until(() => lastRow(window).includes(words), `the footer with ${words}`);
