import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { parseArguments } from '../../src/cli/program.js';
import { makeLooks } from '../../src/cli/watching.js';
import { performed } from '../support/performed.js';
import { publishSession } from '../support/published.js';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

const MINUTE_MS = 60_000;

const ps = async (...args: readonly string[]): Promise<string> =>
  String(await performed(parseArguments(['ps', ...args], '1')));

it('ps lists a session whose wrapper runs and has not told of itself for a minute, as stale', async () => {
  const state = mkdtempSync(join(tmpdir(), 'ctxwrap-ps-'));
  vi.stubEnv('XDG_STATE_HOME', state);
  const at = Date.now() - 10 * MINUTE_MS;
  await publishSession(join(state, 'ctxwrap'), {
    id: 'stopped',
    runtime: 'codex',
    cwd: '/',
    startedAt: at,
    heartbeatAt: at,
  });
  expect(await ps()).toMatch(/^codex +- +- +- +- +stale: seen 10m ago +10m +\/ +stop$/m);
  const json: unknown = JSON.parse(await ps('--json'));
  expect(json).toMatchObject({ sessions: [{ id: 'stopped', liveness: 'stale' }] });
});

it.each([
  [undefined, 5_000],
  [20_000, 20_000],
])('ps looks as often as %j says, and every 5 s unless it is told', async (everyMs, expected) => {
  vi.useFakeTimers();
  const looks = makeLooks(everyMs);
  let isDue = false;
  const next = looks.next().then(() => (isDue = true));
  if (everyMs !== undefined) looks.hasten(); // a change is no reason to look earlier
  await vi.advanceTimersByTimeAsync(expected - 1);
  expect(isDue).toBe(false);
  await vi.advanceTimersByTimeAsync(1);
  await next;
});

it.each([
  [['--watch', '--interval', '0'], '--interval must be from 1 to 3600 seconds, got "0"'],
  [['--watch', '--interval', '5s'], '--interval must be from 1 to 3600 seconds, got "5s"'],
  [['--interval', '5'], '--interval needs --watch'],
])('ps refuses %j', (args, message) => {
  expect(() => parseArguments(['ps', ...args], '1')).toThrow(message);
});
