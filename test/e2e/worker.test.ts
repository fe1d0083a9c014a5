// Everything that thinks is in a worker: whatever happens to it, keys and output pass, and the terminal is tidy at the end.
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { listSessions } from '../../src/storage/sessions.js';
import { stateFolder } from '../../src/storage/state-folder.js';
import { makeFault, type Fault } from '../support/fault.js';
import { bin, publishedBin } from '../support/programs.js';
import { openWindow, type Window } from '../support/window.js';
import {
  FOOTER,
  footerShown,
  inFolder,
  lastRow,
  plainEnv,
  withWrapped,
  type Wrapped,
} from '../support/wrapped.js';

const ROWS = 24;
const WAIT = { timeout: 60_000, interval: 10 };
const LONG_MS = 240_000;
const kinds = ['throw', 'hang', 'exit', 'leak'] as const;

const FAILED = ' ctxwrap has failed: no numbers, no compaction · Ctrl-] q hides this row';

/** Resolves when the last row says so, and the cursor is with the child. */
const failureShown = (window: Window, row = FAILED): Promise<void> =>
  window.until(() => lastRow(window) === row && cursorRow(window) < window.rows().length - 1, 'the failure');

const cursorRow = ({ emulator }: Window): number => emulator.terminal.buffer.active.cursorY;

/** The worker and the one after it fail. */
const losesProtection = async ({ window }: Wrapped, fault: Fault): Promise<void> => {
  await fault.make('throw', 'worker');
  await vi.waitFor(() => expect(fault.workers()).toBe(2), WAIT);
  await fault.make('throw', 'worker');
  await failureShown(window);
};

/** Each key is typed when the child has the one before. */
const typeKeys = async ({ window, player }: Wrapped, keys: string): Promise<void> => {
  for (const key of keys) {
    window.type(key);
    await player.until(() => player.received().endsWith(key));
  }
};

/** A copy of the program that may be changed. */
const installIn = (folder: string): string => {
  const home = dirname(dirname(publishedBin));
  for (const name of ['bin', 'dist', 'package.json'])
    cpSync(join(home, name), join(folder, name), { recursive: true });
  symlinkSync(join(home, 'node_modules'), join(folder, 'node_modules'));
  return join(folder, 'bin', 'ctxwrap.js');
};

const withFault = (
  act: (wrapped: Wrapped, fault: Fault, log: () => string, folder: string) => Promise<void>,
  copy: (folder: string) => string = () => bin,
): Promise<void> =>
  inFolder(async (folder) => {
    const fault = makeFault(folder);
    const file = join(folder, 'wrapper.log');
    const program = copy(folder);
    await withWrapped(
      { program, rows: ROWS, options: ['--log', file], env: { ...fault.env, XDG_STATE_HOME: folder } },
      async (wrapped) => {
        await wrapped.started();
        await act(wrapped, fault, () => readFileSync(file, 'utf8'), folder);
      },
    );
    fault.close();
  });

it(
  'a session whose files are replaced as soon as its child has started goes on as the version that it is',
  async () => {
    await inFolder(async (folder) => {
      const fault = makeFault(folder);
      const program = installIn(folder);
      const update = `cd '${folder}' && rm -r dist && mkdir dist && echo 'throw new Error("another version")' >dist/launcher.cjs`;
      const window = openWindow({
        file: process.execPath,
        args: [program, '--', 'sh', '-c', `${update}; exec cat`],
        cwd: folder,
        env: { ...plainEnv(folder), ...fault.env },
        columns: 80,
        rows: ROWS,
      });
      await footerShown(window);
      await fault.make('throw', 'worker');
      await vi.waitFor(() => expect(fault.workers()).toBe(2), WAIT);
      window.type('\x1d');
      await window.until(() => lastRow(window).includes('q close'), 'the overview');
      window.type('q');
      await footerShown(window);
      await fault.make('throw', 'worker');
      await failureShown(window);
      const sessions = () => listSessions(stateFolder({}, folder), Date.now());
      await vi.waitFor(async () => expect(await sessions()).toMatchObject([{ liveness: 'failed' }]), WAIT);
      window.close();
      fault.close();
    });
  },
  LONG_MS,
);

it('a session has its worker under NODE_OPTIONS that make modules of what is evaluated', async () => {
  await inFolder(async (folder) => {
    const env = { ...plainEnv(folder), NODE_OPTIONS: '--input-type=module' };
    const command = { file: process.execPath, args: [publishedBin, '--', 'cat'], cwd: folder, env };
    const window = openWindow({ ...command, columns: 80, rows: ROWS });
    await footerShown(window);
    window.type('\x1d');
    await window.until(() => lastRow(window).includes('q close'), 'the overview');
    window.type('q');
    await footerShown(window);
    expect(lastRow(window)).toMatch(FOOTER);
    window.close();
  });
});

