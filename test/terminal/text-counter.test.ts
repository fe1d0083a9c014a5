import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeScreenModel, type ScreenModel } from '../../src/terminal/screen-model.js';
import { runs } from '../support/runs.js';

const ROWS = 5;

const open = (): ScreenModel => {
  const screen = makeScreenModel({ columns: 40, rows: ROWS }, () => '');
  screen.startCounting();
  return screen;
};

const countOf = async (...texts: readonly string[]): Promise<number> => {
  const screen = open();
  for (const text of texts) screen.feed(Buffer.from(text));
  await screen.settled();
  const { ascii, wide } = screen.writtenText() ?? { ascii: -1, wide: -1 };
  return ascii + wide;
};

/** Rows of ten letters, all different. */
const rows = (count: number, from = 0): string =>
  Array.from({ length: count }, (_, row) => `row-${String(from + row).padStart(6, '0')}\r\n`).join('');
const sized = (count: number): number => count * 10;

describe('the text a program has written', () => {
  it('is not counted before counting starts', () => {
    expect(makeScreenModel({ columns: 40, rows: ROWS }, () => '').writtenText()).toBeUndefined();
  });

  it('is what the screen shows and what has scrolled off at the top', async () => {
    expect(await countOf('')).toBe(0);
    expect(await countOf(rows(3))).toBe(sized(3));
    expect(await countOf(rows(500))).toBe(sized(500));
    expect(await countOf('漢字\r\n'.repeat(1))).toBe(2);
  });

  it('is the same at any chunk size', async () => {
    const text = `${rows(40)}\x1b[2;4r\x1b[4;1H${rows(9, 100)}\x1b[r\x1b[5;1H${rows(8, 200)}`;
    const whole = await countOf(text);
    const cuts = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(cuts, async (sizes) => {
        const pieces: string[] = [];
        let start = 0;
        for (let turn = 0; start < text.length; turn += 1) {
          const end = start + (sizes[turn % sizes.length] ?? 1);
          pieces.push(text.slice(start, end));
          start = end;
        }
        expect(await countOf(...pieces)).toBe(whole);
      }),
      runs(30),
    );
  });

  it.each([
    { what: 'a spinner', output: '\rthinking'.repeat(300), count: 8 },
    {
      what: 'a footer that is drawn again and again',
      output: `\x1b[5;1H\x1b[2K0123456789`.repeat(300),
      count: 10,
    },
    { what: 'a box', output: '╭──╮\r\n│ab│\r\n╰──╯', count: 2 },
    { what: 'a series of blanks', output: `a${' '.repeat(30)}b`, count: 3 },
  ])('of $what is only what can be read', async ({ output, count }) => {
    expect(await countOf(output)).toBe(count);
  });

  it('on the alternate screen is only what it shows now', async () => {
    const pages = Array.from({ length: 50 }, (_, page) => `\x1b[H\x1b[J${rows(4, page * 4)}`).join('');
    expect(await countOf('\x1b[?1049h', rows(300), '\x1b[H\x1b[2J', rows(2))).toBe(sized(2));
    expect(await countOf('\x1b[?1049h', pages, '\x1b[?1049l', rows(2))).toBe(sized(2));
  });

  it('does not grow by rows that scroll inside a region', async () => {
    const inRegion = `\x1b[2;4r\x1b[4;1H${rows(100, 1000)}`;
    expect(await countOf(rows(20), inRegion)).toBeLessThanOrEqual(sized(20));
    expect(await countOf(rows(20), inRegion, '\x1b[r\x1b[5;1H', rows(20, 5000))).toBeGreaterThan(sized(35));
  });

  it('is counted when it leaves a region that starts at the top, as agents insert their history', async () => {
    const inserted = `\x1b[1;3r\x1b[3;1H${rows(100, 1000)}`;
    expect(await countOf(inserted)).toBeGreaterThanOrEqual(sized(100));
  });

  it.each(['\x1b[2J\x1b[3J\x1b[H', '\x1b[H\x1b[J', '\x1bc', '\x1b[3J\x1b[H\x1b[2J'])(
    'is kept after %j, and counted once if it is all written again',
    async (erase) => {
      expect(await countOf(rows(100), erase)).toBeGreaterThanOrEqual(sized(95));
      const once = await countOf(rows(100));
      expect(await countOf(rows(100), ...Array.from({ length: 20 }, () => erase + rows(100)))).toBe(once);
      expect(await countOf(rows(100), erase, rows(110))).toBe(once + sized(10));
    },
  );

  it('counts each of several equal rows of one conversation', async () => {
    expect(await countOf('the same\r\n'.repeat(100))).toBe(800);
  });

  it('is counted across a resize: rows that leave at the top then, and later ones', async () => {
    const screen = open();
    screen.feed(Buffer.from(rows(50)));
    await screen.settled();
    await screen.resize({ columns: 40, rows: 2 });
    expect(screen.writtenText()?.ascii).toBe(sized(50));
    await screen.resize({ columns: 40, rows: 8 });
    expect(screen.writtenText()?.ascii).toBe(sized(50));
    screen.feed(Buffer.from(`\x1b[2;4r\x1b[r${rows(50, 100)}`));
    await screen.settled();
    expect(screen.writtenText()?.ascii).toBeGreaterThan(sized(98));
  });

  it('is counted without any effect on the screen, at any series of sizes', async () => {
    const step = fc.record({
      columns: fc.integer({ min: 10, max: 60 }),
      rows: fc.integer({ min: 1, max: 12 }),
      text: fc.constantFrom(
        rows(1),
        rows(30),
        'words '.repeat(40),
        '\x1b[3J',
        '\x1b[2;3r',
        '\x1bc',
        '\x1b[H',
      ),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const [counting, plain] = [open(), makeScreenModel({ columns: 40, rows: ROWS }, () => '')];
        for (const { columns, rows: height, text } of steps) {
          for (const screen of [counting, plain]) {
            screen.feed(Buffer.from(text));
            await screen.settled();
            await screen.resize({ columns, rows: height });
          }
        }
        expect(shown(counting)).toEqual(shown(plain));
      }),
      runs(100),
    );
  });
});

const shown = (screen: ScreenModel): readonly unknown[] => {
  const view = screen.snapshot()?.screen;
  if (!view) return [];
  const texts = Array.from({ length: view.rows }, (_, row) => view.text(row));
  return [...texts, view.cursorRow, view.cursorColumn, screen.lastRow()];
};
