import { describe, expect, it } from 'vitest';
import { geminiReader } from '../../src/agents/gemini/session.js';
import { agents } from '../../src/agents/index.js';
import { qwenReader } from '../../src/agents/qwen/session.js';
import { lookAt as lookAtGemini } from '../support/gemini-frame.js';
import type { GeminiFrame } from '../support/gemini-frame.js';
import { lookAt as lookAtQwen } from '../support/qwen-frame.js';
import type { QwenFrame } from '../support/qwen-frame.js';
import { linesOf, readLines } from '../support/read-log.js';

const geminiEnds = async (...frames: readonly GeminiFrame[]) =>
  (await lookAtGemini(...frames)).flatMap(({ facts }) => facts.filter(({ type }) => type !== 'reading'));
const qwenEnds = async (...frames: readonly QwenFrame[]) =>
  (await lookAtQwen(...frames)).flatMap(({ facts }) => facts.filter(({ type }) => type !== 'reading'));

const SENT = [' > /compress', '▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀▀'];
const typed: GeminiFrame = { draft: ['/compress'] };
const running: GeminiFrame = { conversation: SENT, live: ['⠋ Compressing chat history', ''] };
const answered = (...rows: readonly string[]): GeminiFrame => ({ conversation: [...SENT, ...rows] });
const NOTHING = '✦ Nothing to compress.';

describe('a compaction of gemini without success', () => {
  it.each([
    [[NOTHING], { kind: 'noop', text: 'Nothing to compress.' }],
    [['✦ Compression was not beneficial for this history size.'], { kind: 'noop' }],
    [
      [
        '✦ Chat history compression did not reduce size. This may indicate issues with the compression',
        '  prompt.',
      ],
      { kind: 'failed', failure: 'inflated' },
    ],
    [
      ['✕ Failed to compress chat history: Failed to generate content: {"error":', '  {"code":400}}'],
      { failure: 'error' },
    ],
    [['✕ Failed to compress chat history.'], { failure: 'error' }],
    [['✦ Could not compress chat history due to a token counting error.'], { failure: 'error' }],
    [['✦ Chat history compression failed: the model returned an empty summary.'], { failure: 'empty' }],
  ])('is told for %j, whether it was seen in progress or not', async (rows, result) => {
    const told = [{ type: 'compact-result', result: expect.objectContaining(result) }];
    expect(await geminiEnds(typed, answered(...rows), answered(...rows))).toEqual(told);
    expect(await geminiEnds(typed, running, answered(...rows), answered(...rows))).toEqual(told);
  });

  it('is told with the words of the server cut short', async () => {
    const rows = [
      '✕ Failed to compress chat history: Failed to generate content:',
      `  ${'x'.repeat(110)}`,
      `  ${'y'.repeat(110)}`,
    ];
    const [fact] = await geminiEnds(typed, answered(...rows));
    expect(JSON.stringify(fact)).toMatch(/"text":"Failed to compress chat history: .{100,140}…"/);
  });

  it('is told again when it happens again', async () => {
    const twice: GeminiFrame = { conversation: [...SENT, NOTHING, ...SENT, NOTHING] };
    const again: GeminiFrame = { conversation: [...SENT, NOTHING], draft: ['/compress'] };
    expect(await geminiEnds(typed, answered(NOTHING), again, twice)).toHaveLength(2);
  });

  it('is told when the user has said something else meanwhile', async () => {
    const later = [...SENT, NOTHING, ' > and now', '▀▀▀▀▀▀▀▀▀▀', '✦ ok'];
    expect(await geminiEnds(running, { conversation: later })).toHaveLength(1);
    expect(await geminiEnds(running, { conversation: later.slice(2) })).toHaveLength(1); // scrolled away
  });

  it.each([
    ['text of the conversation', [{}, { conversation: [' > say it', NOTHING] }]],
    [
      'text of the conversation while the command is in the prompt',
      [typed, { conversation: [' > say it', NOTHING] }],
    ],
    [
      'an old one, the command being typed and taken back',
      [{ ...answered(NOTHING), draft: ['/compress'] }, answered(NOTHING)],
    ],
    [
      'an old one that comes into view again',
      [answered(NOTHING), { title: '✋  Action Required (app)' }, answered(NOTHING)],
    ],
    [
      'an old one that another width paints anew',
      [
        { conversation: ['✦ abcdef', ...SENT, NOTHING], draft: ['/compress'] },
        { conversation: ['✦ abcd', '  ef', ...SENT, NOTHING], columns: 90 },
      ],
    ],
    [
      'a second command during the first',
      [
        running,
        {
          ...running,
          conversation: [...SENT, ...SENT, '✕ Already compressing, wait for previous request to complete'],
        },
      ],
    ],
  ] as const)('is not told for %s', async (_, frames) => {
    expect(await geminiEnds(...frames)).toEqual([]);
  });

  it('leaves the end of the first command alone when a second one is refused', async () => {
    const refused = [...SENT, ...SENT, '✕ Already compressing, wait for previous request to complete'];
    const done = [...refused, '✦ Chat history compressed from 9000 to 300 tokens.'];
    const facts = await geminiEnds(running, { ...running, conversation: refused }, { conversation: done });
    expect(facts).toMatchObject([{ type: 'boundary', boundary: { preTokens: 9_000 } }]);
  });

  it('is told where the command is refused though nothing is in progress', async () => {
    const refused = answered('✕ Already compressing, wait for previous request to complete');
    expect(await geminiEnds(typed, refused)).toMatchObject([
      { result: { kind: 'failed', failure: 'error' } },
    ]);
  });
});

