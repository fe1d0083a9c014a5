// What `ctxwrap init` and `ctxwrap completion` print, in the real shells.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeConfig } from './config/config-file.js';
import { shells } from '../../src/cli/request.js';
import type { Shell } from '../../src/cli/request.js';
import { bin } from '../support/programs.js';
import { ctxwrap, makeBench, runToEnd } from './launcher.js';
import type { Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
  bench.program('ctxwrap', `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`);
});
afterEach(() => bench.remove());

const bareArguments: Readonly<Record<Shell, readonly string[]>> = {
  bash: ['--noprofile', '--norc', '-c'],
  zsh: ['-f', '-c'],
  fish: ['--no-config', '-c'],
};
const loads: Readonly<Record<Shell, (what: string) => string>> = {
  bash: (what) => `eval "$(ctxwrap ${what} bash)"`,
  zsh: (what) => `eval "$(ctxwrap ${what} zsh)"`,
  fish: (what) => `ctxwrap ${what} fish | source`,
};
const strict: Readonly<Record<Shell, string>> = { bash: 'set -eu', zsh: 'set -eu', fish: '' };

/** Runs a script in a bare shell of that kind. */
const inShell = async (shell: Shell, ...script: readonly string[]): Promise<string> => {
  const { stdout, stderr, code } = await runToEnd(shell, [...bareArguments[shell], script.join('\n')], bench);
  return stderr === '' && code === 0 ? stdout : `${code}: ${stderr}${stdout}`;
};

const isInstalled = (shell: Shell): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

