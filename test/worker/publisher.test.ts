import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startSession } from '../../src/core/session.js';
import { defaultValues } from '../../src/core/config/keys.js';
import { agents } from '../../src/agents/index.js';
import { openPublisher } from '../../src/worker/publish.js';
import { ensureRequestsFolder, listRequests, readAnswer, writeRequest } from '../../src/storage/requests.js';
import { readSession } from '../../src/storage/sessions.js';
import { endedFor } from '../support/requester.js';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'outside-'));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(home, { recursive: true, force: true });
});

const log = { info: () => undefined, warn: () => undefined, error: () => undefined, close: () => undefined };

const open = () =>
  openPublisher(
    {
      file: '/bin/cat',
      args: [],
      env: { HOME: home },
      cwd: home,
      agent: agents.claude,
      wrapper: { id: 'me', pid: process.pid, version: '1' },
      values: defaultValues,
      isModeGiven: false,
      recording: undefined,
      log,
    },
    { pid: process.pid, startedAt: Date.now() },
    { onEvent: () => undefined },
  );

describe('the end of a session', () => {
  it('is told to those who read its record only after every request is answered', async () => {
    const state = join(home, '.local/state/ctxwrap');
    const folder = await ensureRequestsFolder(state);
    const ids = Array.from({ length: 40 }, (_, index) => `request${index}`);
    for (const request of ids) {
      const asked = { session: 'me', askedAt: Date.now(), force: false, pid: process.pid };
      await writeRequest(folder, { schema: 'ctxwrap.request/1', ...asked, request });
    }
    const outside = open();
    const answers = () => Promise.all(ids.map((request) => readAnswer(folder, { session: 'me', request })));
    const isAnswered = async (wanted: string): Promise<boolean> =>
      (await answers()).every((answer) => answer?.state === wanted);
    await vi.waitFor(async () => expect(await isAnswered('waiting')).toBe(true), { timeout: 20_000 });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }); // waits for a slow disk
    const ended = outside?.end({ kind: 'code', code: 0 });
    const isTold = async () => (await readSession(state, 'me', Date.now()))?.record.endedAt !== undefined;
    let looks = 0;
    while (!(await isTold()) && looks < 100_000) looks += 1;
    expect(await isTold()).toBe(true);
    expect(await isAnswered('refused')).toBe(true);
    await ended;
    expect(await listRequests(folder, 'me')).toEqual([]);
  });
});

describe('the audit log of a session', () => {
  it('has every key of the wrapper: those of an attempt in its line, and those of a late retraction', async () => {
    const outside = open();
    const state = startSession({ agent: 'claude' }, 0);
    outside?.onEffect({ type: 'type-compact', isQueued: false }, state);
    outside?.onStroke(Buffer.from('/compact'));
    outside?.onEffect(endedFor('one'), state);
    outside?.onStroke(Buffer.from('\x7f\x7f'));
    const path = join(home, '.local/state/ctxwrap/audit.jsonl');
    const lines = (): readonly string[] =>
      existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
    await vi.waitFor(() => expect(lines()).toHaveLength(2), { timeout: 20_000 });
    await outside?.end({ kind: 'code', code: 0 });
    expect(lines().map((line): unknown => JSON.parse(line))).toMatchObject([
      { schema: 'ctxwrap.attempt/1', request: 'one', strokes: [{ keys: '/compact' }] },
      { schema: 'ctxwrap.late-stroke/1', session: 'me', keys: String.raw`\u007f\u007f` },
    ]);
  });
});

describe('the audit log', () => {
  it('says how much was given back, and to whom it was due', async () => {
    const outside = open();
    const counts = [{ kind: 'constraint', count: 2 }];
    const state = startSession({ agent: 'claude' }, 0);
    outside?.onGivenBack({ initiator: 'ctxwrap', outcome: 'waiting', counts }, state);
    await outside?.end({ kind: 'code', code: 0 });
    const lines = readFileSync(join(home, '.local/state/ctxwrap/audit.jsonl'), 'utf8').split('\n');
    expect(lines.map((line) => (line === '' ? {} : JSON.parse(line)))).toContainEqual({
      schema: 'ctxwrap.given-back/1',
      initiator: 'ctxwrap',
      at: expect.any(Number),
      outcome: 'waiting',
      counts,
      session: 'me',
      version: '1',
      runtime: 'claude',
    });
  });
});

it('a switch that the agent makes late is in the audit log as it was begun, and leaves what is typed meanwhile as it is', async () => {
  const outside = open();
  const inBusy = (activity: 'ready' | 'busy') => ({
    ...startSession({ agent: 'claude' }, 0),
    activity,
    witnesses: [`it is ${activity}`],
  });
  outside?.beginAction(inBusy('ready'));
  outside?.endSwitch('the-new', { kind: 'unknown', reason: 'not shown' });
  outside?.beginAction(inBusy('ready'));
  outside?.onStroke(Buffer.from('/x'));
  outside?.endEarlierSwitch('the-new', { kind: 'switched' }, inBusy('busy'));
  outside?.endSwitch('another', { kind: 'switched' });
  outside?.endEarlierSwitch('of-an-earlier-run', { kind: 'switched' }, inBusy('busy'));
  await outside?.end({ kind: 'code', code: 0 });
  const lines = readFileSync(join(home, '.local/state/ctxwrap/audit.jsonl'), 'utf8').trim().split('\n');
  const gate = { activity: 'ready' };
  const found = lines.map((line) => JSON.parse(line) as { readonly gate?: unknown });
  expect(found).toMatchObject([
    { name: 'the-new', outcome: 'unknown', gate },
    { name: 'the-new', outcome: 'switched', gate, strokes: [] },
    { name: 'another', gate, strokes: [{ keys: '/x' }] },
    { name: 'of-an-earlier-run' },
  ]);
  expect(found[3]?.gate).toBeUndefined();
});
