import { describe, expect, it } from 'vitest';
import { nativeTriggerTokens } from '../../src/core/build-ladder.js';
import { agents } from '../../src/agents/index.js';
import { locateKimi } from '../../src/agents/kimi/files.js';
import { fakePlace, fakePort } from '../support/fake-machine.js';
import { footerSequence, linesOf, readContents, readLines } from '../support/read-log.js';

const { kimi } = agents;

const line = (type: string, more: object = {}): string =>
  JSON.stringify({ type, agentId: 'main', ...more, time: 5_000 });
const usage = { inputOther: 30_000, output: 20, inputCacheRead: 40_000, inputCacheCreation: 0 };
const used = line('usage.record', { model: 'k2', usage, usageScope: 'turn' });
const measured = (tokens: unknown): string => line('token_counting.measured', { length: 3, tokens });
const applied = (more: object = {}): string =>
  line('context.apply_compaction', {
    summary: 'it said hello',
    tokensBefore: 20_222,
    tokensAfter: 20_719,
    ...more,
  });
const begin = (source: string): string =>
  JSON.stringify({ type: 'full_compaction.begin', source, agentId: 'main', time: 1_000 });
const factsOf = (...lines: readonly string[]) => readLines(kimi, lines).facts;
const reading = (usedTokens: number, more: object = {}) => ({
  type: 'reading',
  reading: { usedTokens, source: 'log', model: '', at: 5_000, ...more },
});

