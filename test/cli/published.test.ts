// Sessions as other processes see them, through the built program.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { canUnpack } from '../../src/storage/session-store.js';
import { ctxwrapHere } from '../support/command-here.js';
import { bin } from '../support/programs.js';
import { ctxwrap, inTerminal, makeBench } from './launcher.js';
import type { Bench } from './launcher.js';

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
});
afterEach(() => bench.remove());

const WAIT = { timeout: 60_000, interval: 50 };
const log = (name: string): string => fileURLToPath(new URL(`../fixtures/logs/${name}`, import.meta.url));
const json = async (args: readonly string[]) => {
  const { stdout, stderr, code } = await ctxwrapHere([...args, '--json'], bench);
  return { code, stderr, value: JSON.parse(stdout || 'null') };
};
const liveness = async (): Promise<readonly string[]> =>
  (await json(['ps', '--all'])).value.sessions.map((each: { liveness: string }) => each.liveness);

/** A wrapped program that waits for a line. */
const startSession = (options: readonly string[] = []) => {
  const program = bench.program('waiter', '#!/bin/sh\necho "session $CTXWRAP_SESSION"\nread line\nexit 3\n');
  return inTerminal(process.execPath, [bin, ...options, '--', program], bench);
};

describe('a wrapped session', () => {
  it('is listed while it runs, and remembered with its end', async () => {
    const terminal = startSession();
    await terminal.seen(/session \S+/);
    const id = /session (\S+)/.exec(terminal.output())?.[1] ?? '';
    await vi.waitFor(async () => expect(await liveness()).toEqual(['live']), WAIT);
    const { value } = await json(['ps']);
    expect(value).toMatchObject({
      schema: 'ctxwrap.sessions/1',
      sessions: [{ schema: 'ctxwrap.session/1', id, runtime: 'generic', cwd: bench.folder }],
    });
    const [{ pid, childPid }] = value.sessions;
    expect((await ctxwrap(['ps'], bench)).stdout).toContain(`${pid}`);
    for (const argument of [[], [id], [`${pid}`], [`${childPid}`], ['generic']])
      expect((await json(['context', ...argument])).value).toMatchObject({
        schema: 'ctxwrap.context/1',
        session: { id, pid, liveness: 'live' },
        parts: [],
      });
    terminal.type('done\r');
    expect((await terminal.ended).exitCode).toBe(3);
    expect((await json(['ps'])).value.sessions).toEqual([]);
    expect((await json(['ps', '--all'])).value.sessions).toMatchObject([
      { id, liveness: 'ended', exit: { code: 3 }, activity: 'dead' },
    ]);
  });

  it('that was killed is dead, and the next one is another', async () => {
    const terminal = startSession(['--mode', 'off']);
    await vi.waitFor(async () => expect(await liveness()).toEqual(['live']), WAIT);
    process.kill((await json(['ps'])).value.sessions[0].pid, 'SIGKILL');
    await terminal.ended;
    expect(await liveness()).toEqual(['dead']);
    const next = startSession();
    await vi.waitFor(async () => expect(await liveness()).toEqual(['dead', 'live']), WAIT);
    next.type('\r');
    await next.ended;
  });

  it('goes on when nothing can be written', async () => {
    writeFileSync(join(bench.folder, '.local'), 'no folder');
    const wrapperLog = join(bench.folder, 'wrapper.log');
    const terminal = startSession(['--log', wrapperLog]);
    await terminal.seen(/session \S+/);
    terminal.type('\r');
    expect((await terminal.ended).exitCode).toBe(3);
    expect(readFileSync(wrapperLog, 'utf8').match(/other programs do not see this session/g)).toHaveLength(1);
  });

  it('that is not wrapped leaves nothing', async () => {
    const program = bench.program('quick', '#!/bin/sh\necho hi\n');
    expect((await ctxwrap(['--', program], bench)).stdout).toBe('hi\n');
    expect(readdirSync(bench.folder)).toEqual(['quick']);
  });
});

