// Which sentences of a user's message are demands.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { demandsIn } from '../../src/core/conversation/message-evidence.js';

describe('a demand', () => {
  it.each([
    'Never push to main.',
    'NEVER, ever, push',
    'Please don’t touch the CI config.',
    "Fix it but don't break the API.",
    "Use tabs; don't use spaces",
    'Do not add dependencies.',
    'Can you always run prettier after edits?',
    'We always use tabs.',
    'From now on you always run the tests first.',
    'The function should never return null.',
    'Ensure that it never returns null',
    'v1.2 must stay, no matter what.',
    'Make sure the tests pass!',
    'Keep it simple, e.g. never nest more than two loops.',
  ])('is %j, word for word', (sentence) => {
    expect(demandsIn(`Hello. ${sentence}\nThank you.`)).toEqual([sentence]);
  });

  it.each([
    "I don't know why the test fails.",
    "I don't think so.",
    "You don't need to write docs.",
    "Don't know where to start.",
    "Don't worry about it.",
    'Never mind, it works now.',
    'Why does it never finish?',
    'Must the server be restarted?',
    "It doesn't always work.",
    'It always crashes on startup, I must be doing something wrong.',
    'The build never finishes.',
    'We never had this bug before.',
    'This is a must.',
    'must-have features: login',
    'He said "never again" and left.',
    'It is almost always green.',
  ])('is not %j, which only tells or asks something', (sentence) => {
    expect(demandsIn(sentence)).toEqual([]);
  });

  it('is not in code, comments and quotations, which are words of others', () => {
    const message = [
      'Here it is:',
      '```ts',
      '// you must never call this',
      'always();',
      '```',
      '> You must accept the terms.',
      '// never used',
      '~~~',
      'always quoted',
      '~~~',
      'Always format it.',
      '```',
      'never closed',
    ].join('\n');
    expect(demandsIn(message)).toEqual(['Always format it.']);
  });

  it('has no mark of a list or a heading', () => {
    const message =
      '# Never use any\n- Always run the tests\n* [ ] must be fast\n2) Do not use `any`. It is fine to ask.';
    expect(demandsIn(message)).toEqual([
      'Never use any',
      'Always run the tests',
      'must be fast',
      'Do not use `any`.',
    ]);
  });

  it('is a sentence in the message, whatever the message is', () => {
    const word = fc.constantFrom(
      'never',
      "don't",
      'must',
      'x',
      '.',
      '?',
      '\n',
      '```',
      '>',
      '。',
      '"',
      ' ',
      'e.g.',
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), (words) => {
        const message = words.join(' ');
        for (const demand of demandsIn(message)) expect(message).toContain(demand);
      }),
    );
  });
});
