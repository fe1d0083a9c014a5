import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { locateCopilot, parseStatus, readStatus, sessionFile } from '../../src/agents/copilot/files.js';
import { fakePlace, fakePort, type FakeFile } from '../support/fake-machine.js';
import { linesOf, readLines } from '../support/read-log.js';

const { copilot } = agents;

const record = (type: string, data: object, more: object = {}): string =>
  JSON.stringify({ type, data, id: 'r1', timestamp: '1970-01-01T00:00:00.000Z', parentId: null, ...more });
const usage = { inputTokens: 70_000, outputTokens: 40, cacheReadTokens: 35_000, maxPromptTokens: 111_616 };
const answer = (change: object = {}, more: object = {}): string =>
  record('session.usage_record', { usage: { model: 'gpt-4.1', ...usage, ...change } }, more);
const compaction = (data: object): string => record('session.compaction_complete', data);
const factsOf = (...lines: readonly string[]) => readLines(copilot, lines).facts;

describe('the session file of copilot', () => {
  it('counts the prompt that the model server has counted, in the window that the record names', () => {
    expect(factsOf(answer())).toEqual([
      {
        type: 'reading',
        reading: {
          usedTokens: 70_000,
          answerTokens: 40,
          cachedTokens: 35_000,
          windowTokens: 111_616,
          windowSource: 'agent',
          source: 'log',
          model: 'gpt-4.1',
          at: 0,
        },
      },
    ]);
  });

  it('knows no window where the record names none', () => {
    const [fact] = factsOf(answer({ maxPromptTokens: undefined }));
    expect(fact).not.toHaveProperty('reading.windowTokens');
  });

  it.each([
    ['a subagent', answer({}, { agentId: 'x' })],
    ['a side question', answer({ interactionType: 'side-question' })],
    ['an answer without a prompt', answer({ inputTokens: 0 })],
    ['the beginning of a compaction', record('session.compaction_start', { currentTokens: 12_719 })],
    ['the sums at the end', record('session.shutdown', { modelMetrics: { m: { usage } }, currentTokens: 9 })],
    [
      'a compaction that Copilot did not manage by itself',
      compaction({ success: false, trigger: 'threshold' }),
    ],
    ['an old failure', record('session.compaction_complete', { success: false, trigger: 'manual' }, old())],
  ])('takes %s for no number', (_, line) => {
    expect(readLines(copilot, [line])).toEqual({ facts: [], misfits: [] });
  });

  it.each([
    ['manual', 'user'],
    ['threshold', 'agent'],
    ['a new reason', 'agent'],
  ])(
    'says of a compaction by %s that the %s asked for it, and takes none of its guessed sizes',
    (trigger, who) => {
      const sizes = { preCompactionTokens: 12_719, postCompactionTokens: 12_529, tokensRemoved: 190 };
      const data = {
        success: true,
        trigger,
        summaryContent: 'all in short',
        compactionTokensUsed: { duration: 9 },
      };
      expect(factsOf(compaction({ ...sizes, ...data }))).toEqual([
        { type: 'boundary', boundary: { initiator: who, uuid: 'r1', durationMs: 9, at: 0 } },
      ]);
    },
  );

  it('says that a summary is empty', () => {
    const [fact] = factsOf(compaction({ success: true, trigger: 'manual', summaryContent: ' ' }));
    expect(fact).toMatchObject({ boundary: { summary: 'empty' } });
  });

  it('says that a summary is longer than what it replaced, by its own two sizes', () => {
    const sizes = { preCompactionTokens: 12_629, postCompactionTokens: 102_557, tokensRemoved: 0 };
    const [fact] = factsOf(compaction({ ...sizes, success: true, trigger: 'manual', summaryContent: 'all' }));
    expect(fact).toMatchObject({ boundary: { summary: 'longer' } });
    expect(fact).not.toHaveProperty('boundary.postTokens');
  });

  it.each([
    ['Nothing to compact.', 'not_applicable', { kind: 'noop' }],
    ['Compaction Cancelled', 'cancelled', { kind: 'interrupted', by: 'the user' }],
    ['host-rethrow: 400 made up 400', 'failed', { kind: 'failed', failure: 'error' }],
    ['Compaction failed: received empty response from model', 'failed', { kind: 'failed', failure: 'empty' }],
    ['Compaction already in progress.', 'failed', { kind: 'failed', failure: 'error' }],
  ])('says how the command ended: %s', (error, outcome, result) => {
    const facts = factsOf(compaction({ success: false, trigger: 'manual', error, outcome }));
    expect(facts).toMatchObject([{ type: 'compact-result', result }]);
  });

  it('is cut back by a truncation, and grows by what the user and the tools say', () => {
    expect(factsOf(record('session.truncation', {}))).toEqual([{ type: 'voided' }]);
    const user = record('user.message', { content: 'x'.repeat(400) });
    const result = record('tool.execution_complete', { success: true, result: { content: 'y'.repeat(800) } });
    const subagent = record('tool.execution_complete', { result: { content: 'z' } }, { agentId: 'x' });
    expect(factsOf(user, result, subagent)).toEqual([
      { type: 'growth', tokens: 100 },
      { type: 'growth', tokens: 200 },
    ]);
  });

  it('grows by the words of a tool that failed', () => {
    const error = { message: 'no such file'.repeat(10) };
    expect(factsOf(record('tool.execution_complete', { success: false, error }))).toEqual([
      { type: 'growth', tokens: 30 },
    ]);
  });

  it('is read in whatever order its records name their fields', () => {
    const turned = Object.fromEntries(Object.entries(JSON.parse(answer()) as object).toReversed());
    expect(factsOf(JSON.stringify(turned))).toEqual(factsOf(answer()));
  });

  it.each([
    ['torn', '{"type":"session.usage_record","data":{"usa', 'not JSON'],
    ['something else', '# notes', 'not a Copilot record'],
    ['of another shape', answer({ inputTokens: 'many' }), 'usage without inputTokens'],
  ])('does not fit when a line is %s', (_, line, misfit) => {
    expect(readLines(copilot, [line])).toEqual({ facts: [], misfits: [misfit] });
  });

  it('has no number in a version that records no usage', () => {
    const { facts, misfits } = readLines(copilot, linesOf('copilot', 'old-1.0.92.jsonl'));
    expect(facts.filter(({ type }) => type === 'reading')).toEqual([]);
    expect(misfits).toEqual([]);
  });

  it('is known by its records, and by its place', () => {
    for (const line of linesOf('copilot', 'own.jsonl'))
      expect(copilot.log?.recognises?.(JSON.parse(line) as Record<string, unknown>)).toBe(true);
    expect(sessionFile('8c69-a/events.jsonl')).toBe('session');
    expect(sessionFile('8c69-a/checkpoints/events.jsonl')).toBeUndefined();
    expect(sessionFile('events.jsonl')).toBeUndefined();
  });
});

