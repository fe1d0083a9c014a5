import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { defaultValues } from '../../src/core/config/keys.js';
import { parseSessionRecord } from '../../src/core/read-record.js';
import { startSession, stepSession } from '../../src/core/session.js';
import { nullLog } from '../../src/storage/log-file.js';
import { writeAtomic } from '../../src/storage/state-folder.js';
import { endLostRecord, publishLostRecord } from '../../src/main-thread/lost-record.js';
import { publishRecord } from '../../src/worker/publish.js';
import type { Session } from '../../src/core/session.js';

let folder: string;
let failures: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'publish-'));
  failures = [];
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

const start = startSession({ agent: 'claude' }, 0);
const at = (usedTokens: number) =>
  stepSession(
    start,
    {
      type: 'reading',
      reading: { usedTokens, windowTokens: 200_000, windowSource: 'table', source: 'log', at: 5 },
    },
    5,
  );

const publish = () =>
  publishRecord({
    stateFolder: join(folder, 'ctxwrap'),
    identity: {
      id: 'me',
      version: '1',
      pid: process.pid,
      childPid: 1,
      runtime: 'claude',
      cwd: '/proj',
      startedAt: Date.now(),
    },
    state: start,
    now: Date.now,
    onFailure: (reason) => failures.push(reason),
  });

const path = () => join(folder, 'ctxwrap', 'sessions', 'me.json');
const record = () => {
  try {
    return parseSessionRecord(readFileSync(path(), 'utf8'));
  } catch {
    return undefined;
  }
};
// Waits with turns of the event loop instead of timers, which a test may fake.
const written = async (what: () => unknown): Promise<void> => {
  const from = performance.now();
  while (!what() && performance.now() - from < 20_000) await new Promise(setImmediate);
  expect(what()).toBeTruthy();
};

/** As long as some writes of the same kind take: a write that should not happen would be seen then. */
const calm = async (): Promise<void> => {
  for (const name of ['a', 'b', 'c']) await writeAtomic(join(folder, name), 'text');
};

describe('publishing a session', () => {
  it('writes that the session runs, its state, and how it ended', async () => {
    const publisher = publish();
    await written(() => record()?.note === 'waiting for the first turn');
    expect(statSync(path()).mode & 0o777).toBe(0o600);
    const found = { type: 'session-changed', sessionId: 'a', path: '/logs/a.jsonl' } as const;
    publisher.update(stepSession(at(150_000), found, 6));
    await written(() => record()?.reading?.usedTokens === 150_000);
    expect(record()).toMatchObject({ tier: 'warn', logPath: '/logs/a.jsonl' });
    await publisher.end({ signal: 'SIGTERM' });
    expect(record()).toMatchObject({ activity: 'dead', exit: { signal: 'SIGTERM' } });
    expect(record()?.endedAt).toBeGreaterThan(0);
    expect(failures).toEqual([]);
  });

  it('says what it does about a full window', async () => {
    const publisher = publish();
    await written(record);
    publisher.update(start, { compaction: { mode: 'auto', words: 'waiting: the agent is busy' } });
    await written(() => record()?.compaction?.words === 'waiting: the agent is busy');
    publisher.update(start, { compaction: { mode: 'auto' } });
    await written(() => record()?.compaction?.words === undefined);
    expect(record()?.compaction).toEqual({ mode: 'auto' });
    await publisher.end({ code: 0 });
  });

  it('writes at most once a second because of changes, and every five seconds without any', async () => {
    vi.useFakeTimers({
      toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout', 'Date', 'performance'],
    });
    const publisher = publish();
    await written(record);
    publisher.update(at(1));
    publisher.update(at(2));
    vi.advanceTimersByTime(900);
    await calm();
    expect(record()).not.toHaveProperty('reading');
    publisher.update(at(3));
    await calm();
    vi.advanceTimersByTime(100);
    await written(() => record()?.reading?.usedTokens === 3);
    const before = record()?.heartbeatAt ?? 0;
    expect(before - (record()?.startedAt ?? 0)).toBe(1_000);
    publisher.update(at(3)); // no change
    vi.advanceTimersByTime(3_900);
    await calm();
    expect(record()?.heartbeatAt).toBe(before);
    vi.advanceTimersByTime(100);
    await written(() => (record()?.heartbeatAt ?? 0) === before + 4_000);
    await publisher.end({ code: 0 });
  });

  it('writes a new tier at once, for an agent may ask for it the next moment', async () => {
    vi.useFakeTimers({
      toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout', 'Date', 'performance'],
    });
    const publisher = publish();
    await written(record);
    publisher.update(at(1));
    vi.advanceTimersByTime(1_000);
    await written(() => record()?.tier === 'safe');
    publisher.update(at(178_000));
    await written(() => record()?.tier === 'hard');
    expect(record()?.reading?.usedTokens).toBe(178_000);
    await publisher.end({ code: 0 });
  });

  it('a failed write is reported once, and disturbs nothing', async () => {
    writeFileSync(join(folder, 'ctxwrap'), 'a file in the place of the folder');
    const publisher = publish();
    await written(() => failures.length > 0);
    publisher.update(at(1));
    await publisher.end({ code: 0 });
    expect(failures).toHaveLength(1);
  });

  it('a state that cannot be serialized disturbs nothing, and the next one is written', async () => {
    const publisher = publish();
    await written(record);
    publisher.update({} as Session);
    await written(() => failures.length > 0);
    publisher.update(at(4));
    await written(() => record()?.reading?.usedTokens === 4);
    await publisher.end({ code: 0 });
    expect(failures).toHaveLength(1);
  });

  it('writes through no link that somebody put there', async () => {
    mkdirSync(join(folder, 'ctxwrap', 'sessions'), { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, 'precious'), 'data');
    symlinkSync(join(folder, 'precious'), path());
    const publisher = publish();
    await publisher.end({ code: 0 });
    expect(readFileSync(join(folder, 'precious'), 'utf8')).toBe('data');
    expect(failures).toHaveLength(1);
  });
});

