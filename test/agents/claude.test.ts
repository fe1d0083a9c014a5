import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { projectFolder } from '../../src/agents/claude/files.js';
import { locateClaude } from '../../src/agents/claude/locate.js';
import { fakePlace, fakePort } from '../support/fake-machine.js';
import { readLines } from '../support/read-log.js';

const { claude } = agents;
const MINE = '11111111-2222-4333-8444-555555555555';
const OTHER = '99999999-2222-4333-8444-555555555555';
const FOLDER = '/home/me/.claude/projects/-proj-app';

const answer = (
  usage: unknown,
  more: { model?: string; isSidechain?: boolean; version?: string } = {},
): string => {
  const { model = 'claude-sonnet-4-6', isSidechain = false, version } = more;
  return JSON.stringify({ type: 'assistant', isSidechain, version, message: { model, usage } });
};
const usage = (input_tokens: number) => ({ input_tokens, output_tokens: 500 });
const readings = (lines: readonly string[], env = {}) =>
  readLines(claude, lines, env).facts.flatMap((fact) => {
    if (fact.type === 'cache') return []; // test/core/economy.test.ts
    return fact.type === 'reading' ? fact.reading : fact.type;
  });

describe('the session file of claude', () => {
  it('counts what was sent, with and without cache, and not the answer', () => {
    const full = {
      input_tokens: 3,
      cache_creation_input_tokens: 500,
      cache_read_input_tokens: 100_000,
      output_tokens: 20,
    };
    expect(readings([answer(full)])).toMatchObject([{ usedTokens: 100_503, source: 'log' }]);
    expect(readings([answer(usage(7))])).toMatchObject([{ usedTokens: 7 }]);
  });

  it.each([
    ['of a subagent', answer(usage(190_000), { isSidechain: true })],
    ['of no model', answer(usage(5), { model: '<synthetic>' })],
    ['with zero usage', answer(usage(0))],
  ])('ignores an answer %s', (_, line) => {
    expect(readLines(claude, [line])).toEqual({ facts: [], misfits: [] });
  });

  const user = (content: unknown, more = {}) =>
    JSON.stringify({ type: 'user', isSidechain: false, message: { role: 'user', content }, ...more });

  it.each([
    { of: 'a prompt', line: user('x'.repeat(400)), tokens: 100 },
    { of: 'a prompt that looks like an answer', line: user(answer(usage(9))), tokens: 32 },
    { of: 'a text block', line: user([{ type: 'text', text: 'x'.repeat(40) }]), tokens: 10 },
    {
      of: 'the result of a tool',
      line: user([{ type: 'tool_result', content: 'x'.repeat(80) }], {
        toolUseResult: { stdout: 'x'.repeat(80) },
      }),
      tokens: 20,
    },
    {
      of: 'the result of a tool in blocks, with a picture of the size of pictures',
      line: user([
        {
          type: 'tool_result',
          content: [
            { type: 'text', text: 'x'.repeat(12) },
            { type: 'image', source: { type: 'base64', data: 'x'.repeat(9000) } },
          ],
        },
      ]),
      tokens: 1_603,
    },
  ])('has grown by $of', ({ line, tokens }) => {
    expect(readLines(claude, [line])).toEqual({ facts: [{ type: 'growth', tokens }], misfits: [] });
  });

  it.each([
    ['of a subagent', user('look around', { isSidechain: true })],
    ['that is a summary, which its boundary counts', user('This session…', { isCompactSummary: true })],
    ['without text', user([{ type: 'image', source: {} }])],
    ['of a length that only images have', user('x'.repeat(1_000_001))],
  ])('has not grown by a prompt %s', (_, line) => {
    expect(readLines(claude, [line])).toEqual({ facts: [], misfits: [] });
  });

  it('tells what the cache held', () => {
    const seen = readings([answer({ input_tokens: 3, cache_read_input_tokens: 100_000 }), answer(usage(7))]);
    expect(seen).toMatchObject([{ cachedTokens: 100_000 }, { usedTokens: 7 }]);
    expect(seen[1]).not.toHaveProperty('cachedTokens');
  });

  it.each([
    ['', 'not a Claude record'],
    ['{"hello":1}', 'not a Claude record'],
    ['{"type":"assistant","message":{', 'not JSON'],
    [answer(undefined), 'an answer without usage'],
    [answer({ tokens: 5 }), 'an answer without usage'],
  ])('does not fit when a line is %s', (line, misfit) => {
    expect(readLines(claude, [line])).toEqual({ facts: [], misfits: [misfit] });
  });

  it.each([
    { model: 'claude-haiku-4-5-20251001', key: 'claude-haiku-4-5', windowSource: 'table' },
    { model: 'claude-opus-4-1-20250805', key: 'claude-opus-4-1', windowSource: 'table' },
    { model: 'claude-opus-4-20250514', key: 'claude-opus-4', windowSource: 'table' },
    {
      model: 'us.anthropic.claude-3-5-sonnet-20241022-v2:0',
      key: 'claude-sonnet-3-5',
      windowSource: 'table',
    },
    { model: 'claude-sonnet-4-6', key: 'claude-sonnet-4-6', windowSource: 'default' },
  ])('has 200 000 tokens for $model, from its $windowSource', ({ model, key, windowSource }) => {
    expect(readings([answer(usage(5), { model })])).toMatchObject([
      { windowTokens: 200_000, windowSource, model: key },
    ]);
  });

  it('has one million tokens once a model was seen with more than 200 000, and only for that model', () => {
    const lines = [
      answer(usage(200_000)),
      answer(usage(200_001)),
      answer(usage(5)),
      answer(usage(5), { model: 'other' }),
    ];
    expect(readings(lines)).toMatchObject([
      { windowTokens: 200_000, windowSource: 'default' },
      { windowTokens: 1_000_000, windowSource: 'derived' },
      { windowTokens: 1_000_000, windowSource: 'derived' },
      { model: 'other' },
    ]);
    expect(readings(lines)[3]).not.toHaveProperty('windowTokens');
  });

  // 4.8 has either window behind another base URL
  it.each([
    { model: 'claude-opus-4-8', version: '2.1.331' },
    { model: 'some-other-model', version: '2.1.332' },
  ])('says nothing of the window of $model in $version', (more) => {
    const [seen] = readings([answer(usage(5), more)]);
    expect(seen).toMatchObject({ usedTokens: 5 });
    expect(seen).not.toHaveProperty('windowTokens');
  });

  it.each(['claude-sonnet-4-20250514', 'claude-sonnet-4-5-20250929', 'claude-sonnet-4-6', 'claude-opus-4-6'])(
    'guesses 200 000 tokens for %s, which has more with [1m] only',
    (model) => {
      expect(readings([answer(usage(5), { model, version: '2.1.332' })])).toMatchObject([
        { windowTokens: 200_000, windowSource: 'default' },
      ]);
    },
  );

  it('is certain of 200 000 tokens when the large window is switched off', () => {
    const seen = readings([answer(usage(5))], { CLAUDE_CODE_DISABLE_1M_CONTEXT: '1' });
    expect(seen).toMatchObject([{ windowTokens: 200_000, windowSource: 'table' }]);
  });

  describe('that is not written any more', () => {
    const OPUS = { model: 'claude-opus-4-8' };
    const compacted = (trigger: string, preTokens: number) =>
      JSON.stringify({
        type: 'system',
        subtype: 'compact_boundary',
        compactMetadata: { trigger, preTokens },
      });
    const command = user('<command-name>/model</command-name>');
    const choice = (name: string) =>
      user(`<local-command-stdout>Set model to ${name}</local-command-stdout>`);
    const last = (lines: readonly string[], hasEnded: boolean) =>
      readLines(claude, lines, {}, { hasEnded }).facts.findLast((fact) => fact.type === 'reading')?.reading;
    const around = (line: string) => [answer(usage(150_000), OPUS), line, answer(usage(30_000), OPUS)];

    // 155k to 177k: sizes at automatic compactions of transcripts from 2.0.76 to 2.1.42
    it.each([155_031, 167_045, 176_700])('had 200 000 tokens where it compacted at %d by itself', (size) => {
      const lines = around(compacted('auto', size));
      expect(last(lines, true)).toMatchObject({ windowTokens: 200_000, windowSource: 'derived' });
      expect(last(lines, false)).not.toHaveProperty('windowTokens'); // its settings may be others by now
    });

    it.each([
      ['asked for', compacted('manual', 167_045)],
      ['early, as a setting can have it', compacted('auto', 120_000)],
      ['a little above, which an estimate can be in any window', compacted('auto', 205_000)],
    ])('has an open window after a compaction that was %s', (_, line) => {
      for (const hasEnded of [true, false])
        expect(last(around(line), hasEnded)).not.toHaveProperty('windowTokens');
    });

    it('had one million where more was in it once, and still after a compaction', () => {
      const large = { windowTokens: 1_000_000, windowSource: 'derived' };
      const counted = [answer(usage(201_000), OPUS), compacted('auto', 170_000), answer(usage(5), OPUS)];
      for (const hasEnded of [true, false]) {
        expect(last(around(compacted('auto', 967_300)), hasEnded)).toMatchObject(large);
        expect(last(counted, hasEnded)).toMatchObject(large);
      }
    });

    it('had the window that its user chose with the model, however long ago', () => {
      const opus = { model: 'claude-opus-4-6', version: '2.1.90' };
      const after = (name: string) => [
        JSON.stringify({ ...JSON.parse(command), timestamp: '2026-03-01T00:00:00Z' }),
        JSON.stringify({ ...JSON.parse(choice(name)), timestamp: '2026-03-01T00:00:00Z' }),
        answer(usage(5), opus),
      ];
      const now = Date.parse('2026-11-27');
      const seen = (name: string, hasEnded: boolean) =>
        readLines(claude, after(name), {}, { now, hasEnded }).facts.find((fact) => fact.type === 'reading')
          ?.reading;
      expect(seen('Opus 4.6 (1M context)', true)).toMatchObject({ windowTokens: 1_000_000 });
      expect(seen('Opus 4.6', true)).toMatchObject({ windowTokens: 200_000, windowSource: 'derived' });
      expect(seen('Opus 4.6 (1M context)', false)).toMatchObject({ windowSource: 'default' });
    });
  });

  it('tells who asked for a compaction', () => {
    const boundary = (trigger: string) =>
      JSON.stringify({
        type: 'system',
        subtype: 'compact_boundary',
        compactMetadata: { trigger, preTokens: 9 },
      });
    expect(readLines(claude, ['manual', 'auto', 'idle'].map(boundary)).facts).toEqual([
      { type: 'boundary', boundary: { initiator: 'user', preTokens: 9, at: 0 } },
      { type: 'boundary', boundary: { initiator: 'agent', preTokens: 9, at: 0 } },
      { type: 'boundary', boundary: { initiator: 'agent', preTokens: 9, at: 0 } },
    ]);
  });
});

