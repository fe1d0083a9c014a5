// What the demo tells at its end, from where the user stands.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { afterDemo, stepsAfterDemo } from '../../src/cli/commands/next-steps.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'next-steps-')));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** An executable file, in folders that are made for it. */
const program = (...path: readonly string[]): string => {
  const file = join(folder, ...path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '#!/usr/bin/env node\n', { mode: 0o755 });
  return file;
};
const bin = (name: string): string => join(folder, name);
const commandsFor = (self: string, env: Record<string, string>, cwd = folder): readonly string[] =>
  stepsAfterDemo({
    self,
    cwd,
    env: { SHELL: '/bin/zsh', PATH: bin('bin'), ...env },
    hotkey: 'Ctrl-]',
    isWritable: (at) => !at.startsWith('/usr/'),
  }).map(([what]) => what);

describe('the last lines of the demo', () => {
  const short = ['ctxwrap claude', 'your own agent, with the same row below it'] as const;
  it('are a table, or the reasons stand below their commands where a line would be too wide', () => {
    expect(afterDemo([short, ['Ctrl-]', 'shows the overview']])).toBe(
      'Next:  ctxwrap claude      your own agent, with the same row below it\n       Ctrl-]              shows the overview',
    );
    const long = [`node ${'x'.repeat(50)}/bin/ctxwrap.js`, 'type to the built-in agent yourself'] as const;
    const lines = afterDemo([long, short]).split('\n');
    expect(lines.every(({ length }) => length <= 80)).toBe(true);
    expect(lines.map((line) => line.trim())).toEqual([`Next:  ${long[0]}`, long[1], ...short]);
  });

  it('break between words in a narrow terminal', () => {
    expect(afterDemo([short, ['Ctrl-]', 'shows the overview']], 40)).toBe(
      [
        'Next:  ctxwrap claude',
        '  your own agent, with the same row',
        '  below it',
        '       Ctrl-]',
        '  shows the overview',
      ].join('\n'),
    );
  });
});

describe('after the demo', () => {
  it('names ctxwrap alone where that is on PATH, also from another checkout', () => {
    program('bin/claude');
    const self = program('ctxwrap/bin/ctxwrap.js');
    symlinkSync(self, bin('bin/ctxwrap'));
    expect(commandsFor(self, { npm_command: 'run-script' })).toEqual([
      'ctxwrap claude',
      'Ctrl-]',
      'ctxwrap init zsh',
    ]);
    expect(commandsFor(program('other/bin/ctxwrap.js'), {})[0]).toBe('ctxwrap claude');
  });

  it('names the file in a checkout, from the folder of the user, and what makes it a command', () => {
    program('bin/codex');
    const self = program('a checkout/bin/ctxwrap.js');
    const root = bin('a checkout');
    expect(commandsFor(self, {}, root)).toEqual(['node bin/ctxwrap.js codex', 'Ctrl-]', 'npm link']);
    expect(commandsFor(self, { npm_command: 'start', INIT_CWD: folder }, root)).toEqual([
      "node 'a checkout/bin/ctxwrap.js' codex",
      'Ctrl-]',
      `npm install -g '${root}'`,
    ]);
    expect(commandsFor(self, {}, bin('bin'))[0]).toBe(`node '${self}' codex`);
  });

  it('names npx and what it was given, although npx has put ctxwrap on its own PATH', () => {
    program('bin/qwen');
    const self = program('_npx/1f/node_modules/ctxwrap/bin/ctxwrap.js');
    program('_npx/1f/node_modules/.bin/ctxwrap');
    const env = { npm_command: 'exec', PATH: `${bin('_npx/1f/node_modules/.bin')}:${bin('bin')}` };
    expect(commandsFor(self, env)).toEqual(['npx ctxwrap qwen', 'Ctrl-]', 'npm install -g ctxwrap']);
    writeFileSync(bin('_npx/1f/package.json'), '{"dependencies":{"ctxwrap":"file:../../a.tgz"}}'); // npm 10
    expect(commandsFor(self, env)[2]).toBe('npm install -g ./a.tgz');
    expect(commandsFor(self, env, bin('bin'))[2]).toBe(`npm install -g ${bin('a.tgz')}`);
    writeFileSync(bin('_npx/1f/package.json'), '{"dependencies":{"ctxwrap":"^0.1.0"}}');
    expect(commandsFor(self, env)[2]).toBe('npm install -g ctxwrap');
    writeFileSync(bin('_npx/1f/package.json'), '{"_npx":{"packages":["/x/ctxwrap-0.1.0.tgz"]}}');
    expect(commandsFor(self, env)).toEqual([
      'npx /x/ctxwrap-0.1.0.tgz qwen',
      'Ctrl-]',
      'npm install -g /x/ctxwrap-0.1.0.tgz',
    ]);
  });

  it('installs with sudo where the global packages of npm are in a folder of another user', () => {
    const env = { npm_command: 'start', npm_config_global_prefix: '/usr' };
    const [self, root] = [program('ctxwrap/bin/ctxwrap.js'), bin('ctxwrap')];
    expect(commandsFor(self, env, root).at(-1)).toBe('sudo npm link');
    expect(commandsFor(self, env).at(-1)).toBe(`sudo npm install -g ${root}`);
    expect(commandsFor(self, { ...env, npm_command: 'exec' }).at(-1)).toBe('sudo npm install -g ctxwrap');
    expect(commandsFor(self, { ...env, npm_config_global_prefix: folder }, root).at(-1)).toBe('npm link');
  });

  it('names no agent that is not there', () => {
    const self = program('ctxwrap/bin/ctxwrap.js');
    expect(commandsFor(self, {})[0]).toBe('node ctxwrap/bin/ctxwrap.js demo --interactive');
    symlinkSync(self, program('bin/other').replace('other', 'ctxwrap'));
    expect(commandsFor(self, {})).toEqual(['ctxwrap demo --interactive', 'Ctrl-]', 'ctxwrap doctor']);
  });
});
