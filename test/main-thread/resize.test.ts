import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeOverviewHarness, shown, shownPlainly } from '../support/overview-harness.js';
import { eventually } from '../support/eventually.js';

const COLUMNS = 80;
const ROWS = 20;

it('the screen is read as drawn when the terminal tells its cursor late, in the middle of the output', async () => {
  const { stage, model, askAtStart, write, type, stop } = makeOverviewHarness(
    COLUMNS,
    ROWS,
    {},
    { isSilent: true },
  );
  const firstRow = (): string | undefined => model.snapshot()?.screen.text(0).trim();
  try {
    stage.isCursorKnown = false;
    expect(await askAtStart(0)).toBeUndefined();
    write(`\x1b[H\x1b[Jthe first row${'\x1b[10;1Hsome other row'.repeat(10_000)}\x1b[3;5H`);
    while (firstRow() !== 'the first row') await nextTurn(); // between two slices of what is parsed
    expect(model.isBehind()).toBe(true);
    type('\x1b[?1;1R'); // the late answer, after which the wrapper asks again
    type('\x1b[?3;5R');
    await eventually(() => expect(stage.isCursorKnown).toBe(true));
    await model.settled();
    expect(firstRow()).toBe('the first row');
    expect(model.snapshot()?.screen.cursorRow).toBe(2);
  } finally {
    stop();
  }
});

describe('the output of a child whose terminal has told its cursor late', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** The first answer takes 80 ms. */
  const askedAgain = async () => {
    const run = makeOverviewHarness(COLUMNS, ROWS, {}, { isSilent: true });
    run.stage.isCursorKnown = false;
    const asked = run.askAtStart();
    await vi.advanceTimersByTimeAsync(80);
    expect(await asked).toBeUndefined();
    run.type('\x1b[?1;1R\x1b[0n');
    expect(run.parts.output.hasHeldBytes()).toBe(true);
    return run;
  };

  it('waits for the second answer three times as long as for the first one, and no longer', async () => {
    const { parts, stop } = await askedAgain();
    await vi.advanceTimersByTimeAsync(239);
    expect(parts.output.hasHeldBytes()).toBe(true);
    await vi.advanceTimersByTimeAsync(2); // with what the terminal has said in the last one
    expect(parts.output.hasHeldBytes()).toBe(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(parts.output.hasHeldBytes()).toBe(false);
    stop();
  });

  it('does not wait when the session ends: it may be the last output', async () => {
    const { parts, write, sent, stop } = await askedAgain();
    write('the last line');
    expect(sent()).not.toContain('the last line');
    await parts.resize.stop();
    expect(sent()).toContain('the last line');
    stop();
  });

  it('waits once more where the second answer has come later still, and then the cursor is known', async () => {
    const { stage, parts, type, stop } = await askedAgain();
    await vi.advanceTimersByTimeAsync(300);
    type('\x1b[?1;1R\x1b[0n');
    await vi.advanceTimersByTimeAsync(300);
    expect([stage.isCursorKnown, parts.output.hasHeldBytes()]).toEqual([false, true]);
    type('\x1b[?4;2R\x1b[0n');
    await vi.advanceTimersByTimeAsync(0);
    expect([stage.isCursorKnown, parts.output.hasHeldBytes()]).toEqual([true, false]);
    expect(stage.filter.grid).toMatchObject({ row: 3, column: 1 });
    stop();
  });

  it('waits no more where even the longest wait was too short', async () => {
    const { parts, type, stop } = await askedAgain();
    await vi.advanceTimersByTimeAsync(900);
    type('\x1b[?1;1R\x1b[0n');
    await vi.advanceTimersByTimeAsync(1_200);
    type('\x1b[?1;1R\x1b[0n');
    expect(parts.output.hasHeldBytes()).toBe(false);
    stop();
  });
});

describe('a cursor that has wrapped backwards', () => {
  const long = `\x1b[?45h\x1b[3;1H${'x'.repeat(COLUMNS + 5)}\r`;

  it('is asked for before anything else is written', async () => {
    const harness = makeOverviewHarness(COLUMNS, ROWS);
    const { stage, parts, write, stop } = harness;
    const { grid } = stage.filter;
    try {
      const chunks = [`${long}\b`, 'yz', '\r\b', '\b\x1b7\x1b[9;1H\x1b8', 'w'];
      for (const chunk of chunks) write(chunk);
      expect(parts.output.hasHeldBytes()).toBe(true);
      await eventually(() => expect(parts.output.hasHeldBytes()).toBe(false), { interval: 1 });
      const wrapped = await shown(harness);
      expect(wrapped).toEqual(await shownPlainly(chunks.join(''), COLUMNS, ROWS));
      expect({ row: grid.row, column: grid.column }).toEqual(wrapped.cursor);
      expect(grid.isCursorUnsure).toBe(false);
    } finally {
      stop();
    }
  });

  it.each([
    ['has not told its cursor at the start', ''],
    ['does not answer during a synchronized update', '\x1b[?2026h'],
  ])('is put where the filter has it in a terminal that %s', async (_, before) => {
    const { stage, parts, emulator, write, sent, drawn, stop } = makeOverviewHarness(COLUMNS, ROWS);
    stage.isCursorKnown = before !== '';
    try {
      write(`${before}${long}\b`);
      await parts.resize.stop();
      await drawn();
      expect(sent()).not.toContain('\x1b[6n');
      expect(stage.filter.grid).toMatchObject({ row: 3, column: 0, isCursorUnsure: false });
      expect(emulator.terminal.buffer.active).toMatchObject({ cursorY: 3, cursorX: 0 });
    } finally {
      stop();
    }
  });

  it('loses no output when the session ends meanwhile', async () => {
    const { stage, parts, sent, write, stop } = makeOverviewHarness(COLUMNS, ROWS);
    try {
      for (const name of ['one', 'two', 'three']) write(`${long}\b<${name}>`);
      await parts.resize.stop();
      await Promise.resolve(); // the output is released
      expect(sent().match(/<\w+>/g)).toEqual(['<one>', '<two>', '<three>']);
      expect(stage.filter.isComplete()).toBe(true);
    } finally {
      stop();
    }
  });
});
