import { makeGrid, type Grid } from '../../src/terminal/filter/grid.js';
import { quirksOfDeviceAttributes, standardQuirks, type Quirks } from '../../src/terminal/filter/quirks.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { paintHindrance, paintSequence, type PaintHindrance } from '../../src/terminal/painter.js';
import { makeEmulator } from './emulator.js';

/** What the filter knows of the emulator once it has answered DA2. */
const xtermJs: Quirks = quirksOfDeviceAttributes('0;276;0', standardQuirks);

/** The same cases each time, so that a failure is one of this change; `FUZZ=5000` looks for new ones. */
export const runs = (count: number) => {
  const fuzz = process.env['FUZZ'];
  return fuzz === undefined ? { numRuns: count, seed: 20261121 } : { numRuns: Number(fuzz) };
};

export const bytesOf = (text: string): Uint8Array => Buffer.from(text, 'utf8');

/** Cuts the bytes into pieces of these sizes, over and over. */
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

/** Plays the bytes in a terminal of `rows` rows, and through the filter in one with a row more. */
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
  await plain.write(Buffer.concat(pieces));
  const paint = (): Uint8Array => {
    const isPossible = filter.isGround() && mayPaint(paintHindrance(grid, filter.ledger));
    return bytesOf(isPossible ? paintSequence(grid, filter.ledger, '\x1b[1;31mFOOTER') : '');
  };
  const outgoing = pieces.flatMap((piece) => [...filter.push(piece), paint()]);
  await wrapped.write(Buffer.concat([...outgoing, filter.flush()]));
  return { plain, wrapped, grid };
};
