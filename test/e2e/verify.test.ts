// The whole command through the built program, with a script that imitates Gemini CLI and its recordings.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DoctorReport } from '../../src/core/report/doctor-report.js';
import { ctxwrap, inTerminal, makeBench, start } from '../cli/launcher.js';
import type { Bench } from '../cli/launcher.js';
import { bin, programPath } from '../support/programs.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
  const temporary = join(bench.folder, 'tmp');
  mkdirSync(temporary);
  Object.assign(bench.env, { TMPDIR: temporary, CI: '1' });
});
afterEach(() => bench.remove());

const gemini = (words = ''): string =>
  bench.program(
    'gemini',
    `#!/bin/sh\nexec "${process.execPath}" "${programPath('gemini-like.js')}" ${words} "$@"\n`,
  );
const left = (): readonly string[] => readdirSync(bench.env['TMPDIR'] ?? '');
const recordPath = (): string => join(bench.folder, '.local/state/ctxwrap/verified/gemini-0.99.0.json');
const versionRow = async () => {
  const { stdout } = await ctxwrap(['doctor', '--json'], bench);
  const { sections } = JSON.parse(stdout) as DoctorReport;
  return sections.find(({ title }) => title === 'gemini')?.checks.find(({ name }) => name === 'version');
};
/** Processes with this test's folder in their command line or environment. */
const processesOf = ({ folder }: Bench): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`HOME=${folder}/tmp`);
    } catch {
      return false;
    }
  });

const LONG_MS = 240_000;
const NAMES = 'fill 5 %, fill below warn, fill at warn, fill at auto, dialog, draft, compaction, exit'.split(
  ', ',
);

describe('ctxwrap verify', () => {
  it(
    'passes an agent that behaves as expected, and keeps the result for doctor',
    { timeout: LONG_MS },
    async () => {
      gemini();
      mkdirSync(join(bench.folder, '.gemini'));
      writeFileSync(join(bench.folder, '.gemini/settings.json'), 'of the user');
      expect(await versionRow()).toMatchObject({
        status: 'warn',
        text: '0.99.0 was not tested; 0.58.0 to 0.61.0 were',
        fix: 'ctxwrap verify gemini',
      });
      const { stdout, stderr, code } = await ctxwrap(['verify', 'gemini', '--json'], bench);
      const [found] = JSON.parse(stdout).agents;
      expect(found.checks.filter((each: { isGood: boolean }) => !each.isGood)).toEqual([]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(found).toMatchObject({ agent: 'gemini', agentVersion: '0.99.0', verified: true });
      expect(found.checks.map((each: { name: string }) => each.name)).toEqual(NAMES);
      expect(found.checks[1].evidence).toBe(
        'footer 37% 387k/1.0M; the model server reported 386,653 of 1,048,576',
      );
      expect(statSync(recordPath()).mode & 0o777).toBe(0o600);
      expect(await versionRow()).toMatchObject({
        status: 'ok',
        text: expect.stringMatching(/^0\.99\.0, verified on this machine: passed 8 of 8 checks on [\d-]+$/),
      });
      expect(left()).toEqual([]);
      // the user's home is unchanged except for the record
      expect(readdirSync(join(bench.folder, '.gemini'))).toEqual(['settings.json']);
    },
  );

  it(
    'finds an agent that records another number than the server reported; Ctrl-C leaves nothing behind',
    { timeout: LONG_MS },
    async () => {
      gemini('lie');
      const terminal = inTerminal(process.execPath, [bin, 'verify', 'gemini'], bench);
      await terminal.seen(
        /fill 5 %: the model server reported 52,429 of 1,048,576, and the footer says 58k used/,
      );
      expect(processesOf(bench)).not.toEqual([]);
      terminal.type('\x03');
      expect(await terminal.ended).toMatchObject({ signal: 2 });
      expect(left()).toEqual([]);
      expect(processesOf(bench)).toEqual([]);
      expect(existsSync(recordPath())).toBe(false);
    },
  );

  it(
    'says what it saw of an agent that does not get as far as its prompt, and where the recording is',
    { timeout: LONG_MS },
    async () => {
      bench.program(
        'gemini',
        '#!/bin/sh\ncase "$1" in --version) echo 0.99.0 ;; --help) ;; *) echo "no licence"; exit 3 ;; esac\n',
      );
      const { stdout, code } = await ctxwrap(['verify', 'gemini'], bench);
      expect(stdout).toContain('✗ session: expected, but the program ended first: gemini with its prompt');
      expect(stdout).toContain('no licence');
      expect(code).toBe(1);
      const [, recording = ''] = /recording: (\S+session\.cast)/.exec(stdout) ?? [];
      expect(readFileSync(recording, 'utf8')).toContain('no licence');
      expect(await versionRow()).toMatchObject({
        status: 'warn',
        fix: 'npm install -g @google/gemini-cli@0.61.0',
      });
    },
  );

  it('says of each agent that it is not installed', async () => {
    const one = await ctxwrap(['verify', 'codex'], bench);
    expect(one).toMatchObject({ code: 2, stdout: '' });
    expect(one.stderr).toContain('codex: not installed (npm install -g @openai/codex)');
    const all = await ctxwrap(['verify'], bench);
    expect(all.code).toBe(2);
    for (const name of ['claude', 'codex', 'gemini', 'qwen'])
      expect(all.stderr).toContain(`${name}: not installed`);
    expect((await ctxwrap(['verify', 'emacs'], bench)).code).toBe(2);
    expect(left()).toEqual([]);
  });

  it('leaves nothing behind when another program ends it', { timeout: LONG_MS }, async () => {
    gemini();
    const { child, ended } = start(process.execPath, [bin, 'verify', 'gemini', '--json'], {
      env: bench.env,
      cwd: bench.folder,
    });
    const isUnderWay = (): boolean =>
      left().some((name) => existsSync(join(bench.folder, 'tmp', name, 'session.cast')));
    await expect.poll(isUnderWay, { timeout: 60_000 }).toBe(true);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ signal: 'SIGTERM', stdout: '' });
    expect(left()).toEqual([]);
    expect(processesOf(bench)).toEqual([]);
  });
});
