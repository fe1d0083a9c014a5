// Reading all records again and again: the same as reading them anew, but of files that have changed only.
import { mkdtempSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SessionRecord } from '../../src/core/report/records.js';
import {
  ensureSessionsFolder,
  listSessions,
  makeSessionsReader,
  writeSession,
} from '../../src/storage/sessions.js';

let state: string;
let folder: string;
beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), 'reader-test-'));
  folder = await ensureSessionsFolder(state);
});
afterEach(() => rmSync(state, { recursive: true }));

const NOW = Date.now();
const record = (id: string, more: Partial<SessionRecord> = {}): SessionRecord => ({
  schema: 'ctxwrap.session/1',
  id,
  version: '1',
  pid: process.pid,
  childPid: 2,
  runtime: 'claude',
  cwd: '/"heartbeatAt":1,',
  startedAt: NOW,
  heartbeatAt: NOW,
  activity: 'ready',
  compactions: 0,
  thresholds: [],
  ...more,
});

it('each look gives what a fresh one gives, after changes, heartbeats, ends and damage', async () => {
  const read = makeSessionsReader(state);
  const steps: readonly (() => unknown)[] = [
    () => writeSession(folder, record('a')),
    () => writeSession(folder, record('b', { startedAt: NOW - 1 })),
    () => writeSession(folder, record('a', { heartbeatAt: NOW + 5_000 })),
    () => writeSession(folder, record('a', { heartbeatAt: NOW + 10_000, activity: 'busy' })),
    () => writeSession(folder, record('b', { endedAt: NOW, heartbeatAt: NOW + 10_000 })),
    () => writeSession(folder, record('c', { pid: 2 ** 22 + 1 })), // no such process
    () => writeFileSync(join(folder, 'a.json'), '{"schema":"ctxwrap.session/1"'),
    () => symlinkSync(join(folder, 'b.json'), join(folder, 'd.json')),
    () => writeFileSync(join(folder, 'e.json'), JSON.stringify(record('other'))),
    () => writeFileSync(join(folder, 'f.json'), 'x'.repeat(100_000)),
    () => unlinkSync(join(folder, 'b.json')),
    () => writeSession(folder, record('a', { heartbeatAt: NOW + 11_000 })),
  ];
  for (const step of steps) {
    await step();
    expect(await read(NOW + 12_000)).toEqual(await listSessions(state, NOW + 12_000));
  }
  expect((await read(NOW + 12_000)).map(({ record: { id }, liveness }) => `${id} ${liveness}`)).toEqual([
    'a live',
    'c dead',
  ]);
});

it('a record that is not written for a minute is stale, though its file has not changed', async () => {
  const read = makeSessionsReader(state);
  await writeSession(folder, record('a'));
  expect(await read(NOW + 60_000)).toMatchObject([{ liveness: 'live' }]);
  expect(await read(NOW + 60_001)).toMatchObject([{ liveness: 'stale' }]);
});
