import { existsSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bin } from '../support/programs.js';
import { ctxwrap, inTerminal, makeBench, runToEnd, screenSize, start } from '../cli/launcher.js';
import type { Bench } from '../cli/launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

/** Prints everything a program can learn about how it was called. */
const witness = `#!/usr/bin/env node
const { writeSync } = require('node:fs');
process.stdin.on('data', (bytes) => writeSync(1, bytes));
process.stdin.on('end', () => {
  writeSync(1, JSON.stringify([process.argv.slice(2), process.env, process.cwd()]));
  writeSync(2, Buffer.from([0, 255, 10, 27]));
  process.exitCode = 41;
});
`;

const outer = `${process.pid}-outer`; // a wrapper that runs

describe('a command that is not wrapped', () => {
  it('gets the same arguments, environment, folder and input, and gives the same output and status', async () => {
    const file = bench.program('claude', witness);
    const args = ['-p', '--help', '--version', '', 'a b', '--', '--no-footer', 'ü\n'];
    const input = 'x'.repeat(300_000);
    const alone = await runToEnd(file, args, bench, input);
    expect(alone.code).toBe(41);
    expect(await ctxwrap(['--no-footer', 'claude', ...args], bench, input)).toEqual(alone);
    expect(await ctxwrap(['--', file, ...args], bench, input)).toEqual(alone);
  });

  it('is called by the word the user typed', async () => {
    const { stdout } = await ctxwrap(['--', 'sh', '-c', 'cat /proc/$$/cmdline'], bench);
    expect(stdout.split('\0')[0]).toBe('sh');
  });

  it('keeps descriptors of the shell that its arguments name', async () => {
    const script = `exec 3<<< three; exec "${process.execPath}" "${bin}" -- cat /dev/fd/3 <(echo substitution)`;
    const { stdout, stderr } = await runToEnd('/bin/bash', ['-c', script], bench);
    expect([stdout, stderr]).toEqual(['three\nsubstitution\n', '']);
  });

  it.runIf(existsSync('/proc/self/fdinfo'))('has pipes that still wait for it', async () => {
    const flags = 'grep flags /proc/self/fdinfo/0 /proc/self/fdinfo/1 /proc/self/fdinfo/2';
    const piped = (command: string) =>
      runToEnd('/bin/bash', ['-c', `echo | { ${command}; } 2> >(cat >&2) | cat`], bench);
    const alone = await piped(flags);
    expect(alone.stdout).toContain('flags');
    expect(await piped(`"${process.execPath}" "${bin}" -- ${flags}`)).toEqual(alone);
  });

  it('is the real one, past our shims', async () => {
    const shim = bench.program('claude', '#!/bin/sh\nexec ctxwrap claude "$@"\n');
    symlinkSync(bin, join(bench.folder, 'ctxwrap'));
    const real = makeBench();
    try {
      real.program('claude', '#!/bin/sh\necho real "$@"\n');
      const both = {
        ...bench,
        env: { ...bench.env, PATH: `${bench.env['PATH']}:${real.folder}:${dirname(process.execPath)}` },
      };
      const { stdout, stderr } = await runToEnd(shim, ['-p', 'x'], both);
      expect([stdout, stderr]).toEqual(['real -p x\n', '']);
    } finally {
      real.remove();
    }
  });

  it.each(['TERM', 'KILL', 'HUP', 'INT', 'QUIT', 'PIPE', 'USR1', 'ALRM', 'SEGV', 'XFSZ'])(
    'killed by %s: the same signal ends the wrapper',
    async (name) => {
      bench.program('claude', `#!/bin/sh\nulimit -c 0\nkill -${name} $$\n`);
      const { code, signal, stdout, stderr } = await ctxwrap(['claude'], bench);
      expect([code, signal, stdout, stderr]).toEqual([null, `SIG${name}`, '', '']);
    },
  );

  it.each(['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', 'SIGINT', 'SIGQUIT'] as const)(
    'gets a %s that was sent to the wrapper, and decides itself what it means',
    async (signal) => {
      bench.program(
        'claude',
        `#!/bin/sh\ntrap 'echo got; exit 9' ${signal.slice(3)}\necho ready\nread -r line\nread -r line\n`,
      );
      const { child, ended } = start(process.execPath, [bin, 'claude'], { env: bench.env });
      child.stdout?.once('data', () => child.kill(signal));
      expect(await ended).toMatchObject({ stdout: 'ready\ngot\n', code: 9 });
    },
  );
});

describe('a terminal is left to the command', () => {
  const probe = '#!/bin/sh\nstty size\necho "session:$CTXWRAP_SESSION args:$*"\n';
  const whole = `${screenSize.rows} ${screenSize.columns}`;

  it.each([
    ['the arguments start no conversation', ['claude', '-p', 'hi'], {}],
    ['TERM is dumb', ['claude'], { TERM: 'dumb' }],
    ['we are switched off', ['claude'], { CTXWRAP_DISABLE: '1' }],
    ['we are inside ourselves', ['claude'], { CTXWRAP_SESSION: outer }],
  ])('when %s', async (_, args, env) => {
    bench.program('claude', probe);
    const terminal = inTerminal(process.execPath, [bin, ...args], {
      ...bench,
      env: { ...bench.env, ...env },
    });
    expect((await terminal.ended).exitCode).toBe(0);
    const session = 'CTXWRAP_SESSION' in env ? outer : '';
    expect(terminal.output()).toBe(`${whole}\r\nsession:${session} args:${args.slice(1).join(' ')}\r\n`);
  });

  it('but not when a conversation is opened: then it has a row less and a session', async () => {
    bench.program('claude', probe);
    const terminal = inTerminal(process.execPath, [bin, 'claude'], bench);
    expect((await terminal.ended).exitCode).toBe(0);
    expect(terminal.output()).toContain(`${screenSize.rows - 1} ${screenSize.columns}\r\nsession:`);
    expect(terminal.output()).not.toContain('session: ');
  });

  it('also Ctrl-C, which reaches it once', async () => {
    // A query to the wrapper, which is answered after it has handled Ctrl-C.
    bench.program(
      'claude',
      `#!/usr/bin/env node
let interrupts = 0;
process.on('SIGINT', () => {
  if (++interrupts === 1) process.kill(process.ppid, 'SIGUSR1');
});
process.on('SIGUSR1', () => setImmediate(() => {
  console.log('in all ' + interrupts);
  process.exit(3);
}));
process.stdin.on('data', () => undefined);
console.log('ready');
`,
    );
    const off = { ...bench, env: { ...bench.env, CTXWRAP_DISABLE: '1' } };
    const terminal = inTerminal(process.execPath, [bin, 'claude'], off);
    await terminal.seen(/ready/);
    terminal.type('\u0003');
    expect((await terminal.ended).exitCode).toBe(3);
    expect(terminal.output()).toContain('in all 1\r');
  });

  it('also its place among the jobs of a shell, when it stops itself', async () => {
    bench.program('claude', '#!/bin/sh\necho stopping\nkill -STOP $$\necho awake\n');
    const off = { ...bench, env: { ...bench.env, CTXWRAP_DISABLE: '1', PS1: '$ ' } };
    const terminal = inTerminal('/bin/bash', ['--norc', '-i'], off);
    terminal.type(`'${process.execPath}' '${bin}' claude\r`);
    await terminal.seen(/stopping[^]*Stopped/);
    terminal.type('fg\r');
    await terminal.seen(/awake/);
    terminal.type('exit $?\r');
    expect((await terminal.ended).exitCode).toBe(0);
  });
});
