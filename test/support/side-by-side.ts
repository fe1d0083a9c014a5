import { own } from '../../src/core/printable.js';
import { makeGrid, type Grid } from '../../src/terminal/filter/grid.js';
import { quirksFromDeviceAttributes, standardQuirks, type Quirks } from '../../src/terminal/filter/quirks.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { paintHindrance, paintSequence, type PaintHindrance } from '../../src/terminal/footer-sequences.js';
import { makeEmulator } from './emulator.js';

/** The quirks that the filter assumes after the emulator has answered DA2. */
const xtermJs: Quirks = quirksFromDeviceAttributes('0;276;0', standardQuirks);

export const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'utf8');

/** Splits the bytes into pieces of these sizes, repeated. */
export const cut = (bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] => {
  const pieces: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return pieces;
};

export type MayPaint = (hindrance: PaintHindrance | undefined) => boolean;
const never: MayPaint = () => false;

/** Plays the bytes in a terminal of `rows` rows, and through the filter in one with one row more. */
export const play = async (
  pieces: readonly Uint8Array[],
  columns: number,
  rows: number,
  mayPaint: MayPaint = never,
) => {
  const plain = makeEmulator(columns, rows, 300);
  const wrapped = makeEmulator(columns, rows + 1, 300);
  await wrapped.write(`\x1b[1;${rows}r`);
  const grid: Grid = makeGrid(columns, rows, rows + 1, xtermJs);
  const filter = makeStreamFilter(grid);
  const paint = (): Uint8Array => {
    const isPossible = filter.isGround() && mayPaint(paintHindrance(grid, filter.modeTracker));
    return bytesOf(isPossible ? paintSequence(grid, filter.modeTracker, own`\x1b[1;31mFOOTER`) : '');
  };
  const outgoing = pieces.flatMap((piece) => [Buffer.concat(filter.push(piece)), paint()]);
  await Promise.all([
    plain.write(Buffer.concat(pieces)),
    wrapped.write(Buffer.concat([...outgoing, filter.flush()])),
  ]);
  return { plain, wrapped, grid };
};
