import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { compactionsOf } from '../../src/core/conversation/conversation.js';
import { locateGemini } from '../../src/agents/gemini/files.js';
import { fakePlace, fakePort } from '../support/fake-machine.js';
import { linesOf, readConversation, readLines } from '../support/read-log.js';

const { gemini } = agents;

const answer = (tokens: unknown, model = 'gemini-3.8-flash'): string =>
  JSON.stringify({ id: 'a', type: 'gemini', tokens, model });
const messages = (text: string): string =>
  JSON.stringify({
    $set: { messages: [{ id: text, type: 'user', content: [{ text }] }, { type: 'gemini' }] },
  });
const snapshot = (text: string): string => `<state_snapshot>${text}</state_snapshot>`;
const types = (lines: readonly string[]) => readLines(gemini, lines).facts.map((fact) => fact.type);

describe('the session file of gemini', () => {
  it('counts the prompt of the last answer in the window of its model', () => {
    expect(
      readLines(gemini, [answer({ input: 100_000, output: 50, cached: 50_000, total: 100_057 })]).facts,
    ).toMatchObject([
      { reading: { usedTokens: 100_000, windowTokens: 1_048_576, windowSource: 'table', source: 'log' } },
    ]);
    expect(readLines(gemini, [answer({ input: 5 }, 'gemma-4-31b-it')]).facts).toMatchObject([
      { reading: { windowTokens: 256_000 } },
    ]);
  });

  it.each([answer(null), answer({ input: 0 }), JSON.stringify({ type: 'info', content: '' })])(
    'ignores %s',
    (line) => {
      expect(readLines(gemini, [line])).toEqual({ facts: [], misfits: [] });
    },
  );

  it('tells how much of the prompt was cached, and grows by prompts and by results of tools', () => {
    const said = JSON.stringify({ type: 'user', content: [{ text: 'x'.repeat(400) }] });
    const toolCalls = [
      { id: '1', result: [{ functionResponse: { response: { output: 'y'.repeat(80) } } }] },
      { id: '2', status: 'scheduled' },
    ];
    const ran = JSON.stringify({ type: 'gemini', tokens: { input: 9, cached: 4 }, model: 'x', toolCalls });
    expect(readLines(gemini, [said, ran]).facts).toMatchObject([
      { type: 'growth', tokens: 100 },
      { type: 'reading', reading: { usedTokens: 9, cachedTokens: 4 } },
      { type: 'growth', tokens: 20 },
    ]);
  });

  it('takes a new summary for a compaction and the known one for the history written again', () => {
    expect(types([messages(snapshot('one'))])).toEqual(['boundary']);
    expect(types([messages(snapshot('one')), messages(`context ${snapshot('one')}`)])).toEqual(['boundary']);
    expect(types([messages(snapshot('one')), messages(snapshot('two'))])).toEqual(['boundary', 'boundary']);
  });

  it('takes the same summary for a compaction when the session was named right before, as gemini does', () => {
    const named = '{"$set":{"sessionId":"s"}}';
    expect(types([named, messages(snapshot('one')), named, messages(snapshot('one'))])).toEqual([
      'boundary',
      'boundary',
    ]);
  });

  it('reads the last answer of a resumed conversation, whose old summary is no new compaction', () => {
    const named = '{"$set":{"sessionId":"s"}}';
    const answered = (input: number) => ({ type: 'gemini', tokens: { input }, model: 'gemini-3.8-flash' });
    const resumed = JSON.stringify({
      $set: {
        messages: [
          answered(7),
          { type: 'user', content: [{ text: snapshot('one') }] },
          { type: 'gemini' },
          answered(50_000),
          answered(60_000),
          { type: 'gemini', tokens: null },
        ],
      },
    });
    const lines = [named, messages(snapshot('one')), answer({ input: 60_000 }), named, resumed];
    expect(readLines(gemini, lines).facts).toMatchObject([
      { type: 'boundary' },
      { reading: { usedTokens: 60_000 } },
      { reading: { usedTokens: 60_000, model: 'gemini-3.8-flash' } },
    ]);
  });

  it('takes the summary of a resumed conversation for no compaction when the history is written again without numbers', () => {
    const history = (tokens: unknown): string =>
      JSON.stringify({
        $set: {
          messages: [
            { id: 'u', type: 'user', content: [{ text: snapshot('of another') }] },
            { id: 'a', type: 'gemini', content: 'Got it.', tokens, model: 'x' },
          ],
        },
      });
    const lines = [history({ input: 9 }), history(null)];
    expect(types(lines)).toEqual(['reading']);
    expect(compactionsOf(readConversation(gemini, lines))).toEqual([]);
  });

  it('tells who asked for a compaction, though the time is noted before', () => {
    const said = (content: string): string => JSON.stringify({ id: content, type: 'info', content });
    const lines = (content: string) => [
      messages(snapshot('one')),
      '{"$set":{"lastUpdated":"2026-11-21T08:00:00.000Z"}}',
      said('Something else'),
      said(content),
    ];
    const cases = [
      ['', 'user'],
      ['Context compressed from 50% to 1%.', 'agent'],
    ] as const;
    for (const [content, initiator] of cases) {
      const { facts } = readLines(gemini, lines(content));
      expect(facts).toMatchObject([{ type: 'boundary', boundary: { uuid: snapshot('one') } }, { initiator }]);
      const [compaction] = compactionsOf(readConversation(gemini, lines(content)));
      expect(compaction?.boundary).toMatchObject({ initiator, uuid: snapshot('one') });
    }
    const later = JSON.stringify({ id: 'u', type: 'user', content: [{ text: 'hello' }] });
    expect(types([messages(snapshot('one')), later, said('')])).toEqual(['boundary', 'growth']);
  });

  it('grows by pictures that a tool gives, and not by commands, which the model never gets', () => {
    const picture = { inlineData: { mimeType: 'image/png', data: 'AAAA'.repeat(100_000) } };
    const ran = (result: unknown) =>
      JSON.stringify({ type: 'gemini', tokens: { input: 9 }, toolCalls: [{ id: '1', args: {}, result }] });
    expect(readLines(gemini, [ran([picture])]).facts).toMatchObject([
      { type: 'reading' },
      { type: 'growth', tokens: 1_600 },
    ]);
    expect(types([JSON.stringify({ type: 'user', content: [{ text: '/compress' }] })])).toEqual([]);
  });

  it('takes a history without a summary for nothing', () => {
    expect(types([messages('<session_context>'), messages('hello')])).toEqual([]);
  });

  it('voids the number after a rewind', () => {
    expect(types(['{"$rewindTo":"m1"}'])).toEqual(['voided']);
  });

  it('voids the number when a saved conversation takes the place of this one, and not when this one is written anew', () => {
    const said = (text: string, tokens: unknown = null) => ({
      type: 'gemini',
      content: [{ text }],
      tokens,
      model: 'x',
    });
    const counted = JSON.stringify(said('the sea is deep', { input: 9 }));
    const anew = (...texts: readonly string[]): string =>
      JSON.stringify({ $set: { messages: texts.map((text) => said(text)) } });
    expect(types([counted, anew('hello')])).toEqual(['reading', 'voided']);
    expect(types([counted, anew('hello', 'the sea is deep')])).toEqual(['reading']);
    expect(types([JSON.stringify(said('', { input: 9 })), anew('hello')])).toEqual(['reading']);
  });

  it.each([
    ['[1]', 'not a Gemini record'],
    ['{"type":"gemini","tokens":{', 'not JSON'],
    [answer(undefined), 'an answer without tokens'],
  ])('does not fit when a line is %s', (line, misfit) => {
    expect(readLines(gemini, [line])).toEqual({ facts: [], misfits: [misfit] });
  });
});

