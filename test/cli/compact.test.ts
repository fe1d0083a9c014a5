// `ctxwrap compact` through the built program, with a watcher that a fake core stands behind.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EndedCompaction } from '../../src/core/compaction/outcome.js';
import type { Effect } from '../../src/core/compaction/state.js';
import type { CompactionRecord } from '../../src/core/report/records.js';
import { startSession } from '../../src/core/session.js';
import { publishRecord } from '../../src/worker/publish.js';
import type { RecordPublisher } from '../../src/worker/publish.js';
import type { RequestEvent } from '../../src/worker/requests.js';
import { watchRequests } from '../../src/worker/requests.js';
import type { Requests } from '../../src/worker/requests.js';
import { endedFor } from '../support/requester.js';
import { bin } from '../support/programs.js';
import { ctxwrap, inTerminal, makeBench, start } from './launcher.js';
import type { Bench } from './launcher.js';

const WAIT = { timeout: 60_000, interval: 20 };

const ASKED = 'Asked claude (me) in ~ to compact.\n';

let bench: Bench;
let events: RequestEvent[] = [];
let publisher: RecordPublisher | undefined;
let requests: Requests | undefined;
beforeEach(() => {
  bench = makeBench();
  events = [];
});
afterEach(async () => {
  await requests?.stop();
  await publisher?.end({ code: 0 });
  [requests, publisher] = [undefined, undefined];
  bench.remove();
});

const stateFolder = () => join(bench.folder, '.local', 'state', 'ctxwrap');
const requestFiles = () => readdirSync(join(stateFolder(), 'requests'));
const sessionText = () => readFileSync(join(stateFolder(), 'sessions', 'me.json'), 'utf8');
const answers = () =>
  requestFiles()
    .map((name) => readFileSync(join(stateFolder(), 'requests', name), 'utf8'))
    .join('');

/** A session of this process that others can see. */
const publish = async (
  more: { compaction?: CompactionRecord; runtime?: string; pid?: number } = {},
): Promise<RecordPublisher> => {
  const {
    compaction,
    runtime: agent = 'claude',
    pid = process.pid,
  } = { compaction: { mode: 'auto' } as const, ...more };
  publisher = publishRecord({
    stateFolder: stateFolder(),
    identity: {
      id: 'me',
      version: '1',
      pid,
      childPid: 1,
      runtime: agent,
      cwd: bench.folder,
      startedAt: Date.now(),
    },
    state: startSession({ agent: agent }, Date.now()),
    compaction,
    now: Date.now,
    onFailure: () => undefined,
  });
  await vi.waitFor(() => expect(readdirSync(join(stateFolder(), 'sessions'))).toContain('me.json'), WAIT);
  return publisher;
};

/** The wrapper's half; `core` says what follows from an event. */
const listen = (core: (event: RequestEvent) => readonly Effect[] = () => []): Requests => {
  const watching: Requests = watchRequests({
    stateFolder: stateFolder(),
    sessionId: 'me',
    now: Date.now,
    onEvent: (event) => {
      events.push(event);
      for (const effect of core(event)) watching.applyEffect(effect);
    },
    onFailure: () => undefined,
  });
  requests = watching;
  return watching;
};

const ending =
  (outcome: EndedCompaction['outcome']) =>
  (event: RequestEvent): readonly Effect[] =>
    event.type === 'compact-requested'
      ? [{ type: 'type-compact', isQueued: false }, endedFor(event.request.id, outcome)]
      : [];

