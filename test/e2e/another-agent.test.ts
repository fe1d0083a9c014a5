// One agent more: its folder and its line in the table are all that the program needs to work with it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { buildWithToy } from '../support/changed-program.js';
import { programPath } from '../support/programs.js';
import { openWindow } from '../support/window.js';
import { inFolder, lastRow, plainEnv } from '../support/wrapped.js';

const WAIT = { timeout: 60_000, interval: 20 };

/** A folder with the program in it, and the agent on its PATH. */
const inBuilt = (act: (folder: string, program: string) => Promise<void> | void): Promise<void> =>
  inFolder(async (folder) => {
    const program = await buildWithToy(folder);
    mkdirSync(join(folder, 'bin'));
    const script = `#!/bin/sh\nexec '${process.execPath}' '${programPath('toy-agent.js')}'\n`;
    writeFileSync(join(folder, 'bin/toy-agent'), script, { mode: 0o755 });
    await act(folder, program);
  });

const envOf = (folder: string): Record<string, string> => {
  const env = plainEnv(folder);
  return { ...env, PATH: `${join(folder, 'bin')}:${env['PATH']}` };
};

describe('an agent that is added to the table', () => {
  it('is known to the help, the completion, the shell functions, the doctor and the hooks', async () => {
    await inBuilt((folder, program) => {
      const told = (...args: readonly string[]): string =>
        spawnSync(process.execPath, [program, ...args], {
          cwd: folder,
          env: envOf(folder),
          encoding: 'utf8',
        }).stdout;
      expect(told('--help')).toMatch(/one of toy, /);
      expect(told('complete', 'to')).toContain('toy');
      expect(told('complete', '--', '--runtime', 'to')).toContain('toy');
      expect(told('init', 'bash')).toContain('function toy {');
      expect(told('doctor')).toMatch(/^toy\n {2}ok {3}program/m);
      expect(told('hook', 'toy')).toMatch(/^after_turn = .*ctxwrap compact/);
    });
  });

  it('is read live, compacted, and read again from a recording of it', async () => {
    await inBuilt(async (folder, program) => {
      const own = ['--record', 'run.cast', '--log', 'run.log', '--auto', '20%', '--hard', '60%'];
      const window = openWindow({
        file: process.execPath,
        args: [program, ...own, 'toy'],
        cwd: folder,
        env: envOf(folder),
        columns: 80,
        rows: 24,
      });
      const file = join(folder, 'run.log');
      const log = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
      try {
        await window.until('ctx 99.0% left');
        await vi.waitFor(() => expect(log()).toContain('activity ready'), WAIT);
        window.type('work\r');
        await vi.waitFor(() => expect(log()).toContain('activity busy'), WAIT);
        window.type('.');
        await window.until(() => lastRow(window).includes('21k'), 'the tokens of its answer');
        await vi.waitFor(() => expect(log()).toContain('has compacted'), WAIT);
        await window.until('ctx 98.0% left');
        window.type('quit\r');
        await vi.waitFor(() => expect(log()).toContain('ended: exit code 0'), WAIT);
      } finally {
        window.close();
      }
      const { stdout } = spawnSync(process.execPath, [program, 'replay', 'run.cast', '--ndjson'], {
        cwd: folder,
        encoding: 'utf8',
      });
      expect(stdout).toContain('"runtime":"toy"');
      expect(stdout).toContain('"usedPercent":21');
    });
  });
});
