import { describe, expect, it } from 'vitest';
import { nativeTriggerTokens } from '../../src/core/build-ladder.js';
import { agents } from '../../src/agents/index.js';
import { qwenLadder } from '../../src/agents/qwen/agent.js';
import { locateQwen } from '../../src/agents/qwen/files.js';
import { fakePlace, fakePort } from '../support/fake-machine.js';
import { linesOf, readLines } from '../support/read-log.js';

const { qwen } = agents;

const answer = (usageMetadata: unknown, more: object = {}): string =>
  JSON.stringify({
    uuid: 'a',
    type: 'assistant',
    model: 'qwen3',
    usageMetadata,
    contextWindowSize: 131_072,
    ...more,
  });
const usage = {
  promptTokenCount: 70_000,
  candidatesTokenCount: 40,
  totalTokenCount: 70_040,
  cachedContentTokenCount: 35_000,
};
const compression = (info: object): string =>
  JSON.stringify({ type: 'system', subtype: 'chat_compression', systemPayload: { info } });
const factsOf = (...lines: readonly string[]) => readLines(qwen, lines).facts;

describe('the session file of qwen', () => {
  it('counts the prompt of an answer in the window that the record names', () => {
    expect(factsOf(answer(usage))).toEqual([
      {
        type: 'reading',
        reading: {
          usedTokens: 70_000,
          cachedTokens: 35_000,
          windowTokens: 131_072,
          windowSource: 'agent',
          source: 'log',
          model: 'qwen3',
          at: 0,
        },
      },
    ]);
  });

  it('knows no window where the record names none', () => {
    const [fact] = factsOf(answer(usage, { contextWindowSize: undefined }));
    expect(fact).not.toHaveProperty('reading.windowTokens');
  });

  it.each([
    ['a subagent', answer(usage, { isSidechain: true, agentId: 'x' })],
    ['an answer that was cut off', answer(undefined)],
    ['an answer without a prompt', answer({ promptTokenCount: 0 })],
    [
      'the usage of any call',
      JSON.stringify({
        type: 'system',
        subtype: 'ui_telemetry',
        systemPayload: { uiEvent: { input_token_count: 99_000 } },
      }),
    ],
    [
      'a compaction that made nothing smaller',
      compression({ compressionStatus: 2, originalTokenCount: 70_000 }),
    ],
    ['a compaction with nothing to do', compression({ compressionStatus: 5 })],
  ])('takes %s for nothing', (_, line) => {
    expect(readLines(qwen, [line])).toEqual({ facts: [], misfits: [] });
  });

  it.each([
    ['manual', 'user'],
    ['token_limit', 'agent'],
  ])('says of a %s compaction that the %s asked for it', (triggerReason, initiator) => {
    const info = { compressionStatus: 1, originalTokenCount: 71_000, newTokenCount: 68_732, triggerReason };
    expect(factsOf(compression(info))).toEqual([
      { type: 'boundary', boundary: { initiator, preTokens: 71_000, postTokens: 68_732, at: 0 } },
    ]);
  });

  it('does not take an estimate of 0 for what a compaction left', () => {
    const [fact] = factsOf(
      compression({ compressionStatus: 1, originalTokenCount: 99_659, newTokenCount: 0 }),
    );
    expect(fact).not.toHaveProperty('boundary.postTokens');
  });

  it('is cut back by a rewind, and grows by what the user and the tools say', () => {
    expect(factsOf('{"type":"system","subtype":"rewind","systemPayload":{}}')).toEqual([{ type: 'voided' }]);
    const user = { type: 'user', message: { role: 'user', parts: [{ text: 'x'.repeat(400) }] } };
    const response = { functionResponse: { id: '1', name: 'shell', response: { output: 'y'.repeat(800) } } };
    const result = { type: 'tool_result', message: { role: 'user', parts: [response] } };
    expect(factsOf(JSON.stringify(user), JSON.stringify(result))).toEqual([
      { type: 'growth', tokens: 100 },
      { type: 'growth', tokens: 200 },
    ]);
  });

  it.each([
    ['torn', '{"type":"assistant","usageMeta', 'not JSON'],
    ['something else', '# notes', 'not a Qwen record'],
    ['of another shape', answer({ total: 5 }), 'usage without promptTokenCount'],
  ])('does not fit when a line is %s', (_, line, misfit) => {
    expect(readLines(qwen, [line])).toEqual({ facts: [], misfits: [misfit] });
  });

  it('is found out by Esc only when the compaction was not over', () => {
    const { facts } = readLines(qwen, linesOf('qwen', 'compress-cancelled.jsonl'));
    expect(facts.filter(({ type }) => type === 'boundary')).toMatchObject([
      { boundary: { initiator: 'user' } },
    ]);
  });
});