describe('a session whose worker has failed', () => {
  const lost = () =>
    endLostRecord(
      {
        wrapper: { id: 'me', version: '1', pid: process.pid },
        env: { XDG_STATE_HOME: folder },
        log: { ...nullLog, warn: (text) => failures.push(text) },
      },
      { kind: 'code', code: 3 },
    );

  it('is recorded as ended all the same, with what was published last', async () => {
    const publisher = publish();
    publisher.update(at(150_000));
    await written(() => record()?.reading?.usedTokens === 150_000);
    await publisher.end({ code: 0 });
    const { endedAt: _, exit: __, ...running } = JSON.parse(readFileSync(path(), 'utf8'));
    writeFileSync(path(), JSON.stringify(running));
    await lost();
    expect(record()).toMatchObject({ exit: { code: 3 }, reading: { usedTokens: 150_000 } });
    expect(record()?.endedAt).toBeGreaterThan(0);
    expect(failures).toEqual([]);
  });

  it('keeps the end that its worker has recorded', async () => {
    const publisher = publish();
    await publisher.end({ code: 7 });
    await lost();
    expect(record()?.exit).toEqual({ code: 7 });
  });

  it('ends without a record where there was none', async () => {
    await lost();
    expect(record()).toBeUndefined();
    expect(failures).toEqual([]);
  });
});

describe('a session that no worker follows any more', () => {
  const session = () => ({
    wrapper: { id: 'me', version: '1', pid: process.pid },
    env: { XDG_STATE_HOME: folder },
    log: { ...nullLog, warn: (text: string) => void failures.push(text) },
    agent: agents.claude,
    cwd: '/proj',
    file: '/bin/claude',
    args: [],
    values: defaultValues,
    isModeGiven: false,
    recording: undefined,
  });
  const child = { pid: 1, startedAt: 7 };

  it('is published as failed: nothing that may be old is told as the present state', async () => {
    const publisher = publish();
    const found = { type: 'session-changed', sessionId: 'abc', path: '/proj/log.jsonl' } as const;
    publisher.update(stepSession(at(170_000), found, 6));
    await written(() => record()?.agentSessionId === 'abc');
    const lost = publishLostRecord(session(), child);
    await written(() => record()?.failedAt !== undefined);
    expect(record()).toEqual({
      schema: 'ctxwrap.session/1',
      ...session().wrapper,
      processStart: expect.any(String),
      childPid: 1,
      runtime: 'claude',
      cwd: '/proj',
      startedAt: 7,
      heartbeatAt: expect.any(Number),
      failedAt: expect.any(Number),
      agentSessionId: 'abc',
      logPath: '/proj/log.jsonl',
      note: 'ctxwrap has failed: no compaction',
      activity: 'unknown',
      compactions: 0,
      thresholds: [],
    });
    await lost.end({ kind: 'signal', signal: 'SIGTERM' });
    expect(record()).toMatchObject({ exit: { signal: 'SIGTERM' }, endedAt: expect.any(Number) });
    expect(failures).toEqual([]);
  });

  it('is published where nothing was written before, and goes on to say that it is there', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    const lost = publishLostRecord(session(), child);
    await written(() => record()?.failedAt !== undefined);
    const { heartbeatAt = 0, failedAt } = record() ?? {};
    vi.advanceTimersByTime(5_000);
    await written(() => (record()?.heartbeatAt ?? 0) > heartbeatAt);
    expect(record()?.failedAt).toBe(failedAt);
    await lost.end({ kind: 'code', code: 0 });
  });

  it('disturbs nothing where it cannot be written', async () => {
    writeFileSync(join(folder, 'ctxwrap'), 'in the way');
    const lost = publishLostRecord(session(), child);
    await lost.end({ kind: 'code', code: 0 });
    expect(failures[0]).toContain('other programs do not see that ctxwrap has failed');
  });
});
