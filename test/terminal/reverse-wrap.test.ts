import { describe, expect, it } from 'vitest';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { makeGrid, markSlotOverwritten, type Grid } from '../../src/terminal/filter/grid.js';
import { quirksFromDeviceAttributes, quirksFromEnv } from '../../src/terminal/filter/quirks.js';
import { fixCursor, placeCursor } from '../../src/terminal/filter/reverse-wrap.js';
import { paintHindrance } from '../../src/terminal/footer-sequences.js';

const COLUMNS = 20;
const ROWS = 9;

/** Answers to DA2 of the patches of xterm that differ, of xterm.js, and none of a terminal that only calls itself xterm. */
const answers = {
  'xterm 366': '41;366;0',
  'xterm 379': '41;379;0',
  'xterm 390': '41;390;0',
  'xterm 398': '41;398;0',
  'xterm 410': '41;410;0',
  'xterm.js': '0;276;0',
  another: '',
} as const;
type Name = keyof typeof answers;

const played = (name: Name, ...chunks: readonly string[]) => {
  const quirks = quirksFromDeviceAttributes(answers[name], quirksFromEnv({ TERM: 'xterm-256color' }));
  const filter = makeStreamFilter(makeGrid(COLUMNS, ROWS, ROWS + 1, quirks));
  let sent = '';
  for (const chunk of chunks) sent = Buffer.concat(filter.push(Buffer.from(chunk))).toString();
  const { row, column, isCursorUnsure, pendingWrap } = filter.grid;
  return { filter, sent, place: [row + 1, column + 1], isCursorUnsure, pendingWrap };
};

const on = '\x1b[?45h';
const extended = '\x1b[?1045h';
const margins = '\x1b[?69h\x1b[5;10s';
const known: readonly Name[] = ['xterm 366', 'xterm 379'];
const later: readonly Name[] = ['xterm 390', 'xterm 398', 'xterm 410'];

/** What xterm does, as its tests and xterm itself under Xvfb have it: bytes before, place after. */
const moves: readonly (readonly [string, string, readonly [number, number]])[] = [
  ['BS in the do-wrap position', '\x1b[1;19Hab\b', [1, 20]],
  ['BS from the left margin', `${margins}\x1b[5;5H\b`, [4, 10]],
  ['BS from the left edge, outside the margins', `${margins}\x1b[5;1H\b`, [4, 10]],
  ['BS from the first column', '\x1b[5;1H\b', [4, 20]],
  ['BS after the last column', '\x1b[5;19Hab\b\b', [5, 19]],
  ['BS in the first row of the region', '\x1b[2;5r\x1b[2;1H\b', [5, 20]],
  ['BS below the region', '\x1b[2;5r\x1b[7;1H\b', [6, 20]],
  ['BS in the middle of a row', '\x1b[5;7H\b', [5, 6]],
  ['BS at the right margin', `${margins}\x1b[5;10Hx\b`, [5, 10]],
  ['CUB over two rows', '\x1b[5;3H\x1b[25D', [3, 18]],
  ['CUB over two rows between margins', `${margins}\x1b[5;6H\x1b[9D`, [3, 9]],
  ['BS without autowrap', '\x1b[?7l\x1b[5;1H\b', [5, 1]],
];

