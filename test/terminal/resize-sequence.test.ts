import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { standardQuirks } from '../../src/terminal/filter/quirks.js';
import { openEmulator } from '../../src/terminal/emulator.js';
import { resizeSequence } from '../../src/terminal/footer-sequences.js';
import { makeEmulator } from '../support/emulator.js';
import { runs } from '../support/runs.js';

const COLUMNS = 40;
const ROWS = 8;
const FOOTER = 'FOOTER';

const rowsOf = ({ terminal }: ReturnType<typeof makeEmulator>): readonly string[] =>
  Array.from(
    { length: terminal.rows },
    (_, row) => terminal.buffer.active.getLine(row)?.translateToString(true) ?? '',
  );

/** What a change of height leaves of a child's output, with the footer where foot 1.13 puts it: right of the cursor's cell. */
const afterResize = async (output: string) => {
  const model = openEmulator({ columns: COLUMNS, rows: ROWS });
  model.parse(Buffer.from(output));
  const terminal = makeEmulator(COLUMNS, ROWS + 1);
  await terminal.write(`\x1b[1;${ROWS}r${output}`);
  const before = rowsOf(terminal);
  const plan = {
    rowsBelow: model.rowsBelowCursor(),
    isBlankFromCursor: model.isBlankFromCursor(),
    rowsUp: 0,
    wrappedRows: 0,
  };
  const isMoved = plan.rowsBelow === 0 && plan.isBlankFromCursor;
  if (isMoved) await terminal.write(`\x1b7\x1b[C${FOOTER}\x1b8`);
  await terminal.write(`\x1b7\x1b[${ROWS + 1};1H${FOOTER}\x1b8`);
  await terminal.write(resizeSequence(makeGrid(COLUMNS, ROWS, ROWS + 1, standardQuirks), plan));
  model.close();
  return { before, after: rowsOf(terminal), isMoved };
};

describe('a change of the height', () => {
  it('erases a footer that the terminal has moved into the empty row of the cursor', async () => {
    const { before, after, isMoved } = await afterResize('one\r\ntwo\r\n');
    expect({ isMoved, after }).toEqual({ isMoved: true, after: before });
  });

  it('leaves every character of the child, wherever its cursor is', async () => {
    const text = fc.string({ minLength: 1, maxLength: COLUMNS, unit: 'grapheme-ascii' });
    const piece = fc.oneof(
      text,
      fc.constant('\r\n'),
      fc
        .record({ row: fc.integer({ min: 1, max: ROWS }), column: fc.integer({ min: 1, max: COLUMNS }) })
        .map(({ row, column }) => `\x1b[${row};${column}H`),
      fc.constant('x'.repeat(COLUMNS)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 7 }), async (pieces) => {
        const { before, after } = await afterResize(pieces.join(''));
        expect(after).toEqual(before);
      }),
      runs(200),
    );
  });

  it('keeps the background that the child has given to the row of its cursor', () => {
    const model = openEmulator({ columns: COLUMNS, rows: ROWS });
    model.parse(Buffer.from('\x1b[44m\x1b[2K'));
    expect(model.isBlankFromCursor()).toBe(false);
    model.close();
  });
});