describe('finding the session file of qwen', () => {
  const { startedAt, childPid, cwd } = fakePlace();
  const ROOT = '/home/me/.qwen';
  const CHATS = `${ROOT}/projects/${cwd.replace(/[^a-zA-Z0-9]/g, '-')}/chats`;
  const registry = (sessionId: string, begun: number, at = cwd) => ({
    modifiedAt: startedAt,
    text: JSON.stringify({ schemaVersion: 1, pid: childPid, sessionId, cwd: at, startedAt: begun }),
  });
  const sidecar = (id: string, pid: number, after = 5) => ({
    [`${CHATS}/${id}.runtime.json`]: {
      modifiedAt: startedAt + after,
      text: JSON.stringify({ schema_version: 1, pid, session_id: id, work_dir: cwd }),
    },
  });
  const chat = (id: string, folder = CHATS) => ({
    [`${folder}/${id}.jsonl`]: { modifiedAt: startedAt + 9, text: '' },
  });
  const find = (files: Parameters<typeof fakePort>[0]['files'], env = {}) =>
    locateQwen(fakePort({ files }), fakePlace({ env }));

  it('takes the session that the process says it is in, not the newest file', async () => {
    const files = {
      [`${ROOT}/sessions/${childPid}.json`]: registry('s-1', startedAt),
      ...chat('s-1'),
      ...chat('s-2'),
    };
    expect(await find(files)).toEqual({ sessionId: 's-1', path: `${CHATS}/s-1.jsonl`, certain: true });
  });

  it('goes with it to another folder', async () => {
    const folder = `${ROOT}/projects/-other/chats`;
    const files = {
      [`${ROOT}/sessions/${childPid}.json`]: registry('s-1', startedAt, '/other'),
      ...chat('s-1', folder),
    };
    expect(await find(files)).toMatchObject({ path: `${folder}/s-1.jsonl` });
  });

  it('knows the session before it has a file', async () => {
    const files = { [`${ROOT}/sessions/${childPid}.json`]: registry('s-1', startedAt) };
    expect(await find(files)).toEqual({ sessionId: 's-1', certain: true });
  });

  it('takes the file beside the chats where there is no other word, and only that of the own process', async () => {
    const files = {
      ...sidecar('s-1', childPid),
      ...sidecar('s-2', 999_999, 8),
      ...chat('s-1'),
      ...chat('s-2'),
    };
    expect(await find(files)).toEqual({ sessionId: 's-1', path: `${CHATS}/s-1.jsonl`, certain: true });
  });

  it.each([
    [
      'of a process that had the same pid',
      { [`${ROOT}/sessions/${childPid}.json`]: registry('s-1', startedAt - 999_000) },
    ],
    [
      'with an id that leads elsewhere',
      { [`${ROOT}/sessions/${childPid}.json`]: registry('../../x', startedAt) },
    ],
    ['that is another process', { ...chat('s-1'), ...sidecar('s-1', 999_999) }],
    ['of several that nobody follows yet', { ...chat('s-1'), ...chat('s-2') }],
    ['left over beside the chats', sidecar('s-1', childPid, -999_000)],
  ])('takes none %s', async (_, files) => {
    expect(await find(files)).toBeUndefined();
  });

  describe('of versions that say nothing of their sessions', () => {
    const enteredAt = startedAt + 5_000;
    const grown = (id: string, ...records: readonly object[]) => ({
      [`${CHATS}/${id}.jsonl`]: {
        modifiedAt: enteredAt + 900,
        text: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
      },
    });
    const record = (type: string, after: number, more = {}) => ({
      type,
      timestamp: new Date(enteredAt + after).toISOString(),
      ...more,
    });
    const at = (files: Parameters<typeof fakePort>[0]['files'], more = {}) =>
      locateQwen(fakePort({ files }), fakePlace({ enteredAt, ...more }));
    const mine = grown('s-2', record('user', 30), record('system', 40), record('assistant', 700));
    const busy = grown('s-1', record('user', -9_000), record('tool_result', 20), record('assistant', 800));
    const own = { sessionId: 's-2', path: `${CHATS}/s-2.jsonl`, certain: false };

    it('is the chat with what the user sent here, of two terminals that began at once', async () => {
      expect(await at({ ...busy, ...mine })).toEqual({ ...own, writtenAt: enteredAt + 30 });
      const other = grown('s-3', record('user', -400), record('assistant', 20));
      expect(await at({ ...mine, ...other })).toMatchObject(own);
      const earlier = { enteredAt: enteredAt - 500 };
      expect(await at({ ...mine, ...other }, earlier)).toBeUndefined(); // both were sent within two seconds
      expect(await at({ ...mine, ...other }, { ...earlier, currentPath: own.path })).toMatchObject(own);
    });

    it('is another one after /clear, and stays the same while nothing is sent', async () => {
      expect(await at({ ...busy, ...mine }, { currentPath: `${CHATS}/s-1.jsonl` })).toMatchObject(own);
      expect(await at({ ...busy, ...mine }, { currentPath: own.path, enteredAt: 1 })).toEqual(own);
    });

    it('is none while nothing was sent here', async () => {
      expect(await at(busy)).toBeUndefined();
      expect(await at(mine, { enteredAt: undefined })).toBeUndefined();
      expect(await at(grown('s-2', record('user', 30, { isSidechain: true })))).toBeUndefined();
    });
  });

  it.each([
    ['a question', ['{"type":"user"}'], 'busy'],
    ['an answer', ['{"type":"user"}', '{"type":"assistant","message":{"parts":[{"text":"hi"}]}}'], 'idle'],
    [
      'a call of a tool',
      ['{"type":"assistant","message":{"parts":[{"functionCall":{"name":"sh"}}]}}'],
      'busy',
    ],
    ['a refused tool', ['{"type":"tool_result","toolCallResult":{"status":"cancelled"}}'], 'idle'],
    ['a tool that has run', ['{"type":"tool_result","toolCallResult":{"status":"success"}}'], 'busy'],
  ])('says after %s what qwen does', async (_, lines, state) => {
    const files = (text: string) => ({ [`${CHATS}/s-1.jsonl`]: { modifiedAt: startedAt + 9, text } });
    const status = (text: string) => qwen.screen?.status?.(fakePort({ files: files(text) }), fakePlace());
    expect(await status(`${lines.join('\n')}\n`)).toEqual({ state });
    expect(await status(lines.join('\n'))).toEqual({ state: 'unclear' }); // half written
    const other = { [`${CHATS}/s-2.jsonl`]: { modifiedAt: startedAt + 8, text: '{"type":"user"}\n' } };
    const both = fakePort({ files: { ...files(`${lines.join('\n')}\n`), ...other } });
    expect(await qwen.screen?.status?.(both, fakePlace())).toEqual({ state: 'busy' });
  });

  it('honours QWEN_HOME, and QWEN_RUNTIME_DIR for the chats', async () => {
    const folder = `/run/q/projects/${CHATS.split('/').at(-2) ?? ''}/chats`;
    const files = { [`/qh/sessions/${childPid}.json`]: registry('s-1', startedAt), ...chat('s-1', folder) };
    expect(await find(files, { QWEN_HOME: '/qh', QWEN_RUNTIME_DIR: '/run/q' })).toMatchObject({
      path: `${folder}/s-1.jsonl`,
    });
  });
});

describe("qwen's own boundaries", () => {
  it.each([
    [131_072, { effective: 111_072, warn: 78_072, auto: 98_072, hard: 108_072 }],
    [1_000_000, { effective: 980_000, warn: 830_000, auto: 850_000, hard: 977_000 }],
    [32_000, { effective: 12_000, warn: 7_200, auto: 27_200, hard: 30_200 }],
  ])('of %i tokens are as in its /context', (windowTokens, expected) => {
    expect(qwenLadder(windowTokens)).toEqual(expected);
  });

  it.each([
    [131_072, 98_072],
    [1_000_000, 850_000],
    [220_000, 187_000], // both rules meet
    [33_000, 28_050],
    [20_000, 17_000],
  ])('make it compact by itself in %i tokens at %i', (windowTokens, expected) => {
    const native = qwen.nativeTrigger({});
    expect(native && nativeTriggerTokens(windowTokens, native)).toBe(expected);
    expect(qwenLadder(windowTokens).auto).toBeCloseTo(expected, 6);
  });
});
