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
    'always use pnpm',
    'No, don’t set it yet.',
    "Let's not leave the tests to the end.",
    'We still should not retry there.',
    'I don’t want this on by default.',
    'Fix it, but keep the old names.',
    'Use pnpm instead of npm.',
    'Tell me first before changing anything.',
    'You should always ask first.',
    'I want you to always run the linter.',
    'Leave the generated files untouched.',
    'We need to ensure that both paths agree.',
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
    'The event never fires.',
    'The hook currently never writes to stdout.',
    'The list never matches, so nothing is linked.',
    'It causes the counter to always return 0.',
    'We can always add it later.',
    'A solution to ensure the order',
    'The second run should just do nothing.',
    'They just don’t get a name.',
    'This stores the time and don’t ask me why.',
    'I looked where we call it but don’t check the result.',
    'If I stash, then don’t commit, what is left is wrong.',
    'That shouldn’t be a problem.',
    'The session was never committed.',
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

  it('is not in what a program has printed, a patch or a table', () => {
    const message = [
      'It fails:',
      '2026-02-15T15:23:26 must not be empty',
      'ERROR must not be empty',
      '{"level":"info","msg":"never do it"}',
      'src/a.ts:12:3: always use const',
      '⎿ Stop says: never stop',
      '* | 4f0c2d9a never push',
      '| never | always |',
      '@@ -1,2 +1,2 @@',
      '+ never returns',
      'Never push it.',
    ].join('\n');
    expect(demandsIn(message)).toEqual(['Never push it.']);
  });

  it('is in the words of another only from its first word on', () => {
    const plan = [
      'Never touch the schema.',
      'The writer must tolerate both.',
      'It means the data is never moved.',
      'x'.repeat(390),
      'y'.repeat(390),
      'z'.repeat(390),
      'w'.repeat(390),
    ].join('\n');
    expect(demandsIn(`What do you think? Never push it. My other agent says:\n\n${plan}`)).toEqual([
      'Never push it.',
      'Never touch the schema.',
    ]);
    expect(demandsIn(`Do this now.\n\n${plan}`)).toContain('The writer must tolerate both.');
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

describe('a message that is made to be costly', () => {
  it.each([
    ['a line that begins with blanks', `a\n${' '.repeat(200_000)}you must not push`],
    ['a line of tabs', `a\n${'\t'.repeat(200_000)}+ x`],
    ['a line of signs', `a\n${'│ '.repeat(100_000)}x`],
    ['a line of fields', `a\n${' k=v k'.repeat(30_000)}`],
  ])('has its demands found in time: %s', { timeout: 10_000 }, (_, message) => {
    expect(demandsIn(message).length).toBeLessThanOrEqual(1);
  });
});
