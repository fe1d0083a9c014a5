import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SessionRecord } from '../../src/core/report/records.js';
import { own } from '../../src/core/printable.js';
import { isRunning, processStart } from '../../src/storage/processes.js';
import {
  cleanSessions,
  listSessions,
  ensureSessionsFolder,
  writeHandoff,
  writeSession,
} from '../../src/storage/sessions.js';

const DAY_MS = 86_400_000;
const now = Date.now();
const record: SessionRecord = {
  schema: 'ctxwrap.session/1',
  id: 'one',
  version: '1',
  pid: process.pid,
  childPid: 2,
  runtime: 'claude',
  cwd: '/proj',
  startedAt: now - 5_000,
  heartbeatAt: now,
  activity: 'ready',
  compactions: 0,
  thresholds: [],
};

let state: string;
beforeEach(() => {
  state = join(mkdtempSync(join(tmpdir(), 'sessions-')), 'ctxwrap');
});
afterEach(() => rmSync(join(state, '..'), { recursive: true }));

const listed = async () =>
  (await listSessions(state, now)).map((each) => `${each.record.id} ${each.liveness}`);

describe('the session records', () => {
  it('are empty before the first session, and listing them creates no folder', async () => {
    expect(await listed()).toEqual([]);
    expect(existsSync(state)).toBe(false);
  });

  it('in an unreadable folder are an error, not an empty list', async () => {
    writeFileSync(state, '');
    await expect(listSessions(state, now)).rejects.toThrow(
      /^cannot read the sessions in ".*": not a directory$/,
    );
  });

  it('behind a link that others can change are refused, with the command that doctor names', async () => {
    const open = join(state, '..', 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    symlinkSync(open, state);
    await expect(listSessions(state, now)).rejects.toMatchObject({
      message: expect.stringContaining('is a symbolic link'),
      hint: `mv ${state} ${state}.old`,
    });
  });

  it('are listed by start time, and readable by the user only', async () => {
    const folder = await ensureSessionsFolder(state);
    await writeSession(folder, record);
    await writeSession(folder, { ...record, id: 'before', startedAt: now - 9_000 });
    await writeSession(folder, { ...record, activity: 'busy' });
    expect(await listed()).toEqual(['before live', 'one live']);
    expect((await listSessions(state, now))[1]?.record).toEqual({ ...record, activity: 'busy' });
    expect(lstatSync(join(folder, 'one.json')).mode & 0o777).toBe(0o600);
    expect(lstatSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).toSorted()).toEqual(['before.json', 'one.json']);
  });

  it('that are broken, renamed, links, folders or far too large are skipped', async () => {
    const folder = await ensureSessionsFolder(state);
    await writeSession(folder, record);
    const text = JSON.stringify(record);
    writeFileSync(join(folder, 'other-name.json'), text);
    writeFileSync(join(folder, 'broken.json'), text.slice(0, 40));
    writeFileSync(join(folder, 'bad name.json'), JSON.stringify({ ...record, id: 'bad name' }));
    writeFileSync(
      join(folder, 'huge.json'),
      JSON.stringify({ ...record, id: 'huge', note: 'x'.repeat(70_000) }),
    );
    writeFileSync(join(state, 'elsewhere'), JSON.stringify({ ...record, id: 'link' }));
    symlinkSync(join(state, 'elsewhere'), join(folder, 'link.json'));
    mkdirSync(join(folder, 'folder.json'));
    expect(await listed()).toEqual(['one live']);
  });

  it('distinguish a running process from an ended one and from another one with the same pid', async () => {
    const child = spawn('true');
    await once(child, 'exit');
    const folder = await ensureSessionsFolder(state);
    await writeSession(folder, { ...record, id: 'gone', pid: child.pid ?? 0 });
    await writeSession(folder, { ...record, id: 'reused', processStart: '1' });
    await writeSession(folder, { ...record, id: 'same', processStart: processStart(process.pid) ?? '' });
    await writeSession(folder, { ...record, id: 'silent', heartbeatAt: now - 60_001 });
    await writeSession(folder, { ...record, id: 'over', pid: child.pid ?? 0, endedAt: now });
    expect(await listed()).toEqual(['gone dead', 'over ended', 'reused dead', 'same live', 'silent stale']);
  });

  it('are removed when the session ended long ago, never while it runs', async () => {
    const folder = await ensureSessionsFolder(state);
    const long = now - 8 * DAY_MS;
    await writeSession(folder, { ...record, id: 'stopped', heartbeatAt: long });
    await writeSession(folder, { ...record, id: 'old', heartbeatAt: long, endedAt: long });
    await writeSession(folder, { ...record, id: 'crashed', heartbeatAt: long, processStart: '1' });
    await writeSession(folder, { ...record, id: 'recent', endedAt: now });
    writeFileSync(join(folder, 'one.json.0123.tmp'), 'half');
    writeFileSync(join(folder, 'two.json.0123.tmp'), 'half');
    utimesSync(join(folder, 'two.json.0123.tmp'), long / 1000, long / 1000);
    await cleanSessions(state, now);
    expect(readdirSync(folder).toSorted()).toEqual(['one.json.0123.tmp', 'recent.json', 'stopped.json']);
  });

  it('take their handoffs with them', async () => {
    const folder = await ensureSessionsFolder(state);
    const long = now - 8 * DAY_MS;
    await writeSession(folder, { ...record, id: 'runs', heartbeatAt: long });
    await writeSession(folder, { ...record, id: 'old', heartbeatAt: long, endedAt: long });
    const ids = ['runs', 'old', 'lost', 'begins'];
    const paths = await Promise.all(ids.map((id) => writeHandoff(state, id, own`# Handoff`)));
    for (const path of paths.filter((each) => /runs|lost/.test(each)))
      utimesSync(path, long / 1000, long / 1000);
    await cleanSessions(state, now);
    expect(readdirSync(join(state, 'handoff')).toSorted()).toEqual(['begins.md', 'runs.md']);
  });
});

describe('a process', () => {
  it('has a constant start time, different from that of another process', () => {
    expect(isRunning(process.pid)).toBe(true);
    expect(isRunning(process.pid, processStart(process.pid))).toBe(true);
    expect(processStart(process.pid)).not.toBe(processStart(1));
    expect(isRunning(2 ** 22 + 1)).toBe(false);
  });
});