function old(): object {
  return { timestamp: '1960-01-01T00:00:00.000Z' };
}

const ROOT = '/home/me/.copilot';
const { startedAt, childPid } = fakePlace();
const eventsOf = (id: string): string => `${ROOT}/session-state/${id}/events.jsonl`;
const file = (after = 5, text = ''): FakeFile => ({ modifiedAt: startedAt + after, text });
const events = (id: string, text = '', after = 9) => ({ [eventsOf(id)]: file(after, text) });
const lock = (id: string, after = 5, pid = childPid) => ({
  [`${ROOT}/session-state/${id}/inuse.${pid}.lock`]: file(after),
});
const openSessions = (...ids: readonly string[]) => {
  const entries = ids.map((id, index) => [id, { openedAt: new Date(startedAt + index).toISOString() }]);
  return { [`${ROOT}/open-sessions-state.json`]: file(5, JSON.stringify(Object.fromEntries(entries))) };
};
const ownLog = (...ids: readonly string[]) => ({
  [`${ROOT}/logs/process-1795593643916-${childPid}.log`]: file(
    5,
    ids.map((id) => `2026-11-25T08:03:33.074Z [INFO] Registering foreground session: ${id}\n`).join(''),
  ),
});
type Files = Parameters<typeof fakePort>[0]['files'];
const find = (files: Files, more: Parameters<typeof fakePlace>[0] = {}) =>
  locateCopilot(fakePort({ files }), fakePlace(more));

