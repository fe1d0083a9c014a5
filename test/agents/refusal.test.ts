// What agents say when they send no more because the window is full: a number like any other.
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { conversation, drawn, look, numbers, seenOf } from '../support/claude-frame.js';
import { ranOut, readFrames } from '../support/codex-frame.js';
import { contextFooter, lookAt, percents } from '../support/gemini-frame.js';
import { lookAt as lookAtQwen } from '../support/qwen-frame.js';
import { readLines } from '../support/read-log.js';

const ROW = 6; // of what follows `conversation`
const LIMIT = '  ⎿  Context limit reached · /compact or /clear to continue';

/** The answer's sign in a colour of its own, at this row. */
const claudeAt = (row: number, ...above: readonly string[]) => {
  const styles = [{ row, column: 2, style: { foreground: 246 } }];
  return numbers(look(seenOf({ ...drawn({ above: [...conversation, ...above, ''] }), styles })));
};

describe('claude that refuses a message', () => {
  it.each([
    ['under it', claudeAt(ROW + 1, '❯ hello', LIMIT)],
    ['under one of several rows', claudeAt(ROW + 3, '❯ a long', '  message', '  of three', LIMIT)],
    ['with more behind it', claudeAt(ROW + 1, '❯ hello', `${LIMIT} · /model sonnet[1m]`)],
    ['before its clock', claudeAt(ROW + 1, '❯ hello', LIMIT, '', '✻ Brewed for 0s')],
    ['in the words of the server', claudeAt(ROW + 1, '❯ hello', '  ⎿  Prompt is too long')],
  ])('has a full window, which it says %s', (_, read) => expect(read).toEqual([['effective', 100]]));

  it.each([
    ['an answer came to a later message', claudeAt(ROW + 1, '❯ hello', LIMIT, '', '❯ again', '', '● yes')],
    ['a compaction has kept the words', claudeAt(ROW + 1, '✻ Conversation compacted (ctrl+o)', LIMIT)],
    ['the user has typed them', claudeAt(0, '❯ look:', LIMIT)],
    ['the model has written them', claudeAt(ROW + 3, '❯ hello', '', '● it said', LIMIT)],
  ])('has not when %s', (_, read) => expect(read).toEqual([]));

  const said = (text: string, more: object = { isApiErrorMessage: true }): string =>
    JSON.stringify({
      type: 'assistant',
      ...more,
      message: { model: '<synthetic>', content: [{ type: 'text', text }] },
    });
  const answer = JSON.stringify({
    type: 'assistant',
    message: { model: 'claude-haiku-4-5', usage: { input_tokens: 178_000 } },
  });

  it.each(['Prompt is too long', 'Prompt is too long · automatic compaction failed: nothing is left'])(
    'has a full window by its session file: %s',
    (text) => {
      expect(readLines(agents.claude, [answer, said(text)]).facts.at(-1)).toMatchObject({
        type: 'reading',
        reading: { usedPercent: 100, basis: 'effective', source: 'log', model: 'claude-haiku-4-5' },
      });
    },
  );

  it('has not by other words of its own, or by the same ones of anybody else', () => {
    const others = [said('API Error: 500'), said('Prompt is too long', {}), said('No response requested.')];
    expect(readLines(agents.claude, others).facts).toEqual([]);
  });
});

describe('gemini that refuses a message', () => {
  const refused = (left: string): string =>
    `Sending this message (4 tokens) might exceed the context window limit (${left} tokens left). Please try`;
  const screen = async (...rows: readonly string[]) => {
    const frame = { conversation: ['> hello', ...rows], footer: contextFooter('97% used') };
    return percents((await lookAt(frame))[0]);
  };
  const wrapped = ['  reducing the size of your message or use the /compress command.'];

  it('has a full window as long as nothing was said since, whatever its footer says', async () => {
    expect(await screen(`ℹ ${refused('0')}`, ...wrapped)).toEqual([100]);
    expect(await screen(`ℹ ${refused('-1,204')}`, ...wrapped, '', 'ℹ This request failed.')).toEqual([100]);
    expect(await screen(`ℹ ${refused('0')}`, ...wrapped, '', '> shorter', '✦ yes')).toEqual([97]);
  });

  it('has not when only the message was too long, or the model has written the words', async () => {
    expect(await screen(`ℹ ${refused('20,000')}`, ...wrapped)).toEqual([97]);
    expect(await screen(`✦ ${refused('0')}`, ...wrapped)).toEqual([97]);
    expect(await screen('✦ It says:', `  ${refused('0')}`, ...wrapped)).toEqual([97]);
  });

  it('has a full window by its session file', () => {
    const info = (content: string): string => JSON.stringify({ id: 'i', type: 'info', content });
    expect(readLines(agents.gemini, [info(refused('0'))]).facts).toMatchObject([
      { type: 'reading', reading: { usedPercent: 100, source: 'log' } },
    ]);
    expect(readLines(agents.gemini, [info(refused('20,000')), info('Update available')]).facts).toEqual([]);
  });
});

it('qwen that cannot send safely has a full window', async () => {
  const error = [
    '  ✕ [API Error: Context is too large to send safely after automatic compression. Estimated',
    '     prompt tokens: 110044; hard limit: 108072; compression status: FAILED.]',
  ];
  const of = async (...rows: readonly string[]) =>
    (await lookAtQwen({ conversation: ['  > five', ...rows] }))[0]?.facts;
  expect(await of(...error)).toMatchObject([{ reading: { usedPercent: 100, basis: 'effective' } }]);
  expect(await of(...error, '', '  > six', '  ◆ yes')).toEqual([]);
  expect(await of(...error.map((row) => row.replace('✕', '◆')))).toEqual([]);
});

it('codex that does not say what it does has a full window when it ran out of room', async () => {
  const items = ['Context 60% left'];
  const [, full, after] = await readFrames(
    { items },
    { items, conversation: ['› hello', '', ranOut] },
    { items: ['Context 90% left'], conversation: ['› hello', '', ranOut, '', '› again', '', '• yes'] },
  );
  expect(full?.percent).toBe(100);
  expect(after?.percent).toBe(10);
});