describe('finding the session file of claude', () => {
  const { startedAt } = fakePlace();
  const pidFile = (sessionId: string, more = {}) => ({
    modifiedAt: startedAt,
    text: JSON.stringify({ sessionId, cwd: '/proj/app', startedAt: startedAt + 300, ...more }),
  });
  const old = fakePlace({ now: startedAt + 60_000 });

  it('believes the pid file of the child', async () => {
    const files = {
      '/home/me/.claude/sessions/100.json': pidFile(MINE),
      [`${FOLDER}/${MINE}.jsonl`]: { modifiedAt: 1 },
      [`${FOLDER}/${OTHER}.jsonl`]: { modifiedAt: startedAt + 999 },
    };
    expect(await locateClaude(fakePort({ files }), fakePlace())).toEqual({
      sessionId: MINE,
      path: `${FOLDER}/${MINE}.jsonl`,
      certain: true,
    });
  });

  it('believes the pid file of a descendant, in the folder the user configured', async () => {
    const files = {
      '/cfg/sessions/102.json': pidFile(MINE),
      [`/cfg/projects/-proj-app/${MINE}.jsonl`]: { modifiedAt: 1 },
    };
    const place = fakePlace({ env: { CLAUDE_CONFIG_DIR: '/cfg' } });
    const found = await locateClaude(fakePort({ files, family: [100, 101, 102] }), place);
    expect(found?.path).toBe(`/cfg/projects/-proj-app/${MINE}.jsonl`);
  });

  it('knows the session before its file exists', async () => {
    const files = { '/home/me/.claude/sessions/100.json': pidFile(MINE) };
    expect(await locateClaude(fakePort({ files }), fakePlace())).toEqual({ sessionId: MINE, certain: true });
  });

  it('looks where the agent says it works', async () => {
    const path = `/home/me/.claude/projects/-proj-tree/${MINE}.jsonl`;
    const files = {
      '/home/me/.claude/sessions/100.json': pidFile(MINE, { cwd: '/proj/tree' }),
      [path]: { modifiedAt: 1 },
    };
    expect((await locateClaude(fakePort({ files }), fakePlace()))?.path).toBe(path);
  });

  it.each([
    ['left over from an older process', pidFile(MINE, { startedAt: startedAt - 3_600_000 })],
    ['torn', { modifiedAt: startedAt, text: '{"sessionId":' }],
    ['pointing out of the folder', pidFile('../../../etc/passwd')],
  ])('does not believe a pid file that is %s', async (_, file) => {
    const files = { '/home/me/.claude/sessions/100.json': file };
    expect(await locateClaude(fakePort({ files }), fakePlace())).toBeUndefined();
  });

  describe('of a version without pid files', () => {
    const enteredAt = startedAt + 20_000;
    const path = `${FOLDER}/${MINE}.jsonl`;
    const found = { sessionId: MINE, path, certain: false };
    const user = (after: number, content: unknown = 'hello', more = {}): string =>
      JSON.stringify({
        type: 'user',
        isSidechain: false,
        message: { role: 'user', content },
        timestamp: new Date(enteredAt + after).toISOString(),
        ...more,
      });
    const grown = (...lines: readonly string[]) => ({ modifiedAt: enteredAt + 500, text: lines.join('\n') });
    const snapshot = '{"type":"file-history-snapshot","snapshot":{}}';
    const busy = grown(
      user(-9_000),
      user(300, [{ type: 'tool_result', content: 'x' }]),
      user(310, 'look here', { isSidechain: true }),
      user(320, 'Caveat', { isMeta: true }),
      user(330, '<task-notification>done</task-notification>'),
    );
    const find = (files: Parameters<typeof fakePort>[0]['files'], more = {}) =>
      locateClaude(fakePort({ files }), { ...old, enteredAt, ...more });

    it('is the one with what the user sent here, whatever another terminal writes at that moment', async () => {
      const files = {
        [`${FOLDER}/${OTHER}.jsonl`]: busy,
        [path]: grown(snapshot, user(40), snapshot),
        [`${FOLDER}/agent-1a2b3c4d.jsonl`]: grown(user(1)),
      };
      expect(await find(files)).toEqual({ ...found, writtenAt: enteredAt + 40 });
      expect(await find(files, { currentPath: `${FOLDER}/${OTHER}.jsonl` })).toMatchObject(found); // after /clear
    });

    it('is not decided before every terminal has had the time to record', async () => {
      const files = { [path]: grown(user(40)) };
      expect(await find(files, { now: enteredAt + 1_999 })).toBeUndefined();
      expect(await find(files, { now: enteredAt + 2_000 })).toMatchObject(found);
      const both = { ...files, [`${FOLDER}/${OTHER}.jsonl`]: grown(user(900)) };
      expect(await find(both, { currentPath: path })).toEqual(found);
    });

    it.each([
      ['text and an image', [{ type: 'text', text: 'hi' }, { type: 'image' }]],
      ['a command', '<command-name>/clear</command-name>'],
      ['a shell command', '<bash-input>ls</bash-input>'],
    ])('is found by %s', async (_, content) => {
      expect(await find({ [path]: grown(user(40, content)) })).toMatchObject(found);
    });

    it('stays the one that is followed while nothing else is sent', async () => {
      const files = { [`${FOLDER}/${OTHER}.jsonl`]: busy, [path]: grown(user(-60_000)) };
      expect(await find(files, { currentPath: path })).toEqual(found);
    });

    it.each<readonly [string, Parameters<typeof fakePort>[0]['files'], object]>([
      ['where nobody has pressed Enter here', { [path]: grown(user(40)) }, { enteredAt: undefined }],
      ['where only another terminal is at work', { [path]: busy }, {}],
      ['that was sent before', { [path]: grown(user(-1)) }, {}],
      ['that was sent much later', { [path]: grown(user(2_001)) }, {}],
      [
        'of two that were sent at once',
        { [path]: grown(user(1)), [`${FOLDER}/${OTHER}.jsonl`]: grown(user(2)) },
        {},
      ],
      ['that has not grown', { [path]: { ...grown(user(40)), modifiedAt: startedAt - 1 } }, {}],
      ['before a pid file could be there', { [path]: grown(user(40)) }, { now: startedAt + 500 }],
      [
        'that another claude is in',
        { [path]: grown(user(40)), '/home/me/.claude/sessions/77.json': pidFile(MINE) },
        {},
      ],
    ])('is none %s', async (_, files, more) => {
      expect(await find(files, more)).toBeUndefined();
    });
  });

  it('names the project folder as claude does', () => {
    expect(projectFolder(fakePlace(), '/home/a.b/My_Proj é')).toBe(
      '/home/me/.claude/projects/-home-a-b-My-Proj--',
    );
    const long = projectFolder(fakePlace(), `/${'x'.repeat(300)}`);
    expect(long).toMatch(/\/-x{199}-[0-9a-z]+$/);
  });
});