describe('ctxwrap compact', () => {
  it('says what it asks for, leaves a request, and says what came of it', async () => {
    await publish();
    listen(ending({ kind: 'verified', after: { usedTokens: 12_000 } }));
    const { stdout, stderr, code } = await ctxwrap(['compact', '--force', '--focus', 'the\ntests'], bench);
    expect([stdout, stderr, code]).toEqual([`${ASKED}✓ compacted 166k → 12k in 14.2 s\n`, '', 0]);
    expect(events).toMatchObject([{ request: { force: true, focus: 'the tests' } }]);
    await vi.waitFor(() => expect(requestFiles()).toEqual([]), WAIT);
  });

  it('prints one JSON object when asked to', async () => {
    await publish();
    listen(ending({ kind: 'verified', after: { usedTokens: 12_000 } }));
    const { stdout, code } = await ctxwrap(['compact', 'me', '--json'], bench);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      schema: 'ctxwrap.compact/1',
      session: { id: 'me', pid: process.pid, runtime: 'claude' },
      initiator: 'ctxwrap',
      strategy: 'auto',
      isManual: true,
      outcome: 'verified',
      words: 'compacted 166k → 12k',
      before: { usedTokens: 166_000 },
      after: { usedTokens: 12_000 },
      startedAt: 1_000,
      endedAt: 15_200,
      durationMs: 14_200,
      evidence: ['typed /compact', 'its record of the compaction'],
    });
  });

  it.each([
    [{ kind: 'noop', text: 'nothing' }, 0, '✓ nothing to compact'],
    [{ kind: 'failed', failure: 'error', text: 'Error: 500' }, 1, /^✗ compaction failed after 14 s: .*500$/],
    [{ kind: 'interrupted', by: 'the user' }, 1, '✗ compaction interrupted by the user after 14.2 s'],
    [{ kind: 'not-started' }, 1, /^✗ /],
    [{ kind: 'timeout', afterMs: 600_000 }, 1, /^✗ .* after 600 s$/],
    [{ kind: 'unverified', text: 'done' }, 1, /^✗ /],
  ] as const)('after %j has the exit status %d, and says it once', async (outcome, status, result) => {
    await publish();
    listen(ending(outcome));
    const { stdout, stderr, code } = await ctxwrap(['compact'], bench);
    expect([code, stderr, stdout.startsWith(ASKED)]).toEqual([status, '', true]);
    expect(stdout.slice(ASKED.length, -1)).toMatch(result);
    expect(stdout.split('\n')).toHaveLength(3);
  });

  it('draws its signs in ASCII where the terminal has nothing else, and asks quietly with -q', async () => {
    await publish();
    listen(ending({ kind: 'noop', text: 'nothing' }));
    const plain = { ...bench, env: { ...bench.env, LANG: 'C' } };
    const { stdout } = await ctxwrap(['-q', 'compact'], plain);
    expect(stdout).toBe('ok nothing to compact\n');
  });

  const idOfRequest = async (): Promise<string> => {
    await vi.waitFor(() => expect(events).toHaveLength(1), WAIT);
    const [event] = events;
    return event?.type === 'compact-requested' ? event.request.id : '';
  };
  const says = (session: RecordPublisher, words: string, request?: string): void =>
    session.update(startSession({ agent: 'claude' }, Date.now()), {
      compaction: { mode: 'auto', words, ...(request === undefined ? {} : { request }) },
    });

  it('says what the session waits for meanwhile', async () => {
    const session = await publish();
    const watching = listen();
    const { child, ended } = start(process.execPath, [bin, 'compact'], { env: bench.env });
    const id = await idOfRequest();
    says(session, 'waiting: the agent is busy', id);
    await once(child.stderr, 'readable');
    watching.applyEffect(endedFor(id, { kind: 'verified', after: { usedTokens: 1 } }));
    expect(await ended).toMatchObject({ code: 0, stderr: 'ctxwrap: waiting: the agent is busy\n' });
  });

  it('shows nothing of an older attempt, nor its own failure before the end', async () => {
    const session = await publish({
      compaction: { mode: 'auto', words: 'compaction failed: an old reason' },
    });
    const watching = listen();
    const { child, ended } = start(process.execPath, [bin, 'compact'], { env: bench.env });
    const published = (words: string): Promise<void> => {
      says(session, words);
      return vi.waitFor(() => expect(sessionText()).toContain(words), WAIT);
    };
    const progress = (words: string): Promise<unknown> => {
      says(session, words, id);
      return once(child.stderr, 'data');
    };
    const id = await idOfRequest();
    await published('another reason');
    await progress('command sent');
    await published('compaction failed: overloaded');
    await progress('compacting');
    watching.applyEffect(endedFor(id, { kind: 'failed', failure: 'error', text: 'overloaded' }));
    const { stdout, stderr } = await ended;
    expect(stderr).toBe('ctxwrap: command sent\nctxwrap: compacting\n');
    expect(stdout.match(/overloaded/g)).toHaveLength(1);
  });

  it('withdraws the request on Ctrl-C', async () => {
    const session = await publish();
    listen();
    const terminal = inTerminal(process.execPath, [bin, 'compact'], bench);
    says(session, 'waiting: the agent is busy', await idOfRequest());
    await terminal.seen(/waiting: the agent is busy/);
    terminal.type('\x03');
    expect((await terminal.ended).signal).toBe(2);
    expect(terminal.output()).toContain('✗ request withdrawn');
    await vi.waitFor(() => expect(events.at(-1)?.type).toBe('compact-cancelled'), WAIT);
    expect(requestFiles()).toEqual([]);
  });

  it('does not wait for the outcome with --no-wait, and the request outlives it', async () => {
    await publish();
    listen();
    const { stdout, code } = await ctxwrap(['compact', '--no-wait'], bench);
    expect([code, stdout]).toEqual([0, `${ASKED}✓ it will compact at its next safe moment\n`]);
    expect(requestFiles().filter((name) => name.endsWith('.request.json'))).toHaveLength(1);
    expect(events).toHaveLength(1);
  });

  it('says why it was refused, and what helps', async () => {
    await publish();
    const reason = 'paused after 3 failures';
    listen((event) =>
      event.type === 'compact-requested' ? [{ type: 'refused', requestId: event.request.id, reason }] : [],
    );
    expect(await ctxwrap(['compact'], bench)).toMatchObject({
      code: 1,
      stdout: `${ASKED}✗ not compacted: ${reason}\n`,
      stderr: 'ctxwrap: ctxwrap compact --force me\n',
    });
    const { stdout, code } = await ctxwrap(['compact', '--json', '--no-wait'], bench);
    expect([code, JSON.parse(stdout)]).toMatchObject([1, { outcome: 'refused', words: reason }]);
  });

  it('ends when the session ends before it came to it', async () => {
    await publish();
    const watching = listen();
    const { ended } = start(process.execPath, [bin, 'compact'], { env: bench.env });
    await vi.waitFor(() => expect(events).toHaveLength(1), WAIT);
    await publisher?.end({ code: 0 });
    await watching.stop();
    const { code, stdout } = await ended;
    expect([code, stdout]).toEqual([1, expect.stringContaining('✗ not compacted: the session has ended')]);
  });
});

