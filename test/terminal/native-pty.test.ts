// The child of a pseudo-terminal, started for real.
import { existsSync, mkdtempSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openNativePty } from '../../src/terminal/native-pty.js';
import { type Child, startChild } from '../../src/terminal/pty.js';
import { eventually } from '../support/eventually.js';

const folder = mkdtempSync(join(tmpdir(), 'ctxwrap-pty-'));
afterAll(() => rmSync(folder, { recursive: true }));

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const beBusy = (ms: number): void => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};

const turn = (): Promise<void> => new Promise((done) => void setImmediate(done));

it('the last output is read although the program had no time for it after the end', async () => {
  let output = '';
  let end: () => void = () => undefined;
  const ended = new Promise<void>((done) => (end = done));
  const pty = openNativePty({
    file: '/bin/sh',
    args: ['-c', 'read -r _; echo last words'],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    columns: 80,
    rows: 24,
  }).read({
    onData: (bytes) => (output += Buffer.from(bytes).toString()),
    onClose: () => undefined,
    onExit: end,
  });
  await turn();
  pty.pause();
  writeSync(pty.fd, '\r');
  while (isRunning(pty.pid)) await turn();
  for (let turns = 0; turns < 1_000; turns += 1) await turn(); // for the news of the end
  pty.resume();
  beBusy(500);
  await ended;
  expect(output).toContain('last words\r\n');
});

const isLinux = process.platform === 'linux'; // elsewhere a terminal may hold less than two reads give

it.runIf(isLinux).each([
  { who: 'is busy', act: () => beBusy(300) },
  { who: 'wants no more of it for now', act: (child: Child) => child.pause() },
])('all of the last output is read by a program that $who', async ({ act }) => {
  let output = '';
  const unread = startChild({
    file: '/bin/sh',
    args: ['-c', 'head -c 8500 /dev/zero; echo last words'], // three reads
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    size: { columns: 80, rows: 24 },
    termios: '',
  });
  while (isRunning(unread.pid)) await turn();
  await new Promise<void>((onEnd) => {
    const child = unread.listen({
      onOutput: (bytes) => {
        output += Buffer.from(bytes).toString();
        act(child);
      },
      onDrain: () => undefined,
      onEnd: () => onEnd(),
    });
  });
  expect(output === `${'\0'.repeat(8_500)}last words\r\n`, `${output.length} bytes`).toBe(true);
});

it.each([
  ['', ''],
  [', also one that takes no notice of a hangup', "trap '' HUP; "],
])('a child to which nobody will listen ends, and does not keep the program running%s', async (_, trap) => {
  const ready = join(folder, 'ready');
  const child = startChild({
    file: '/bin/sh',
    args: ['-c', `${trap}: > "$0"; while :; do sleep 1; done`, ready],
    cwd: '/',
    env: { PATH: '/usr/bin:/bin' },
    size: { columns: 80, rows: 24 },
    termios: '',
  });
  await eventually(() => expect(existsSync(ready)).toBe(true));
  expect(isRunning(child.pid)).toBe(true);
  child.abandon();
  await eventually(() => expect(isRunning(child.pid)).toBe(false));
  rmSync(ready);
});