describe('the document of an old gemini', () => {
  const lines = linesOf('gemini', 'document-0.20.0.json');

  it('gives the number of each answer, in the window of its model', () => {
    const { facts, misfits } = readLines(gemini, lines);
    expect(misfits).toEqual([]);
    expect(facts.map((fact) => fact.type === 'reading' && fact.reading.usedTokens)).toEqual([
      100_000, 500_000, 20_000, 300_000,
    ]);
    expect(facts[0]).toMatchObject({
      reading: { cachedTokens: 50_000, windowTokens: 1_048_576, source: 'log', model: 'gemini-2.5-flash' },
    });
  });

  it('is not fooled by texts that look like its fields', () => {
    const text = JSON.stringify({ input: 9, type: 'gemini', tokens: { input: 999_999 } }, null, 2);
    const messages = [{ id: 'u', type: 'user', content: `    {\n${text}\n    }` }];
    const toolCalls = [{ id: 't', args: { type: 'gemini', tokens: { input: 5 } }, input: 7 }];
    const answered = { id: 'g', type: 'gemini', content: text, toolCalls, tokens: { input: 12 }, model: 'm' };
    const document = JSON.stringify({ sessionId: 's', messages: [...messages, answered] }, null, 2);
    expect(readLines(gemini, document.split('\n')).facts).toMatchObject([{ reading: { usedTokens: 12 } }]);
  });
});

