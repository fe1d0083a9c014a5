import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchRow, readPattern } from '../../src/agents/defined/pattern.js';

const reasonOf = (source: string): string | undefined => {
  const read = readPattern(source);
  return 'reason' in read ? read.reason : undefined;
};

describe('a pattern that a user may give', () => {
  it.each([
    String.raw`^ctx: (\d+)% left$`,
    String.raw`([\d.]+)% context used\s*$`,
    String.raw`tokens: (\d{1,3}(?:,\d{3})*)`,
    String.raw`^.*· (\d+)% `,
    String.raw`(?:ctx|mem) +(\d+(?:\.\d+)?)%`,
    String.raw`^\s*(?:❯|>)\s*$`,
    String.raw`(\d+(?:\.\d)?[kKmM]?) tokens\b`,
    String.raw`^[^%]* (\d+)%`,
    String.raw`[^%]* (\d{1,3})%`,
    '⠋|⠙|⠹|working',
    String.raw`\u{2713} \p{L}+ done`,
  ])('%s is taken', (source) => {
    expect(reasonOf(source)).toBeUndefined();
  });

  it.each([
    ['(a+)+$', 'repeats a group that holds a repeat'],
    ['^(a|a)*b', 'repeats a group that holds a repeat or a choice'],
    ['^(?:a?){30}b', 'repeats a group'],
    [String.raw`^(\w+\s?)*$`, 'repeats a group'],
    ['.*.*x', 'too many ways'],
    ['.*x.*y', 'too many ways'],
    [String.raw`\s*\s*x`, 'too many ways'],
    [`^${'a?'.repeat(30)}${'a'.repeat(30)}`, 'too many optional parts'],
    [`^${'(?:a|ab)'.repeat(10)}c`, 'too many optional parts'],
    [String.raw`\S{1,200}b{1,16}.{100}(a){100}`, 'too many ways'],
    [String.raw`\w{2,}\w{1,16}\p{L}{16}\S\W{5}`, 'too many ways'],
    [String.raw`(a)\1`, 'refers back'],
    [String.raw`(?<n>a)\k<n>`, 'looks ahead or behind'],
    ['(?=a)a', 'looks ahead or behind'],
    ['(?<!a)b', 'looks ahead or behind'],
    ['(unclosed', 'nterminated'],
    ['', 'empty'],
    ['x'.repeat(201), 'longer than 200'],
    ['[a-\\x7a]*[p]*x', 'too many ways'],
  ])('%s is refused with the reason', (source, reason) => {
    expect(reasonOf(source)).toContain(reason);
  });

  it('sees the first 512 characters of one row, whose ends are ^ and $', () => {
    const read = readPattern('^a*(b)?');
    if ('reason' in read) throw new Error(read.reason);
    expect(matchRow(read, `${'a'.repeat(511)}b`)?.[1]).toBe('b');
    expect(matchRow(read, `${'a'.repeat(512)}b`)?.[1]).toBeUndefined();
    expect(read.groups).toBe(1);
  });

  // What is taken wrongly does not fail here, it never ends.
  it('ends on rows that are made to keep it busy', () => {
    const atom = fc.constantFrom(
      'a',
      'b',
      '.',
      String.raw`\w`,
      '[ab]',
      '[^b]',
      '(?:ab)',
      '(?:a|b)',
      '(?:a|ab)',
      '(a)',
    );
    const sign = fc.constantFrom('', '', '*', '+', '?', '{2}', '{1,3}', '{0,40}', '*?');
    const piece = fc.tuple(atom, sign).map((parts) => parts.join(''));
    const group = fc
      .tuple(fc.array(piece, { maxLength: 3 }), sign)
      .map(([all, end]) => `(?:${all.join('')})${end}`);
    const source = fc
      .tuple(
        fc.constantFrom('', '^'),
        fc.array(fc.oneof(piece, group), { maxLength: 8 }),
        fc.constantFrom('', 'c', '$'),
      )
      .map(([start, all, end]) => start + all.join('') + end);
    const rows = ['a', 'b', 'ab', 'aab'].map((text) => text.repeat(512).slice(0, 511) + '!');
    let taken = 0;
    fc.assert(
      fc.property(source, (each) => {
        const read = readPattern(each);
        if ('reason' in read) return;
        taken += 1;
        for (const row of rows) matchRow(read, row);
      }),
      { numRuns: 2_000 },
    );
    expect(taken).toBeGreaterThan(100);
  });
});
