import { describe, expect, it } from 'vitest';
import { makeOverviewHarness } from '../support/overview-harness.js';

const [COLUMNS, ROWS] = [40, 12];
const WAIT_MS = 5_000;

const places = [
  [1, 1],
  [1, 2],
  [1, 16],
  [1, 17],
  [2, 17],
  [ROWS - 1, 17],
  [ROWS, 1],
  [ROWS, COLUMNS],
] as const;

describe.each([
  { terminal: 'a terminal with extended cursor reports', hasExtended: true },
  { terminal: 'a terminal without them', hasExtended: false },
])('in $terminal', ({ hasExtended }) => {
  it.each(places)('the cursor is found in row %i, column %i, and stays there', async (row, column) => {
    const run = makeOverviewHarness(COLUMNS, ROWS);
    const { terminal } = run.emulator;
    if (!hasExtended) terminal.parser.registerCsiHandler({ prefix: '?', final: 'n' }, () => true);
    run.write(`\x1b[${row};${column}H`);
    const expected = { row: row - 1, column: column - 1 };
    expect(await run.askAtStart(WAIT_MS)).toEqual(expected);
    expect(await run.parts.cursorQuery.ask('', WAIT_MS)).toEqual(expected);
    await run.drawn();
    expect([terminal.buffer.active.cursorY, terminal.buffer.active.cursorX]).toEqual([row - 1, column - 1]);
    expect(run.received()).toBe('');
    expect(run.sent().includes('\x1b[6n')).toBe(!hasExtended);
    run.stop();
  });
});

describe('a narrow terminal without extended cursor reports', () => {
  it.each([1, 14, 16])('of %i columns is not asked in a way whose report could be F3', async (columns) => {
    const run = makeOverviewHarness(columns, ROWS);
    run.emulator.terminal.parser.registerCsiHandler({ prefix: '?', final: 'n' }, () => true);
    expect(await run.askAtStart(WAIT_MS)).toBeUndefined();
    expect(await run.parts.cursorQuery.ask('', WAIT_MS)).toBeUndefined();
    expect(run.received()).toBe('');
    run.stop();
  });

  it('is asked once it is wide enough', async () => {
    const run = makeOverviewHarness(14, ROWS);
    run.emulator.terminal.parser.registerCsiHandler({ prefix: '?', final: 'n' }, () => true);
    expect(await run.askAtStart(WAIT_MS)).toBeUndefined();
    run.resize(17, ROWS + 1);
    expect(await run.parts.cursorQuery.ask('', WAIT_MS)).toEqual({ row: 0, column: 0 });
    expect(run.received()).toBe('');
    run.stop();
  });
});

describe('a terminal that has given an extended cursor report', () => {
  it('is not asked for a plain one when its next answer is lost', async () => {
    const run = makeOverviewHarness(COLUMNS, ROWS, {}, { isSilent: true });
    const first = run.askAtStart(WAIT_MS);
    run.type('\x1b[?1;5;1R\x1b[0n');
    expect(await first).toEqual({ row: 0, column: 4 });
    const second = run.parts.cursorQuery.ask('', WAIT_MS);
    run.type('\x1b[0n');
    expect(await second).toBeUndefined();
    expect(run.sent()).not.toContain('\x1b[6n');
    run.stop();
  });

  it('is asked again once when its answer at the start was late', async () => {
    const run = makeOverviewHarness(COLUMNS, ROWS, {}, { isSilent: true });
    run.stage.isCursorKnown = false;
    expect(await run.askAtStart(WAIT_MS)).toBeUndefined();
    const before = run.sent();
    run.type('\x1b[?1;5R\x1b[0n');
    expect(run.sent().slice(before.length)).toBe('\x1b[?6n\x1b[5n');
    run.type('\x1b[?1;5R\x1b[0n');
    expect(run.sent().slice(before.length)).toBe('\x1b[?6n\x1b[5n');
    expect(run.received()).toBe('');
    run.stop();
  });
});