it('a session that ends before its worker was started is recorded like any other', async () => {
  await inFolder(async (folder) => {
    const log = join(folder, 'wrapper.log');
    const window = openWindow({
      file: process.execPath,
      args: [bin, '--log', log, '--', 'sh', '-c', 'exit 3'],
      cwd: folder,
      env: plainEnv(folder),
      columns: 80,
      rows: ROWS,
    });
    await window.until(() => !window.isOpen(), 'the end');
    const [session] = await listSessions(stateFolder({}, folder), Date.now());
    expect(session?.record).toMatchObject({ exit: { code: 3 }, endedAt: expect.any(Number) });
    expect(readFileSync(log, 'utf8')).not.toContain('failed');
  });
});

describe.concurrent('a worker that fails', () => {
  it.each(kinds)(
    'by a %s delays no key, and is replaced once',
    async (kind) => {
      await withFault(async (wrapped, fault, log) => {
        const { window, player } = wrapped;
        await fault.make(kind, 'worker');
        await typeKeys(wrapped, 'the first keys');
        await player.write('some output\r\n');
        await wrapped.caughtUp();
        await vi.waitFor(() => expect(fault.workers()).toBe(2), WAIT);
        await footerShown(window);
        expect(lastRow(window)).toMatch(FOOTER);
        await fault.make(kind, 'worker');
        await typeKeys(wrapped, 'more keys');
        await failureShown(window);
        await player.write('the last output\r\n');
        await wrapped.caughtUp();
        await typeKeys(wrapped, 'and the last keys');
        expect(player.size()).toEqual([ROWS - 1, 80]);
        player.exit(3);
        expect(await wrapped.ended()).toEqual({ code: 3, signal: null });
        expect(window.termios()).toBe(wrapped.termios);
        expect(window.rows().filter((row) => row !== '')).toEqual(['some output', 'the last output']);
        expect(log().match(/the worker has failed/g)).toHaveLength(2);
        expect(fault.workers()).toBe(2);
      });
    },
    LONG_MS,
  );

  it.each(kinds)(
    'by a %s while the child ends leaves the terminal tidy',
    async (kind) => {
      await withFault(async (wrapped, fault) => {
        const { window, player } = wrapped;
        await player.write('\x1b[?2004h\x1b[?1003h\x1b[?25lthe last output\r\n');
        await wrapped.caughtUp();
        await fault.make(kind, 'worker');
        player.exit(3);
        expect(await wrapped.ended()).toEqual({ code: 3, signal: null });
        expect(window.termios()).toBe(wrapped.termios);
        expect(window.rows('all').filter((row) => row !== '')).toEqual(['the last output']);
        expect(window.emulator.terminal.modes).toMatchObject({
          bracketedPasteMode: false,
          mouseTrackingMode: 'none',
        });
      });
    },
    LONG_MS,
  );

  it.each(['hang', 'leak', 'native'] as const)(
    'by a %s does not keep a session that is told to end',
    async (kind) => {
      await withFault(async (wrapped, fault) => {
        const { window, player } = wrapped;
        await player.write('\x1b[?2004hthe last output\r\n');
        await wrapped.caughtUp();
        await fault.make(kind, 'worker');
        process.kill(wrapped.pid(), 'SIGTERM');
        expect(await wrapped.ended()).toEqual({ code: null, signal: 'SIGTERM' });
        expect(window.termios()).toBe(wrapped.termios);
        expect(window.rows('all').filter((row) => row !== '')).toEqual(['the last output']);
        expect(window.emulator.terminal.modes.bracketedPasteMode).toBe(false);
      });
    },
    LONG_MS,
  );

  const canReplace = 'execve' in process; // since Node 22.15

  it.runIf(canReplace)(
    'in the middle of a native call does not keep a session whose child exits',
    async () => {
      await withFault(async (wrapped, fault) => {
        await fault.make('native', 'worker');
        wrapped.player.exit(3);
        expect(await wrapped.ended()).toEqual({ code: 3, signal: null });
        expect(wrapped.window.termios()).toBe(wrapped.termios);
      });
    },
    LONG_MS,
  );

  it(
    'in the middle of a native call ends with the signal that a child has turned into its status, where Node can do no better',
    async () => {
      await withFault(async (wrapped, fault) => {
        await fault.make('native', 'worker');
        wrapped.player.exit(143);
        const ending = await wrapped.ended();
        expect(ending).toEqual(canReplace ? { code: 143, signal: null } : { code: null, signal: 'SIGTERM' });
        expect(wrapped.window.termios()).toBe(wrapped.termios);
      });
    },
    LONG_MS,
  );

  it(
    'leaves what is typed after the end of the child to the program that reads next',
    async () => {
      await withFault(async (wrapped, fault, log) => {
        const { window, player } = wrapped;
        await fault.make('hang', 'worker');
        player.kill('SIGKILL');
        await vi.waitFor(() => expect(log()).toContain('the child is gone'), WAIT);
        window.type('ls -l\r');
        await wrapped.ended();
        await window.until(() => wrapped.left().length >= 6, 'what was typed');
        expect(wrapped.left()).toMatch(/^ls -l[\r\n]$/);
        expect(player.received()).toBe('');
      });
    },
    LONG_MS,
  );
});

