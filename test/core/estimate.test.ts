import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countCharacters, estimateTokens, tokensOfCharacters } from '../../src/core/reading.js';

describe('the estimate of a text', () => {
  it.each([
    ['', 0],
    ['a', 1],
    ['a'.repeat(400), 100],
    ['a'.repeat(401), 101],
    ['é'.repeat(400), 100],
    ['жизнь'.repeat(80), 100],
    ['漢字', 3],
    ['漢字か', 5], // 4.5
    ['안녕', 3],
    ['😀', 2], // one character, not two
    ['\ud83d', 1], // half of one
    ['abcd漢', 3], // 2.5
  ])('%j is %i tokens', (text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens);
  });

  it('can be added up from its parts before it is rounded', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
        const [first, second] = [countCharacters(a), countCharacters(b)];
        expect(
          tokensOfCharacters({ ascii: first.ascii + second.ascii, wide: first.wide + second.wide }),
        ).toBe(estimateTokens(a + b));
      }),
    );
  });
});
