import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bin } from '../support/programs.js';
import { ctxwrap, inTerminal, makeBench } from './launcher.js';
import type { Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

describe('a wrong call ends with status 2 before anything starts', () => {
  it.each([
    [
      ['cluade'],
      'unknown agent or command "cluade"',
      'did you mean claude? Any program can be wrapped: ctxwrap -- cluade',
    ],
    [
      ['dcotor', '--json'],
      'unknown agent or command "dcotor"',
      'did you mean doctor? Any program can be wrapped: ctxwrap -- dcotor',
    ],
    [['hlep'], expect.any(String), expect.stringContaining('did you mean help?')],
    [
      ['vim', 'x'],
      'unknown agent or command "vim"',
      'the agents are claude, codex, gemini, qwen, opencode, copilot, kimi; ctxwrap --help lists the commands. Any program can be wrapped: ctxwrap -- vim',
    ],
    [['ctxwrap', 'claude', '-c'], 'ctxwrap cannot wrap ctxwrap', 'one is enough: ctxwrap claude -c'],
    [['--', 'ctxwrap'], 'ctxwrap cannot wrap ctxwrap', 'one is enough: ctxwrap claude'],
    [['./agent'], 'unknown agent or command "./agent"', expect.stringContaining('ctxwrap -- ./agent')],
    [
      ['ps', '--warn', '80%'],
      'unknown option "--warn" of ctxwrap ps',
      'it goes before the command: ctxwrap --warn … ps',
    ],
    [['--json', 'ps'], 'unknown option "--json"', 'it goes after the command: ctxwrap ps --json'],
    [['ps', '--jsn'], 'unknown option "--jsn" of ctxwrap ps', 'did you mean --json?'],
    [
      ['report', '--json'],
      'unknown option "--json" of ctxwrap report',
      'ctxwrap history --json and ctxwrap ps --all --json print what the page shows',
    ],
    [['ps', '--nothing-like-it'], expect.any(String), 'see ctxwrap ps --help'],
    [['replay', 'a', 'b'], expect.any(String), 'see ctxwrap replay --help'],
    [
      ['replay', 'a\u001b[2J\u009b2J\u202e'],
      'cannot replay "a\ufffd[2J\ufffd2J\ufffd": no such file or directory', // the name of a file does nothing to the terminal
      expect.any(String),
    ],
    [['--foter', 'claude'], 'unknown option "--foter"', 'did you mean --no-footer?'],
    [
      ['--mode', 'atuo', 'claude'],
      '--mode must be one of auto, ask, warn, off, got "atuo"',
      'try --mode auto',
    ],
    [['help', 'zzz'], 'there is no command "zzz"', 'ctxwrap help --all lists all commands'],
    [['report', '--html', ''], '--html must be the name of a file, got ""', 'try --html report.html'],
    [['demo'], 'the demo needs a terminal', 'run it without redirecting its input or output'],
    [
      ['--log', '/no/such/folder/x.log', 'claude'],
      'cannot write the log "/no/such/folder/x.log": no such file or directory',
      expect.any(String),
    ],
  ])('%j', async (args, message, hint) => {
    bench.program('claude', '#!/bin/sh\necho started\n');
    const { stdout, stderr, code } = await ctxwrap(args, bench);
    const [first = '', second = '', ...rest] = stderr.split('\n');
    expect([stdout, code, rest]).toEqual(['', 2, ['']]);
    expect(first.replace(/^ctxwrap: /, '')).toEqual(message);
    expect(second.replace(/^ctxwrap: /, '')).toEqual(hint);
  });

  it('a demo that cannot have a folder of its own', async () => {
    const nowhere = join(bench.folder, 'no');
    bench.env['TMPDIR'] = nowhere;
    const terminal = inTerminal(process.execPath, [bin, 'demo'], bench);
    expect((await terminal.ended).exitCode).toBe(2);
    expect(terminal.output()).toContain(
      `ctxwrap: the demo cannot create a folder in "${nowhere}": no such file or directory`,
    );
  });

  it('a recording that cannot be written', async () => {
    const marker = join(bench.folder, 'started');
    bench.program('claude', `#!/bin/sh\ntouch ${marker}\n`);
    const cast = join(bench.folder, 'no', 'a.cast');
    const terminal = inTerminal(process.execPath, [bin, '--record', cast, 'claude'], bench);
    expect((await terminal.ended).exitCode).toBe(2);
    expect(terminal.output()).toContain(
      `ctxwrap: cannot write the recording "${cast}": no such file or directory`,
    );
    expect(() => readFileSync(marker)).toThrow('ENOENT');
  });
});

describe('an agent that cannot be run', () => {
  it.each([
    ['claude', '@anthropic-ai/claude-code'],
    ['codex', '@openai/codex'],
    ['gemini', '@google/gemini-cli'],
    ['qwen', '@qwen-code/qwen-code'],
  ])('%s: 127 and one line with what to install', async (agent, npmPackage) => {
    expect(await ctxwrap([agent], bench)).toEqual({
      stdout: '',
      stderr: `ctxwrap: ${agent} was not found; install it with: npm install -g ${npmPackage}\n`,
      code: 127,
      signal: null,
    });
  });

  it('any other command: 127 and one line', async () => {
    const { stderr, code } = await ctxwrap(['--', 'no-such-command'], bench);
    expect([stderr, code]).toEqual(['ctxwrap: no-such-command was not found\n', 127]);
  });

  it('a file without permission or a folder: 126', async () => {
    const file = join(bench.folder, 'claude');
    writeFileSync(file, '#!/bin/sh\n', { mode: 0o644 });
    const denied = await ctxwrap(['claude'], bench);
    expect([denied.stderr, denied.code]).toEqual([`ctxwrap: cannot run ${file}: permission denied\n`, 126]);
    const folder = join(bench.folder, 'folder');
    mkdirSync(folder);
    const { stderr, code } = await ctxwrap(['--', folder], bench);
    expect([stderr, code]).toEqual([`ctxwrap: cannot run ${folder}: it is a folder\n`, 126]);
  });

  it('a script whose interpreter is not there: 127', async () => {
    const file = bench.program('claude', '#!/no/such/interpreter\n');
    const { stderr, code } = await ctxwrap(['claude'], bench);
    expect([stderr, code]).toEqual([`ctxwrap: cannot run ${file}: its interpreter was not found\n`, 127]);
  });

  it('a shim of ours with nothing behind it: 127, and it says so', async () => {
    const shim = bench.program('claude', '#!/bin/sh\nexec ctxwrap claude "$@"\n');
    const { stderr, code } = await ctxwrap(['claude'], bench);
    expect(code).toBe(127);
    expect(stderr).toContain(`(skipped ${shim}, which starts ctxwrap); install it with`);
  });
});
