import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { userFileOf, writeConfig } from './config-file.js';
import { bin } from '../../support/programs.js';
import { ctxwrap, inTerminal, makeBench, type Bench } from '../launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

const userFile = (): string => userFileOf(bench);
const write = (text: string): void => writeConfig(bench, text);

describe('a start', () => {
  it('is never prevented by a wrong configuration, nor disturbed where it is not wrapped', async () => {
    bench.program('claude', '#!/bin/sh\necho "the agent $1"\nexit 3\n');
    write('{ "mode": 5, "window": "x", "log": "/nowhere/at/all.log", "nothing": [');
    bench.env['CTXWRAP_CONFIG'] = userFile();
    bench.env['CTXWRAP_ENV_FILE'] = '/nowhere';
    bench.env['CTXWRAP_HOTKEY'] = 'Ctrl-C';
    expect(await ctxwrap(['claude', '-p'], bench)).toEqual({
      code: 3,
      signal: null,
      stdout: 'the agent -p\n',
      stderr: '',
    });
  });

  it('needs no configuration, asks for none, and makes none', async () => {
    bench.program('claude', '#!/bin/sh\necho "the agent"\n');
    expect((await inTerminal(process.execPath, [bin, 'claude'], bench).ended).exitCode).toBe(0);
    expect(existsSync(userFile())).toBe(false);
    expect(existsSync(join(bench.folder, '.ctxwrap.jsonc'))).toBe(false);
  });

  it('may be told by the file what to call for, and by an option what to run', async () => {
    bench.program('claude', '#!/bin/sh\necho run\n');
    const called = () => ctxwrap(['--notify-command', 'true', 'claude', '-p'], bench);
    expect(await called()).toMatchObject({ code: 2, stderr: expect.stringContaining('--notify auto,hard') });
    write('{ "notify.on": ["hard"] }');
    expect(await called()).toMatchObject({ code: 0, stdout: 'run\n' });
  });

  it('writes what is wrong into the log', async () => {
    bench.program('claude', '#!/bin/sh\nexit 0\n');
    write('{ "mode": "atuo" }');
    await ctxwrap(['--log', 'run.log', 'claude', '-p'], bench);
    expect(readFileSync(join(bench.folder, 'run.log'), 'utf8')).toContain(
      `warn configuration: mode is "atuo" (${userFile()}:1:11): it must be one of auto, ask, warn, off; it counts as warn`,
    );
  });

  it('finds an agent of the user’s by its name, and another program for one of ours', async () => {
    bench.program('toy-cli', '#!/bin/sh\necho toy "$@"\n');
    bench.program('claude-nightly', '#!/bin/sh\necho nightly "$@"\n');
    write('{ "runtimes": { "toy": { "command": "toy-cli" }, "claude": { "command": "claude-nightly" } } }');
    expect(await ctxwrap(['toy', '-x'], bench)).toMatchObject({ code: 0, stdout: 'toy -x\n' });
    expect(await ctxwrap(['claude', '-p'], bench)).toMatchObject({ code: 0, stdout: 'nightly -p\n' });
    expect(await ctxwrap(['--', 'toy'], bench)).toMatchObject({ code: 127 });
    expect(await ctxwrap(['tyo'], bench)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('did you mean toy?'),
    });
    expect(await ctxwrap(['--runtime', 'toys', 'toy'], bench)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('try --runtime toy'),
    });
  });
});
