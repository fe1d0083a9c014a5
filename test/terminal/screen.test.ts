import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeScreen } from '../../src/terminal/screen.js';

const lines = (count: number): Buffer =>
  Buffer.from(`${'a line that wraps in a narrow terminal\r\n'.repeat(count)}`);

describe('the screen model', () => {
  it('still takes output after any series of sizes at which long lines wrap anew', async () => {
    const step = fc.record({
      columns: fc.integer({ min: 20, max: 120 }),
      rows: fc.integer({ min: 1, max: 40 }),
      count: fc.integer({ min: 0, max: 100 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
        const screen = makeScreen({ columns: 80, rows: 23 }, () => '');
        for (const { columns, rows, count } of steps) {
          screen.feed(lines(count));
          await screen.settled();
          await screen.resize({ columns, rows });
        }
        screen.feed(Buffer.concat([lines(100), Buffer.from('\x1b[H\x1b[Jfirst\r\nsecond')]));
        await screen.settled();
        expect(screen.lastRow()).toBe(Math.min(1, (steps.at(-1)?.rows ?? 1) - 1));
      }),
      { numRuns: 100 },
    );
  });
});
