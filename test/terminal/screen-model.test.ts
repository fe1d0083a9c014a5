import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeScreenModel, type ScreenModel } from '../../src/terminal/screen-model.js';
import type { Size } from '../../src/terminal/tty.js';
import { runs } from '../support/runs.js';

const lines = (count: number): Buffer =>
  Buffer.from(`${'a line that wraps in a narrow terminal\r\n'.repeat(count)}`);

describe('the screen model', () => {
  it('still parses output after any series of sizes at which long lines reflow', async () => {
    const step = fc.record({
      columns: fc.integer({ min: 20, max: 120 }),
      rows: fc.integer({ min: 1, max: 40 }),
      count: fc.integer({ min: 0, max: 100 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 20 }), async (steps) => {
        const screen = makeScreenModel({ columns: 80, rows: 23 }, () => '');
        for (const { columns, rows, count } of steps) {
          screen.feed(lines(count));
          await screen.settled();
          await screen.resize({ columns, rows });
        }
        screen.feed(Buffer.concat([lines(100), Buffer.from('\x1b[H\x1b[Jfirst\r\nsecond')]));
        await screen.settled();
        expect(screen.lastRow()).toBe(Math.min(1, (steps.at(-1)?.rows ?? 1) - 1));
      }),
      runs(100),
    );
  });
});

const drawnBy = async (size: Size, ...texts: readonly string[]): Promise<ScreenModel> => {
  const screen = makeScreenModel(size, () => '');
  for (const text of texts) {
    screen.feed(Buffer.from(text));
    await screen.settled();
  }
  return screen;
};
const rowsOf = (screen: ScreenModel): readonly string[] => {
  const view = screen.snapshot()?.screen;
  return Array.from({ length: view?.rows ?? 0 }, (_, row) => view?.text(row) ?? '');
};
const usual = { columns: 80, rows: 24 };
const END = '\x18\x1b[m\x1b[4l\x1b[?7h\x1b[r\x1b[H\x1b[2Jthe end';
const LARGEST = '2147483647';

describe('an agent in the alternate screen', () => {
  it('has no cells beyond the right edge after the terminal became narrower, and none that come back when it widens', async () => {
    const screen = await drawnBy(
      { columns: 120, rows: 10 },
      `\x1b[?1049h\x1b[3;1H${'─'.repeat(120)}\x1b[5;3H`,
    );
    await screen.resize({ columns: 80, rows: 10 });
    expect(rowsOf(screen)[2]).toBe('─'.repeat(80));
    screen.feed(Buffer.from('x'));
    await screen.settled();
    expect(rowsOf(screen)[4]).toBe('  x');
    await screen.resize({ columns: 120, rows: 10 });
    expect(rowsOf(screen)[2]).toBe('─'.repeat(80));
  });
});

describe('output that would block an emulator', () => {
  const finals = Array.from({ length: 0x7f - 0x40 }, (_, index) => String.fromCharCode(0x40 + index));
  it.each(finals)('is parsed quickly: CSI 2147483647 %s, whatever comes before it', async (final) => {
    const numbers = ['', ' ', '!', '"', '$', "'", '?', '>'].map((mark) =>
      '?>'.includes(mark) && mark !== ''
        ? `x\x1b[${mark}${LARGEST}${final}`
        : `x\x1b[${LARGEST}${mark}${final}`,
    );
    const screen = await drawnBy(usual, ...numbers, `x\x1b[${LARGEST};${LARGEST}${final}`, END);
    expect(rowsOf(screen)[0]).toBe('the end');
  });

  it.each([
    ['a reset', '\x1bc'],
    ['a screen of E', '\x1b#8'],
    ['the other screen and back', '\x1b[?1049h\x1b[?1049l'],
    ['links on one row', '\x1b]8;;http://host\x07'],
    ['links that are reset', '\x1b]8;;http://host\x07\x1bc'],
    ['combining characters', 'a\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301'],
    ['a pile drawn again and again', `a${'\u0301'.repeat(50)}\x1b[${LARGEST}b`],
    ['wide characters that are inserted', '\x1b[4h\r漢'],
    ['tabs without stops', '\x1b[3g\t\r'],
    ['colours by the thousand', `\x1b]4;${'1;?;'.repeat(1000)}\x07`],
  ])('or takes a little of each turn: %s', async (_, text) => {
    const screen = await drawnBy(usual, text.repeat(Math.ceil(4000 / text.length)), END);
    expect(rowsOf(screen)[0]).toBe('the end');
  });

  it('cannot put more combining characters in a cell than a language needs', async () => {
    const screen = await drawnBy(usual, `\x1b[Ha${'\u0301'.repeat(5000)}`);
    const lengths = screen.saveScreen()?.rows.flatMap((cells) => cells.map(({ text }) => text.length));
    expect(Math.max(...(lengths ?? []))).toBe(31);
  });

  it('with more links than the limit makes the saved screen incomplete', async () => {
    const screen = await drawnBy(usual, '\x1b[H\x1b]8;;http://host\x07link'.repeat(900));
    expect(screen.saveScreen()?.isComplete).toBe(true);
    screen.feed(Buffer.from('\x1b[H\x1b]8;;http://host\x07link'.repeat(2000)));
    await screen.settled();
    expect(screen.saveScreen()?.isComplete).toBe(false);
  });
});

describe('a terminal that is too large for a model', () => {
  const sizes = [
    { columns: 10_000, rows: 10_000 },
    { columns: 65_535, rows: 1 },
    { columns: 2, rows: 65_535 },
    { columns: 1_000, rows: 500 },
  ];
  it.each(sizes)(
    'of $columns by $rows has none, and gets one when its size is normal again',
    async (size) => {
      const screen = makeScreenModel(size, () => '\x1b[5;5H');
      screen.feed(Buffer.from('not followed'));
      await screen.settled();
      expect(screen.snapshot()).toBeUndefined();
      expect(screen.saveScreen()).toBeUndefined();
      expect(screen.writtenText()).toBeUndefined();
      expect(screen.lastRow()).toBe(Infinity);
      screen.alignCursor(3);
      screen.eraseBelow(1);
      await screen.resize(usual);
      screen.feed(Buffer.from('here'));
      await screen.settled();
      expect(rowsOf(screen)[4]).toBe('    here');
      expect(screen.saveScreen()?.isComplete).toBe(false);
      await screen.resize(size);
      expect(screen.snapshot()).toBeUndefined();
    },
  );

  it('continues its count of written text afterwards', async () => {
    const screen = makeScreenModel(usual, () => '');
    screen.startCounting();
    screen.feed(Buffer.from('12345'));
    await screen.settled();
    await screen.resize(sizes[0] ?? usual);
    await screen.resize(usual);
    screen.feed(Buffer.from('678'));
    await screen.settled();
    expect(screen.writtenText()).toEqual({ ascii: 8, wide: 0 });
  });
});
