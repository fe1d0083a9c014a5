import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { own } from '../../src/core/printable.js';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { quirksFromDeviceAttributes, standardQuirks } from '../../src/terminal/filter/quirks.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { paintSequence, restoreTerminalSequence } from '../../src/terminal/footer-sequences.js';
import { describeTerminal, makeEmulator, type Emulator } from '../support/emulator.js';
import { casts } from '../support/casts.js';
import { runs } from '../support/runs.js';

const xtermJs = quirksFromDeviceAttributes('0;276;0', standardQuirks);

const lastContentRow = ({ terminal }: Emulator): number => {
  const { baseY } = terminal.buffer.normal;
  for (let row = terminal.rows - 1; row >= 0; row -= 1) {
    if (terminal.buffer.normal.getLine(baseY + row)?.translateToString(true)) return row;
  }
  return -1;
};

const isCursorHidden = ({ terminal }: Emulator): boolean =>
  (terminal as unknown as { _core: { coreService: { isCursorHidden: boolean } } })._core.coreService
    .isCursorHidden;

/** Filters a child's output, paints the footer, and restores the terminal as after the child died. */
const playAndDie = async (output: Uint8Array, columns: number, rows: number, knowsLastRow: boolean) => {
  const emulator = makeEmulator(columns, rows + 1);
  await emulator.write(`shell line\r\n\x1b[1;${rows}r\x1b[2;1H`);
  const grid = makeGrid(columns, rows, rows + 1, xtermJs);
  grid.row = 1;
  const filter = makeStreamFilter(grid);
  for (const part of filter.push(output)) await emulator.write(part);
  const contentRow = lastContentRow(emulator);
  const held = filter.flush();
  if (filter.isGround()) await emulator.write(paintSequence(grid, filter.modeTracker, own`FOOTER`));
  await emulator.write(held);
  const unterminated = !filter.isGround() || held.length > 0;
  const lastRow = knowsLastRow ? contentRow : undefined;
  await emulator.write(
    restoreTerminalSequence(grid, filter.modeTracker, { isStringOpen: unterminated, hasDied: true, lastRow }),
  );
  return emulator;
};

const expectTidy = async (emulator: Emulator): Promise<void> => {
  const { terminal } = emulator;
  const fresh = makeEmulator(terminal.cols, terminal.rows).terminal;
  const seen = describeTerminal(terminal);
  expect(seen.modes).toEqual({ ...fresh.modes });
  expect(seen.buffer).toBe('normal');
  expect(isCursorHidden(emulator)).toBe(false);
  expect(seen.rows.join('\n')).not.toContain('FOOTER');
  // the shell's output has no attributes and scrolls the whole screen
  await emulator.write(`\r\n${'x'.repeat(5)}${'\r\nlast'.repeat(terminal.rows)}`);
  expect(describeTerminal(terminal).rows.at(-1)).toBe('last');
};

const modeNumbers = [
  1, 5, 9, 45, 66, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1015, 1016, 2004, 2026, 2031, 2048, 1049,
];
const setEverything = modeNumbers.map((mode) => `\x1b[?${mode}h`);
const more = [
  '\x1b[?25l',
  '\x1b[?7l',
  '\x1b[4h',
  '\x1b[20h',
  '\x1b=',
  '\x1b[>1u',
  '\x1b[>4;2m',
  '\x1b[5 q',
  '\x1b[3;7r',
  '\x1b[?6h',
];
const last = [
  '\x0e',
  '\x1b(0',
  '\x1b[1;31;44m',
  '\x1b]8;;http://x\x1b\\',
  '\x1b]0;title\x07',
  'text',
  '\x1b]0;half',
  '\x1b[3',
];
const text = [
  'hello',
  'a\r\nb\r\nc',
  '\x1b[5;5Hthere',
  '\x1b[2J',
  '\x1b[?1049l',
  '\n\n\n\n\n\n\n\n\n\n\nrow',
];

describe('restoring the terminal at the end', () => {
  it('resets every mode after a child that died with all of them set', async () => {
    await expectTidy(
      await playAndDie(Buffer.from([...setEverything, ...more, ...last].join('')), 40, 10, true),
    );
  });

  it('resets whatever a child has set, in any order, with and without a screen model', async () => {
    const pieces = fc.array(fc.constantFrom(...setEverything, ...more, ...last, ...text), { maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(pieces, fc.boolean(), async (parts, knowsLastRow) => {
        await expectTidy(await playAndDie(Buffer.from(parts.join('')), 40, 10, knowsLastRow));
      }),
      runs(150, 20261121),
    );
  });

  it('scrolls nothing away for a cursor below what is not known: the row of the footer is free', async () => {
    const emulator = makeEmulator(40, 11);
    const grid = makeGrid(40, 10, 11, xtermJs);
    const { modeTracker } = makeStreamFilter(grid);
    await emulator.write('the only line\r\n');
    for (const lastRow of [undefined, Infinity]) {
      await emulator.write(
        restoreTerminalSequence(grid, modeTracker, { isStringOpen: false, hasDied: true, lastRow }),
      );
      expect(describeTerminal(emulator.terminal).rows[0]).toBe('the only line');
      expect(emulator.terminal.buffer.active.cursorY).toBe(10);
    }
  });

  it('leaves the cursor below the last output of any recording, cut off anywhere', async () => {
    const some = casts().filter((_, index) => index % 7 === 0);
    for (const { name, output, columns, rows } of some) {
      const cutAt = Math.floor(output.length * 0.6);
      const emulator = await playAndDie(output.subarray(0, cutAt), columns, rows, true);
      const cursor = emulator.terminal.buffer.active.cursorY;
      expect({ name, isBelow: cursor > lastContentRow(emulator) }).toEqual({ name, isBelow: true });
      await expectTidy(emulator);
    }
  });
});
