import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { casts } from '../support/casts.js';
import {
  row,
  optional,
  text,
  csi,
  movement,
  controls,
  region,
  saving,
  modes,
  buffers,
  resets,
  colours,
  element,
  isNotBackTab,
} from '../support/elements.js';
import { describeTerminal } from '../support/emulator.js';
import { runs } from '../support/runs.js';
import { bytesOf, cut, play, type MayPaint } from '../support/side-by-side.js';

const SEED = 20261121;
const whenFree: MayPaint = (hindrance) => hindrance === undefined;
const whenOverdue: MayPaint = () => true;

describe('the stream filter', () => {
  it('shows any sequence as a terminal without the footer row does, at any chunk size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(element, { minLength: 1, maxLength: 60 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 }),
        async (elements, sizes) => {
          const bytes = bytesOf(elements.join(''));
          const { plain, wrapped } = await play(cut(bytes, sizes), 20, 10);
          expect(describeTerminal(wrapped.terminal, 1)).toEqual(describeTerminal(plain.terminal));
          expect(wrapped.answers()).toBe(plain.answers());
        },
      ),
      runs(300, SEED),
    );
  });

  it('shows all of the child’s output when the footer is painted after every chunk', async () => {
    // Three quirks of xterm.js are excluded: it moves a saved cursor with the text when the screen scrolls, without autowrap it
    // leaves half a wide character behind, and CBT does nothing in the last column, both depending on its last-column flag.
    const painted = fc.oneof(
      { weight: 6, arbitrary: text },
      { weight: 4, arbitrary: controls },
      { weight: 4, arbitrary: movement.filter(isNotBackTab) },
      { weight: 3, arbitrary: region },
      { weight: 2, arbitrary: modes.filter((mode) => mode !== '\x1b[?7l') },
      { weight: 1, arbitrary: buffers },
      { weight: 1, arbitrary: resets },
      { weight: 3, arbitrary: colours },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(painted, { minLength: 1, maxLength: 50 }), async (elements) => {
        const pieces = elements.map(bytesOf);
        const { plain, wrapped } = await play(pieces, 20, 10, whenFree);
        expect(describeTerminal(wrapped.terminal, 1)).toEqual(describeTerminal(plain.terminal));
      }),
      runs(300, SEED),
    );
  });

  it('restores the child’s saved cursor although the footer was painted in between', async () => {
    const still = fc.oneof(csi('H', row, row), colours, saving, modes, fc.constantFrom('ab', 'x', '漢'));
    await fc.assert(
      fc.asyncProperty(fc.array(still, { minLength: 1, maxLength: 40 }), async (elements) => {
        const { plain, wrapped } = await play(elements.map(bytesOf), 40, 16, whenFree);
        expect(describeTerminal(wrapped.terminal, 1)).toEqual(describeTerminal(plain.terminal));
      }),
      runs(300, SEED),
    );
  });

  it('wraps for the child when the footer was painted during a pending wrap', async () => {
    const feeds = fc.constantFrom('\n', '\r', '\r\n', '\x1bD', '\x1bE', '\x1bM');
    const waiting = fc.oneof(
      text,
      feeds,
      colours,
      region,
      csi('H', row, optional),
      csi('B', optional),
      csi('A', optional),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(waiting, { minLength: 1, maxLength: 50 }), async (elements) => {
        const { plain, wrapped } = await play(elements.map(bytesOf), 20, 10, whenOverdue);
        expect(describeTerminal(wrapped.terminal, 1)).toEqual(describeTerminal(plain.terminal));
      }),
      runs(300, SEED),
    );
  });

  it('knows the row and column of the cursor without asking the terminal', async () => {
    const known = fc.oneof(
      text,
      controls,
      movement.filter(isNotBackTab),
      region,
      colours,
      modes.filter((mode) => !mode.includes('?6')),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(known, { minLength: 1, maxLength: 60 }), async (elements) => {
        const { plain, grid } = await play([bytesOf(elements.join(''))], 20, 10);
        const { cursorX, cursorY } = plain.terminal.buffer.active;
        expect({ row: grid.row, column: grid.column }).toEqual({
          row: cursorY,
          column: Math.min(cursorX, 19),
        });
      }),
      runs(200, SEED),
    );
  });

  it.each([
    ['\x1b[2I', 16],
    ['\x1b[99999999I', 19],
    ['\x1b[20G\x1b[2Z', 8],
    ['\x1b[20G\x1b[99999999Z', 0],
  ])('knows the column behind any number of tab stops: %j', (sequence, column) => {
    const grid = makeGrid(20, 10, 11);
    makeStreamFilter(grid).push(bytesOf(sequence));
    expect(grid.column).toBe(column);
  });

  it.each(casts())(
    'shows the recording $name as a terminal without the footer row does',
    async ({ columns, rows, output }) => {
      const whole = await play([output], columns, rows);
      expect(describeTerminal(whole.wrapped.terminal, 1)).toEqual(describeTerminal(whole.plain.terminal));
      expect(whole.wrapped.answers()).toBe(whole.plain.answers());
    },
  );

  it.each(casts())(
    'rewrites the recording $name in the same way at any chunk size',
    ({ columns, rows, output }) => {
      const rewritten = (pieces: readonly Uint8Array[]): Buffer => {
        const filter = makeStreamFilter(makeGrid(columns, rows, rows + 1));
        return Buffer.concat([...pieces.map((piece) => Buffer.concat(filter.push(piece))), filter.flush()]);
      };
      const lengths = fc.oneof(
        fc.integer({ min: 1, max: 4 }),
        fc.integer({ min: 1, max: 200 }),
        fc.constant(4096),
      );
      const random = fc.sample(lengths, { numRuns: 50, seed: 1 });
      expect(rewritten(cut(output, random)).equals(rewritten([output]))).toBe(true);
      const start = output.subarray(0, 10_000); // what a program writes repeats itself
      expect(rewritten(cut(start, [1])).equals(rewritten([start]))).toBe(true);
    },
  );
});
