// One command more: its file and its place in the list are all that the program needs to have it.
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildWithCommand } from '../support/changed-program.js';
import { plainEnv } from '../support/wrapped.js';

let folder = '';
let program = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ctxwrap-command-'));
  program = await buildWithCommand(folder);
}, 60_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ran = (...args: readonly string[]) =>
  spawnSync(process.execPath, [program, ...args], { cwd: folder, env: plainEnv(folder), encoding: 'utf8' });
const told = (...args: readonly string[]): string => ran(...args).stdout;

describe('a command that is added to the list', () => {
  it('is in the full help under its topic, and has a help of its own', () => {
    expect(told('help', '--all')).toMatch(
      /^Try and test:\n(?: {2}.*\n)* {2}greet \[name\] +greet somebody$/m,
    );
    const help = told('greet', '--help');
    expect(help).toContain('Usage: ctxwrap greet [options] [name]\n\nGreet somebody.');
    expect(help).toMatch(/^ {2}--times <n> +how often$/m);
    expect(help).toContain('Exit status:\n  0  always\n\nExample:\n  ctxwrap greet Ada --times 2\n');
    expect(told('help', 'greet')).toBe(help);
  });

  it('is completed, with its options', () => {
    expect(told('complete', '=gr')).toBe('greet\tgreet somebody\n');
    expect(told('complete', '=greet', '=--l')).toBe('--loud\twith an exclamation mark\n');
    expect(told('complete', '=help', '=gr')).toContain('greet');
  });

  it('is in the manual page', () => {
    const page = told('man');
    expect(page).toContain('.B greet [name]\nGreet somebody.\n');
    expect(page).toContain('.B \\-\\-times <n>\nhow often\n');
    expect(page).toContain('ctxwrap greet Ada \\-\\-times 2');
  });

  it('runs with what it is given', () => {
    expect(told('greet')).toBe('Hello everybody.\n');
    expect(told('-q', 'greet', 'Ada', '--times', '2', '--loud')).toBe('Hello Ada! Hello Ada!\n');
    expect(ran('greet').status).toBe(0);
  });

  it('refuses what is wrong in the words of every command', () => {
    const refused = (...args: readonly string[]): string => {
      const { status, stderr } = ran(...args);
      expect(status).toBe(2);
      return stderr;
    };
    expect(refused('greet', '--lod')).toContain(
      'unknown option "--lod" of ctxwrap greet\nctxwrap: did you mean --loud?',
    );
    expect(refused('greet', '--times', 'x')).toContain('--times must be a number from 1 to 9, got "x"');
    expect(refused('greet', 'a', 'b')).toContain('see ctxwrap greet --help');
    expect(refused('gret')).toContain('greet');
  });

  it('has a name that no agent can have', () => {
    writeFileSync(join(folder, 'greet.json'), '{ "name": "greet", "command": "greet" }');
    expect(ran('agents', 'add', './greet.json').stderr).toContain(
      'the name greet is taken by ctxwrap itself',
    );
  });
});