it(
  'a session that has given its row up, because its filter has failed, tells other programs so',
  async () => {
    await withFault(async (wrapped, fault, _log, folder) => {
      const { player } = wrapped;
      await fault.make('filter');
      await player.write('\x1b[1m');
      await player.until(() => player.size()?.[0] === ROWS);
      const state = stateFolder({ XDG_STATE_HOME: folder }, folder);
      const sessions = () => listSessions(state, Date.now());
      await vi.waitFor(async () => expect(await sessions()).toMatchObject([{ liveness: 'failed' }]), WAIT);
    });
  },
  LONG_MS,
);

describe.concurrent('a session whose workers have failed', () => {
  const withLost = (act: (wrapped: Wrapped, folder: string) => Promise<void>): Promise<void> =>
    withFault(async (wrapped, fault, _log, folder) => {
      await losesProtection(wrapped, fault);
      await act(wrapped, folder);
    });

  it(
    'says so in its row, whatever the child does to the screen and whatever size the window gets',
    async () => {
      await withLost(async (wrapped) => {
        const { window, player } = wrapped;
        const screens = [
          '\x1b[2J\x1b[Hcleared',
          '\x1b[?1049h\x1b[Hthe other screen',
          '\x1b[?1049l',
          '\x1bcreset',
        ];
        for (const output of screens) {
          await player.write(output);
          await wrapped.caughtUp();
          await failureShown(window);
        }
        for (const [columns, rows, row] of [
          [100, 30, FAILED],
          [60, 20, ' ctxwrap has failed: no compaction · Ctrl-] q hides this row'],
          [40, 24, ' ctxwrap has failed: no compaction'],
          [20, 10, ' ctxwrap has failed'],
        ] as const) {
          window.resize(columns, rows);
          await player.until(() => player.size()?.[0] === rows - 1 && player.size()?.[1] === columns);
          await failureShown(window, row);
        }
        expect(window.rows().filter((row) => row.includes('has failed'))).toHaveLength(1);
      });
    },
    LONG_MS,
  );

  it(
    'keeps what stands below the cursor of a child that does not draw again at another height',
    async () => {
      await withLost(async (wrapped) => {
        const { window, player } = wrapped;
        await player.write('\x1b[2J\x1b[5;1Hthe prompt\r\nbelow it\x1b[5;4H');
        await wrapped.caughtUp();
        await failureShown(window);
        for (const rows of [30, 26, 31]) {
          window.resize(80, rows);
          await player.until(() => player.size()?.[0] === rows - 1);
          await failureShown(window);
        }
        const texts = window.rows('all').filter((row) => row !== '');
        expect(texts).toEqual(['the prompt', 'below it', FAILED]);
      });
    },
    LONG_MS,
  );

  it(
    'gives the row to the child at the hotkey and q, takes it back at the hotkey, and passes a double hotkey on',
    async () => {
      await withLost(async (wrapped) => {
        const { window, player } = wrapped;
        const [hotkey, escape] = ['\x1d', '\x1b'];
        for (const key of ['q', escape]) {
          window.type(hotkey + key);
          await player.until(() => player.size()?.[0] === ROWS);
          await window.until(() => !window.rows().some((row) => row.includes('failed')), 'no row of ctxwrap');
          window.type(hotkey);
          await player.until(() => player.size()?.[0] === ROWS - 1);
          await failureShown(window);
          window.type('k'); // no chord is open behind another key
          await player.until(() => player.received().endsWith('k'));
        }
        window.type(hotkey + hotkey);
        await player.until(() => player.received().endsWith(hotkey));
        window.type('q');
        await player.until(() => player.received().endsWith('q'));
        expect(player.received()).toBe(`kk${hotkey}q`);
        await failureShown(window);
      });
    },
    LONG_MS,
  );

  it(
    'tells other programs so, without a number that may be old, until it ends',
    async () => {
      await withLost(async (wrapped, folder) => {
        const state = stateFolder({ XDG_STATE_HOME: folder }, folder);
        const sessions = () => listSessions(state, Date.now());
        await vi.waitFor(async () => expect(await sessions()).toMatchObject([{ liveness: 'failed' }]), WAIT);
        const [{ record } = {}] = await sessions();
        expect(record).toMatchObject({ pid: wrapped.pid(), runtime: 'generic', activity: 'unknown' });
        expect(record).toMatchObject({ note: 'ctxwrap has failed: no compaction', thresholds: [] });
        for (const old of ['reading', 'tier', 'compaction', 'cache', 'limits', 'asks'])
          expect(record).not.toHaveProperty(old);
        wrapped.player.exit(3);
        await wrapped.ended();
        expect(await sessions()).toMatchObject([{ liveness: 'ended', record: { exit: { code: 3 } } }]);
        const events = await readFile(join(state, 'events', `${record?.id}.jsonl`), 'utf8');
        const told = events
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, unknown>);
        expect(told.slice(-2)).toMatchObject([
          { type: 'state', state: { failedAt: expect.any(Number) } },
          { type: 'session-end', exit: { code: 3 } },
        ]);
      });
    },
    LONG_MS,
  );
});