describe('reverse wrap', () => {
  describe.each(moves)('%s', (_, bytes, place) => {
    it.each([...known.map((name) => [name, on] as const), ...later.map((name) => [name, extended] as const)])(
      'goes to %s’s place as the child sent it',
      (name, mode) => {
        const { sent, ...after } = played(name, mode, bytes);
        expect(sent).toBe(bytes);
        expect(after).toMatchObject({ place: [...place], isCursorUnsure: false, pendingWrap: false });
        expect(played(name, mode, mode.replace('h', 'l'), '\x1b[5;1H\b').place).toEqual([5, 1]);
      },
    );
  });

  it.each([
    ['xterm 379', '\x1b[3;7r\x1b[H\b', '\x1b[3;7r\x1b[H\x1b[21D', [9, 20]],
    ['xterm 379', '\x1b[H\x1b[C\x1b[3D', '\x1b[H\x1b[C\x1b[23D', [9, 19]],
    ['xterm 379', '\x1b[2;4H\x1b[190D', '\x1b[2;4H\x1b[10D', [1, 14]],
    // right of margins that are narrow, a shorter move would end in this row
    ['xterm 379', '\x1b[?69h\x1b[9;10s\x1b[3;20H\x1b[999D', '\x1b[?69h\x1b[9;10s\x1b[3;20H\x1b[29D', [4, 9]],
    ['xterm 379', '\x1b[3;9r\x1b[?6h\x1b[100D', '\x1b[3;9r\x1b[?6h\x1b[100D', [9, 20]],
  ] as const)('never takes the cursor of %s into the footer row: %j', (name, bytes, sent, place) => {
    const after = played(name, on, bytes);
    expect(after.sent).toBe(sent);
    expect(after.place).toEqual([...place]);
  });

  it.each([
    ['xterm 398', on, '\x1b[2;1H\b', '\x1b[2;1H', [2, 1]], // it would go to the last row, or below
    ['xterm 398', on, '\x1b[4;3H\x1b[500D', '\x1b[4;3H\x1b[42D', [4, 1]],
    ['xterm 398', extended, '\x1b[2;1H\b', '\x1b[2;1H\x1b[1;20H', [1, 20]],
    ['xterm 410', on, '\x1b[H\b', '\x1b[H', [1, 1]], // it would crash
    ['xterm 410', on, '\x1b[3;3H\x1b[500D', '\x1b[3;3H\x1b[42D', [3, 1]],
    ['xterm 410', extended, '\x1b[3;7r\x1b[H\b', '\x1b[3;7r\x1b[H\x1b[1;20H', [1, 20]],
    ['another', on, '\x1b[H\b', '\x1b[H', [1, 1]],
    ['another', on, '\x1b[4;9r\x1b[5;1H\x1b[99D', '\x1b[4;9r\x1b[5;1H\x1b[20D', [5, 1]],
    ['another', extended, '\x1b[2;5r\x1b[2;1H\b', '\x1b[2;5r\x1b[2;1H\x1b[5;20H', [5, 20]],
  ] as const)('goes in %s, mode %j, only where it is safe: %j', (...[name, mode, bytes, sent, place]) => {
    const after = played(name, mode, bytes);
    expect(after.sent).toBe(sent);
    expect(after.place).toEqual([...place]);
  });

  it.each([
    ['another', on, '\x1b[5;1H\b'],
    ['another', extended, '\x1b[5;1H\b'],
    ['another', on, '\x1b[1;20Hx\b'],
    ['another', on, '\x1b[5;3H\x1b[9D'],
    ['xterm 410', on, '\x1b[5;1H\b'],
    ['xterm.js', on, '\x1b[5;1H\b'],
  ] as const)('leaves it to %s, mode %j, where it depends on the screen: %j', (name, mode, bytes) => {
    const { filter, sent, isCursorUnsure } = played(name, mode, bytes);
    expect(sent).toBe(bytes);
    expect(isCursorUnsure).toBe(true);
    expect(paintHindrance(filter.grid, filter.modeTracker)).toBe('unsure cursor');
    filter.push(Buffer.from('\x1b[3;3H'));
    expect(filter.grid.isCursorUnsure).toBe(false);
  });

  it('keeps what modes 45 and 1045 say apart, also when they are restored', () => {
    const both = (...chunks: readonly string[]) => played('xterm 410', ...chunks, '\x1b[5;1H\b');
    expect(both(extended, '\x1b[?45l').place).toEqual([4, 20]);
    expect(both(on, '\x1b[?1045l').isCursorUnsure).toBe(true);
    expect(both(extended, '\x1b[?1045s\x1b[?1045l\x1b[?1045r').place).toEqual([4, 20]);
    expect(both(extended, '\x1b[?1045r').place).toEqual([5, 1]); // nothing was saved
    expect(both('\x1b[?1045s', extended, '\x1b[?1045r').place).toEqual([5, 1]);
  });

  it('ends a pending wrap that the terminal has lost to a paint', () => {
    const { filter } = played('xterm 379', on, '\x1b[1;19Hab');
    markSlotOverwritten(filter.grid);
    expect(Buffer.concat(filter.push(Buffer.from('\b'))).toString()).toBe('\x1b[1;20H');
    expect(filter.grid).toMatchObject({ row: 0, column: 19, pendingWrap: false, wrapLost: false });
  });

  it('keeps its place in VT52 mode, where CUP means nothing and no paint is possible', () => {
    const { filter, sent, place } = played('xterm 410', extended, '\x1b[3;7r\x1b[H\x1b[?2l', '\x1bD');
    expect(paintHindrance(filter.grid, filter.modeTracker)).toBe('VT52 mode');
    expect(sent).toBe('\x1bY 3');
    expect(place).toEqual([1, 20]);
  });
});

