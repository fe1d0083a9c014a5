// What is left of a model's answer: without what it wrote for itself, without control characters, and never too much.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SummaryError } from '../../src/core/errors.js';
import { estimateTokens } from '../../src/core/reading.js';
import {
  makeAnswerCounter,
  MOST_SUMMARY_TOKENS,
  summaryIn,
  withoutAnalysis,
} from '../../src/core/conversation/summary-text.js';

const SUMMARY = '## Goal\n\nFix `src/a.ts`';

describe('a recorded summary', () => {
  it.each([
    ['under a heading', `Analysis:\none\n\ntwo\n\nSummary:\n${SUMMARY}`],
    ['in tags', `<analysis>\none\n</analysis>\n\n${SUMMARY}`],
  ])('begins behind its analysis %s', (_, text) => {
    expect(withoutAnalysis(text)).toBe(SUMMARY);
  });

  it.each(['Analysis:\none\ntwo', '<analysis>one', '<analysis>one</analysis>'])(
    'is all of %j, which has nothing else',
    (text) => {
      expect(withoutAnalysis(text)).toBe(text);
    },
  );
});

describe('the scratchpad', () => {
  it.each([
    ['in front', `<think>The user wants…</think>\n\n${SUMMARY}`],
    ['on the same line', `<think>The user wants…</think>${SUMMARY}`],
    ['over many lines', `<thinking>\none\n\ntwo\n</thinking>\n${SUMMARY}`],
    ['of another name', `<analysis>a</analysis><scratchpad>b</scratchpad>\n${SUMMARY}`],
    ['in capital letters', `<THINK>a</THINK>\n${SUMMARY}`],
    ['behind blanks', `\n  <think>a</think>\n${SUMMARY}`],
    ['behind the summary', `${SUMMARY}\n<analysis>It is complete.</analysis>`],
    ['opened in the prompt', `The user wants…\n</think>\n\n${SUMMARY}`],
    ['opened in the prompt, on one line', `The user wants…</think>\n${SUMMARY}`],
    ['that mentions its own tag', `<think>I am in a <think> block.</think>\n${SUMMARY}`],
    ['that mentions another tag', `<think>no <analysis> needed</think>\n${SUMMARY}`],
  ])('%s is left out', (_, answer) => {
    expect(summaryIn(answer)).toBe(SUMMARY);
  });

  it.each(['<think>The user wants', '  <analysis>\nfirst', '<think>a</think>\n<think>b', '<think></think>'])(
    'that is all there is in %j makes the summary empty',
    (answer) => {
      expect(() => summaryIn(answer)).toThrow(new SummaryError('the summary is empty'));
    },
  );

  it.each([
    'The parser reads `<think>` tags and `</think>` too.',
    'It fails for a <thinking> element.',
    `${SUMMARY}\nuntil </analysis> in the middle of a line`,
  ])('is not what %j speaks of', (answer) => {
    expect(summaryIn(answer)).toBe(answer);
  });
});

/** '' where there is none; throws for any other error. */
const summaryOrNone = (answer: string): string => {
  try {
    return summaryIn(answer);
  } catch (error) {
    if (error instanceof SummaryError) return '';
    throw error;
  }
};

describe('a summary', () => {
  it('has no control characters and no sequences, and keeps lines, tabs, emoji and other scripts', () => {
    const answer =
      '\x1b[31mred\x1b[0m\x1b]0;title\x07\ta\r\nb\rc\0\x08\u202e\u200b\u{e0041}\ud800 👩‍👩‍👧 می‌خواهم';
    expect(summaryIn(answer)).toBe('red\ta\nb\nc 👩‍👩‍👧 می‌خواهم');
  });

  it.each(['', ' \n\t', '\x1b[0m\0'])('of %j is an error', (answer) => {
    expect(() => summaryIn(answer)).toThrow(new SummaryError('the summary is empty'));
  });

  it('ends below the limit: one that reaches it has probably been cut', () => {
    const most = 'x'.repeat((MOST_SUMMARY_TOKENS - 1) * 4);
    expect(summaryIn(most)).toBe(most);
    expect(() => summaryIn(`${most}xxxx`)).toThrow('longer than 20000 tokens');
    expect(() => summaryIn('界'.repeat(14_000))).toThrow('longer than 20000 tokens');
  });

  it('never grows, and holds nothing that was not in the answer', () => {
    const word = fc.constantFrom(
      '<think>',
      '</think>',
      '<analysis>',
      '</analysis>',
      '\n',
      ' ',
      'a',
      'bc',
      '\x1b[1m',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(word, fc.string({ unit: 'binary', maxLength: 3 }))), (words) => {
        const answer = words.join('');
        const summary = summaryOrNone(answer);
        expect(estimateTokens(summary)).toBeLessThanOrEqual(estimateTokens(answer));
        expect(summary).not.toMatch(/[^\P{Cc}\n\t]/u);
      }),
    );
  });
});

it('the length of an answer is counted while it arrives, in pieces of any size', () => {
  const counter = makeAnswerCounter();
  for (let piece = 0; piece < MOST_SUMMARY_TOKENS - 1; piece += 1) counter.add('wxyz');
  expect(() => counter.add('界界')).toThrow('longer than 20000 tokens');
});
