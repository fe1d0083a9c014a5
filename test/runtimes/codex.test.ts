import { describe, expect, it } from 'vitest';
import { runtimes } from '../../src/runtimes/index.js';
import { locateCodex } from '../../src/runtimes/codex/paths.js';
import { codexPercent } from '../../src/runtimes/codex/percent.js';
import { fakePlace, fakePort } from '../support/fake-machine.js';
import { readLines } from '../support/read-log.js';

const { codex } = runtimes;

const event = (payload: unknown): string => JSON.stringify({ type: 'event_msg', payload });
const count = (total_tokens: number, window: number | undefined = 95_000): string =>
  event({
    type: 'token_count',
    info: {
      total_token_usage: { input_tokens: 999_999, total_tokens: 999_999 },
      last_token_usage: { input_tokens: total_tokens - 50, output_tokens: 50, total_tokens },
      model_context_window: window,
    },
  });
const started = (byUser: boolean): string =>
  event({ type: 'task_started', ...(byUser ? { turn_attribution: { turn_trigger: 'user' } } : {}) });
const ended = (error?: unknown): string => event({ type: 'task_complete', ...(error ? { error } : {}) });
const compacted = JSON.stringify({ type: 'compacted', payload: { message: '' } });

const used = (lines: readonly string[]) =>
  readLines(codex, lines).facts.map((fact) =>
    fact.type === 'reading' ? fact.reading.usedTokens : fact.type,
  );

describe('the percentage of codex', () => {
  it.each([
    // used tokens, window, percent left as seen on the screen (facts/codex.md §2.2 and §2.3)
    [5_000, 95_000, 100],
    [20_000, 95_000, 90],
    [50_050, 95_000, 54],
    [62_050, 95_000, 40],
    [70_050, 95_000, 30],
    [84_000, 95_000, 13],
    [90_500, 95_000, 5],
    [94_000, 95_000, 1],
    [95_000, 95_000, 0],
    [99_000, 95_000, 0],
    [5_000, 12_000, 0],
  ])('%i tokens of %i leave %i %%', (tokens, window, left) => {
    expect(100 - codexPercent(tokens, window)).toBe(left);
  });
});

describe('the rollout of codex', () => {
  it('gives what the last request used and the window of the agent', () => {
    expect(readLines(codex, [started(true), count(70_050)]).facts).toEqual([
      {
        type: 'reading',
        reading: {
          usedTokens: 70_050,
          windowTokens: 95_000,
          windowSource: 'agent',
          usedPercent: 70,
          source: 'log',
          at: 0,
        },
      },
    ]);
  });

  it('takes the window of the turn when the count has none, and the model of the turn', () => {
    const lines = [
      event({ type: 'task_started', turn_attribution: {}, model_context_window: 258_400 }),
      JSON.stringify({ type: 'turn_context', payload: { model: 'gpt-5.5' } }),
      event({ type: 'token_count', info: { last_token_usage: { input_tokens: 1, total_tokens: 5_000 } } }),
    ];
    expect(readLines(codex, lines).facts).toMatchObject([
      { reading: { windowTokens: 258_400, model: 'gpt-5.5' } },
    ]);
  });

  it('never shows the usage of the compaction request itself', () => {
    expect(used([started(false), count(70_050), count(5_060), compacted, count(8_241), ended()])).toEqual([
      'boundary',
      8_241,
    ]);
  });

  it('keeps the number of before when a compaction fails or is cancelled', () => {
    const failed = [
      started(true),
      count(70_050),
      ended(),
      started(false),
      count(5_060),
      ended({ codex_error_info: 'other' }),
    ];
    expect(used(failed)).toEqual([70_050]);
    const cancelled = [
      started(true),
      count(70_050),
      ended(),
      started(false),
      count(5_060),
      event({ type: 'turn_aborted' }),
    ];
    expect(used(cancelled)).toEqual([70_050]);
  });

  it('reads the turns of versions that do not say who started them', () => {
    const oldest = [count(40_000), event({ type: 'user_message' }), count(41_000)];
    expect(used(oldest)).toEqual([40_000, 41_000]);
    const middle = [started(false), event({ type: 'user_message', message: 'hi' }), count(40_000), ended()];
    expect(used(middle)).toEqual([40_000]);
    expect(used([started(false), count(40_000), ended()])).toEqual([40_000]);
  });

  it('is full when the agent says that the window is exceeded, whatever it counts then', () => {
    const refused = event({
      type: 'token_count',
      info: {
        total_token_usage: { input_tokens: 0, total_tokens: 95_000 },
        last_token_usage: { input_tokens: 0, output_tokens: 0, total_tokens: 44_950 },
        model_context_window: 95_000,
      },
    });
    const full = {
      type: 'reading',
      reading: { usedPercent: 100, windowTokens: 95_000, windowSource: 'agent', source: 'log', at: 0 },
    };
    const lines = [started(true), refused, ended({ codex_error_info: 'context_window_exceeded' })];
    expect(readLines(codex, lines).facts).toEqual([full, full]);
  });

  it('ignores the count of before the first answer, and text that looks like a record', () => {
    const none = event({ type: 'token_count', info: null });
    const quoted = JSON.stringify({ type: 'response_item', payload: { type: 'message', content: count(5) } });
    expect(readLines(codex, [none, quoted])).toEqual({ facts: [], misfits: [] });
  });

  it.each([
    ['{"a":1}', 'not a Codex record'],
    ['{"type":"event_msg","payload":{"type":"token_count"', 'not JSON'],
    [event({ type: 'token_count', info: { tokens: 5 } }), 'a token count without last_token_usage'],
  ])('does not fit when a line is %s', (line, misfit) => {
    expect(readLines(codex, [line])).toEqual({ facts: [], misfits: [misfit] });
  });
});

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

  it.each([
    ['a subagent', { thread_source: 'subagent' }],
    ['an older subagent', { source: { subagent: 'review' } }],
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
