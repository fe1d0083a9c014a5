// The terminal between the child's start and the moment in which something shows it: `prepared-session.js` ends in that time.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundle, inShell } from '../support/in-shell.js';
import type { Window } from '../support/window.js';

let folder: string;
let bundles: readonly string[];
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-prepared-'));
  const modules = [
    'terminal/stty-process',
    'main-thread/prepared-terminal',
    'main-thread/wrap',
    'core/config/keys',
  ];
  bundles = await Promise.all(modules.map((module) => bundle(module, folder)));
});
afterAll(() => rmSync(folder, { recursive: true }));

const QUESTIONS = '\x1b[>c\x1b[?6n\x1b[5n';

/** Goes the way once the terminal is as the shell has it; `end` is called when the terminal has been asked. */
const prepare = (
  way: string,
  end: (window: Window, pid: number) => void,
  check: (window: Window, before: string) => Promise<void>,
): Promise<void> =>
  inShell({ program: 'prepared-session.js', args: [...bundles, way], folder }, async (window, pid) => {
    const before = window.termios();
    process.kill(pid(), 'SIGUSR1');
    await window.until(() => window.bytes().includes(QUESTIONS), 'the questions');
    end(window, pid());
    await check(window, before);
  });

/** The whole screen scrolls: a region that ends above the last row would keep the row there. */
const expectWholeScreen = async (window: Window): Promise<void> => {
  await window.emulator.write(`\x1b[24;1Hin the last row\n`);
  expect(window.rows()[22]).toBe('in the last row');
};

describe('a terminal that was prepared for a session', () => {
  it('is as before when the session cannot begin, and no answer reaches the shell', () =>
    prepare(
      'abandoned',
      () => undefined,
      async (window, before) => {
        await window.until('status 0');
        expect(window.termios()).toBe(before);
        window.type('for the shell\r');
        await window.until('the shell has <');
        expect(window.bytes().toString()).toContain('the shell has <for the shell>');
        await expectWholeScreen(window);
      },
    ));

  it('is as before when the wrapper is told to end in that time', () =>
    prepare(
      'ended',
      () => undefined,
      async (window, before) => {
        await window.until('status 143');
        expect(window.termios()).toBe(before);
        await expectWholeScreen(window);
      },
    ));

  it('is as before when the wrapper is told to end, and then the agent cannot be read', () =>
    prepare(
      'unread',
      () => undefined,
      async (window, before) => {
        await window.until('status');
        expect(window.rows().join('\n')).toContain('status 143');
        expect(window.termios()).toBe(before);
        await expectWholeScreen(window);
      },
    ));

  it('is restored by the shell beside it when the wrapper is killed before it shows anything', () =>
    prepare(
      'killed',
      (_, pid) => process.kill(pid, 'SIGKILL'),
      async (window, before) => {
        await window.until('status 137');
        await window.until(() => window.bytes().includes('\x1b[r'), 'the end of the region');
        expect(window.termios()).toBe(before);
        await expectWholeScreen(window);
      },
    ));
});
