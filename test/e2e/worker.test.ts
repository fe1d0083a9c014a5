// Everything that thinks is in a worker: whatever happens to it, keys and output pass, and the terminal is tidy at the end.
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { makeFault, type Fault } from '../support/fault.js';
import { bin } from '../support/programs.js';
import { FOOTER, footerShown, inFolder, lastRow, withWrapped, type Wrapped } from '../support/wrapped.js';

const ROWS = 24;
const WAIT = { timeout: 20_000, interval: 10 };
const LONG_MS = 60_000;
const kinds = ['throw', 'hang', 'exit', 'leak'] as const;

/** Each key is typed when the child has the one before. */
const typeKeys = async ({ window, player }: Wrapped, keys: string): Promise<void> => {
  for (const key of keys) {
    window.type(key);
    await player.until(() => player.received().endsWith(key));
  }
};

const withFault = (
  act: (wrapped: Wrapped, fault: Fault, log: () => string, folder: string) => Promise<void>,
  copy: (folder: string) => string = () => bin,
): Promise<void> =>
  inFolder(async (folder) => {
    const fault = makeFault(folder);
    const file = join(folder, 'wrapper.log');
    const program = copy(folder);
    await withWrapped({ program, rows: ROWS, options: ['--log', file], env: fault.env }, async (wrapped) => {
      await wrapped.started();
      await act(wrapped, fault, () => readFileSync(file, 'utf8'), folder);
    });
    fault.close();
  });

describe('a worker that fails', () => {
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
        await player.until(() => player.size()?.[0] === ROWS);
        await player.write('the last output\r\n');
        await wrapped.caughtUp();
        await typeKeys(wrapped, 'and the last keys');
        expect(lastRow(window)).not.toMatch(FOOTER);
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

  it(
    'is not replaced by one of another version, which was installed meanwhile',
    async () => {
      await withFault(
        async (wrapped, fault, log, folder) => {
          const { window, player } = wrapped;
          const file = join(folder, 'dist', 'launcher.cjs');
          writeFileSync(file, `${readFileSync(file, 'utf8')}\n// another version\n`);
          await fault.make('throw', 'worker');
          await player.until(() => player.size()?.[0] === ROWS);
          await typeKeys(wrapped, 'keys');
          expect(fault.workers()).toBe(1);
          expect(log()).toContain('the worker cannot be started: ctxwrap was updated meanwhile');
          player.exit(3);
          expect(await wrapped.ended()).toEqual({ code: 3, signal: null });
          expect(window.termios()).toBe(wrapped.termios);
        },
        (folder) => {
          const home = dirname(dirname(bin));
          for (const name of ['bin', 'dist', 'package.json'])
            cpSync(join(home, name), join(folder, name), { recursive: true });
          symlinkSync(join(home, 'node_modules'), join(folder, 'node_modules'));
          return join(folder, 'bin', 'ctxwrap.js');
        },
      );
    },
    LONG_MS,
  );
});
