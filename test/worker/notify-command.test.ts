import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { NotificationRecord } from '../../src/core/report/records.js';
import { isRunning } from '../../src/storage/processes.js';
import { commandArguments, makeNotifyCommand } from '../../src/worker/notifier.js';

const WAIT = { timeout: 20_000, interval: 10 };

let folder = '';
let failures: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'notify-'));
  failures = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const record: NotificationRecord = {
  schema: 'ctxwrap.notification/1',
  at: 1,
  kind: 'permission',
  text: "it's $(touch x) `here`",
  runtime: 'claude',
  cwd: '/',
  activity: 'dialog',
};
const env = { PATH: process.env['PATH'] ?? '', GREETING: 'hello' };
const commandOf = (command: string, longestMs?: number) =>
  makeNotifyCommand({
    command,
    cwd: folder,
    env,
    onFailure: (reason) => failures.push(reason),
    ...(longestMs === undefined ? {} : { longestMs }),
  });
const read = (name: string): string =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '';

describe('the words of a command', () => {
  it.each([
    ['notify-send ctxwrap', ['notify-send', 'ctxwrap']],
    ['  /usr/bin/x   --to=me@host  ', ['/usr/bin/x', '--to=me@host']],
  ])('are those of %j', (command, words) => {
    expect(commandArguments(command)).toEqual(words);
  });

  it.each([
    'a | b',
    'echo "x y"',
    'X=1 run',
    'echo $HOME',
    'a; b',
    'say ~/x',
    'ls *',
    'a\nb',
    "it's",
    'a > b',
  ])('are a matter for the shell in %j', (command) => {
    expect(commandArguments(command)).toEqual(['/bin/sh', '-c', command]);
  });
});

describe('a command for notifications', () => {
  it('gets one line of JSON on its standard input, in the folder and environment of the session', async () => {
    commandOf('cat > got; printf "%s" "$GREETING" > env').run(record);
    await vi.waitFor(() => expect(read('env')).toBe('hello'), WAIT);
    expect(read('got').endsWith('}\n')).toBe(true);
    expect(JSON.parse(read('got'))).toEqual(record);
    expect(existsSync(join(folder, 'x'))).toBe(false);
    expect(failures).toEqual([]);
  });

  it('is run without a shell where it is only words', async () => {
    commandOf('tee got').run(record);
    await vi.waitFor(() => expect(read('got')).toContain('permission'), WAIT);
  });

  it.each([
    ['ctxwrap-no-such-program', /ENOENT/],
    ['exit 3; #', /^it ended with status 3$/],
    ['kill -TERM $$', /^it was ended by SIGTERM$/],
  ])('%s fails, and that is told once', async (command, reason) => {
    const notify = commandOf(command);
    notify.run(record);
    await vi.waitFor(() => expect(failures).toHaveLength(1), WAIT);
    notify.run(record);
    notify.run(record);
    const probe = commandOf('touch done');
    probe.run(record);
    await vi.waitFor(() => expect(existsSync(join(folder, 'done'))).toBe(true), WAIT);
    expect(failures).toEqual([expect.stringMatching(reason)]);
  });

  it('that does not read what it gets is no failure', async () => {
    const big = { ...record, text: 'x'.repeat(1_000_000) };
    commandOf('exec <&-; touch done').run(big);
    await vi.waitFor(() => expect(existsSync(join(folder, 'done'))).toBe(true), WAIT);
    expect(failures).toEqual([]);
  });

  const pids = (): readonly number[] => read('pids').split('\n').filter(Boolean).map(Number);

  it('is ended with all that it has started when it takes too long', async () => {
    commandOf('sleep 1000 & echo $! > all; echo $$ >> all; mv all pids; wait', 300).run(record);
    await vi.waitFor(() => expect(pids()).toHaveLength(2), WAIT);
    await vi.waitFor(() => expect(pids().some((pid) => isRunning(pid))).toBe(false), WAIT);
    expect(failures).toEqual(['it did not end within 0.3 s']);
  });

  it('is ended with the session, which is no failure', async () => {
    const notify = commandOf('sleep 1000 & echo $! > all; echo $$ >> all; mv all pids; wait');
    notify.run(record);
    await vi.waitFor(() => expect(pids()).toHaveLength(2), WAIT);
    notify.stop();
    await vi.waitFor(() => expect(pids().some((pid) => isRunning(pid))).toBe(false), WAIT);
    expect(failures).toEqual([]);
  });

  it('is not started a fifth time while four of it run', async () => {
    const notify = commandOf('echo x >> started; sleep 1000');
    for (let each = 0; each < 6; each += 1) notify.run(record);
    await vi.waitFor(() => expect(read('started')).toBe('x\n'.repeat(4)), WAIT);
    expect(failures).toEqual(['it takes too long: it was not started again']);
    notify.stop();
  });
});