describe('the session file of kimi', () => {
  it('has the number that the server measured, with the model and the cached part of the last request', () => {
    expect(factsOf(used, measured(70_020))).toEqual([
      reading(70_020, { model: 'k2', cachedTokens: 40_000, inputTokens: 70_000 }),
    ]);
    expect(factsOf(measured(812))).toEqual([reading(812)]);
  });

  it('is not read from the request of a summary', () => {
    const ofSummary = line('usage.record', { model: 'k2', usage, usageScope: 'session' });
    expect(factsOf(ofSummary, measured(70_020))).toEqual([reading(70_020)]);
  });

  it.each([
    ['the estimate after a compaction', line('token_counting.rebased', { tokens: 20_719, measured: false })],
    ['the end of a turn', line('token_counting.turn_recorded', { turnId: 0, tokens: 60_020 })],
    ['a size of nothing', measured(0)],
    ['a compaction that failed', line('full_compaction.cancel')],
    ['the words of the conversation', line('note', { text: '"type":"token_counting.measured"' })],
  ])('takes %s for no number', (_, each) => {
    expect(readLines(kimi, [each])).toEqual({ facts: [], misfits: [] });
  });

  it.each([
    ['manual', 'user'],
    ['auto', 'agent'],
  ])('says of a %s compaction that the %s asked for it', (source, initiator) => {
    expect(factsOf(measured(90_020), begin(source), applied())[1]).toEqual({
      type: 'boundary',
      boundary: { initiator, durationMs: 4_000, preTokens: 90_020, postTokens: 20_719, at: 5_000 },
    });
  });

  it.each(['context.undo', 'context.clear'])('says nothing of one that began before a %s', (type) => {
    const { boundary } = factsOf(measured(90_020), begin('manual'), line(type), applied()).find(
      (fact) => fact.type === 'boundary',
    ) ?? { boundary: undefined };
    expect(boundary).toEqual({ preTokens: 20_222, postTokens: 20_719, at: 5_000 });
  });

  it('trusts the size that was measured before a compaction, and else what the record estimates', () => {
    expect(factsOf(applied())).toMatchObject([{ boundary: { preTokens: 20_222 } }]);
    const twice = factsOf(measured(90_020), applied(), applied());
    expect(twice.map((fact) => fact.type === 'boundary' && fact.boundary.preTokens)).toEqual([
      false,
      90_020,
      20_222,
    ]);
  });

  it('knows an empty summary, and one of an older form', () => {
    expect(factsOf(applied({ summary: ' ' }))).toMatchObject([{ boundary: { summary: 'empty' } }]);
    const message = { role: 'user', content: [{ type: 'text', text: 'hello' }] };
    expect(factsOf(applied({ summary: message }))[0]).not.toHaveProperty('boundary.summary');
  });

  it('is cut back by an undo and by a new beginning', () => {
    const voided = [{ type: 'voided' }];
    expect(factsOf(line('token_counting.truncated', { length: 3, tokens: 900 }))).toEqual(voided);
    expect(factsOf(line('context.clear'))).toEqual(voided);
  });

  it('grows by what the user and the tools say', () => {
    const text = 'x'.repeat(400);
    const message = { role: 'user', content: [{ type: 'text', text }] };
    const event = { type: 'tool.result', toolCallId: '1', result: { output: text.repeat(2) } };
    expect(
      factsOf(line('context.append_message', { message }), line('context.append_loop_event', { event })),
    ).toEqual([
      { type: 'growth', tokens: 100 },
      { type: 'growth', tokens: 200 },
    ]);
  });

  it('does not grow by a summary or an answer, whose size is told elsewhere', () => {
    const content = [{ type: 'text', text: 'x'.repeat(400) }];
    const summary = { role: 'user', content, origin: { kind: 'compaction_summary' } };
    const messages = [summary, { role: 'assistant', content }];
    expect(factsOf(...messages.map((message) => line('context.append_message', { message })))).toEqual([]);
  });

  it.each([
    ['torn', '{"type":"token_counting.measured","tok', 'not JSON'],
    ['something else', '# notes', 'not a Kimi record'],
    ['of another shape', measured('many'), 'a size without tokens'],
  ])('does not fit when a line is %s', (_, each, misfit) => {
    expect(readLines(kimi, [each])).toEqual({ facts: [], misfits: [misfit] });
  });

  it('as recorded gives every number of the server, and one compaction of three', () => {
    const { facts, misfits } = readLines(kimi, linesOf('kimi', 'turns.jsonl'));
    expect(misfits).toEqual([]);
    expect(facts.flatMap((fact) => (fact.type === 'reading' ? [fact.reading.usedTokens] : []))).toEqual([
      60_020, 90_020, 90_020, 90_020, 30_020,
    ]);
    expect(facts.filter(({ type }) => type === 'boundary')).toMatchObject([
      { boundary: { initiator: 'user', preTokens: 90_020, postTokens: 20_718 } },
    ]);
    expect(footerSequence('kimi', facts).at(-1)).toBe('30020 of a window not known ×1');
  });

  it('names the tool results, and what a compaction left of them', () => {
    const event = { type: 'tool.call', toolCallId: 'a', name: 'Bash', args: { command: 'ls src' } };
    const result = { type: 'tool.result', toolCallId: 'a', result: { output: 'y'.repeat(80) } };
    const lines = [event, result].map((one) => line('context.append_loop_event', { event: one }));
    expect(readContents(kimi, lines)).toMatchObject([{ name: 'Bash', label: 'ls src', tokens: 20 }]);
    expect(readContents(kimi, [...lines, applied()])).toEqual([]);
    expect(readContents(kimi, [...lines, line('context.clear')])).toEqual([]);
  });
});

