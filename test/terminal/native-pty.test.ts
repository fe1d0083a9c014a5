// The child of a pseudo-terminal, started for real.
import { existsSync, mkdtempSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { openNativePty } from '../../src/terminal/native-pty.js';
import { startChild } from '../../src/terminal/pty.js';
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
  const until = performance.now() + 500;
  while (performance.now() < until); // busy with something else
  await ended;
  expect(output).toContain('last words\r\n');
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
