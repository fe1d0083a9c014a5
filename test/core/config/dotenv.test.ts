import { describe, expect, it } from 'vitest';
import { readDotenv } from '../../../src/core/config/read.js';

describe('a value of a dotenv file', () => {
  it.each([
    ['A=b', 'b'],
    ['export A = b # c', 'b'],
    ['A=#c', ''],
    ['A=b#c', 'b#c'],
    ['A="b # c" # d', 'b # c'],
    ['A="b" c "d"', 'b" c "d'],
    ['A="b" c', '"b" c'],
    ["A='b'   ", 'b'],
    ['A="b\nc"', 'b\nc'],
    ['A="b\nc" # d', 'b\nc'],
    ['A="b\nc" d # e', '"b\nc" d'],
    ['A="never closed', '"never closed'],
    ['A=', ''],
  ])('in %j is %j', (text, value) => {
    expect(readDotenv(text)).toEqual({ values: { A: value }, unread: [] });
  });

  // U+2028 ends a line for some readers and not for others
  it.each([
    ['quotes and signs of comments', `A=${'"#'.repeat(100_000)}\u2028`],
    ['blanks', `A=${' '.repeat(200_000)}x\u2028x`],
    ['signs of comments', `A=x${' #'.repeat(100_000)}\u2028`],
    ['quotes that are never closed', 'A="\nB=\'\n'.repeat(20_000)],
    ['lines', `${'x\n'.repeat(100_000)}A=b`],
  ])('is read in one pass, whatever stands there: %s', (_, text) => {
    expect(Object.keys(readDotenv(text).values)).toContain('A');
  });
});
