// Configuration files in a session: a user-defined agent, and settings that change while it runs.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { bin, programPath } from '../support/programs.js';
import { openWindow, type Window } from '../support/window.js';
import { inFolder, lastRow, plainEnv } from '../support/wrapped.js';

const WAIT = { timeout: 40_000, interval: 20 };
const page = readFileSync(resolve(import.meta.dirname, '../../docs/internals/another-agent.md'), 'utf8');
const example = /```jsonc\n(\{\n {2}"runtimes": \{\n {4}"mycode"[^]*?\n)```/.exec(page)?.[1] ?? '';

interface Scene {
  readonly window: Window;
  readonly log: () => string;
  readonly configure: (text: string) => void;
  readonly logged: (text: string) => Promise<void>;
}

/** `ctxwrap mycode` with the example of the documentation and more, around a program that imitates opencode. */
const withOpencode = (more: string, act: (scene: Scene) => Promise<void>): Promise<void> =>
  inFolder(async (folder) => {
    const file = join(folder, '.config/ctxwrap/config.jsonc');
    const configure = (text: string): void => {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, example.replace(/\n\}\s*$/, `,\n${text}\n}\n`), { mode: 0o600 });
    };
    configure(more);
    const path = join(folder, 'bin');
    mkdirSync(path);
    const script = `#!/bin/sh\nexec '${process.execPath}' '${programPath('opencode-like.js')}'\n`;
    writeFileSync(join(path, 'opencode'), script, { mode: 0o755 });
    const env = plainEnv(folder);
    const logFile = join(folder, 'run.log');
    const window = openWindow({
      file: process.execPath,
      args: [bin, 'mycode'],
      cwd: folder,
      env: { ...env, PATH: `${path}:${env['PATH']}`, CTXWRAP_LOG: logFile },
      columns: 120,
      rows: 30,
    });
    const log = (): string => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : '');
    const logged = (text: string): Promise<void> => vi.waitFor(() => expect(log()).toContain(text), WAIT);
    try {
      await act({ window, log, configure, logged });
      window.type('\x03');
      await logged('ended: exit code');
    } finally {
      window.close();
    }
  });

const says = (window: Window, words: string): Promise<void> =>
  window.until(() => lastRow(window).includes(words), `the footer with ${words}`);

describe.concurrent('the agent of the documentation’s example', () => {
  it('is read from its screen, and compacted', async () => {
    await withOpencode('"auto": "55%"', async ({ window, log, logged }) => {
      await logged('runtime mycode');
      await logged('activity ready');
      window.type('hello\r');
      await says(window, ' 60%  auto');
      await says(window, 'compacting in');
      await logged('compaction by us: verified');
      await says(window, 'compacted 60% → 1%');
      expect(log()).toContain('typing /compact: sent, typed /compact, Enter');
    });
  });

  it('is left alone in a dialog, though the cursor is in a row like that of an empty prompt', async () => {
    await withOpencode('"auto": "55%"', async ({ window, log, logged }) => {
      await logged('activity ready');
      window.type('hello\r');
      await says(window, 'compacting in');
      window.type('ask\r');
      await logged('activity dialog');
      await window.until(() => !lastRow(window).includes('compacting'), 'the end of the countdown');
      window.type('n'); // delete the file
      await logged('compaction by us: verified');
      expect(window.rows().join('\n')).not.toContain('APPROVED');
      expect(log().match(/typing \/compact/g)).toHaveLength(1);
    });
  });
});

describe.concurrent('a wrong configuration', () => {
  it('is reported once in the footer, in full in the log, and nothing is typed where the mode is unclear', async () => {
    await withOpencode('"auto": "55%", "mode": "atuo"', async ({ window, log, logged }) => {
      await says(window, 'see ctxwrap config check: mode is "atuo"');
      await logged('activity ready');
      window.type('hello\r');
      await says(window, ' 60%  auto');
      await window.until(() => !lastRow(window).includes('config check'), 'the end of the notice');
      expect(log()).toContain('config.jsonc:');
      expect(log()).toContain('it counts as warn');
      expect(log()).not.toContain('typing /compact');
    });
  });
});

describe.concurrent('a change in the user’s file', () => {
  it('that restricts compacting applies at once, also in a countdown', async () => {
    await withOpencode('"auto": "55%"', async ({ window, log, configure, logged }) => {
      await logged('activity ready');
      window.type('hello\r');
      await says(window, 'compacting in');
      configure('"auto": "55%", "mode": "warn"');
      await logged('the configuration has changed');
      await window.until(() => !lastRow(window).includes('compacting'), 'the end of the countdown');
      expect(log()).not.toContain('typing /compact');
    });
  });

  it('that extends compacting waits while the window is full, and applies where it is not', async () => {
    await withOpencode('"mode": "warn", "auto": "80%"', async ({ window, log, configure, logged }) => {
      await logged('activity ready');
      window.type('hello\r');
      await says(window, ' 60%  safe');
      configure('"mode": "auto", "auto": "55%"');
      await says(window, ' 60%  auto');
      await logged('compaction by us: verified');
      expect(log().match(/typing \/compact/g)).toHaveLength(1);
    });
  });

  it('that cannot be read changes nothing, and is reported', async () => {
    await withOpencode('"mode": "warn", "auto": "80%"', async ({ window, log, configure, logged }) => {
      await logged('activity ready');
      configure('"mode": "auto", "auto": "5');
      await logged('the previous settings stay in force');
      await says(window, 'see ctxwrap config check');
      window.type('hello\r');
      await says(window, ' 60%  safe');
      expect(log()).not.toContain('the configuration has changed');
    });
  });
});

describe.concurrent('a strategy that the demonstration does not use', () => {
  it.each([
    ['given', ['--strategy', 'truncate'], ''],
    ['configured', [], '{ "strategy": "clustering" }'],
  ])('is said where it is %s', (_, options, text) =>
    inFolder(async (folder) => {
      const file = join(folder, '.config/ctxwrap/config.jsonc');
      mkdirSync(dirname(file), { recursive: true });
      if (text !== '') writeFileSync(file, text, { mode: 0o600 });
      const window = openWindow({
        file: process.execPath,
        args: [bin, ...options, 'demo', '--interactive'],
        cwd: folder,
        env: plainEnv(folder),
        columns: 120,
        rows: 30,
      });
      try {
        await says(
          window,
          `strategy ${options[1] ?? 'clustering'} is not used: demo cannot switch to another session`,
        );
        expect(window.isOpen()).toBe(true);
      } finally {
        window.close();
      }
    }),
  );
});