describe('finding the session file of kimi', () => {
  const { startedAt, cwd } = fakePlace();
  const enteredAt = startedAt + 5_000;
  const FOLDER = '/home/me/.kimi-code/sessions/wd_app_146df9cff90e';
  const pathOf = (id: string, folder = FOLDER): string => `${folder}/session_${id}/agents/main/wire.jsonl`;
  const session = (id: string, ...records: readonly (readonly [type: string, after: number])[]) => ({
    [pathOf(id)]: {
      modifiedAt: enteredAt + 900,
      text: records
        .map(([type, after]) => `${JSON.stringify({ type, agentId: 'main', time: enteredAt + after })}\n`)
        .join(''),
    },
  });
  const mine = session('2', ['turn.prompt', 30], ['usage.record', 700]);
  const busy = session('1', ['turn.prompt', -9_000], ['usage.record', 800]);
  const own = { sessionId: '2', path: pathOf('2'), certain: false };
  const find = (files: Parameters<typeof fakePort>[0]['files'], more = {}) =>
    locateKimi(fakePort({ files }), fakePlace({ enteredAt, ...more }));

  it('takes the one with what the user has just sent here, of all that grow', async () => {
    expect(await find({ ...busy, ...mine })).toEqual({ ...own, writtenAt: enteredAt + 30 });
  });

  it('follows to another session, and stays while nothing is sent', async () => {
    expect(await find({ ...busy, ...mine }, { currentPath: pathOf('1') })).toMatchObject(own);
    expect(await find({ ...busy, ...mine }, { currentPath: own.path, enteredAt: 1 })).toEqual(own);
  });

  it('takes the one that began with what was sent, where the message is too far from the end to be seen', async () => {
    const begun = (after: number) => ({
      [pathOf('2')]: {
        modifiedAt: enteredAt + 900,
        text: `${JSON.stringify({ type: 'metadata', protocol_version: '1.5', created_at: enteredAt + after })}\n`,
      },
    });
    expect(await find({ ...busy, ...begun(300) })).toEqual({ ...own, writtenAt: enteredAt + 300 });
    expect(await find({ ...busy, ...begun(-300) })).toBeUndefined();
    expect(await find(begun(-300), { enteredSince: enteredAt - 400 })).toMatchObject(own);
    expect(await find(begun(3_000))).toBeUndefined();
  });

  it('takes the one with a command of the user to compact, too, not one that compacts by itself', async () => {
    const compacting = (source: string) => ({
      [pathOf('2')]: {
        modifiedAt: enteredAt + 900,
        text: `${JSON.stringify({ type: 'full_compaction.begin', source, agentId: 'main', time: enteredAt + 40 })}\n`,
      },
    });
    expect(await find({ ...busy, ...compacting('manual') })).toMatchObject(own);
    expect(await find({ ...busy, ...compacting('auto') })).toBeUndefined();
  });

  it('takes none while nothing was sent here, nor one of a subagent or of another folder', async () => {
    expect(await find(busy)).toBeUndefined();
    expect(await find(mine, { enteredAt: undefined })).toBeUndefined();
    const text = mine[pathOf('2')]?.text ?? '';
    const sub = { [pathOf('2').replace('/main/', '/agent-1/')]: { modifiedAt: enteredAt + 900, text } };
    expect(await find(sub)).toBeUndefined();
    expect(await find(mine, { cwd: '/proj/other' })).toBeUndefined();
  });

  it('takes none for what was sent before another conversation came into view', async () => {
    expect(await find(mine, { viewSince: enteredAt + 20 })).toMatchObject(own);
    expect(await find(mine, { viewSince: enteredAt + 40 })).toBeUndefined();
  });

  it('honours KIMI_CODE_HOME', async () => {
    const text = mine[pathOf('2')]?.text ?? '';
    const path = pathOf('2', '/kc/sessions/wd_app_146df9cff90e');
    const files = { [path]: { modifiedAt: enteredAt + 900, text } };
    expect(await find(files, { env: { KIMI_CODE_HOME: '/kc' } })).toMatchObject({ path });
  });

  it.each([
    ['wd_app_146df9cff90e/session_1/agents/main/wire.jsonl', 'session'],
    ['wd_app_146df9cff90e/session_1/agents/agent-1/wire.jsonl', undefined],
    ['wd_app_146df9cff90e/session_1/state.json', undefined],
    ['session_index.jsonl', undefined],
  ])('knows what %s is', (path, kind) => {
    expect(kimi.home?.sessionFile?.(path)).toBe(kind);
  });

  it.each([
    [['turn.prompt'], 'busy'],
    [['turn.prompt', 'turn.ended'], 'idle'],
    [['turn.ended', 'agent.turn.started'], 'busy'], // Kimi begins one by itself
    [['turn.ended', 'full_compaction.begin'], 'compacting'],
    [['turn.ended', 'full_compaction.begin', 'full_compaction.complete'], 'idle'],
    [['turn.ended', 'full_compaction.begin', 'full_compaction.cancel'], 'idle'],
    [['turn.prompt', 'full_compaction.begin', 'full_compaction.complete'], 'busy'],
    [['turn.prompt', 'full_compaction.begin', 'turn.ended'], 'compacting'], // it goes on behind the turn
    [['usage.record'], 'unclear'],
    [['metadata', 'profile.bind'], 'idle'], // after /new
  ])('says after %j that kimi is %s', async (types, state) => {
    const files = session('2', ...types.map((type, index) => [type, index] as const));
    const status = (more: typeof files = files) =>
      kimi.screen?.status?.(fakePort({ files: more }), fakePlace());
    expect(await status()).toMatchObject({ state });
    const [file] = Object.values(files);
    const torn = { [pathOf('2')]: { modifiedAt: enteredAt, text: file?.text.slice(0, -1) ?? '' } };
    expect(await status(torn)).toMatchObject({ state: 'unclear' });
    expect(await status({})).toEqual({ state: 'new' });
  });

  it('counts every session of the folder that has grown, because any may be that of this terminal', async () => {
    const idle = session('2', ['turn.prompt', 0], ['turn.ended', 9]);
    const status = (files: typeof idle) => kimi.screen?.status?.(fakePort({ files }), fakePlace());
    expect(await status(idle)).toEqual({ state: 'idle' });
    expect(await status({ ...idle, ...busy })).toEqual({ state: 'busy', isSilent: true });
  });

  it('is told the folder of a session by the file beside it', async () => {
    const port = {
      text: async (path: string) =>
        path === `${FOLDER}/session_2/state.json` ? JSON.stringify({ id: 'session_2', cwd }) : undefined,
      names: async () => [],
    };
    expect(await kimi.home?.projectOf?.(port, pathOf('2'))).toBe(cwd);
    expect(await kimi.home?.projectOf?.(port, pathOf('3'))).toBeUndefined();
  });
});

