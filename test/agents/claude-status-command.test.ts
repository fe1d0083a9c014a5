import { spawnSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { statusCommand } from '../../src/agents/claude/status-line.js';
import { runs } from '../support/runs.js';

// Claude runs the command with the system's sh; here the same, for real.
let home = '';
beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'ctxwrap-command-'))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

const run = (command: string, input: string | Buffer = '') => {
  const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', command], { input, cwd: home });
  return { stdout: stdout.toString(), stderr: stderr.toString(), status };
};
const alone = (own: string, input: string | Buffer = '') => {
  const { stdout, status } = run(own, input);
  return { stdout, status };
};

describe('the command of the status line', () => {
  const report = () => join(home, 'report.json');

  it('keeps its stdin byte for byte, for the user alone, and prints nothing of its own', () => {
    const input = Buffer.from([0x7b, 0x0a, 0x00, 0xff, 0x0a, 0x0a]);
    expect(run(statusCommand(report(), undefined), input)).toEqual({ stdout: '', stderr: '', status: 0 });
    expect(readFileSync(report())).toEqual(input);
    expect(lstatSync(report()).mode & 0o777).toBe(0o600);
    expect(readdirSync(home)).toEqual(['report.json']);
  });

  it.each([
    'cat',
    'printf "%s|" "$(cat)"; echo "it\'s $HOME"',
    'exit 3',
    'echo one; echo two >&2; false',
    '# nothing but a comment',
    'cat <<EOF\n$(wc -c)\nEOF',
    'read -r a; echo "[$a]"; cat',
    'umask',
    'nosuchprogram --x',
    'echo "$0 $# $*"',
    'if true; then\ncat\nfi\n',
    'echo a\\\nb',
    "echo 'a\nb'",
    'exec cat',
    'cat | tr a-z A-Z &\nwait',
    '   cat   ',
    '(cat; exit 4)',
  ])('prints what the own command prints: %s', (own) => {
    const input = '{"a":"b c"}\nsecond line\n';
    const { stdout, status } = run(statusCommand(report(), own), input);
    expect({ stdout, status }).toEqual(alone(own, input));
    expect(readFileSync(report(), 'utf8')).toBe(input);
  });

  it('prints what any own command prints, whatever it is made of', () => {
    const word = fc.string({
      unit: fc.constantFrom(...'ab\'"\\ \t\n$`!*;&|<>(){}[]#~%-=é€\u00a0\u3000\u200d'),
      maxLength: 12,
    });
    fc.assert(
      fc.property(word, fc.string({ maxLength: 40 }), (text, input) => {
        const own = `printf '%s ' '${text.replaceAll("'", `'\\''`)}'; cat`;
        const { stdout, status } = run(statusCommand(report(), own), input);
        expect({ stdout, status }).toEqual(alone(own, input));
        expect(stdout).toBe(`${text} ${input}`);
      }),
      runs(60),
    );
  });

  it('does the same for a path of any characters', () => {
    const name = fc
      .string({ unit: fc.constantFrom(...'ab\'"\\ \t\n$`!*;&|<>(){}[]#~%-=é€'), minLength: 1, maxLength: 12 })
      .map((text) => `x${text}`);
    fc.assert(
      fc.property(name, (folder) => {
        mkdirSync(join(home, folder), { recursive: true });
        const path = join(home, folder, 'r.json');
        expect(run(statusCommand(path, 'cat'), 'in')).toEqual({ stdout: 'in', stderr: '', status: 0 });
        expect(readdirSync(join(home, folder))).toEqual(['r.json']);
        expect(readFileSync(path, 'utf8')).toBe('in');
        rmSync(path);
      }),
      runs(60),
    );
  });

  it('goes on with the own command alone when the folder has been removed', () => {
    const gone = statusCommand(join(home, 'gone', 'r.json'), 'cat; exit 2');
    expect(run(gone, 'still here')).toEqual({ stdout: 'still here', stderr: '', status: 2 });
  });

  it('gives each call its own stdin, also when calls overlap', () => {
    writeFileSync(join(home, 'slow.sh'), statusCommand(report(), 'echo >started; read -r go <go; cat'));
    writeFileSync(join(home, 'quick.sh'), statusCommand(report(), 'cat'));
    const both = run(`mkfifo started go
      echo first | sh slow.sh & read -r line <started
      echo second | sh quick.sh; echo >go; wait`);
    expect(both.stdout).toBe('second\nfirst\n');
    expect(readFileSync(report(), 'utf8')).toBe('second\n');
  });
});