describe('finding the session file of copilot', () => {
  it('takes the session that its process has locked, not the newest file', async () => {
    const files = { ...openSessions('s-1', 's-2'), ...lock('s-1'), ...lock('s-2', 8, 999), ...events('s-1') };
    expect(await find({ ...files, ...events('s-2') })).toEqual({
      sessionId: 's-1',
      path: eventsOf('s-1'),
      certain: true,
    });
  });

  it('knows the session before it has a file', async () => {
    expect(await find({ ...openSessions('s-1'), ...lock('s-1') })).toEqual({
      sessionId: 's-1',
      certain: true,
    });
  });

  it('goes back with the user to a session that has stayed open, which only the log tells', async () => {
    const files = { ...openSessions('s-1', 's-2'), ...lock('s-1'), ...lock('s-2', 8), ...events('s-1') };
    const all = { ...files, ...events('s-2') };
    expect(await find({ ...all, ...ownLog('s-1', 's-2') })).toMatchObject({
      sessionId: 's-2',
      certain: true,
    });
    expect(await find({ ...all, ...ownLog('s-1', 's-2', 's-1') })).toMatchObject({
      sessionId: 's-1',
      certain: true,
    });
  });

  it('waits for a message where several are open and there is no log', async () => {
    const enteredAt = startedAt + 2_000;
    const message = record(
      'user.message',
      { content: 'x' },
      { timestamp: new Date(enteredAt + 9).toISOString() },
    );
    const files = { ...openSessions('s-1', 's-2'), ...lock('s-1'), ...lock('s-2', 8) };
    const all = { ...files, ...events('s-1', `${message}\n`, 2_010), ...events('s-2') };
    expect(await find(all)).toMatchObject({ sessionId: 's-2', certain: false });
    expect(await find(all, { enteredAt })).toMatchObject({ sessionId: 's-1', certain: false });
  });

  it.each([
    ['a lock of an earlier process with the same pid', lock('s-1', -600_000)],
    ['a lock of another process', lock('s-1', 5, 999)],
    ['a log that leads elsewhere', { ...ownLog('../../x') }],
  ])('takes %s for nothing', async (_, files) => {
    expect(await find({ ...openSessions('s-1'), ...events('s-1'), ...files })).toBeUndefined();
  });

  it('follows COPILOT_HOME', async () => {
    const moved = Object.entries({ ...lock('s-1'), ...events('s-1'), ...openSessions('s-1') }).map(
      ([path, each]) => [path.replace(ROOT, '/elsewhere'), each],
    );
    const found = await find(Object.fromEntries(moved) as Files, { env: { COPILOT_HOME: '/elsewhere' } });
    expect(found).toMatchObject({ path: '/elsewhere/session-state/s-1/events.jsonl' });
  });
});

const atMs = (after: number): object => ({ timestamp: new Date(startedAt + after).toISOString() });
const begun = record('session.compaction_start', { trigger: 'threshold' }, atMs(900));
const status = (text: string, locks: Files = lock('s-1')) =>
  readStatus(
    fakePort({ files: { ...openSessions('s-1'), ...ownLog('s-1'), ...locks, ...events('s-1', text) } }),
    fakePlace(),
  );

describe('a compaction that the screen does not show', () => {
  it('runs from the record of its beginning to that of its end, or to a new start', async () => {
    expect(await status(`${begun}\n${answer()}\n`)).toEqual({ state: 'compacting', isSilent: true });
    const ended = compaction({ success: false, trigger: 'threshold' });
    expect(await status(`${begun}\n${ended}\n`)).toEqual({ state: 'idle' });
    expect(await status(`${begun}\n${record('session.resume', {})}\n`)).toEqual({ state: 'idle' });
  });

  it.each([
    ['before this process opened the session', lock('s-1', 901)],
    ['in a copy, which no process has open yet', {}],
    ['by another process', lock('s-1', 5, 999)],
  ])('does not run where its beginning was recorded %s', async (_, locks) => {
    expect(await status(`${begun}\n${answer()}\n`, locks)).toEqual({ state: 'idle' });
  });

  it('is not known where the end of the file does not tell', async () => {
    expect(await status(`${answer()}\n`)).toEqual({ state: 'unclear' });
    expect(parseStatus(answer())).toBeUndefined();
  });

  it('is not believed of words in a conversation', () => {
    expect(parseStatus(record('user.message', { content: begun }))).toBeUndefined();
  });
});