describe('a compaction of qwen without success', () => {
  const sent = '  > /compress';
  const inProgress: QwenFrame = { conversation: [sent], live: ['  ⠋ Compressing chat history', ''] };
  it.each([
    ['  ◆︎ Nothing to compress.', { kind: 'noop' }],
    ['  ◆︎ Could not compress chat history due to an API error.', { kind: 'failed', failure: 'error' }],
    ['  ◆︎ Could not compress chat history because the compression summary was empty.', { failure: 'empty' }],
    [
      '  ◆︎ Could not compress chat history because the compression summary was truncated.',
      { failure: 'truncated' },
    ],
    ['  ●︎ Request cancelled.', { kind: 'interrupted', by: 'the user' }],
  ])('is told for %s', async (row, result) => {
    const ended: QwenFrame = { conversation: [sent, row] };
    const told = [{ type: 'compact-result', result: expect.objectContaining(result) }];
    expect(await qwenEnds({}, inProgress, ended, ended)).toEqual(told);
    expect(await qwenEnds({ draft: ['/compress'] }, ended, ended)).toEqual(told);
  });

  it('is not told for a turn that the user has cancelled', async () => {
    const cancelled: QwenFrame = { conversation: ['  > do it', '  ●︎ Request cancelled.'] };
    expect(await qwenEnds({ draft: ['do it'] }, { title: '◐︎ Qwen - app' }, cancelled)).toEqual([]);
  });
});

const logs = { gemini: geminiReader, qwen: qwenReader };

describe('a compaction without success in a session file', () => {
  const results = (agent: 'gemini' | 'qwen', lines: readonly string[]) =>
    readLines(agents[agent], lines).facts.filter(({ type }) => type === 'compact-result');

  it('is told by its status in that of qwen', () => {
    const lines = linesOf('qwen', 'compress-cancelled.jsonl');
    expect(results('qwen', lines)).toMatchObject([{ result: { kind: 'failed', failure: 'inflated' } }]);
    const record = lines.find((line) => line.includes('"compressionStatus":2')) ?? '';
    const withStatus = (status: number) =>
      record.replace('"compressionStatus":2', `"compressionStatus":${status}`);
    const kinds = [1, 3, 4, 5, 6, 7, 8].map((status) => results('qwen', [withStatus(status)])).flat();
    expect(kinds).toMatchObject([
      { result: { failure: 'error' } },
      { result: { failure: 'empty' } },
      { result: { kind: 'noop' } },
      { result: { failure: 'truncated' } },
      { result: { failure: 'error' } },
    ]);
  });

  it('is told by its error in that of gemini', () => {
    expect(results('gemini', linesOf('gemini', 'failed-compactions.jsonl'))).toMatchObject([
      {
        result: {
          kind: 'failed',
          failure: 'error',
          text: expect.stringContaining('Failed to compress chat'),
        },
      },
    ]);
  });

  it.each([
    ['qwen', 'compress-cancelled.jsonl'],
    ['gemini', 'failed-compactions.jsonl'],
  ] as const)('of %s is not told when it was written long before', (agent, file) => {
    const hourLater = Date.UTC(2026, 10, 21, 23);
    let read = logs[agent]({});
    for (const line of linesOf(agent, file)) {
      const step = read(line, hourLater);
      expect(step.facts.filter(({ type }) => type === 'compact-result')).toEqual([]);
      read = step.next;
    }
  });
});
