// `ctxwrap undo` in a running session whose agent can be asked without keys; the session's half is played here.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { canReadDatabases } from '../../src/storage/database.js';
import type { UndoResult } from '../../src/typing/undo.js';
import { watchRequests, type Requests } from '../../src/worker/requests.js';
import { findSources } from '../../src/session-files/session-sources.js';
import { makeOpencodeDatabase, recordedId } from '../support/opencode-database.js';
import { publishSession } from '../support/published.js';
import { ids, writeStores } from '../support/stored-sessions.js';
import { ctxwrap, makeBench, type Bench } from './launcher.js';

let bench: Bench;
let asked: string[];
let requests: Requests | undefined;
beforeEach(() => {
  bench = makeBench();
  asked = [];
});
afterEach(async () => {
  await requests?.stop();
  bench.remove();
});

const stateFolder = (): string => join(bench.folder, '.local/state/ctxwrap');

/** A running session, and what the agent does when it is asked. */
const run = async (record: object, result: UndoResult): Promise<void> => {
  await publishSession(stateFolder(), {
    id: 'running',
    runtime: 'codex',
    cwd: bench.folder,
    compactions: 2,
    compaction: { mode: 'auto' },
    ...record,
  });
  requests = watchRequests({
    stateFolder: stateFolder(),
    sessionId: 'running',
    now: Date.now,
    onEvent: () => undefined,
    onFailure: () => undefined,
    actions: {
      undo: async () => {
        asked.push('undo');
        return result;
      },
      switch: async ({ name }) => {
        asked.push(name);
        return { kind: 'switched' };
      },
      brief: () => undefined,
      shorten: () => undefined,
    },
  });
};

const rollout = async (): Promise<string> => {
  const where = { env: {}, home: bench.folder, cwd: '/' };
  const { sources } = await findSources({ agents: [agents.codex], where });
  return sources.find(({ path }) => path.includes(ids.codex))?.path ?? '';
};
const inCodex = async (result: UndoResult, more: object = {}): Promise<void> => {
  writeStores(bench.folder);
  await run({ channel: 'daemon', logPath: await rollout(), ...more }, result);
};
const undo = (...args: readonly string[]) => ctxwrap(['undo', ...args], bench);
const newSessions = (): readonly string[] =>
  readdirSync(join(bench.folder, '.codex'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.jsonl') && !name.includes(ids.codex),
  );

describe('ctxwrap undo where the agent can be asked without keys', () => {
  it('has the agent take its compaction back, writes no new session, and says what is in the window again', async () => {
    await inCodex({ kind: 'switched' });
    const before = newSessions();
    const { stdout, stderr, code } = await ctxwrap(['--quiet', 'undo'], bench);
    expect({ stdout, stderr, code }).toEqual({
      stdout: '✓ compaction 4 of 4 (~70k → 8.3k) undone in codex: your 8 messages are back in the window\n',
      stderr: '',
      code: 0,
    });
    expect(asked).toEqual(['undo']);
    expect(newSessions()).toEqual(before);
  });

  it('prints one object when asked to', async () => {
    await inCodex({ kind: 'switched' });
    const { stdout, code } = await undo('--json');
    const report = JSON.parse(stdout);
    expect({ code, ...report }).toMatchObject({
      code: 0,
      schema: 'ctxwrap.undo/1',
      runtime: 'codex',
      compaction: { number: 4, of: 4 },
      messages: 8,
      live: { id: 'running', outcome: 'switched' },
    });
    expect(report).not.toHaveProperty('session');
  });

  it.each([
    [
      { kind: 'refused', reason: 'something was said since' },
      '✗ not undone in codex: something was said since\n',
    ],
    [
      { kind: 'unknown', reason: 'the answer did not come' },
      '✗ not known whether codex has gone back: the answer did not come; look at its window\n',
    ],
  ] as const)('after %j does nothing more, and says why', async (result, told) => {
    await inCodex(result);
    const before = newSessions();
    const { stdout, code } = await undo();
    expect({ stdout, code }).toEqual({ stdout: told, code: 1 });
    expect(asked).toEqual(['undo']);
    expect(newSessions()).toEqual(before);
  });

  it('goes the other way where the agent cannot be asked, and for a compaction that you name', async () => {
    await inCodex({ kind: 'impossible', reason: 'it does not answer' });
    expect(await undo()).toMatchObject({ code: 0 });
    expect(asked).toHaveLength(2); // the id of the new session is typed
    await undo('running#1');
    expect(asked.filter((each) => each === 'undo')).toHaveLength(1);
  });

  it('asks no session that has no such channel', async () => {
    await inCodex({ kind: 'switched' }, { channel: undefined });
    expect(await undo()).toMatchObject({ code: 0 });
    expect(asked).not.toContain('undo');
  });
});

describe.runIf(canReadDatabases())('ctxwrap undo in opencode (skipped where Node has no SQLite)', () => {
  const inOpencode = async (result: UndoResult): Promise<void> => {
    const database = makeOpencodeDatabase(bench.folder);
    database.restore();
    database.close();
    await run({ runtime: 'opencode', channel: 'server', agentSessionId: recordedId }, result);
  };

  it('has it take the compaction back', async () => {
    await inOpencode({ kind: 'switched' });
    expect(await ctxwrap(['--quiet', 'undo', 'running'], bench)).toMatchObject({
      stdout:
        '✓ compaction 2 of 2 (9.0k → ~9.0k) undone in opencode: your 2 messages are back in the window\n',
      stderr: '',
      code: 0,
    });
  });

  it('says why it cannot, because there is no other way', async () => {
    await inOpencode({ kind: 'impossible', reason: 'nothing was compacted in this session' });
    expect(await undo()).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining(
        'cannot undo in opencode: nothing was compacted in this session',
      ) as string,
      code: 1,
    });
    expect(existsSync(join(bench.folder, '.local/share/opencode/opencode.db'))).toBe(true);
  });
});
