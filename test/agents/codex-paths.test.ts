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

  const enteredAt = startedAt + 5_000;
  const turn = (after = 30, type = 'task_started') =>
    `${JSON.stringify({ timestamp: new Date(enteredAt + after).toISOString(), type: 'event_msg', payload: { type } })}\n`;
  /** a rollout in which a turn began so long after Enter was pressed here */
  const asked = (text: string, after = 30, type?: string) => written(text + turn(after, type), 5_000 + after);

  it('takes the newest segment of a rewound thread where a background server writes it', async () => {
    const segments = ['_01a1fd1c-f01b-7b00-a700-000000000001', '_01a1fd1c-f01b-7b00-a700-000000000002'];
    const [older = '', newer = ''] = segments.map((segment) => rollout(DAY, `${THREAD}${segment}`));
    const files = {
      [SOCKET]: { modifiedAt: 0 },
      [rollout(DAY)]: written(meta(), 1),
      [newer]: written(meta({ history_base: { thread_id: THREAD } }), 6_000),
      [older]: asked(meta({ history_base: { thread_id: THREAD } })),
    };
    const found = await locateCodex(fakePort({ files, open: { 100: [] } }), fakePlace({ enteredAt }));
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

  it.each(['task_started', 'user_message'])(
    'takes the rollout with a %s after Enter here, where a background server may write it',
    async (type) => {
      const files = {
        [SOCKET]: { modifiedAt: 0 },
        [rollout(DAY, OTHER)]: other(),
        [rollout(DAY)]: asked(meta({ source: 'vscode', cwd: '/elsewhere' }), 30, type),
      };
      const port = fakePort({ files, open: { 100: [] } });
      expect(await locateCodex(port, fakePlace({ enteredAt }))).toEqual({
        sessionId: THREAD,
        path: rollout(DAY),
        certain: false,
        writtenAt: enteredAt + 30,
      });
    },
  );

  it.each([
    ['nothing was sent here yet', {}, asked(meta())],
    ['the turn may belong to a message that is not recorded yet', { now: enteredAt + 500 }, asked(meta())],
    ['the turn began before', { enteredAt }, asked(meta(), -2_000)],
    ['the turn began long after', { enteredAt }, asked(meta(), 3_000)],
    ['only an answer was recorded then', { enteredAt }, asked(meta(), 30, 'agent_message')],
  ])('takes no rollout of a background server while %s', async (_, place, file) => {
    const files = { [SOCKET]: { modifiedAt: 0 }, [rollout(DAY)]: file };
    const port = fakePort({ files, open: { 100: [] } });
    expect(
      await locateCodex(port, fakePlace({ ...('now' in place ? { enteredAt } : {}), ...place })),
    ).toBeUndefined();
  });

  it('takes the thread that was locked after Enter here: a new one has no rollout yet, a resumed one has', async () => {
    const files = { [SOCKET]: { modifiedAt: 0 }, [rollout(DAY)]: asked(meta(), -3_000) };
    const at = (after: number) => ({ [lock(OTHER)]: written('', 5_000 + after) });
    const find = (more: object, place = {}) =>
      locateCodex(
        fakePort({ files: { ...files, ...more }, open: { 100: [] } }),
        fakePlace({ enteredAt, currentPath: rollout(DAY), ...place }),
      );
    const isNew = { sessionId: OTHER, certain: false, writtenAt: enteredAt + 90 };
    expect(await find(at(90))).toEqual(isNew);
    expect(await find({ ...at(90), [rollout(DAY, OTHER)]: other() })).toEqual({
      ...isNew,
      path: rollout(DAY, OTHER),
    });
    const stays = { sessionId: THREAD, path: rollout(DAY) };
    expect(await find(at(-500))).toMatchObject(stays);
    expect(await find(at(2_500))).toMatchObject(stays);
    expect(
      await find({ ...at(90), [lock('0199a213-81c0-7800-8aa1-bbab2a035a53')]: written('', 5_200) }),
    ).toMatchObject(stays);
    expect(
      await find({ ...at(90), [rollout(DAY, OTHER)]: other({ thread_source: 'subagent' }) }),
    ).toMatchObject(stays);
    expect(await find(at(90), { now: enteredAt + 500 })).toMatchObject(stays);
  });

  it('leaves a thread for one in which a turn began only if the agent has begun to work here since Enter', async () => {
    const files = {
      [SOCKET]: { modifiedAt: 0 },
      [rollout(DAY)]: asked(meta(), -4_000),
      [rollout(DAY, OTHER)]: asked(meta({ id: OTHER, session_id: OTHER })),
    };
    const find = (more: object) =>
      locateCodex(
        fakePort({ files, open: { 100: [] } }),
        fakePlace({ enteredAt, currentPath: rollout(DAY), ...more }),
      );
    expect(await find({})).toBeUndefined(); // `/status` here, and a message in another terminal
    expect(await find({ workedAt: enteredAt - 3_000 })).toBeUndefined();
    expect(await find({ workedAt: enteredAt + 300 })).toMatchObject({ sessionId: OTHER });
  });

  it('takes neither of two in which a turn began at the same moment, and stays with the one it has', async () => {
    const mine = rollout(DAY);
    const theirs = rollout(DAY, OTHER);
    const meta2 = meta({ id: OTHER, session_id: OTHER });
    const files = { [SOCKET]: { modifiedAt: 0 }, [mine]: asked(meta()), [theirs]: asked(meta2, 40) };
    const port = fakePort({ files, open: { 100: [] } });
    expect(await locateCodex(port, fakePlace({ enteredAt }))).toBeUndefined();
    const found = await locateCodex(port, fakePlace({ enteredAt, currentPath: mine }));
    expect(found).toMatchObject({ sessionId: THREAD, path: mine });
  });

  it.each([
    ['of the folder named by the local date before', '/home/me/.codex/sessions/2026/11/20', {}],
    ['in the folder the user configured', '/cx/sessions/2026/11/21', { CODEX_HOME: '/cx' }],
  ])('finds a rollout %s where open files cannot be seen', async (_, folder, env) => {
    const files = { [rollout(folder)]: asked(meta()) };
    const found = await locateCodex(fakePort({ files }), fakePlace({ env, enteredAt }));
    expect(found?.path).toBe(rollout(folder));
  });

  it('finds a resumed rollout in its old date folder through its lock', async () => {
    const id = '0199a213-81c0-7800-8aa1-bbab2a035a53'; // made on 2025-10-01
    const path = `/home/me/.codex/sessions/2025/10/01/rollout-2025-10-01T22-00-00-${id}.jsonl`;
    const old = meta({ id, session_id: id, timestamp: '2025-10-01T20:00:00.000Z' });
    const files = {
      [path]: asked(old),
      [`/home/me/.codex/thread-writer-locks/${id}.lock`]: { modifiedAt: 0 },
    };
    expect((await locateCodex(fakePort({ files }), fakePlace({ enteredAt })))?.path).toBe(path);
  });

  it('takes no rollout that has not grown since the start', async () => {
    const files = { [rollout(DAY)]: { modifiedAt: startedAt - 1, text: meta() } };
    expect(await locateCodex(fakePort({ files }), fakePlace())).toBeUndefined();
  });
});
