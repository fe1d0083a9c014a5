import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordUsage, emptyUsage } from '../../src/core/report/history.js';
import { usageCells } from '../../src/ui/UsageChart.js';
import type { UsageHistory, UsageUpdate } from '../../src/core/report/history.js';
import { runs } from '../support/runs.js';

const history = (...notes: readonly UsageUpdate[]): UsageHistory => notes.reduce(recordUsage, emptyUsage);
const at = (seconds: number, usedPercent: number, mark = false): UsageUpdate => ({
  at: seconds * 1_000,
  fill: { usedPercent },
  mark,
});
const gap = (seconds: number, mark = false): UsageUpdate => ({ at: seconds * 1_000, fill: undefined, mark });
const line = (known: UsageHistory, seconds: number, count: number): readonly (number | undefined)[] =>
  usageCells(known, seconds * 1_000, count).map(({ share }) => share);

describe('the history of usage', () => {
  it('is empty until the first number', () => {
    const known = history(gap(0), gap(5));
    expect(known).toBe(emptyUsage);
    expect(usageCells(known, 10_000, 10)).toEqual([]);
  });

  it('is the same object when nothing is new', () => {
    const known = history(at(0, 10), gap(20, true));
    expect(recordUsage(known, gap(30))).toBe(known);
    const again = history(at(0, 10));
    expect(recordUsage(again, at(9, 10))).toBe(again);
  });

  it('holds a number until the next one, and shows nothing where there was none', () => {
    expect(line(history(at(0, 10), at(50, 20), gap(70), at(90, 5)), 100, 10)).toEqual([
      ...Array<number>(5).fill(0.1),
      0.2,
      0.2,
      undefined,
      undefined,
      0.05,
    ]);
  });

  it('shows the peak of each cell, however short it was', () => {
    expect(line(history(at(0, 10), at(41, 90), at(42, 12)), 100, 4)).toEqual([0.1, 0.9, 0.12, 0.12]);
  });

  it('marks the compactions where they were', () => {
    const known = history(at(0, 80), gap(50, true), at(60, 5), gap(99, true));
    const marked = usageCells(known, 100_000, 10).map(({ isMarked }) => isMarked);
    expect(marked.flatMap((is, cell) => (is ? [cell] : []))).toEqual([5, 9]);
  });

  it('is in tokens against the most of them where no percentage is known', () => {
    const known = history(
      { at: 0, fill: { usedTokens: 10_000 } },
      { at: 5_000, fill: { usedTokens: 40_000 } },
    );
    expect(line(known, 10, 2)).toEqual([0.25, 1]);
  });

  it('never reaches above the window', () => {
    expect(line(history(at(0, 130)), 10, 1)).toEqual([1]);
  });

  it('joins what is closer than a step, but neither a drop nor two sides of a compaction', () => {
    expect(history(at(0, 10), at(0.4, 11), at(0.8, 12)).samples).toHaveLength(1);
    expect(history(at(0, 80), at(0.4, 10)).samples).toHaveLength(2);
    expect(history(at(0, 80), at(0.4, 79, true)).samples).toHaveLength(2);
    expect(history(at(0, 80), gap(0.4)).samples).toHaveLength(2);
  });

  it('keeps the course of a day in bounded memory, and its older half as fine as its newer one', () => {
    const hours = 24;
    const notes = Array.from({ length: hours * 360 }, (_, index) =>
      at(index * 10, 10 + ((index / 90) % 80), index % 7_200 === 7_199),
    );
    const { samples } = history(...notes);
    expect(samples.length).toBeLessThanOrEqual(240);
    const half = (hours * 3_600_000) / 2;
    const older = samples.filter((each) => each.at < half).length;
    expect(older).toBeGreaterThan(samples.length / 3);
    expect(older).toBeLessThan((samples.length * 2) / 3);
  });

  const anyNote = fc.record({
    wait: fc.integer({ min: 0, max: 600_000 }),
    fill: fc.option(
      fc.oneof(
        fc.record({ usedPercent: fc.integer({ min: 0, max: 100 }) }),
        fc.record({ usedTokens: fc.nat(300_000) }),
      ),
      { nil: undefined },
    ),
    mark: fc.boolean(),
  });

  it('is bounded, in order and drawn in any number of cells, whatever happens', () => {
    fc.assert(
      fc.property(fc.array(anyNote, { maxLength: 900 }), fc.integer({ min: 1, max: 400 }), (notes, count) => {
        let now = 0;
        let known = emptyUsage;
        for (const { wait, ...note } of notes) {
          now += wait;
          known = recordUsage(known, { ...note, at: now });
          expect(known.samples.length).toBeLessThanOrEqual(240);
          expect(known.marks.length).toBeLessThanOrEqual(60);
        }
        const times = known.samples.map(({ at: each }) => each);
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        expect(known.samples.at(-1)?.fill).toEqual(notes.findLast(() => true)?.fill);
        const cells = usageCells(known, now, count);
        expect(cells).toHaveLength(times.length === 0 ? 0 : count);
        for (const { share = 0 } of cells) expect(share >= 0 && share <= 1).toBe(true);
      }),
      runs(60),
    );
  });
});
