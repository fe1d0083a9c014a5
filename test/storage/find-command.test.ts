import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findCommand } from '../../src/storage/find-command.js';
import { isOwnShim, isShellScript } from '../../src/storage/find-command.js';

let folder: string;
let first: string;
let second: string;
let self: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'find-test-')));
  first = join(folder, 'first');
  second = join(folder, 'second');
  self = join(folder, 'checkout', 'bin', 'ctxwrap.js');
  for (const each of [first, second, join(folder, 'checkout', 'bin')]) mkdirSync(each, { recursive: true });
  program(self, '#!/usr/bin/env node\nimport "../dist/main.js";\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

const program = (path: string, text: string): string => {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
};
const agent = '#!/bin/sh\nexec real-agent "$@"\n';
const find = (word: string) => findCommand(word, { path: `${first}:${second}`, self });

describe('the command on PATH', () => {
  it('is the first executable file of that name', () => {
    program(join(second, 'claude'), agent);
    expect(find('claude')).toMatchObject({ kind: 'found', file: join(second, 'claude') });
    program(join(first, 'claude'), agent);
    expect(find('claude')).toMatchObject({ kind: 'found', file: join(first, 'claude') });
  });

  it('may be a link to a program of another name', () => {
    program(join(folder, 'cli.js'), '#!/usr/bin/env node\n');
    symlinkSync(join(folder, 'cli.js'), join(first, 'claude'));
    expect(find('claude')).toMatchObject({ kind: 'found', file: join(first, 'claude') });
  });

  it('is neither a folder nor a dangling link', () => {
    mkdirSync(join(first, 'claude'));
    symlinkSync(join(folder, 'gone'), join(second, 'claude'));
    expect(find('claude')).toEqual({ kind: 'missing', shims: [] });
  });

  it('is not a pipe, which is not opened, since that would block', () => {
    execFileSync('mkfifo', ['-m', '755', join(first, 'claude')]);
    expect(find('claude')).toEqual({ kind: 'missing', shims: [] });
    program(join(second, 'claude'), agent);
    expect(find('claude')).toMatchObject({ kind: 'found', file: join(second, 'claude') });
    const pipe = join(first, 'claude');
    expect(find(pipe)).toEqual({ kind: 'not-executable', file: pipe, reason: 'special' });
    expect(isShellScript(pipe)).toBe(false);
    expect(isOwnShim(pipe, self)).toBe(false);
  });

  it('is reported as not executable only if no executable one follows', () => {
    writeFileSync(join(first, 'claude'), agent, { mode: 0o644 });
    expect(find('claude')).toEqual({
      kind: 'not-executable',
      file: join(first, 'claude'),
      reason: 'permission',
    });
    program(join(second, 'claude'), agent);
    expect(find('claude')).toMatchObject({ kind: 'found', file: join(second, 'claude') });
  });

  it('is missing if nothing has that name, also for an empty word', () => {
    expect(find('claude')).toEqual({ kind: 'missing', shims: [] });
    expect(find('')).toEqual({ kind: 'missing', shims: [] });
  });

  it('has a path with a slash also for an empty element of PATH, which is the current folder', () => {
    expect(findCommand('package.json', { path: '', self })).toMatchObject({ file: './package.json' });
  });

  it('is searched in the default folders when PATH is not set', () => {
    expect(findCommand('sh', { path: undefined, self })).toMatchObject({ kind: 'found' });
  });
});

describe('a word with a slash', () => {
  it('is used unchanged, even if it is a shim', () => {
    const file = program(join(first, 'claude'), '#!/bin/sh\nexec ctxwrap claude "$@"\n');
    expect(find(file)).toMatchObject({ kind: 'found', file });
  });

  it('is missing or not executable like any file', () => {
    expect(find(join(first, 'claude'))).toEqual({ kind: 'missing', shims: [] });
    expect(find(first)).toMatchObject({ kind: 'not-executable', file: first, reason: 'folder' });
  });
});

describe('our own shims', () => {
  it.each([
    ['a plain one', '#!/bin/sh\nexec ctxwrap claude "$@"\n'],
    ['one with a path', '#!/bin/bash\nexec "$HOME/.local/bin/ctxwrap" --no-footer claude "$@"\n'],
    ['one with braces', '#!/bin/sh\n"${HOME}/bin/ctxwrap" claude "$@"\n'],
    ['one with a path with spaces', '#!/bin/sh\nexec "/my tools/ctxwrap" claude "$@"\n'],
    ['one through node', '#!/bin/sh\nexec /usr/bin/env node /opt/ctxwrap/bin/ctxwrap.js claude "$@"\n'],
    ['one through npx', '#!/usr/bin/env bash\nset -e\nnpx -y ctxwrap claude "$@"\n'],
    ['one with a setting', '#!/bin/sh\nNO_COLOR=1 exec ctxwrap claude "$@"\n'],
    ['one with a variable', '#!/bin/sh\nWRAP=/opt/bin/ctxwrap\nexec "$WRAP" claude "$@"\n'],
    [
      'one with a condition',
      '#!/bin/sh\nif true; then exec ctxwrap claude "$@"; fi\nexec claude.real "$@"\n',
    ],
    ['one over two lines', '#!/bin/sh\nexec \\\n  ctxwrap claude "$@"\n'],
    ['one without a first line', 'ctxwrap claude "$@"\n'],
    [
      'a Python one',
      '#!/usr/bin/python3\nimport os, sys\nos.execvp("ctxwrap", ["ctxwrap", "claude"] + sys.argv[1:])\n',
    ],
    ['a Node one', "#!/usr/bin/env node\nspawnSync('/opt/bin/ctxwrap', ['claude'], { stdio: 'inherit' });\n"],
  ])('are passed over: %s', (_, text) => {
    const shim = program(join(first, 'claude'), text);
    expect(find('claude')).toEqual({ kind: 'missing', shims: [shim] });
    program(join(second, 'claude'), agent);
    expect(find('claude')).toMatchObject({ kind: 'found', file: join(second, 'claude') });
  });

  it('are skipped if they are a link to ctxwrap', () => {
    symlinkSync(self, join(first, 'claude'));
    mkdirSync(join(folder, 'lib', 'ctxwrap', 'bin'), { recursive: true });
    program(join(folder, 'lib', 'ctxwrap', 'bin', 'ctxwrap.js'), '#!/usr/bin/env node\n');
    symlinkSync(join(folder, 'lib', 'ctxwrap', 'bin', 'ctxwrap.js'), join(second, 'claude'));
    expect(find('claude')).toEqual({
      kind: 'missing',
      shims: [join(first, 'claude'), join(second, 'claude')],
    });
  });

  it.each([
    ['a comment', '#!/bin/sh\n# ctxwrap claude works too\nexec real "$@" # not: ctxwrap claude\n'],
    ['a message', '#!/bin/sh\necho "try; ctxwrap claude"\necho ctxwrap\nexec real "$@"\n'],
    ['an argument', '#!/bin/sh\nexec real --title ctxwrap "$@"\n'],
    ['a variable of ours', '#!/bin/sh\n[ -n "$CTXWRAP_SESSION" ] && export INSIDE=ctxwrap\nexec real "$@"\n'],
    ['another program', '#!/bin/sh\nexec ctxwrap-doctor "$@"\n'],
    ['a text of a Node program', '#!/usr/bin/env node\nconst friends = ["ctxwrap"];\nrun(friends);\n'],
    ['a binary', '\u007fELF\0\nctxwrap claude\n'],
  ])('are not suspected because of %s', (_, text) => {
    const file = program(join(first, 'claude'), text);
    expect(find('claude')).toMatchObject({ kind: 'found', file });
  });
});
