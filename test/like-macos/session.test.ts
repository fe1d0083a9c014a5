// What macOS does not have is really hidden, and a session goes on without it. In `npm test` the child alone is on this made-up macOS.
import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeBench, inTerminal, type Bench } from '../cli/launcher.js';
import { bin } from '../support/programs.js';

let bench: Bench;
beforeEach(() => {
  vi.stubEnv('LIKE_MACOS', '1');
  bench = makeBench();
});
afterEach(() => {
  vi.unstubAllEnvs();
  bench.remove();
});

const inNode = (script: string): string =>
  spawnSync(process.execPath, ['-e', script], { env: bench.env, encoding: 'utf8' }).stdout.trim();

describe('where Linux is hidden', () => {
  it('a process sees macOS, no /proc, and watches nothing', () => {
    const script = `
      const fs = require('node:fs');
      const watched = (() => { try { fs.watch('.'); return true; } catch { return false; } })();
      const shell = require('node:child_process').spawnSync('/bin/sh', ['-c', 'cat /proc/1/stat || echo "$BASH"']);
      console.log(process.platform, fs.existsSync('/proc/self'), watched, String(shell.stdout).trim());`;
    expect(inNode(script)).toBe('darwin false false /bin/bash');
  });

  it('stty is that of BSD', () => {
    const stty = (...args: readonly string[]) =>
      spawnSync('stty', args, { env: bench.env, encoding: 'utf8', input: '' }).stderr;
    expect(stty('-F', '/dev/tty', '-g')).toContain('illegal option');
    expect(stty('--file=/dev/tty')).toContain('illegal option');
  });

  it('a session shows its footer, is listed while it runs, and ends as its agent does', async () => {
    const program = bench.program('waiter', '#!/bin/sh\necho ready\nread line\nexit 3\n');
    const terminal = inTerminal(process.execPath, [bin, '--', program], bench);
    await terminal.seen(/ready[^]*generic/);
    const listed = spawnSync(process.execPath, [bin, 'ps', '--json'], { env: bench.env, encoding: 'utf8' });
    expect(JSON.parse(listed.stdout).sessions).toMatchObject([{ runtime: 'generic', liveness: 'live' }]);
    terminal.type('\r');
    expect((await terminal.ended).exitCode).toBe(3);
    expect(terminal.output()).toContain('\x1b[r'); // its rows are the whole window again
  });

  it('the doctor names the platform and finds nothing broken', () => {
    const { stdout } = spawnSync(process.execPath, [bin, 'doctor', '--json'], {
      env: bench.env,
      encoding: 'utf8',
    });
    expect(stdout).toContain('darwin');
    expect(stdout).not.toContain('"fail"');
  });
});
