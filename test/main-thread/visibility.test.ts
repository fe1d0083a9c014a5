// What the user can see of the wrapper, in a terminal drawn in memory.
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { FooterView } from '../../src/core/footer-view.js';
import { makeVisibilityCheck } from '../../src/main-thread/footer.js';
import { switchToPassthrough } from '../../src/main-thread/route.js';
import type { OverviewContents } from '../../src/main-thread/overview.js';
import { lastDrawnRow, makeOverviewHarness, type OverviewHarness } from '../support/overview-harness.js';
import { plainDrawing } from '../support/drawn-footer.js';
import { eventually } from '../support/eventually.js';

const [COLUMNS, ROWS] = [60, 14];
const view: FooterView = {
  runtime: 'claude',
  usedPercent: 84,
  tier: 'auto',
  estimated: false,
  windowInferred: false,
  compactions: 0,
  words: 'compacting in 9 s · Esc: not now',
  due: 'countdown',
};
const words = (text: string): FooterView => ({ ...view, words: text });

let run: OverviewHarness;
const start = (contents: Partial<OverviewContents> = {}) => {
  run = makeOverviewHarness(COLUMNS, ROWS, contents);
  return { ...run, sight: makeVisibilityCheck(run.parts) };
};
afterEach(() => {
  run.stop();
  vi.useRealTimers();
});

/** The footer is on the screen. */
const painted = async (next = view): Promise<void> => {
  run.parts.footer.show(plainDrawing(next, run.stage.filter.grid.columns));
  await vi.waitFor(() => expect(run.parts.footer.isPainted()).toBe(true), { timeout: 5_000, interval: 5 });
};
const resized = async (columns: number, rows: number): Promise<void> => {
  run.resize(columns, rows);
  await vi.waitFor(() => expect(run.parts.resize.check()).toBe(false), { timeout: 5_000, interval: 5 });
};
/** Advances the clock of paints and timeouts. */
const later = (milliseconds: number): void => void vi.advanceTimersByTime(milliseconds);

describe('a countdown', () => {
  it('is seen when its row is on the screen', async () => {
    const { sight } = start();
    await painted();
    expect(sight()).toBeUndefined();
    await run.drawn();
    expect(lastDrawnRow(run)).toContain('compacting in 9 s');
  });

  it('is not seen where nothing was ever painted', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { sight } = start();
    expect(sight()).toBeUndefined(); // it may only be late
    later(1_499);
    expect(sight()).toBeUndefined();
    later(1);
    expect(sight()).toBe('undrawn');
  });

  it('is not seen while the child prevents painting its row', async () => {
    const { sight, write } = start();
    await painted();
    write('\x1b[?69h'); // side margins would cut the footer off
    vi.useFakeTimers({ toFake: ['performance'] });
    run.parts.footer.show(plainDrawing(words('compacting in 8 s · Esc: not now'), COLUMNS));
    expect(sight()).toBeUndefined();
    later(1_500);
    expect(sight()).toBe('undrawn');
    vi.useRealTimers();
    write('\x1b[?69l');
    await painted();
    expect(sight()).toBeUndefined();
  });

  it('is not seen while the terminal accepts nothing', async () => {
    const { sight, stage: terminal } = start();
    await painted();
    Object.assign(terminal.tty, { pending: () => 100 });
    vi.useFakeTimers({ toFake: ['performance'] });
    expect(sight()).toBeUndefined();
    later(1_500);
    expect(sight()).toBe('undrawn');
    Object.assign(terminal.tty, { pending: () => 0 });
    expect(sight()).toBeUndefined();
  });

  it('is not seen where the footer is hidden', async () => {
    const { sight, stage: terminal } = start();
    await painted();
    terminal.isFooterWanted = false;
    expect(sight()).toBe('off');
  });

  it('is not seen when the footer was given up', async () => {
    const { sight, stage: terminal } = start();
    await painted();
    switchToPassthrough(terminal, run.parts.footer);
    expect(sight()).toBe('failed');
  });

  it.each([
    { what: 'a page that shows what happens next', showsNext: true, unseen: undefined },
    { what: 'another page', showsNext: false, unseen: 'covered' },
  ])('below an overview, with $what: $unseen', async ({ showsNext, unseen }) => {
    const { sight, overview } = start({ showsNext: () => showsNext });
    await painted();
    overview.open();
    await eventually(() => expect(run.stage.overviewOutput).toBeDefined());
    expect(sight()).toBe(unseen);
    overview.close();
    await painted();
    expect(sight()).toBeUndefined();
  });

  it('can be stopped by Esc also in the moment after a change of size, in which its row is drawn again', async () => {
    const { parts } = start();
    await painted();
    await resized(50, ROWS);
    expect(parts.footer.countsDown()).toBe(true);
  });

  it('is not seen while its row is the one of a wider terminal, which may be cut', async () => {
    const { sight } = start();
    await painted();
    await resized(24, ROWS);
    vi.useFakeTimers({ toFake: ['performance'] });
    expect(sight()).toBeUndefined(); // the worker may only be late
    later(1_500);
    expect(sight()).toBe('undrawn');
    vi.useRealTimers();
    await painted();
    expect(sight()).toBeUndefined();
  });

  it.each([
    { columns: 60, rows: 8, isShown: true, unseen: undefined },
    { columns: 20, rows: 8, isShown: true, unseen: undefined },
    { columns: 60, rows: 7, isShown: false, unseen: undefined },
    { columns: 20, rows: 4, isShown: false, unseen: undefined },
    { columns: 60, rows: 3, isShown: false, unseen: 'small' },
    { columns: 19, rows: 24, isShown: false, unseen: 'small' },
  ])(
    'in $columns × $rows, where the footer always is: $isShown',
    async ({ columns, rows, isShown, unseen }) => {
      const { sight, stage: terminal } = start();
      await painted();
      await resized(columns, rows);
      if (isShown) await painted();
      expect(sight()).toBe(unseen);
      await run.drawn();
      expect(lastDrawnRow(run).includes('compacting in')).toBe(isShown);
      terminal.isRowWanted = true; // a compaction is due
      await resized(columns, rows);
      if (unseen === undefined) await painted();
      expect(sight()).toBe(unseen);
      await run.drawn();
      expect(lastDrawnRow(run).includes('compacting in')).toBe(unseen === undefined);
    },
  );
});
