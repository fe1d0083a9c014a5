import { isDeepStrictEqual } from 'node:util';
import { toPrintable } from '../../src/core/printable.js';
import { makeGrid, type Grid } from '../../src/terminal/filter/grid.js';
import { quirksFromEnv, quirksFromDeviceAttributes } from '../../src/terminal/filter/quirks.js';
import { placeCursor } from '../../src/terminal/filter/reverse-wrap.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { paintHindrance, paintSequence } from '../../src/terminal/footer-sequences.js';
import { describeTerminal, makeEmulator, type Emulator } from '../support/emulator.js';
import type { Case } from './case.js';

const FOOTER = '=FOOTER='; // no program of ours writes it
const XTERM_JS = '0;276;0'; // its answer to DA2
const END = '\x18\x1b\\'; // ends whatever is open

/** What is wrong with the case, in a few words; undefined if nothing is. */
export type Fault = string | undefined;

const bytesOf = (latin1: string): Uint8Array => Buffer.from(latin1, 'latin1');

const textOf = ({ terminal }: Emulator, row: number): string =>
  terminal.buffer.active.getLine(terminal.buffer.active.baseY + row)?.translateToString(true) ?? '';

/** The one thing that may never be, whatever the terminal is. */
const footerFault = (wrapped: Emulator, rows: number): Fault => {
  const { active, normal } = wrapped.terminal.buffer;
  if (active.cursorY >= rows) return 'the cursor is in the footer row';
  for (const buffer of new Set([active, normal])) {
    const last = buffer.baseY + rows; // the footer's own row
    for (let line = 0; line < buffer.length; line += 1)
      if (line !== last && buffer.getLine(line)?.translateToString(true).includes(FOOTER))
        return `the footer is in row ${line - buffer.baseY + 1} of the ${buffer.type} screen`;
  }
  return undefined;
};

/** xterm.js counts one column more than there is while a character waits to be wrapped, until a paint has made it forget that. */
const answersOf = ({ terminal, answers }: Emulator): string =>
  answers().replaceAll(`;${terminal.cols + 1}R`, `;${terminal.cols}R`);

/** What the terminal would report, which counts from the top margin in origin mode. */
const cursorOf = ({ terminal }: Emulator, { origin, top }: Grid): { row: number; column: number } => ({
  row: terminal.buffer.active.cursorY - (origin ? top : 0),
  column: terminal.buffer.active.cursorX,
});

const differences = (plain: Emulator, wrapped: Emulator): Fault => {
  const bare = describeTerminal(plain.terminal);
  const ours = describeTerminal(wrapped.terminal, 1);
  const keys = (Object.keys(bare) as (keyof typeof bare)[]).filter(
    (key) => !isDeepStrictEqual(bare[key], ours[key]),
  );
  if (keys.length > 0) return `not as without the footer: ${keys.join(', ')}`;
  return answersOf(plain) === answersOf(wrapped) ? undefined : 'not as without the footer: answers';
};

/** Plays the case in a terminal of the program's rows, and through the filter in one with a row more. */
export const play = async ({ columns, rows, isKnown, isOverdue, steps }: Case): Promise<Fault> => {
  const plain = makeEmulator(columns, rows, 4000);
  const wrapped = makeEmulator(columns, rows + 1, 4000);
  const quirks = quirksFromEnv({ TERM: 'xterm-256color' });
  const known = isKnown ? quirksFromDeviceAttributes(XTERM_JS, quirks) : quirks;
  const filter = makeStreamFilter(makeGrid(columns, rows, rows + 1, known));
  await wrapped.write(`\x1b[1;${rows}r`);
  const paint = async (isOverdue: boolean): Promise<Fault> => {
    const { grid, modeTracker } = filter;
    if (!filter.isGround() || grid.vt52) return undefined;
    const isDirty = grid.footerDirty || !grid.footerShown;
    if (!isDirty && textOf(wrapped, rows) !== FOOTER) return 'the footer row is not the footer’s';
    const hindrance = paintHindrance(grid, modeTracker);
    // without its last-column flag xterm.js erases a cell more
    const isBad = isKnown && hindrance === 'pending wrap';
    if (isBad || (!isOverdue && hindrance !== undefined)) return undefined;
    await wrapped.write(paintSequence(grid, modeTracker, toPrintable(FOOTER)));
    return textOf(wrapped, rows) === FOOTER ? footerFault(wrapped, rows) : 'the footer could not be painted';
  };
  let chunk = '';
  for (const { bytes, isEnd, isPainted } of [...steps, { bytes: END, isEnd: true, isPainted: true }]) {
    chunk += bytes;
    if (isEnd !== true) continue;
    await plain.write(bytesOf(chunk));
    for (const part of filter.push(bytesOf(chunk))) await wrapped.write(part);
    chunk = '';
    if (filter.grid.isCursorUnsure)
      await wrapped.write(placeCursor(filter.grid, cursorOf(wrapped, filter.grid)));
    const fault = footerFault(wrapped, rows) ?? (isPainted === true ? await paint(isOverdue) : undefined);
    if (fault !== undefined) return fault;
  }
  return isKnown ? differences(plain, wrapped) : undefined;
};
