import { describe, expect, it } from 'vitest';
import { locateCodex } from '../../src/agents/codex/files.js';
import { fakePlace, fakePort } from '../support/fake-machine.js';

describe('finding the rollout of codex', () => {
  const { startedAt } = fakePlace();
  const THREAD = '01a1fd1c-f01b-7b00-a700-c9e1017aceb1'; // made on 2026-11-21
  const DAY = '/home/me/.codex/sessions/2026/11/21';
  const SOCKET = '/home/me/.codex/app-server-control/app-server-control.sock';
  const meta = (more: Record<string, unknown> = {}) => {
    const timestamp = new Date(startedAt + 1).toISOString();
    const payload = {
      id: THREAD,
      session_id: THREAD,
      timestamp,
      cwd: '/proj/app',
      source: 'cli',
      thread_source: 'user',
      ...more,
    };
    return `${JSON.stringify({ type: 'session_meta', payload })}\n`;
  };
  const rollout = (folder: string, id = THREAD) => `${folder}/rollout-2026-11-21T10-00-00-${id}.jsonl`;
  const written = (text: string, after = 5) => ({ modifiedAt: startedAt + after, text });

  it('takes the rollout that a descendant of the child has open, the newest of two', async () => {
    const first = rollout(DAY, 'a');
    const second = rollout('/home/me/.codex/sessions/2024/01/01', 'b');
    const files = {
      [first]: written(meta({ id: 'a', session_id: 'a' }), 5),
      [second]: written(meta({ id: 'b', session_id: 'b' }), 9),
    };
    const port = fakePort({
      files,
      family: [100, 101],
      open: { 100: [], 101: ['/dev/null', first, second] },
    });
    expect(await locateCodex(port, fakePlace())).toEqual({ sessionId: 'b', path: second, certain: true });
  });

  it('takes the segment of a rewound thread', async () => {
    const segment = rollout(DAY, `${THREAD}_01a1fd1c-f01b-7b00-a700-000000000000`);
    const files = { [rollout(DAY)]: written(meta(), 1), [segment]: written(meta(), 2) };
    const port = fakePort({ files, open: { 100: [rollout(DAY), segment] } });
    expect(await locateCodex(port, fakePlace())).toEqual({ sessionId: THREAD, path: segment, certain: true });
  });

  it('takes the newest segment of a rewound thread where a background server writes it', async () => {
    const segments = ['_01a1fd1c-f01b-7b00-a700-000000000001', '_01a1fd1c-f01b-7b00-a700-000000000002'];
    const [older = '', newer = ''] = segments.map((segment) => rollout(DAY, `${THREAD}${segment}`));
    const files = {
      [SOCKET]: { modifiedAt: 0 },
      [rollout(DAY)]: written(meta(), 1),
      [newer]: written(meta({ history_base: { thread_id: THREAD } }), 9),
      [older]: written(meta({ history_base: { thread_id: THREAD } }), 5),
    };
    const found = await locateCodex(fakePort({ files, open: { 100: [] } }), fakePlace());
    expect(found).toMatchObject({ sessionId: THREAD, path: newer, certain: false });
  });

  it('takes a fork, which begins with the history of another thread, for a thread of its own', async () => {
    const fork = meta({
      id: OTHER,
      session_id: OTHER,
      forked_from_id: THREAD,
      history_base: { thread_id: THREAD },
    });
    const files = { [rollout(DAY)]: written(meta(), 1), [rollout(DAY, OTHER)]: written(fork, 9) };
    const port = fakePort({ files, open: { 100: Object.keys(files) } });
    expect(await locateCodex(port, fakePlace())).toMatchObject({
      sessionId: OTHER,
      path: rollout(DAY, OTHER),
    });
  });

  const OTHER = '01a1fddb-9fe9-7dd3-90b2-ca34bc07af3f';
  const lock = (id: string) => `/home/me/.codex/thread-writer-locks/${id}.lock`;
  const holding = (...open: readonly string[]) => ({ open: { 100: open } });
  const other = (more = {}) => written(meta({ id: OTHER, session_id: OTHER, ...more }), 9_000);

  it('leaves the old thread at /new, when the new one is locked but not written yet', async () => {
    const files = { [rollout(DAY)]: written(meta(), 5_000), [lock(OTHER)]: written('', 6_000) };
    const port = fakePort({ files, ...holding(rollout(DAY), lock(OTHER)) });
    expect(await locateCodex(port, fakePlace())).toEqual({ sessionId: OTHER, certain: true });
  });

  it('goes back to an older thread at /resume, before its rollout grows', async () => {
    const files = {
      [rollout(DAY)]: written(meta(), 5),
      [rollout(DAY, OTHER)]: other(),
      [lock(OTHER)]: written('', 1),
      [lock(THREAD)]: written('', 9_500),
    };
    const port = fakePort({ files, ...holding(...Object.keys(files)) });
    expect((await locateCodex(port, fakePlace()))?.path).toBe(rollout(DAY));
  });

  it.each([
    [
      'a subagent, which writes a rollout',
      { [rollout(DAY, OTHER)]: other({ thread_source: 'subagent' }) },
      100,
    ],
    ['a thread that may still turn out to be a subagent', {}, 9_500],
    ['a thread that is never written, while the old one goes on', {}, 100],
  ])('stays with the thread when the child locks %s', async (_, more, lockedAfter) => {
    const files = {
      [rollout(DAY)]: written(meta(), 5_000),
      [lock(OTHER)]: written('', lockedAfter),
      ...more,
    };
    const port = fakePort({ files, ...holding(...Object.keys(files)) });
    expect((await locateCodex(port, fakePlace()))?.path).toBe(rollout(DAY));
  });

  it.each([
    ['a subagent', { thread_source: 'subagent' }],
    ['an older subagent', { source: { subagent: 'review' } }],
    ['the thread that names the task', { thread_source: 'thread_title' }],
    ['another thread inside the session', { session_id: 'parent' }],
    ['codex exec', { source: 'exec' }],
  ])('does not take the rollout of %s', async (_, more) => {
    const files = { [rollout(DAY)]: written(meta(more)) };
    expect(
      await locateCodex(fakePort({ files, open: { 100: [rollout(DAY)] } }), fakePlace()),
    ).toBeUndefined();
  });

  it('takes the rollout of an old version without thread_source', async () => {
    const files = { [rollout(DAY)]: written(meta({ thread_source: undefined, session_id: undefined })) };
    expect(await locateCodex(fakePort({ files, open: { 100: [rollout(DAY)] } }), fakePlace())).toBeDefined();
  });

  it('does not take a neighbour’s rollout while the child has none open', async () => {
    const files = { [rollout(DAY)]: written(meta()) };
    expect(await locateCodex(fakePort({ files, open: { 100: [] } }), fakePlace())).toBeUndefined();
  });

  it('looks for the rollout of this folder when a background server may write it', async () => {
    const files = {
      [SOCKET]: { modifiedAt: 0 },
      [rollout(DAY, 'x')]: written(meta({ id: 'x', session_id: 'x', cwd: '/elsewhere' }), 9),
      [rollout(DAY)]: written(meta({ source: 'vscode' })),
    };
    expect(await locateCodex(fakePort({ files, open: { 100: [] } }), fakePlace())).toEqual({
      sessionId: THREAD,
      path: rollout(DAY),
      certain: false,
      writtenAt: startedAt + 5,
    });
  });

  it.each([
    ['of the folder named by the local date before', '/home/me/.codex/sessions/2026/11/20', {}],
    ['in the folder the user configured', '/cx/sessions/2026/11/21', { CODEX_HOME: '/cx' }],
  ])('finds a rollout %s where open files cannot be seen', async (_, folder, env) => {
    const files = { [rollout(folder)]: written(meta()) };
    expect((await locateCodex(fakePort({ files }), fakePlace({ env })))?.path).toBe(rollout(folder));
  });

  it('finds a resumed rollout in its old date folder through its lock', async () => {
    const id = '0199a213-81c0-7800-8aa1-bbab2a035a53'; // made on 2025-10-01
    const path = `/home/me/.codex/sessions/2025/10/01/rollout-2025-10-01T22-00-00-${id}.jsonl`;
    const old = meta({ id, session_id: id, timestamp: '2025-10-01T20:00:00.000Z' });
    const files = {
      [path]: written(old),
      [`/home/me/.codex/thread-writer-locks/${id}.lock`]: { modifiedAt: 0 },
    };
    expect((await locateCodex(fakePort({ files }), fakePlace()))?.path).toBe(path);
  });

  it('prefers a thread begun after the start to an older one that grows', async () => {
    const older = meta({ id: 'o', session_id: 'o', timestamp: '2026-11-21T08:00:00.000Z' });
    const files = { [rollout(DAY, 'o')]: written(older, 99), [rollout(DAY)]: written(meta(), 5) };
    expect((await locateCodex(fakePort({ files }), fakePlace()))?.sessionId).toBe(THREAD);
  });

  it('takes no rollout that has not grown since the start', async () => {
    const files = { [rollout(DAY)]: { modifiedAt: startedAt - 1, text: meta() } };
    expect(await locateCodex(fakePort({ files }), fakePlace())).toBeUndefined();
  });
});
