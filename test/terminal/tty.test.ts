// Standard input as sessions read it, in a real pseudo-terminal: `tty-sessions.js` says what each way does.
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { isRunning } from '../../src/storage/processes.js';
import { bundle, inShell as runInShell } from '../support/in-shell.js';
import type { Window } from '../support/window.js';

let folder: string;
let tty: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-tty-'));
  tty = await bundle('terminal/tty', folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const inShell = (way: string, act: (window: Window, pid: () => number) => Promise<void>): Promise<void> =>
  runInShell({ program: 'tty-sessions.js', args: [tty, way], folder }, act);

it('a terminal that hangs up is told, and late errors of it do not matter', async () => {
  await inShell('again', async (window, pid) => {
    await window.until('first reads');
    window.type('x');
    const wrapper = pid();
    window.close(); // the leader of the terminal's session ends
    await vi.waitFor(() => expect(readFileSync(join(folder, 'hung-up'), 'utf8')).toBe('after x'), 20_000);
    await vi.waitFor(() => expect(isRunning(wrapper)).toBe(false), 20_000);
  });
});

it('a terminal that hangs up while output waits for it is told once', async () => {
  await inShell('full', async (window, pid) => {
    await window.until(() => window.bytes().includes('it is full'), 'its output');
    window.pause();
    const wrapper = pid();
    window.close();
    await vi.waitFor(() => expect(isRunning(wrapper)).toBe(false), 20_000);
    expect(readFileSync(join(folder, 'hung-up'), 'utf8')).toBe('1 times');
  });
});

it('sessions that have ended leave nothing behind that listens to the terminal', async () => {
  await inShell('many', async (window) => {
    await window.until('status 0');
    expect(window.rows().join('\n')).toContain('0 more listeners');
  });
});

it('the size of a terminal is the one of now, and not of the last signal about it', async () => {
  await inShell('resized', async (window) => {
    await window.until('status 0');
    expect(window.rows().join('\n')).toContain('70 by 20');
  });
});

describe('the keys of a session', () => {
  it('go to it, and those after it to the next one in the same process', async () => {
    await inShell('again', async (window) => {
      for (const name of ['first', 'second', 'third']) {
        await window.until(`${name} reads`);
        for (const key of `${name[0]}äq`) window.type(key);
        await window.until(`${name} has <`);
        expect(window.rows().join('\n')).toContain(`${name} has <${name[0]}äq>`);
      }
      await window.until('status 0');
    });
  });

  it('leave those before and after it, and the terminal as it was, to what reads process.stdin', async () => {
    await inShell('stdin', async (window) => {
      await window.until('before?');
      const before = window.termios();
      window.type('one\r');
      await window.until('answer to before <one>');
      await window.until('between reads');
      expect(window.termios()).not.toBe(before);
      window.type('two');
      window.type('q');
      await window.until('between has <twoq>');
      await window.until('after?');
      expect(window.termios()).toBe(before);
      window.type('three\r');
      await window.until('answer to after <three>');
      await window.until('status 0');
    });
  });

  it('stay what they were while later ones are read', async () => {
    const pasted = Array.from({ length: 100_000 }, (_, at) =>
      String.fromCharCode(0x61 + ((at * 7) % 16)),
    ).join('');
    await inShell('whole', async (window) => {
      await window.until('one reads');
      window.type(pasted);
      window.type('q');
      const hash = createHash('sha1').update(`${pasted}q`).digest('hex');
      await window.until(' bytes, ');
      expect(window.rows().join('\n')).toContain(`${pasted.length + 1} bytes, ${hash}`);
    });
  });

  it('wait in the terminal while it is paused', async () => {
    await inShell('paused', async (window, pid) => {
      await window.until('one reads');
      window.type('p');
      await window.until('paused');
      window.type('abcq');
      process.kill(pid(), 'SIGUSR1');
      await window.until('one has <pabcq>');
      expect(window.rows().join('\n')).toMatch(/paused\s+goes on\s+one has/);
    });
  });

  it('stay in the terminal, once it is left, for the program that reads it next', async () => {
    await inShell('left', async (window, pid) => {
      await window.until('one reads');
      window.type('q');
      await window.until('left');
      window.type('for the shell\r');
      process.kill(pid(), 'SIGUSR1');
      await window.until('the shell has <');
      expect(window.rows().join('\n')).toContain('the shell has <for the shell>');
    });
  });
});