describe('a model that the user chooses', () => {
  const at = '2026-11-27T10:24:29.314Z';
  const now = Date.parse(at) + 500;
  const user = (content: unknown) =>
    JSON.stringify({
      type: 'user',
      isSidechain: false,
      timestamp: at,
      version: '2.1.332',
      message: { content },
    });
  const command = user('<command-name>/model</command-name>');
  const said = (words: string) => user(`<local-command-stdout>${words}</local-command-stdout>`);
  const facts = (lines: readonly string[], when = now) =>
    readLines(claude, lines, {}, { now: when }).facts.filter(
      ({ type }) => type === 'model' || type === 'reading',
    );
  const chosen = said('Set model to `Opus 5.5` and saved as your default for new sessions');
  const opus = { windowTokens: 1_000_000, windowSource: 'table', model: 'claude-opus-5-5' };
  const answered = (model: string) =>
    JSON.stringify({ ...JSON.parse(answer(usage(9), { model })), version: '2.1.332' });

  it('is told when the answer to /model is recorded, with its window', () => {
    expect(facts([command, chosen])).toEqual([{ type: 'model', model: 'claude-opus-5-5', claim: opus }]);
    expect(facts([command, said('Set model to `Sonnet 4.6 (1M context)` for this session')])).toMatchObject([
      { model: 'claude-sonnet-4-6', claim: { windowTokens: 1_000_000 } },
    ]);
    expect(facts([command, said('Set model to `Opus 9.9`')])).toEqual([
      { type: 'model', model: 'claude-opus-9-9' },
    ]);
    expect(facts([command, said('Set model to `Opus in plan mode, else Sonnet`')])).toEqual([
      { type: 'model' },
    ]);
  });

  it.each([
    ['it is kept', [command, said('Kept model as `Opus 5.5`')]],
    ['the words are the answer to something else', [user('<command-name>/config</command-name>'), chosen]],
    ['the words are a prompt', [command, user('Set model to `Opus 5.5`')]],
  ])('is not told where %s', (_, lines) => {
    expect(facts(lines)).toEqual([]);
  });

  it('is not told from the past of a conversation, which may be resumed with another', () => {
    expect(facts([command, chosen], now + 3_600_000)).toEqual([]);
  });

  it('stays when an answer of the one before it was on its way, until the next prompt', () => {
    const late = answered('claude-sonnet-4-6');
    expect(facts([late, command, chosen, late, user('go on'), late])).toMatchObject([
      { reading: { model: 'claude-sonnet-4-6' } },
      { type: 'model' },
      { reading: { model: 'claude-opus-5-5', windowTokens: 1_000_000 } },
      { reading: { model: 'claude-sonnet-4-6' } },
    ]);
  });
});