for (const shell of shells) {
  const isMissing = !isInstalled(shell);
  describe.skipIf(isMissing)(`${shell}${isMissing ? ', which is not installed' : ''}`, () => {
    const agent = (name: string): string =>
      bench.program(name, `#!/bin/sh\necho "the real ${name}: $CTXWRAP_LEVEL [$#] $*"\n`);

    it('starts an agent that is installed through ctxwrap, and the agent alone behind `command`', async () => {
      agent('codex');
      const said = await inShell(
        shell,
        strict[shell],
        loads[shell]('init'),
        'codex exec "a  b" ""',
        'command codex',
      );
      expect(said).toBe('the real codex: 1 [3] exec a  b \nthe real codex:  [0] \n');
    });

    it('has no function for an agent that is not installed', async () => {
      agent('codex');
      const test = shell === 'fish' ? 'functions -q' : 'typeset -f >/dev/null';
      const said = await inShell(
        shell,
        loads[shell]('init'),
        `${test} codex; echo $${shell === 'fish' ? 'status' : '?'}`,
        `${test} claude; echo $${shell === 'fish' ? 'status' : '?'}`,
      );
      expect(said).toBe('0\n1\n');
    });

    it('starts the agent itself when ctxwrap has gone', async () => {
      agent('gemini');
      const gone = join(bench.folder, 'ctxwrap');
      const called = 'gemini -p hello';
      const said = await inShell(shell, loads[shell]('init'), called, `rm ${gone}`, called);
      expect(said).toBe('the real gemini: 1 [2] -p hello\nthe real gemini:  [2] -p hello\n');
    });

    it('says nothing at its start when ctxwrap has gone, with the line that init shows', async () => {
      const { stdout } = await ctxwrap(['init', shell], bench);
      const line = /# (command .*?)\s+# in/.exec(stdout)?.[1] ?? 'false';
      rmSync(join(bench.folder, 'ctxwrap'));
      expect(await inShell(shell, line, 'echo on')).toBe('on\n');
    });

    it.skipIf(shell === 'fish')('leaves an alias alone, where a shell has any', async () => {
      agent('claude');
      const expand = shell === 'bash' ? 'shopt -s expand_aliases' : '';
      const said = await inShell(
        shell,
        expand,
        "alias claude='claude --model opus'",
        loads[shell]('init'),
        'eval "claude -p now"',
      );
      expect(said).toBe('the real claude: 1 [4] --model opus -p now\n');
    });

    it('does not start itself through a file of that name that starts ctxwrap', async () => {
      const shims = join(bench.folder, 'shims');
      mkdirSync(shims);
      agent('qwen');
      writeFileSync(join(shims, 'qwen'), '#!/bin/sh\nexec ctxwrap qwen "$@"\n', { mode: 0o755 });
      bench.env['PATH'] = `${shims}:${bench.env['PATH'] ?? ''}`;
      expect(await inShell(shell, loads[shell]('init'), 'qwen -p hi')).toContain(
        'the real qwen: 1 [2] -p hi',
      );
    });

    const isActive = `ctxwrap doctor --json | grep -c "ctxwrap init is active"; true`;

    it('is known to doctor', async () => {
      expect(await inShell(shell, isActive)).toBe('0\n');
      expect(await inShell(shell, loads[shell]('init'), isActive)).toBe('1\n');
    });

    // zsh has no job control without a terminal
    it.skipIf(shell === 'zsh')('is not taken for active in a shell inside it', async () => {
      const jobs = shell === 'fish' ? 'status job-control full' : 'set -m';
      const inner = `${shell} ${bareArguments[shell].join(' ')} '${jobs}; ${isActive}'`;
      expect(await inShell(shell, loads[shell]('init'), jobs, inner, 'true')).toBe('0\n');
    });

    const completing: Readonly<Record<Shell, (line: string) => readonly string[]>> = {
      bash: (line) => [
        `COMP_WORDS=(${line.replace(/ $/, " ''")}); COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))`,
        '_ctxwrap',
        'printf "%s\\n" "${COMPREPLY[@]-}"',
      ],
      zsh: (line) => [
        '_describe() { print -l -- "${(@P)2%%:*}" }; _files() { print FILES }',
        `words=(${line.replace(/ $/, " ''")}); CURRENT=$#words`,
        '_ctxwrap',
      ],
      fish: (line) => [`complete -C '${line}'; true`],
    };
    const completed = async (line: string): Promise<readonly string[]> => {
      const said = await inShell(
        shell,
        strict[shell],
        loads[shell]('completion'),
        ...completing[shell](line),
      );
      return said
        .trimEnd()
        .split('\n')
        .map((each) => each.replace(/\t.*/, ''));
    };

    it('completes agents and commands, options, and their values', async () => {
      const words = await completed('ctxwrap ');
      expect(words).toEqual(expect.arrayContaining(['claude', 'codex', 'gemini', 'qwen', 'ps', 'init']));
      expect(words).not.toContain('complete');
      expect(await completed('ctxwrap --no-f')).toEqual(['--no-footer']);
      expect([...(await completed('ctxwrap --mode a'))].sort()).toEqual(['ask', 'auto']);
      expect([...(await completed('ctxwrap --mode ask init '))].sort()).toEqual(['bash', 'fish', 'zsh']);
      expect(await completed('ctxwrap compact --j')).toEqual(['--json']);
      expect([...(await completed('ctxwrap recall --into '))].sort()).toEqual(['context', 'draft']);
      expect(await completed('ctxwrap config se')).toEqual(['set']);
      expect([...(await completed('ctxwrap config set notify'))].sort()).toEqual([
        'notify.command',
        'notify.on',
      ]);
      expect([...(await completed('ctxwrap config set mode a'))].sort()).toEqual(['ask', 'auto']);
      expect(await completed('ctxwrap config set footer t')).toEqual(['true']);
    });

    it('starts an agent of one’s own by its word, whatever its program is called', async () => {
      bench.program('toy-cli', '#!/bin/sh\necho "toy $*"\n');
      const odd = '"odd": { "command": "$(touch${IFS}pwned)" }';
      const words = ['if', 'end', 'test', 'time', 'command', 'read', 'function', 'in'];
      const taken = words.map((word) => `"${word}": { "command": "toy-cli" }`).join();
      writeConfig(bench, `{ "runtimes": { ${taken}, "toy": { "command": "toy-cli" }, ${odd} } }`);
      const gone = join(bench.folder, 'ctxwrap');
      const said = await inShell(shell, loads[shell]('init'), 'toy -p a', `rm ${gone}`, 'toy -p b');
      expect(said).toBe('toy -p a\ntoy -p b\n');
      expect(readdirSync(bench.folder)).not.toContain('pwned');
    });

    it('completes a value behind =, as the shell cuts the line', async () => {
      const [lines, found] =
        shell === 'bash'
          ? [
              ['--mode =', '--mode = a'],
              [
                ['ask', 'auto', 'off', 'warn'],
                ['ask', 'auto'],
              ],
            ]
          : [
              ['--mode=', '--mode=a'],
              [
                ['--mode=ask', '--mode=auto', '--mode=off', '--mode=warn'],
                ['--mode=ask', '--mode=auto'],
              ],
            ];
      for (const [index, line] of lines.entries())
        expect([...(await completed(`ctxwrap ${line}`))].sort()).toEqual(found[index]);
    });

    it('completes agents of one’s own, behind which everything is theirs', async () => {
      writeConfig(bench, '{ "runtimes": { "toy": { "command": "toy-cli" } } }');
      expect(await completed('ctxwrap toy')).toEqual(['toy']);
      expect(await completed('ctxwrap --runtime to')).toEqual(['toy']);
      expect(await completed('ctxwrap toy --mo')).toEqual([{ bash: '', zsh: 'FILES', fish: '' }[shell]]);
    });

    it('completes sessions, as ps shows them', async () => {
      const folder = join(bench.folder, '.local/state/ctxwrap/sessions');
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const session = {
        schema: 'ctxwrap.session/1',
        id: '4711-abc',
        version: '1',
        pid: process.pid,
        childPid: 1,
        runtime: 'codex',
        cwd: '/',
        startedAt: 1,
        heartbeatAt: Date.now(),
        activity: 'ready',
        compactions: 0,
        thresholds: [],
      };
      const past = {
        ...session,
        id: '4712-abd',
        pid: 1,
        endedAt: 2,
        agentSessionId: '0F3A9C12-aaaa-4000-8000-1',
      };
      writeFileSync(join(folder, '4711-abc.json'), JSON.stringify(session));
      writeFileSync(join(folder, '4712-abd.json'), JSON.stringify(past));
      expect(await completed('ctxwrap context 47')).toEqual(['4711']);
      expect(await completed('ctxwrap context 0F')).toEqual(['0F3A9C12']);
    });

    it('offers files behind an agent, whose words are its own', async () => {
      symlinkSync('/dev/null', join(bench.folder, 'notes.md'));
      const words = await completed('ctxwrap claude not');
      expect(words).toEqual([{ bash: '', zsh: 'FILES', fish: 'notes.md' }[shell]]);
    });
  });
}

describe('a shell that is not known', () => {
  it('is answered with those that are', async () => {
    expect(await ctxwrap(['init', 'bsh'], bench)).toMatchObject({
      code: 2,
      stderr: 'ctxwrap: init must be one of bash, zsh, fish, got "bsh"\nctxwrap: try ctxwrap init bash\n',
    });
  });
});
