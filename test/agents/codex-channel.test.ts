import { describe, expect, it } from 'vitest';
import { codexChannel } from '../../src/agents/codex/channel.js';

const T = '01a212fd-23c2-7a71-af68-a58454fb5f24';
const thread = (change: object = {}) => ({
  thread: {
    id: T,
    sessionId: T,
    ephemeral: false,
    status: { type: 'idle' },
    threadSource: 'user',
    ...change,
  },
});

describe("Codex's background server", () => {
  it('is asked for one thread, and asked to compact that one', () => {
    expect(codexChannel.state(T)).toEqual({ method: 'thread/read', params: { threadId: T } });
    expect(codexChannel.compact(T)).toEqual({ method: 'thread/compact/start', params: { threadId: T } });
    expect(codexChannel.isTaken({})).toBe(true);
    expect(codexChannel.isTaken(undefined)).toBe(false);
  });

  it.each([
    ['rests', {}, 'resting'],
    ['rests after a turn that has failed', { status: { type: 'systemError' } }, 'resting'],
    ['works', { status: { type: 'active', activeFlags: [] } }, 'busy'],
    ['asks for permission', { status: { type: 'active', activeFlags: ['waitingOnApproval'] } }, 'busy'],
    ['is in another process', { status: { type: 'notLoaded' } }, 'elsewhere'],
    ['is another one', { id: 'x' }, 'elsewhere'],
    ['is one of Codex itself, for a title', { ephemeral: true }, 'elsewhere'],
    ['is in a state of a later version', { status: { type: 'paused' } }, undefined],
  ])('says whether the thread %s', (_, change, expected) => {
    expect(codexChannel.stateIn(thread(change), T)).toBe(expected);
  });

  it.each([[undefined], [null], ['idle'], [{}], [{ thread: null }]])('does not understand %j', (answer) => {
    expect(codexChannel.stateIn(answer, T)).toBeUndefined();
  });

  it.each([
    [['--no-daemon']],
    [['-c', 'model="x"']],
    [['--config=model="x"']],
    [['resume', '--last', '--enable', 'x']],
    [['--search']],
    [['-p', 'work']],
    [['-cmodel="x"']],
    [['-pwork']],
  ])('is not used by codex with %j', (args) => {
    expect(codexChannel.refusal(args)).toContain('does without its background server');
  });

  it.each([[[]], [['resume', '--last']], [['--model', 'gpt-5.5', 'fix the tests']]])(
    'is used by codex with %j',
    (args) => {
      expect(codexChannel.refusal(args)).toBeUndefined();
    },
  );

  it('is found in the folder of Codex', () => {
    const where = { env: {}, home: '/home/me', cwd: '/proj' };
    const socket = 'app-server-control/app-server-control.sock';
    expect(codexChannel.socket(where)).toBe(`/home/me/.codex/${socket}`);
    expect(codexChannel.socket({ ...where, env: { CODEX_HOME: '/cx' } })).toBe(`/cx/${socket}`);
  });
});

describe("the undo by Codex's background server", () => {
  const { undo } = codexChannel;
  const turn = { id: 'turn-9', status: 'completed', startedAt: 1_795_615_817, completedAt: 1_795_615_819 };
  const find = (data: unknown, compactedAt: number | undefined) =>
    undo?.find({ answers: [{ data, nextCursor: null }], seen: undefined, compactedAt });
  const REFUSED = { refusal: 'something was said since the compaction' };

  it('takes back the last turn, where the record of the compaction was written in it', () => {
    expect(undo?.looks(T)).toEqual([
      { method: 'thread/turns/list', params: { threadId: T, limit: 1, sortDirection: 'desc' } },
    ]);
    for (const at of [1_795_615_817_000, 1_795_615_819_819])
      expect(find([turn], at)).toEqual({ id: 'turn-9' });
    expect(undo?.undo(T, 'turn-9')).toEqual({
      method: 'thread/revert',
      params: { threadId: T, beforeTurnId: 'turn-9' },
    });
  });

  it.each<[string, unknown, number | undefined]>([
    ['the last turn began later', [turn], 1_795_615_816_999],
    ['the last turn ended before', [turn], 1_795_615_820_000],
    ['it is not known when it was compacted', [turn], undefined],
    ['the last turn runs', [{ ...turn, completedAt: null }], 1_795_615_818_000],
    ['there is no turn', [], 1_795_615_818_000],
    ['the turn has another form', ['x'], 1_795_615_818_000],
  ])('takes nothing back where %s', (_, data, at) => {
    expect(find(data, at)).toEqual(REFUSED);
  });

  it('does not understand another answer, and has worked when the thread comes back', () => {
    expect(find('x', 1)).toBeUndefined();
    expect(undo?.isUndone({ thread: { id: T } }, 'turn-9')).toBe(true);
    expect(undo?.isUndone({}, 'turn-9')).toBe(false);
  });
});
