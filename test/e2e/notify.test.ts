// Notifications through the built program, around a script that imitates the demo agent.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inTerminal, makeBench } from '../cli/launcher.js';
import type { Bench } from '../cli/launcher.js';
import { bin, programPath } from '../support/programs.js';

const WAIT = { timeout: 60_000, interval: 20 };

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

/** An agent with a full window that then opens a dialog. */
const openScene = (options: readonly string[], env: Record<string, string>) => {
  const scene: Bench = {
    ...bench,
    env: { ...bench.env, ...env, CTXWRAP_DEMO_LOG: join(bench.folder, 'demo.jsonl') },
  };
  const bounds = ['--mode', 'warn', '--warn', '20k', '--auto', '30k', '--hard', '190k'];
  const log = join(bench.folder, 'log');
  const program = [process.execPath, programPath('demo-like.js'), '--ask', 'rm -r old'];
  const args = [bin, '--runtime', 'demo', ...bounds, '--log', log, ...options, '--', ...program];
  const terminal = inTerminal(process.execPath, args, scene);
  const logged = (pattern: RegExp): Promise<void> =>
    vi.waitFor(() => expect(existsSync(log) ? readFileSync(log, 'utf8') : '').toMatch(pattern), WAIT);
  const end = async (): Promise<void> => {
    terminal.kill();
    await terminal.ended;
  };
  return { terminal, logged, end };
};

describe('a user who looks elsewhere', () => {
  it('is called by the terminal and by a command, once for each kind', async () => {
    const file = join(bench.folder, 'calls');
    const { terminal, logged, end } = openScene(
      ['--notify', 'auto,permission', '--notify-command', `cat >> ${file}`],
      { TERM_PROGRAM: 'WezTerm' },
    );
    const text = /\x1b\]777;notify;ctxwrap demo;25% of the window used: auto\x1b\\/;
    await terminal.seen(text);
    await terminal.seen(/\x1b\]777;notify;ctxwrap demo;waits for your answer in a dialog\x1b\\/);
    await logged(/notification permission/);
    const calls = () => (existsSync(file) ? readFileSync(file, 'utf8') : '').split('\n').filter(Boolean);
    await vi.waitFor(() => expect(calls()).toHaveLength(2), WAIT);
    // each is a process of its own, and they may run at the same time
    const kinds = calls().map((line) => JSON.parse(line) as { readonly kind: string });
    expect(kinds.toSorted((a, b) => a.kind.localeCompare(b.kind))).toMatchObject([
      { schema: 'ctxwrap.notification/1', kind: 'auto', runtime: 'demo', reading: { usedTokens: 50_000 } },
      { schema: 'ctxwrap.notification/1', kind: 'permission', activity: 'dialog', cwd: bench.folder },
    ]);
    expect(terminal.output().match(/\x1b\]777;notify/g)).toHaveLength(2);
    await end();
  });

  it('is not called unless asked to be, and a command that fails stops nothing', async () => {
    const silent = openScene([], { TERM_PROGRAM: 'WezTerm' });
    await silent.logged(/activity dialog/);
    expect(silent.terminal.output()).not.toContain('\x1b]777');
    await silent.end();
    const broken = openScene(['--notify', 'permission', '--notify-command', 'ctxwrap-no-such-program'], {});
    await broken.logged(/the command for notifications failed: .*ENOENT/);
    await broken.terminal.seen(/\x07/);
    await broken.end();
  });
});