describe('a session that dies in the middle', () => {
  it('leaves open whether it has compacted', async () => {
    const wrapper = spawn('sleep', ['1000']);
    await publish({ pid: wrapper.pid ?? 0 });
    listen((event) =>
      event.type === 'compact-requested' ? [{ type: 'type-compact', isQueued: false }] : [],
    );
    const { ended } = start(process.execPath, [bin, 'compact'], { env: bench.env });
    await vi.waitFor(() => expect(answers()).toContain('begun'), WAIT);
    wrapper.kill('SIGKILL');
    const { code, stdout } = await ended;
    expect([code, stdout]).toEqual([1, expect.stringContaining('✗ outcome unknown')]);
  });
});

describe('a session that cannot be asked', () => {
  const record = (more: object): void => {
    const folder = join(stateFolder(), 'sessions');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const session = {
      schema: 'ctxwrap.session/1',
      id: 'me',
      version: '0.0.9',
      pid: process.pid,
      childPid: 1,
      runtime: 'codex',
      cwd: '/',
      startedAt: 1,
      heartbeatAt: Date.now(),
      activity: 'ready',
      compactions: 0,
      thresholds: [],
      compaction: { mode: 'auto' },
      ...more,
    };
    writeFileSync(join(folder, 'me.json'), JSON.stringify(session));
  };

  it.each([
    ['has ended', { endedAt: 5 }, 'ctxwrap ps'],
    ['was killed', { pid: 2 ** 22 + 1 }, 'ctxwrap ps'],
    ['has not answered for ', { heartbeatAt: Date.now() - 120_000 }, 'fg'],
    ['ctxwrap has failed in session me', { failedAt: 5 }, 'type the compact command of codex yourself'],
    ['runs with --mode off', { compaction: { mode: 'off' } }, '--mode warn'],
    ['runs ctxwrap 0.0.9, which cannot take requests', { compaction: undefined }, 'restart that session'],
  ])('says that it %s', async (text, more, help) => {
    record(more);
    const { code, stdout, stderr } = await ctxwrap(['compact', 'me', '--json'], bench);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(text);
    expect(stderr).toContain(help);
    expect(readdirSync(stateFolder())).not.toContain('requests');
  });

  it('is the one that the command itself runs in, unless it does not wait', async () => {
    await publish();
    listen();
    const inside: Bench = { ...bench, env: { ...bench.env, CTXWRAP_SESSION: 'me' } };
    expect(await ctxwrap(['compact'], inside)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ctxwrap compact --no-wait me'),
    });
    expect(await ctxwrap(['compact', '--no-wait'], inside)).toMatchObject({ code: 0 });
  });

  it('is none at all, or one that nobody knows', async () => {
    expect(await ctxwrap(['compact'], bench)).toMatchObject({
      code: 2,
      stderr: 'ctxwrap: no session is running\nctxwrap: start one with ctxwrap claude\n',
    });
    await publish();
    expect(await ctxwrap(['compact', 'nobody'], bench)).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/no session "nobody"\n.*the sessions are:\n.*me \(claude/),
    });
  });

  it.each([
    [['--focus', ' \n'], '--focus must be a text'],
    [['--focus', 'x'.repeat(201)], '--focus must be at most 200 characters, got 201'],
    [['--forse'], 'did you mean --force?'],
    [['a', 'b'], 'see ctxwrap compact --help'],
  ])('%j is wrong usage', async (args, text) => {
    const { code, stderr } = await ctxwrap(['compact', ...args], bench);
    expect([code, stderr]).toEqual([2, expect.stringContaining(text)]);
  });
});

