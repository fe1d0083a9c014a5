import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { strokesIn } from '../src/verify/keys.js';
import { outputIn, attributeKeys, writesIn } from '../src/verify/keys.js';

const cast = (...events: readonly (readonly [number, string, string])[]): string =>
  [{ version: 2, width: 80, height: 24 }, ...events].map((each) => JSON.stringify(each)).join('\n');

describe('the keys in a recording', () => {
  it('are what was written to the agent, not what it wrote', () => {
    const text = cast([0.1, 'o', '/compact'], [0.2, 'i', 'h'], [0.3, 'r', '80x24'], [0.4, 'i', '\r']);
    expect(writesIn(text)).toEqual(['h', '\r']);
    expect(outputIn(text)).toBe('/compact');
  });

  it('are read up to a line that was cut off', () => {
    expect(writesIn(`${cast([0.1, 'i', 'h'])}\n[0.2, "i", "/com`)).toEqual(['h']);
  });

  it("are ours when no user pressed them, and what a terminal answers is nobody's", () => {
    const writes = ['\x1b[?1;2c', 'h', 'i\r', '/compact', '\r', '\x1b[12;1R', 'x'];
    expect(attributeKeys(writes, 'hi\rx')).toEqual({ ours: ['/compact', '\r'], runs: 1, lost: '' });
  });

  it('are broken when a key of the user came between', () => {
    const writes = ['/compact', 'x', '\r'];
    expect(attributeKeys(writes, 'x')).toEqual({ ours: ['/compact', '\r'], runs: 2, lost: '' });
  });

  it('are counted as lost when the user pressed them and they never came', () => {
    expect(attributeKeys(['a', 'b'], 'abc')).toEqual({ ours: [], runs: 0, lost: 'c' });
  });

  it("never hide a key of ours among the user's, however these were cut into writes", () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,5}$/), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(words, fc.nat(), (users, place) => {
        const at = place % (users.length + 1);
        const writes = [...users.slice(0, at), '/compact', '\r', ...users.slice(at)];
        expect(attributeKeys(writes, users.join(''))).toEqual({
          ours: ['/compact', '\r'],
          runs: 1,
          lost: '',
        });
      }),
    );
  });
});

describe('the keys in an audit log', () => {
  const attempt = (initiator: string, ...keys: readonly string[]): string =>
    JSON.stringify({ initiator, outcome: 'verified', strokes: keys.map((each) => ({ at: 1, keys: each })) });

  it('are those of our own attempts, with their control characters', () => {
    const text = [
      attempt('ctxwrap', '/compact', String.raw`\r`),
      attempt('user'),
      attempt('ctxwrap', String.raw`\u001b[200~/compact \u001b[201~`, String.raw`\t`),
      '{"initiator":"ctx',
    ].join('\n');
    expect(strokesIn(text)).toEqual(['/compact', '\r', '\x1b[200~/compact \x1b[201~', '\t']);
  });
});
