import { expect, it } from 'vitest';
import { makeOverlayHarness } from '../support/overlay-harness.js';
import { eventually } from '../support/eventually.js';

const COLUMNS = 80;
const ROWS = 20;

it('the screen is read as drawn when the terminal tells its cursor late, in the middle of the output', async () => {
  const { stage, model, parts, write, type, stop } = makeOverlayHarness(
    COLUMNS,
    ROWS,
    {},
    { isSilent: true },
  );
  const firstRow = (): string | undefined => model.snapshot()?.screen.text(0).trim();
  try {
    stage.isCursorKnown = false;
    expect(await parts.cursorQuery.askAtStart(0)).toBeUndefined();
    write(`\x1b[H\x1b[Jthe first row${'\x1b[10;1Hsome other row'.repeat(10_000)}\x1b[3;5H`);
    await eventually(() => expect(firstRow()).toBe('the first row'), { interval: 1 });
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