describe('a cursor that only the terminal knows', () => {
  const unsure = (bytes: string): Grid => played('another', on, bytes).filter.grid;

  it('is where the terminal reports it', () => {
    const grid = unsure('\x1b[5;1H\b');
    expect(placeCursor(grid, { row: 3, column: 19 })).toBe('');
    expect(grid).toMatchObject({ row: 3, column: 19, pendingWrap: false, isCursorUnsure: false });
  });

  it('counts from the margins in origin mode', () => {
    const grid = unsure(`${margins}\x1b[3;7r\x1b[?6h\x1b[3;1H\b`);
    placeCursor(grid, { row: 1, column: 5 });
    expect(grid).toMatchObject({ row: 3, column: 9 });
  });

  it('stays unsure after text in the last column, where a wrap may be pending', () => {
    const grid = unsure('\x1b[5;1H\bx');
    placeCursor(grid, { row: 3, column: 19 });
    expect(grid).toMatchObject({ row: 3, column: 19, pendingWrap: true, isCursorUnsure: true });
    placeCursor(grid, { row: 3, column: 20 }); // as xterm.js reports it
    expect(grid).toMatchObject({ column: 19, pendingWrap: true, isCursorUnsure: false });
  });

  it('is taken out of the footer row', () => {
    const grid = unsure('\x1b[5;1H\b');
    expect(placeCursor(grid, { row: ROWS, column: 19 })).toBe(`\x1b[${ROWS};20H`);
    expect(grid).toMatchObject({ row: ROWS - 1, isCursorUnsure: false });
  });

  it('is put where the filter has it when the terminal does not tell', () => {
    const grid = unsure('\x1b[5;1H\b');
    expect(fixCursor(grid)).toBe('\x1b[5;1H');
    expect(grid.isCursorUnsure).toBe(false);
  });

  it('stays where the terminal has it at a soft reset', () => {
    const { sent, isCursorUnsure } = played('another', on, '\x1b[5;1H\b', '\x1b[!p');
    expect(sent).toBe(`\x1b[!p\x1b7\x1b[1;${ROWS}r\x1b8`);
    expect(isCursorUnsure).toBe(true);
  });

  it('is unsure again after DECRC, if it was so at DECSC', () => {
    const { filter } = played('another', on, '\x1b[5;1H\b\x1b7\x1b[H');
    expect(filter.grid.isCursorUnsure).toBe(false);
    filter.push(Buffer.from('\x1b8'));
    expect(filter.grid.isCursorUnsure).toBe(true);
  });
});

describe('the cursor of xterm, from which BS goes on', () => {
  const full = '*'.repeat(COLUMNS);

  it.each(['\x1b[K', '\x1b[1K', '\x1b[2K', '\x1b[?K', '\x1b[J', '\x1b[1J', '\x1b[?2J', '\x1b[?1049h'])(
    'has no pending wrap after %j, with reverse wrap or without',
    (erase) => {
      expect(played('xterm 379', full + erase, 'x').place).toEqual([1, 20]);
      expect(played('xterm 379', on + full + erase, '\b').place).toEqual([1, 19]);
      expect(played('another', full + erase, 'x').place).toEqual([2, 2]);
    },
  );

  it.each(['\x1b[3J', '\x1b[9K', '\x1b[?1047h'])('still has it after %j', (other) => {
    expect(played('xterm 379', full + other, 'x').place).toEqual([2, 2]);
  });

  it('stops at the right margin where it is addressed in origin mode', () => {
    expect(played('xterm 379', `${margins}\x1b[?6h\x1b[3;9H`).place).toEqual([3, 10]);
    expect(played('xterm 379', `${margins}\x1b[?6h\x1b[3;1H\x1b[9G`).place).toEqual([3, 10]);
  });

  it('comes to the left margin with a wrap, from outside the margins too', () => {
    expect(played('xterm 379', `${margins}\x1b[3;19Habc`).place).toEqual([4, 6]);
  });

  it('stays where it is when a line is inserted or deleted outside the side margins', () => {
    expect(played('xterm 379', `${margins}\x1b[3;2H\x1b[L`).place).toEqual([3, 2]);
    expect(played('xterm 379', `${margins}\x1b[3;7H\x1b[M`).place).toEqual([3, 5]);
  });
});
