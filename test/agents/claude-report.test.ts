import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readStatusReport } from '../../src/agents/claude/status-report.js';

describe('a report', () => {
  const real = readFileSync(new URL('../fixtures/status-line/2.1.197.jsonl', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n');
  const window = {
    type: 'window',
    claim: { windowTokens: 200_000, windowSource: 'agent', model: 'claude-sonnet-4-6' },
  };
  const numbers = (text: string) =>
    readStatusReport(text, 7)?.facts.filter((fact) => fact.type !== 'window') ?? [];
  const inShort = (text: string): readonly string[] =>
    numbers(text).map((fact) =>
      fact.type === 'reading' ? `${fact.reading.usedTokens} ${fact.reading.usedPercent}` : fact.type,
    );

  it('of a real session gives its numbers, and none before the first answer or right after the compaction', () => {
    const before = ['100503 50', '130003 65', '131003 66', '131003 66', '131003 66'].map((each) => [each]);
    expect(real.map(inShort)).toEqual([[], ...before, ['voided'], ['131003 66'], ['131003 66']]);
  });

  it('says how large the window is from the start on', () => {
    expect(readStatusReport(real[0] ?? '', 7)).toEqual({
      sessionId: '11111111-2222-4333-8444-555555555555',
      facts: [window],
    });
  });

  it("is a reading of the agent's own on the whole window", () => {
    expect(readStatusReport(real[1] ?? '', 7)?.facts).toEqual([
      window,
      {
        type: 'reading',
        reading: {
          usedTokens: 100_503,
          answerTokens: 20,
          cachedTokens: 100_000,
          windowTokens: 200_000,
          windowSource: 'agent',
          usedPercent: 50,
          basis: 'window',
          source: 'official',
          model: 'claude-sonnet-4-6',
          at: 7,
        },
      },
    ]);
  });

  it('of 2.0.70, which tells no percentage and a sum over all turns, is read from the last answer', () => {
    const usage = { input_tokens: 6, cache_creation_input_tokens: 50, cache_read_input_tokens: 99_944 };
    const context = { total_input_tokens: 156, context_window_size: 200_000, current_usage: usage };
    const reading = {
      usedTokens: 100_000,
      cachedTokens: 99_944,
      windowTokens: 200_000,
      windowSource: 'agent',
      source: 'official',
      at: 7,
    };
    expect(numbers(JSON.stringify({ session_id: 's', context_window: context }))).toEqual([
      { type: 'reading', reading },
    ]);
  });

  it('names the model as the session file does', () => {
    const text = (real[1] ?? '').replace('"claude-sonnet-4-6"', '"claude-opus-4-8[1m]"');
    expect(numbers(text)).toMatchObject([{ reading: { model: 'claude-opus-4-8' } }]);
  });

  it.each(['', '{"session_id":"s","context_wi', '[]', 'null', '{"session_id":"s"}', '{"context_window":7}'])(
    'that reads %s is none',
    (text) => {
      expect(readStatusReport(text, 7)).toBeUndefined();
    },
  );

  it.each([
    { input_tokens: -1 },
    { input_tokens: '5' },
    { input_tokens: null },
    {},
    { cache_read_input_tokens: 9 },
  ])('with the usage %o has no number', (usage) => {
    const context = { current_usage: usage, context_window_size: -5, used_percentage: 12 };
    expect(readStatusReport(JSON.stringify({ context_window: context }), 7)).toEqual({ facts: [] });
  });
});
