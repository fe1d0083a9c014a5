import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { standardQuirks } from '../../src/terminal/filter/quirks.js';
import { nullLog } from '../../src/storage/log-file.js';
import { makeOutlet } from '../../src/wrap/notifier.js';
import type { Stage } from '../../src/wrap/terminal-session.js';

const makeScene = () => {
  const written: string[] = [];
  const filter = makeStreamFilter(makeGrid(80, 23, 24, standardQuirks));
  const errors: string[] = [];
  const stage = {
    filter,
    tty: { write: (bytes: string) => void written.push(bytes) },
    session: { log: { ...nullLog, error: (message: string) => void errors.push(message) } },
    verbatim: false,
  } as unknown as Stage;
  return { written, errors, filter, stage, outlet: makeOutlet(stage) };
};
const child = (text: string): Buffer => Buffer.from(text);

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

describe('what is sent beside the output of the child', () => {
  it('goes out at once between two sequences, and REP is told of it', () => {
    const { outlet, written, filter } = makeScene();
    filter.push(child('text'));
    outlet.send(() => 'A');
    outlet.send(() => 'B');
    vi.advanceTimersByTime(0);
    expect(written).toEqual(['AB']);
    expect(filter.grid.repeatLost).toBe(true);
  });

  it('waits for the end of a string of the child', () => {
    const { outlet, written, filter } = makeScene();
    filter.push(child('\x1b]0;half a ti'));
    outlet.send(() => 'A');
    vi.advanceTimersByTime(2_000);
    expect(written).toEqual([]);
    filter.push(child('tle\x07'));
    vi.advanceTimersByTime(30);
    expect(written).toEqual(['A']);
  });

  it('is given up where the string never ends, and nothing piles up', () => {
    const { outlet, written, filter } = makeScene();
    filter.push(child('\x1bPq'));
    for (let each = 0; each < 50; each += 1) outlet.send(() => `${each}`);
    vi.advanceTimersByTime(9_000);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(2_000);
    filter.push(child('\x1b\\'));
    vi.advanceTimersByTime(1_000);
    expect(written).toEqual([]);
    outlet.send(() => 'new');
    vi.advanceTimersByTime(0);
    expect(written).toEqual(['new']);
  });

  it('is made when the moment has come', () => {
    const { outlet, written, filter } = makeScene();
    filter.push(child('\x1b]0;t'));
    let mode = 'before';
    outlet.send(() => mode);
    mode = 'now';
    filter.push(child('\x07'));
    vi.advanceTimersByTime(30);
    expect(written).toEqual(['now']);
  });

  it('is left out where bytes go through untouched, and after the end', () => {
    const { outlet, written, stage } = makeScene();
    outlet.send(() => 'A');
    outlet.stop();
    vi.advanceTimersByTime(100);
    stage.verbatim = true;
    outlet.send(() => 'B');
    vi.advanceTimersByTime(100);
    expect(written).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that fails is in the log, and the session goes on', () => {
    const { outlet, errors } = makeScene();
    outlet.send(() => {
      throw new Error('broken');
    });
    vi.advanceTimersByTime(0);
    expect(errors[0]).toMatch(/^a notification failed: Error: broken/);
  });
});