describe('ctxwrap compact --all', () => {
  it('asks every session, and tells the outcome of each with its place', async () => {
    await publish();
    listen(ending({ kind: 'verified', after: { usedTokens: 12_000 } }));
    const { stdout, code } = await ctxwrap(['compact', '--all'], bench);
    expect(stdout).toMatch(/^✓ compacted.* in \d+\.\d s · claude \(me\) in ~\n$/);
    expect(code).toBe(0);
  });

  it('with --idle asks only those whose agent is idle', async () => {
    await publish(); // what its agent does is not known yet
    listen();
    expect(await ctxwrap(['compact', '--all', '--idle'], bench)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'ctxwrap: no agent is idle\n',
    });
    expect(events).toEqual([]);
  });

  it('tells why one cannot be asked, and ends with 1', async () => {
    await publish({ compaction: { mode: 'off' } });
    const { stdout, code } = await ctxwrap(['compact', '--all', '--json'], bench);
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'ctxwrap.compacts/1',
      results: [{ session: { id: 'me' }, outcome: 'refused' }],
    });
    expect(code).toBe(1);
  });

  it.each([
    [['--all', 'me'], '"me" names one'],
    [['--idle'], 'ctxwrap compact --all --idle'],
  ])('is wrong usage with %j', async (args, text) => {
    const { stderr, code } = await ctxwrap(['compact', ...args], bench);
    expect(stderr).toContain(text);
    expect(code).toBe(2);
  });
});
