// The whole way of an agent that only a JSON file knows: started by its word, read from its file and its screen, replayed.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { bin, programPath } from '../support/programs.js';
import { openWindow, type Window } from '../support/window.js';
import { inFolder, lastRow, plainEnv } from '../support/wrapped.js';

const definition = programPath('toy-agent.json');
const WAIT = { timeout: 20_000, interval: 20 };
const session = '.toy/sessions/2026/11/chat-1.jsonl';

const install = (folder: string): Record<string, string> => {
  const path = join(folder, 'bin');
  mkdirSync(path);
  const script = `#!/bin/sh\nexec '${process.execPath}' '${programPath('toy-agent.js')}'\n`;
  writeFileSync(join(path, 'toy-agent'), script, { mode: 0o755 });
  const env = plainEnv(folder);
  return { ...env, PATH: `${path}:${env['PATH']}` };
};

interface Line {
  readonly schema: string;
  readonly [field: string]: unknown;
}

const replay = (folder: string, ...args: readonly string[]): readonly Line[] => {
  const all = [bin, 'replay', 'run.cast', '--runtime', definition, '--ndjson', ...args];
  const { stdout } = spawnSync(process.execPath, all, { cwd: folder, encoding: 'utf8' });
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
};

const readings = (lines: readonly Line[], source: string): readonly Line[] =>
  lines.filter((line) => line.schema === 'ctxwrap.reading/1' && line['source'] === source);

/** One session with the toy agent; each step waits until the footer or the log has followed. */
const converse = async (window: Window, log: () => string): Promise<void> => {
  const activity = (...series: readonly string[]): Promise<void> =>
    vi.waitFor(() => {
      const seen = [...log().matchAll(/activity (\w+)/g)].map(([, name]) => name);
      expect(seen.filter((name) => name !== 'unknown' && name !== 'draft')).toEqual(series);
    }, WAIT);
  await window.until('ctx 99.0% left');
  await activity('ready');
  window.type('work\r');
  await activity('ready', 'busy');
  window.type('.');
  await window.until(() => lastRow(window).includes('21k'), 'the tokens of the first answer');
  await activity('ready', 'busy', 'ready');
  window.type('ask\r');
  await activity('ready', 'busy', 'ready', 'dialog');
  window.type('y');
  await activity('ready', 'busy', 'ready', 'dialog', 'ready');
  window.type('compact\r');
  await vi.waitFor(() => expect(log()).toContain('has compacted'), WAIT);
  window.type('quit\r');
};

describe('an agent defined by a file', () => {
  it('is started by its word, and its file, title, dialog and footer are read live and in a replay', async () => {
    await inFolder(async (folder) => {
      const own = ['--runtime', definition, '--record', 'run.cast', '--log', 'run.log'];
      const window = openWindow({
        file: process.execPath,
        args: [bin, ...own, 'toy-agent'],
        cwd: folder,
        env: install(folder),
        columns: 80,
        rows: 24,
      });
      const logFile = join(folder, 'run.log');
      const log = (): string => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : '');
      try {
        await converse(window, log);
        await vi.waitFor(() => expect(log()).toContain('ended: exit code 0'), WAIT);
      } finally {
        window.close();
      }
      expect(log()).toContain("the agent's session is chat-1");

      const screenOnly = replay(folder);
      expect(readings(screenOnly, 'screen').map((line) => line['usedPercent'])).toEqual([1, 21, 2]);
      expect(readings(screenOnly, 'log')).toEqual([]);

      const both = replay(folder, '--log', session);
      expect(readings(both, 'log')).toEqual([
        expect.objectContaining({
          runtime: 'toy',
          usedTokens: 21_000,
          windowTokens: 100_000,
        }),
      ]);
      expect(both.filter(({ schema }) => schema === 'ctxwrap.boundary/1')).toEqual([
        expect.objectContaining({ pre_tokens: 21_000, post_tokens: 2_000 }),
      ]);
    });
  });

  it('is named with its pattern in the footer where that takes too long, and its screen is not read any more', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'slow.json');
      const slow = { ...JSON.parse(readFileSync(definition, 'utf8')), prompt: '^> ((?:a+)+)$' };
      writeFileSync(file, JSON.stringify(slow));
      const window = openWindow({
        file: process.execPath,
        args: [bin, '--runtime', file, 'toy-agent'],
        cwd: folder,
        env: install(folder),
        columns: 140,
        rows: 24,
      });
      try {
        await window.until('ctx 99.0% left');
        window.type(`${'a'.repeat(40)}!`);
        const told = (): boolean =>
          lastRow(window).includes(
            'the screen is not read any more: the pattern /^> ((?:a+)+)$/u takes too long',
          );
        await window.until(told, 'the pattern in the footer');
        expect(told()).toBe(true);
      } finally {
        window.close();
      }
    });
  });

  it('is not started while its definition is wrong, and all mistakes are said', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'mine.json');
      writeFileSync(
        file,
        JSON.stringify({ name: 'toy', comand: 'toy-agent', log: { globs: '~/x', used: 'a..b' } }),
      );
      const args = [bin, '--runtime', file, '--', 'true'];
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      expect(status).toBe(2);
      expect(stderr).toContain('comand: unknown, did you mean command?');
      expect(stderr).toContain('command: is missing');
      expect(stderr).toMatch(/log\.used: must be a field path .* got "a\.\.b"/);
    });
  });

  it.each([
    ['nothing.json', undefined, 'no such file'],
    ['half.json', '{"name":', 'it is not JSON'],
    ['.', undefined, 'not a regular file'],
  ])('cannot be %s', async (name, text, reason) => {
    await inFolder(async (folder) => {
      if (text !== undefined) writeFileSync(join(folder, name), text);
      const args = [bin, '--runtime', `${folder}/${name}`, '--', 'true'];
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(reason) });
    });
  });
});
