import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Terminal } from '@xterm/headless';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { casts, type Cast } from '../support/casts.js';
import { describeTerminal, makeEmulator } from '../support/emulator.js';
import { makeOverviewHarness } from '../support/overview-harness.js';
import { runs } from '../support/runs.js';

const MOMENTS = runs(60).numRuns;
const WATCHED = 4; // compare after every so many openings
const PATIENCE_MS = 500; // the overview does not wait for a gap any longer
const GAP = 16; // bytes between two checks for a gap

/** Where the overview is opened, and after how many bytes it is closed; the same in each run. */
const momentsOf = ({ output }: Cast, seed: number): readonly { at: number; closeAt: number }[] => {
  const offsets = fc.sample(fc.nat({ max: output.length }), { numRuns: 2 * MOMENTS, seed });
  const sorted = offsets.sort((one, other) => one - other);
  return Array.from({ length: MOMENTS }, (_, index) => ({
    at: sorted[2 * index] ?? 0,
    closeAt: sorted[2 * index + 1] ?? output.length,
  }));
};

/** The following text combines with the character before it, which no terminal supports after the cursor has moved. */
const isMark = (output: Uint8Array, at: number): boolean =>
  /^(?:\p{M}|\u200d)/u.test(Buffer.from(output.subarray(at, at + 4)).toString());

/** A fast comparison; everything is compared at the end. */
const glanceAt = (terminal: Terminal, rows: number) => {
  const { active } = terminal.buffer;
  return {
    text: Array.from({ length: rows }, (_, row) =>
      active.getLine(active.baseY + row)?.translateToString(true),
    ),
    cursor: [active.cursorY, Math.min(active.cursorX, terminal.cols - 1)],
    modes: { ...terminal.modes },
  };
};

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

const recordings = casts().map((cast, index) => ({ ...cast, index }));

describe('an overview opened and closed at many moments', () => {
  it.each(recordings)('leaves no trace in $name', async ({ index, ...cast }) => {
    const { columns, rows, output } = cast;
    const plain = makeEmulator(columns, rows);
    const run = makeOverviewHarness(columns, rows);
    let opened = 0;
    let written = 0;
    const playTo = (end: number): void => {
      if (end <= written) return;
      run.write(output.subarray(written, end));
      void plain.write(output.subarray(written, end));
      written = end;
    };
    const drawn = async (): Promise<void> => {
      while (run.parts.output.hasHeldBytes()) await run.model.settled();
      await plain.write('');
      await run.drawn();
    };
    for (const [moment, { at, closeAt }] of momentsOf(cast, index).entries()) {
      const isWatched = moment % WATCHED === 0;
      playTo(at);
      run.overview.open();
      if (moment % 2 === 0 && run.stage.filter.isComplete() && !isMark(output, written)) {
        vi.advanceTimersByTime(PATIENCE_MS); // it opens in the middle of a frame, too
        run.overview.noteOutput();
      }
      if (run.stage.filter.grid.alternate) {
        await run.model.settled(); // the overview waits for the same, and then saves the screen
        await nextTurn();
      }
      while (!run.stage.overviewOutput && written < closeAt) playTo(Math.min(closeAt, written + GAP));
      if (run.stage.overviewOutput) opened += 1;
      playTo(closeAt);
      run.overview.close();
      if (!isWatched) continue;
      await drawn();
      expect(glanceAt(run.emulator.terminal, rows)).toEqual(glanceAt(plain.terminal, rows));
    }
    playTo(output.length);
    await drawn();
    await drawn(); // answers may have been written meanwhile
    expect(describeTerminal(run.emulator.terminal, 1)).toEqual(describeTerminal(plain.terminal));
    expect(run.received()).toBe(plain.answers());
    expect(opened).toBeGreaterThan(MOMENTS / 10); // short recordings have little room between two openings
    run.stop();
  });
});
