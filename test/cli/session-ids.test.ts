// A past session is found by the agent's own id of it, through the built program.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { idInPath } from '../../src/agents/home.js';
import { ctxwrapHere } from '../support/command-here.js';
import { publishSession } from '../support/published.js';
import { fixture, ids, writeStores } from '../support/stored-sessions.js';
import type { SessionRecord } from '../../src/core/report/records.js';
import { ctxwrap, makeBench, type Bench } from './launcher.js';

const COPILOT = 'ef7eb38a-de35-4383-bf41-adfd4547a818';
const KIMI = 'session_5f0b2e2e-0000-4000-8000-000000000001';

const copilotFile = `.copilot/session-state/${COPILOT}/events.jsonl`;
const kimiFile = `.kimi-code/sessions/wd_app_0123456789ab/${KIMI}/agents/main/wire.jsonl`;

let bench: Bench;
beforeEach(() => {
  bench = makeBench();
  writeStores(bench.folder);
  store(copilotFile, readFileSync(fixture('copilot/own.jsonl')));
  store(kimiFile, readFileSync(fixture('kimi/turns.jsonl')));
});
afterEach(() => bench.remove());

const store = (path: string, content: string | Uint8Array): string => {
  const file = join(bench.folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
};

const report = async (...args: readonly string[]) => {
  const { stdout, stderr, code } = await ctxwrapHere(['context', '--json', ...args], bench);
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
  return JSON.parse(stdout);
};

describe('a past session is found by', () => {
  it.each([...Object.entries(ids), ['copilot', COPILOT], ['kimi', KIMI]])(
    'the id of %s %s, and by its beginning',
    async (runtime, id) => {
      const length = id.startsWith('session_') ? 16 : 8;
      for (const given of [id, id.slice(0, length), id.slice(0, length).toUpperCase()]) {
        expect(await report(given)).toMatchObject({ runtime, path: expect.stringContaining(bench.folder) });
        const { stdout, code } = await ctxwrapHere(['history', given, '--json'], bench);
        expect([code, JSON.parse(stdout).sessions.length]).toEqual([0, 1]);
      }
    },
  );

  it('the name that the list of compactions gives it, also where an id begins with a word', async () => {
    const { stdout } = await ctxwrap(['history', '--runtime', 'kimi'], bench);
    expect(stdout).toContain('session_5f0b2e2e#1');
    expect((await report('session_5f0b2e2e')).runtime).toBe('kimi');
  });

  it('no other part of the name of its file', async () => {
    for (const given of ['2026', '2026-11-21', 'rollout', ids.codex.slice(-4), 'events', 'wire'])
      for (const command of ['context', 'history'])
        expect(await ctxwrapHere([command, given], bench)).toMatchObject({
          code: 2,
          stderr: expect.stringContaining(`there is no session or session file "${given}"`),
        });
  });

  it('its id where the file is packed, and where nobody can tell from its contents whose it is', async () => {
    const rollout = `.codex/sessions/2026/11/21/rollout-2026-11-21T07-58-14-${ids.codex}.jsonl`;
    store(`${rollout}.gz`, gzipSync(readFileSync(join(bench.folder, rollout))));
    rmSync(join(bench.folder, rollout));
    expect((await report(ids.codex)).runtime).toBe('codex');
    store('.claude/projects/-proj/33333333-0000-4000-8000-000000000001.jsonl', '{"type":"summary"}\n');
    expect((await report('33333333')).runtime).toBe('claude');
  });
});

const publish = async (more: Partial<SessionRecord>): Promise<void> =>
  publishSession(join(bench.folder, '.local/state/ctxwrap'), {
    ...more,
  });

const readers = ['history', 'history show', 'recall', 'undo', 'handoff'] as const;

describe('a session that ctxwrap wraps', () => {
  const early = '99999999-0000-4000-8000-000000000001';
  it.each(readers)('is said to have no conversation yet before its first message: %s', async (command) => {
    for (const more of [{}, { agentSessionId: early, logPath: join(bench.folder, `${early}.jsonl`) }]) {
      await publish(more);
      const name = 'agentSessionId' in more ? '99999999' : '4711';
      const { stderr, code } = await ctxwrapHere([...command.split(' '), name], bench);
      expect(stderr).toMatch(
        new RegExp(
          `session ${name} \\(claude\\) is running, but .* on record yet\n.*send the agent a message first`,
        ),
      );
      expect(code).toBe(1);
    }
  });

  it.each(readers)('is said to have had none where it has ended without: %s', async (command) => {
    await publish({ endedAt: Date.now() });
    const { stderr } = await ctxwrapHere([...command.split(' '), '4711-a'], bench);
    expect(stderr).toContain('session 4711 (claude) ended without a conversation');
  });

  it.each(readers)('is not said to be of another agent where it is the demo: %s', async (command) => {
    const logPath = store('demo.jsonl', '');
    await publish({ runtime: 'demo', agentSessionId: 'demo', logPath });
    expect((await ctxwrapHere([...command.split(' '), 'demo'], bench)).stderr).not.toContain('--runtime');
    rmSync(logPath);
    await publish({ runtime: 'demo', agentSessionId: 'demo', logPath, endedAt: Date.now() });
    expect((await ctxwrapHere([...command.split(' '), '4711-a'], bench)).stderr).toContain(
      'the file of session demo (demo) is gone',
    );
  });

  it('has one id in context, which is that of ps', async () => {
    await publish({ agentSessionId: ids.claude });
    const { stdout } = await ctxwrapHere(['context', '4711-a'], bench);
    expect(stdout).toContain(`Session  11111111 (pid ${process.pid}, live)\n`);
    expect(stdout).not.toMatch(/4711-a|Conversation/);
    expect((await ctxwrapHere(['context', ids.codex], bench)).stdout).toContain('Session  01a1fd1c\n');
  });

  it('is what history show means without an argument, and its last compaction', async () => {
    await publish({ agentSessionId: ids.qwen, runtime: 'qwen' });
    const shown = await ctxwrapHere(['history', 'show'], bench);
    expect(shown.stdout).toContain('When        2026-11-21 08:36');
    expect(await ctxwrapHere(['history', 'show', 'b3603808'], bench)).toEqual(shown);
    await publish({ agentSessionId: early });
    expect((await ctxwrapHere(['history', 'show'], bench)).stderr).toContain('is running, but nothing');
  });

  it('is not needed: where none runs, history show takes the last one with a compaction', async () => {
    const { stdout, stderr, code } = await ctxwrapHere(['history', 'show'], bench);
    expect(stderr).toContain('no session is running; this is the last one with a compaction');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^Agent .*\nSession /)]);
  });

  it('is not needed: where none runs and ctxwrap has wrapped none, context takes the last one, and says which', async () => {
    const { stdout, stderr, code } = await ctxwrapHere(['context', '--runtime', 'qwen'], bench);
    expect(stderr).toBe('ctxwrap: no session is running; this is the last one: b3603808 in /proj/app-qwen\n');
    expect([code, stdout]).toEqual([0, expect.stringContaining('Session  b3603808\n')]);
  });
});

it.each([
  ['claude', '/a/11111111-2222-4333-8444-555555555555.jsonl', '11111111-2222-4333-8444-555555555555'],
  ['codex', '/a/rollout-2026-11-21T07-58-14-01A1-b_c2.jsonl.zst', '01a1-b_c2'],
  ['gemini', '/a/session-2026-11-21T08-41-60f4dd20.json', '60f4dd20'],
  ['copilot', `/a/${COPILOT}/events.jsonl`, COPILOT],
  ['kimi', `/a/${kimiFile}`, KIMI],
  ['kimi', 'wire.jsonl', ''],
  ['codex', '/a/another.jsonl', ''],
] as const)('the path of a session file of %s, %s, has its id', (name, path, id) => {
  expect(idInPath(agents[name].home, path)).toBe(id);
});