describe("kimi's own compaction", () => {
  it.each([
    [1_000_000, 850_000],
    [262_144, 212_144], // its reserve is larger than the share
    [200_000, 150_000],
    [50_000, 42_500], // a reserve as large as the window does not count
  ])('comes in a window of %i at %i', (windowTokens, expected) => {
    const native = kimi.nativeTrigger({});
    expect(native && nativeTriggerTokens(windowTokens, native)).toBe(expected);
  });

  const read = async (text: string | undefined) => {
    const port = {
      text: async (path: string) => (path === '/home/me/.kimi-code/config.toml' ? text : undefined),
      names: async () => [],
    };
    const own = await kimi.ownCompaction?.read(port, { ...fakePlace(), args: [] });
    return {
      at: own?.trigger && nativeTriggerTokens(200_000, own.trigger),
      said: own?.settings.map(({ name }) => name),
    };
  };

  it.each([
    ['is as usual without settings', undefined, 150_000, []],
    [
      'is where the settings say',
      '[loop_control]\ncompaction_trigger_ratio = 0.6 # early\nreserved_context_size = 20_000\n[models.a]\nx = 1',
      120_000,
      ['loop_control.compaction_trigger_ratio', 'loop_control.reserved_context_size'],
    ],
    [
      'is without a reserve',
      '[loop_control]\nreserved_context_size = 0\n',
      170_000,
      ['loop_control.reserved_context_size'],
    ],
    ['ignores a share that cannot be', '[loop_control]\ncompaction_trigger_ratio = 0.2\n', 150_000, []],
    ['ignores the same name elsewhere', '[other]\ncompaction_trigger_ratio = 0.6\n', 150_000, []],
    ['ignores what is commented out', '[loop_control]\n# compaction_trigger_ratio = 0.6\n', 150_000, []],
  ])('%s', async (_, text, at, said) => {
    expect(await read(text)).toEqual({ at, said });
  });
});
