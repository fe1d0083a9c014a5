import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { bin, programPath } from '../support/programs.js';
import { openWindow, type Window } from '../support/window.js';
import { FOOTER, inFolder, lastRow, plainEnv } from '../support/wrapped.js';

interface Message {
  readonly ready?: true;
  readonly received?: number;
  readonly hash?: string;
  readonly asked?: number;
}

const messages = (window: Window): readonly Message[] =>
  [
    ...window
      .bytes()
      .toString('latin1')
      .matchAll(/\x1b\]7777;([^\x07]*)\x07/g),
  ].map(([, json = '']) => JSON.parse(json) as Message);

/** The built program around the painter, in a window that draws and answers. */
const withPainter = (
  task: readonly string[],
  act: (window: Window, told: (isMet: (message: Message) => boolean) => Promise<void>) => Promise<void>,
  options: readonly string[] = [],
): Promise<void> =>
  inFolder(async (folder) => {
    const window = openWindow({
      file: process.execPath,
      args: [bin, ...options, '--', process.execPath, programPath('painter.js'), ...task],
      cwd: folder,
      env: plainEnv(folder),
      columns: 80,
      rows: 24,
    });
    const told = (isMet: (message: Message) => boolean): Promise<void> =>
      window.until(
        () => messages(window).some(isMet),
        `what the painter tells; it told ${JSON.stringify(messages(window))}`,
      );
    try {
      await told(({ ready }) => ready === true);
      await act(window, told);
    } finally {
      window.close();
    }
  });

const textOf = (size: number): string =>
  Array.from({ length: size - 1 }, (_, index) => String.fromCharCode(0x61 + (index % 26))).join('');

describe('a paste into a program that paints while it reads', () => {
  it.each([['auto'], ['off']])('arrives whole and in order, mode %s', async (mode) => {
    const most = 4_000_000; // bytes painted in all
    const sizes = fc
      .record({ paste: fc.integer({ min: 2, max: 300_000 }), read: fc.integer({ min: 64, max: 8_192 }) })
      .chain(({ paste, read }) =>
        fc.record({
          paste: fc.constant(paste),
          read: fc.constant(read),
          frame: fc.integer({
            min: 1,
            max: Math.max(1, Math.min(most / 4, Math.floor((most * read) / paste / 2))),
          }),
        }),
      );
    const play = async ({ paste, frame, read }: { paste: number; frame: number; read: number }) => {
      const text = `${textOf(paste)}\x04`;
      const hash = createHash('sha256').update(text).digest('hex');
      await withPainter(
        ['paint', `${read}`, `${frame}`],
        async (window, told) => {
          window.type(text);
          await told(({ received }) => received !== undefined);
          expect(messages(window).at(-1)).toEqual({ received: paste, hash });
        },
        ['--mode', mode],
      );
    };
    await fc.assert(fc.asyncProperty(sizes, play), {
      numRuns: 3,
      endOnFailure: true, // a failure lasts as long as the window's timeout
      seed: 20261122,
      examples: [
        [{ paste: 50_000, frame: 3_000, read: 1_024 }],
        [{ paste: 1_000_000, frame: 200, read: 4_096 }],
      ],
    });
  });
});

describe('a child that reads nothing', () => {
  it('and asks many questions leaves the wrapper alive: its own key works, and it ends when it is told to', async () => {
    await withPainter(['ask', '20000'], async (window, told) => {
      await told(({ asked }) => asked === 20_000);
      await window.until(() => FOOTER.test(lastRow(window)), 'the footer'); // what draws the overview has started
      window.type('keys that nobody reads'.repeat(10_000));
      window.type('\x1d'); // the hotkey
      await window.until(() => window.emulator.terminal.buffer.active.type === 'alternate', 'the overview');
      window.kill('SIGTERM');
      await vi.waitFor(() => expect(window.isOpen()).toBe(false), { timeout: 60_000 });
    });
  });

  it('gets no more than there is room for, and a signal all the same', async () => {
    await withPainter(['ask', '1'], async (window, told) => {
      await told(({ asked }) => asked === 1);
      window.type('x'.repeat(20_000_000));
      await vi.waitFor(() => expect(window.unread()).toBeLessThan(16_000_000), { timeout: 60_000 });
      const left = window.unread();
      window.kill('SIGTERM');
      await vi.waitFor(() => expect(window.isOpen()).toBe(false), { timeout: 60_000 });
      expect(left).toBeGreaterThan(10_000_000);
    });
  });
});
