// The row of a session whose workers have failed.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readLook } from '../../src/core/look.js';
import { lostRow } from '../../src/main-thread/protection.js';

const look = (columns: number, env: Readonly<Record<string, string>> = { TERM: 'xterm-256color' }) =>
  readLook({ env, isTTY: true, columns });
const claude = { hotkey: 'Ctrl-]', command: '/compact' };
const withoutColours = { TERM: 'xterm-256color', NO_COLOR: '1' };

describe('the row of a session without protection', () => {
  it('says what does not work any more, what to do, and which keys hide it, as far as there is room', () => {
    const at = (columns: number, texts = claude) => lostRow(look(columns, withoutColours), texts);
    const whole =
      ' ctxwrap has failed: no numbers, no compaction · type /compact yourself · Ctrl-] q hides this row';
    expect(at(120)).toBe(whole);
    expect(at(whole.length)).toBe(whole);
    expect(at(80)).toBe(' ctxwrap has failed: no numbers, no compaction · Ctrl-] q hides this row');
    expect(at(60)).toBe(' ctxwrap has failed: no compaction · Ctrl-] q hides this row');
    expect(at(40)).toBe(' ctxwrap has failed: no compaction');
    expect(at(20)).toBe(' ctxwrap has failed');
  });

  it('names no key and no command that there is not', () => {
    expect(lostRow(look(120, withoutColours), { hotkey: undefined, command: undefined })).toBe(
      ' ctxwrap has failed: no numbers, no compaction',
    );
  });

  it('is red, or plain where there are no colours, and ASCII where the terminal has nothing else', () => {
    expect(lostRow(look(40), claude)).toBe('\x1b[31m ctxwrap has failed: no compaction\x1b[39m');
    const ascii = lostRow(look(80, { ...withoutColours, LANG: 'C' }), claude);
    expect(ascii).toBe(' ctxwrap has failed: no numbers, no compaction - Ctrl-] q hides this row');
  });

  it('is never wider than the terminal', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 300 }),
        fc.record({
          hotkey: fc.constantFrom('Ctrl-]', 'Ctrl-Space', undefined),
          command: fc.constantFrom('/compact', '/compress', '/圧縮', undefined),
        }),
        (columns, texts) => {
          const row = lostRow(look(columns, withoutColours), texts);
          expect(row).toMatch(/^[\x20-\x7e·]*$/);
          expect(row.length).toBeLessThanOrEqual(columns);
        },
      ),
    );
  });
});
