import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanFocus, MAX_FOCUS_LENGTH } from '../../../src/core/text.js';
import { runs } from '../../support/runs.js';

const anything = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.string({ unit: 'grapheme', maxLength: 400 }),
  fc.string({
    unit: fc.constantFrom(
      '\r',
      '\n',
      '\x1b',
      '\x7f',
      '\u0085',
      '\u2028',
      '\ud800',
      '\u200b',
      '\u202e',
      '\t',
      'a',
      'e\u0301',
      ' ',
    ),
  }),
);

describe('focus text', () => {
  it.each([
    ['keep the tests', 'keep the tests'],
    ['  keep\r\nthe\ttests\n', 'keep the tests'],
    ['a\x1b[201~\rrm -rf /\r', 'a [201~ rm -rf /'],
    ['/model\u202egpj', '/modelgpj'],
    ['cafe\u0301', 'café'],
    ['x'.repeat(300), 'x'.repeat(200)],
    ['🙂'.repeat(300), '🙂'.repeat(200)],
  ])('%j is %j', (given, text) => expect(cleanFocus(given)).toBe(text));

  it.each(['', ' \n', '\x00\x1b', '\u200b\ufeff'])('%j is none', (given) =>
    expect(cleanFocus(given)).toBeUndefined(),
  );

  it('is one bounded line without control characters, whatever it was', () => {
    fc.assert(
      fc.property(anything, (given) => {
        const text = cleanFocus(given) ?? 'none';
        expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u);
        expect(text).not.toMatch(/^\s|\s$|\s\s/u);
        expect([...text].length).toBeLessThanOrEqual(MAX_FOCUS_LENGTH);
        expect([...text].length).toBeGreaterThan(0);
      }),
      runs(1_000),
    );
  });

  it('stays as it is when it is cleaned again, and when it is plain', () => {
    fc.assert(
      fc.property(anything, (given) => {
        const text = cleanFocus(given);
        expect(cleanFocus(text ?? '')).toBe(text);
      }),
      runs(1_000),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[!-~]([ -~]{0,198}[!-~])?$/), (given) => {
        fc.pre(!given.includes('@') && !given.endsWith('\\'));
        expect(cleanFocus(given)).toBe(given.replace(/ +/g, ' '));
      }),
    );
  });

  it('opens no list of files, and makes no line break of the Enter behind it', () => {
    expect(cleanFocus('keep @REA and the tests')).toBe('keep REA and the tests');
    expect(cleanFocus('keep C:\\ \\')).toBe('keep C:');
    expect(cleanFocus('@')).toBeUndefined();
  });
});