describe('ctxwrap ps and context', () => {
  it('without a session say so, and what to do', async () => {
    expect(await ctxwrapHere(['ps'], bench)).toMatchObject({
      code: 0,
      stdout: 'No session is running. Start one with: ctxwrap claude\n',
    });
    expect((await json(['ps'])).value).toEqual({ schema: 'ctxwrap.sessions/1', sessions: [] });
    expect(await ctxwrapHere(['context'], bench)).toMatchObject({
      code: 2,
      stderr:
        'ctxwrap: no session is running\nctxwrap: start one with ctxwrap claude, or give a session file\n',
    });
  });

  it('that cannot be looked for are not none; a file can be read all the same', async () => {
    mkdirSync(join(bench.folder, '.local/state/ctxwrap'), { recursive: true });
    writeFileSync(join(bench.folder, '.local/state/ctxwrap/sessions'), '');
    for (const command of [['ps'], ['context'], ['context', 'claude']])
      expect(await ctxwrapHere(command, bench)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('not a directory\nctxwrap: make this folder readable'),
      });
    expect((await ctxwrapHere(['context', log('codex/context-exceeded.jsonl')], bench)).code).toBe(0);
  });

  it('print nothing that a terminal would obey', async () => {
    const folder = join(bench.folder, '.local/state/ctxwrap/sessions');
    mkdirSync(folder, { recursive: true });
    const evil = '\u001b[2J\u009b2J\u202e\u{e0001}';
    const record = { schema: 'ctxwrap.session/1', pid: process.pid, childPid: 1, startedAt: 1, cwd: evil };
    for (const id of ['one', 'two'])
      writeFileSync(
        join(folder, `${id}.json`),
        JSON.stringify({
          ...record,
          id,
          runtime: evil,
          heartbeatAt: Date.now(),
          note: evil,
          agentSessionId: evil,
        }),
      );
    const outputs = [['ps'], ['ps', '--json'], ['context'], ['context', 'one'], ['context', 'one', '--json']];
    for (const command of [...outputs, [evil]]) {
      const { stdout, stderr } = await ctxwrap(command, bench);
      expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Cf}/u);
    }
    expect((await json(['ps'])).value.sessions[0].cwd).toBe(evil);
  });

  it('say of a session whose file is gone that its numbers are the last ones', async () => {
    const folder = join(bench.folder, '.local/state/ctxwrap/sessions');
    mkdirSync(folder, { recursive: true });
    const heartbeatAt = Date.now();
    const record = {
      schema: 'ctxwrap.session/1',
      id: 'one',
      runtime: 'claude',
      pid: 2 ** 22 + 1, // larger than any
      childPid: 1,
    };
    const logPath = join(bench.folder, 'gone.jsonl');
    writeFileSync(
      join(folder, 'one.json'),
      JSON.stringify({ ...record, startedAt: 1, heartbeatAt, cwd: '/', logPath }),
    );
    const { code, stdout, stderr } = await ctxwrapHere(['context', 'one'], bench);
    expect([code, stderr]).toEqual([
      0,
      'ctxwrap: the session file is gone: the numbers are the last ones, and compactions and tool results are missing\n',
    ]);
    expect(stdout).not.toContain('Compactions');
    const { value } = await json(['context', 'one']);
    expect(value).toMatchObject({ schema: 'ctxwrap.context/1' });
    expect(value).not.toHaveProperty('compactions');
  });

  it('name a few of very many sessions', async () => {
    const folder = join(bench.folder, '.local/state/ctxwrap/sessions');
    mkdirSync(folder, { recursive: true });
    const record = { schema: 'ctxwrap.session/1', pid: process.pid, childPid: 1, startedAt: 1, cwd: '/' };
    for (let id = 0; id < 50; id += 1)
      writeFileSync(
        join(folder, `${id}.json`),
        JSON.stringify({ ...record, id: `${id}`, runtime: 'claude', heartbeatAt: Date.now() }),
      );
    const { stderr } = await ctxwrapHere(['context'], bench);
    expect(stderr).toContain('50 sessions are running');
    expect(stderr.trimEnd().split('\n').at(-1)).toBe('  and 30 more: ctxwrap ps --all');
  });

  it.each([
    ['claude/session-with-compaction.jsonl', { runtime: 'claude' }], // its window is not known
    ['codex/context-exceeded.jsonl', { runtime: 'codex', tier: 'safe', totalTokens: 95_000 }],
    ['gemini/auto-compactions.jsonl', { runtime: 'gemini', tier: 'hard' }],
  ])('of the session file %s are its numbers', async (name, expected) => {
    const { value, code } = await json(['context', log(name)]);
    expect(code).toBe(0);
    expect(value).toMatchObject({ schema: 'ctxwrap.context/1', path: log(name), ...expected });
  });

  it('of a session file name each compaction as every boundary record does', async () => {
    const { value } = await json(['context', log('claude/session-with-compaction.jsonl')]);
    expect(value.compactions).toEqual([
      {
        schema: 'ctxwrap.boundary/1',
        runtime: 'claude',
        uuid: 'c1f4ee78-0433-4846-8f99-a5f862eceff8',
        trigger: 'manual',
        initiator: 'user',
        pre_tokens: 131_023,
        post_tokens: 777,
        fixed_tokens: 100_500,
        duration_ms: 97,
        timestamp: '2026-11-21T08:37:12.289Z',
        verified: true,
        next_tokens: 131_003,
      },
    ]);
    const { value: untold } = await json(['context', log('gemini/auto-compactions.jsonl')]);
    expect(untold.compactions[0]).toMatchObject({
      pre_tokens: expect.any(Number),
      pre_tokens_estimated: true,
    });
  });

  it('of a session file take the window that the user names', async () => {
    const file = log('claude/session-with-compaction.jsonl');
    const { value } = await json(['context', '--window', '150k', file]);
    expect(value.reading).toMatchObject({ usedTokens: 131_003, windowTokens: 150_000, windowSource: 'user' });
    expect(value.tier).toBe('hard');
    expect((await json(['--window', '150k', 'context', file])).value.tier).toBe('hard');
  });

  it('of a past session are found by the beginning of the agent’s id, which must mean one', async () => {
    const project = join(bench.folder, '.claude', 'projects', '-proj');
    mkdirSync(project, { recursive: true });
    const text = readFileSync(log('claude/session-with-compaction.jsonl'));
    const [one, other] = ['0f3a9c12', '0f3a77aa'].map((start) =>
      join(project, `${start}-0000-4000-8000-000000000001.jsonl`),
    );
    for (const path of [one, other]) writeFileSync(path ?? '', text);
    const { value } = await json(['context', '0f3a9c']);
    expect(value).toMatchObject({ runtime: 'claude', path: one, reading: { usedTokens: 131_003 } });
    expect((await json(['context', '0f3a9c', '--window', '150k'])).value.tier).toBe('hard');
    for (const [given, message] of [
      ['0f3a', '"0f3a" matches 2 session files'],
      ['0f3a9c#1', '"0f3a9c#1" names one compaction'],
      ['5555', 'there is no session or session file "5555"'],
    ] as const) {
      const { code, stdout, stderr } = await ctxwrapHere(['context', given], bench);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain(message);
    }
  });

  it('of the file of another agent than was said say whose it is', async () => {
    const codex = log('codex/context-exceeded.jsonl');
    expect(await ctxwrap(['context', '--runtime', 'claude', codex], bench)).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        `ctxwrap: "${codex}" is not a session file of claude\n` +
        'ctxwrap: it looks like one of codex: --runtime codex\n',
    });
  });

  it.each([
    ['a folder', 'folder', 'it is a folder'],
    ['an empty file', 'empty', 'it is empty'],
    [
      'an archive',
      'session.jsonl.zst',
      canUnpack('.zst') ? 'cannot read' : 'is compressed\nctxwrap: unpack it first: zstd -dc ',
    ],
    ['another archive', 'other.gz', 'is not a known kind of session file'],
    ['something else', 'other.txt', 'is not a known kind of session file'],
    ['nothing', 'missing.jsonl', 'there is no session or session file'],
  ])('of %s end with status 2 and say why', async (_, name, message) => {
    const path = join(bench.folder, name);
    if (name === 'empty') writeFileSync(path, '');
    if (name === 'session.jsonl.zst') writeFileSync(path, Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 1, 2]));
    if (name === 'other.txt') writeFileSync(path, 'hello\n');
    if (name === 'other.gz') writeFileSync(path, gzipSync('hello'));
    const { code, stdout, stderr } = await ctxwrapHere(
      ['context', name === 'folder' ? bench.folder : path],
      bench,
    );
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n').length).toBeGreaterThanOrEqual(2);
  });
});