describe('finding the session file of gemini', () => {
  const { startedAt } = fakePlace();
  const ROOT = '/home/me/.gemini';
  const CHATS = `${ROOT}/tmp/app/chats`;
  const projects = {
    [`${ROOT}/projects.json`]: { modifiedAt: 0, text: '{"projects":{"/proj/app":"app"}}' },
    [`${ROOT}/tmp/app/.project_root`]: { modifiedAt: 0, text: '/proj/app\n' },
  };
  const chat = (sessionId: string, begunAfter: number, writtenAfter: number, kind = 'main') => ({
    modifiedAt: startedAt + writtenAfter,
    text: `${JSON.stringify({ sessionId, kind, startTime: new Date(startedAt + begunAfter).toISOString() })}\n`,
  });
  const find = async (files: Parameters<typeof fakePort>[0]['files'], env = {}) =>
    (await locateGemini(fakePort({ files }), fakePlace({ env })))?.path;

  it('takes the newest chat of the project', async () => {
    const files = {
      [`${CHATS}/session-1.jsonl`]: chat('a', 1, 5),
      [`${CHATS}/session-2.jsonl`]: chat('b', 3, 9),
    };
    expect(await find({ ...projects, ...files })).toBe(`${CHATS}/session-2.jsonl`);
  });

  it('takes a chat begun after the start, not an older one that grows in another terminal', async () => {
    const files = {
      [`${CHATS}/session-1.jsonl`]: chat('a', -9_000, 99),
      [`${CHATS}/session-2.jsonl`]: chat('b', 3, 5),
    };
    expect(await find({ ...projects, ...files })).toBe(`${CHATS}/session-2.jsonl`);
  });

  it('takes a resumed chat, also when gemini made an empty one of the same id beside it', async () => {
    const resumed = { [`${CHATS}/session-old.jsonl`]: chat('a', -9_000, 9) };
    const stray = {
      [`${CHATS}/session-stray.jsonl`]: chat('a', 2, 2),
      [`${CHATS}/session-other.jsonl`]: chat('b', -50, 99),
    };
    expect(await find({ ...projects, ...resumed, ...stray })).toBe(`${CHATS}/session-old.jsonl`);
  });

  const rewritten = (after: number) =>
    `{"$set":{"messages":[],"lastUpdated":"${new Date(startedAt + after).toISOString()}"}}\n`;
  const older = (text: string) => {
    const { modifiedAt, text: header } = chat('a', -9_000, 99);
    return { modifiedAt, text: `${header}${text}` };
  };

  it('goes back to an older chat whose history was written again, as /resume does, and stays there', async () => {
    const path = `${CHATS}/session-1.jsonl`;
    const own = { ...projects, [`${CHATS}/session-2.jsonl`]: chat('b', 3, 5) };
    expect(await find({ ...own, [path]: older(rewritten(90)) })).toBe(path);
    const port = fakePort({ files: { ...own, [path]: older('') } });
    expect((await locateGemini(port, fakePlace({ currentPath: path })))?.path).toBe(path);
  });

  it.each([
    ['only got its summary', '{"$set":{"summary":"x"}}\n'],
    ['was resumed before the start', rewritten(-90)],
  ])('takes no older chat that %s', async (_, text) => {
    expect(await find({ ...projects, [`${CHATS}/session-1.jsonl`]: older(text) })).toBeUndefined();
  });

  it('takes no subagent, no chat in a subfolder and none that has not grown', async () => {
    const files = {
      [`${CHATS}/session-1.jsonl`]: chat('a', 1, 5, 'subagent'),
      [`${CHATS}/a/session-2.jsonl`]: chat('b', 1, 5),
      [`${CHATS}/session-3.jsonl`]: chat('c', -9, -5),
    };
    expect(await find({ ...projects, ...files })).toBeUndefined();
  });

  it('takes the folder named by the hash of the path, as old versions do', async () => {
    const hash = createHash('sha256').update('/proj/app').digest('hex');
    const path = `${ROOT}/tmp/${hash}/chats/session-1.jsonl`;
    expect(await find({ [path]: chat('a', 1, 5) })).toBe(path);
  });

  it('takes no folder that belongs to another project or is outside', async () => {
    const other = { ...projects, [`${ROOT}/tmp/app/.project_root`]: { modifiedAt: 0, text: '/proj/other' } };
    expect(await find({ ...other, [`${CHATS}/session-1.jsonl`]: chat('a', 1, 5) })).toBeUndefined();
    const outside = {
      [`${ROOT}/projects.json`]: { modifiedAt: 0, text: '{"projects":{"/proj/app":"../../x"}}' },
    };
    expect(await find({ ...outside, '/home/me/x/chats/session-1.jsonl': chat('a', 1, 5) })).toBeUndefined();
  });

  it('honours GEMINI_CLI_HOME', async () => {
    const path = '/gh/.gemini/tmp/app/chats/session-1.jsonl';
    const files = {
      '/gh/.gemini/projects.json': projects[`${ROOT}/projects.json`] ?? { modifiedAt: 0 },
      [path]: chat('a', 1, 5),
    };
    expect(await find(files, { GEMINI_CLI_HOME: '/gh' })).toBe(path);
  });

  it('names the document of an old version only when there is nothing better', async () => {
    const document = {
      [`${CHATS}/session-0.json`]: { modifiedAt: startedAt + 99, text: '{\n  "sessionId": "x"\n}' },
    };
    expect(await find({ ...projects, ...document })).toBe(`${CHATS}/session-0.json`);
    const files = { ...projects, ...document, [`${CHATS}/session-1.jsonl`]: chat('a', 1, 5) };
    expect(await find(files)).toBe(`${CHATS}/session-1.jsonl`);
  });
});
