import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { ps } from '../../src/cli/commands/ps.js';
import { parseArguments } from '../../src/cli/program.js';
import type { PsRequest } from '../../src/cli/request.js';
import { ensureSessionsFolder, writeSession } from '../../src/storage/sessions.js';

afterEach(() => vi.unstubAllEnvs());

const MINUTE_MS = 60_000;

const request = (...args: readonly string[]): PsRequest => {
  const made = parseArguments(['ps', ...args], '1');
  if (made.kind !== 'ps') throw new Error(made.kind);
  return made;
};

it('ps lists a session whose wrapper runs and has not told of itself for a minute, as stale', async () => {
  const state = mkdtempSync(join(tmpdir(), 'ctxwrap-ps-'));
  vi.stubEnv('XDG_STATE_HOME', state);
  const at = Date.now() - 10 * MINUTE_MS;
  await writeSession(await ensureSessionsFolder(join(state, 'ctxwrap')), {
    schema: 'ctxwrap.session/1',
    id: 'stopped',
    version: '1',
    pid: process.pid,
    childPid: process.pid,
    runtime: 'codex',
    cwd: '/',
    startedAt: at,
    heartbeatAt: at,
    activity: 'ready',
    compactions: 0,
    thresholds: [],
  });
  expect(await ps(request())).toMatch(/^codex +- +- +- +- +stale: seen 10m ago +10m +\/ +stop$/m);
  const json: unknown = JSON.parse(await ps(request('--json')));
  expect(json).toMatchObject({ sessions: [{ id: 'stopped', liveness: 'stale' }] });
});
