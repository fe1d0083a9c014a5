import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeGrid } from '../../src/terminal/filter/grid.js';
import { makeStreamFilter } from '../../src/terminal/filter/filter.js';
import { standardQuirks } from '../../src/terminal/filter/quirks.js';
import { nullLog } from '../../src/storage/log-file.js';
import type { TerminalSession } from '../../src/main-thread/terminal-session.js';
import { makeIdleWriter } from '../../src/main-thread/idle-writer.js';

const makeScene = () => {
  const written: string[] = [];
  const filter = makeStreamFilter(makeGrid(80, 23, 24, standardQuirks));
  const errors: string[] = [];
  const terminal = {
    filter,
    tty: { write: (bytes: string) => void written.push(bytes) },
    session: { log: { ...nullLog, error: (message: string) => void errors.push(message) } },
    isPassthrough: false,
  } as unknown as TerminalSession;
  return { written, errors, filter, stage: terminal, outlet: makeIdleWriter(terminal) };
};
const child = (text: string): Buffer => Buffer.from(text);

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

describe('a sequence written in the gaps of the child’s output', () => {
  it('goes out at once between two sequences, and REP is told of it', () => {
    const { outlet: idleWriter, written, filter } = makeScene();
    filter.push(child('text'));
    idleWriter.send(() => 'A');
    idleWriter.send(() => 'B');
    vi.advanceTimersByTime(0);
    expect(written).toEqual(['AB']);
    expect(filter.grid.repeatLost).toBe(true);
  });

  it('waits for the end of a string of the child', () => {
    const { outlet: idleWriter, written, filter } = makeScene();
    filter.push(child('\x1b]0;half a ti'));
    idleWriter.send(() => 'A');
    vi.advanceTimersByTime(2_000);
    expect(written).toEqual([]);
    filter.push(child('tle\x07'));
    vi.advanceTimersByTime(30);
    expect(written).toEqual(['A']);
  });

  it('is given up where the string never ends, and nothing piles up', () => {
    const { outlet: idleWriter, written, filter } = makeScene();
    filter.push(child('\x1bPq'));
    for (let each = 0; each < 50; each += 1) idleWriter.send(() => `${each}`);
    vi.advanceTimersByTime(9_000);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(2_000);
    filter.push(child('\x1b\\'));
    vi.advanceTimersByTime(1_000);
    expect(written).toEqual([]);
    idleWriter.send(() => 'new');
    vi.advanceTimersByTime(0);
    expect(written).toEqual(['new']);
  });

  it('is made when it can be written', () => {
    const { outlet: idleWriter, written, filter } = makeScene();
    filter.push(child('\x1b]0;t'));
    let mode = 'before';
    idleWriter.send(() => mode);
    mode = 'now';
    filter.push(child('\x07'));
    vi.advanceTimersByTime(30);
    expect(written).toEqual(['now']);
  });

  it('is left out where bytes go through untouched, and after the end', () => {
    const { outlet: idleWriter, written, stage: terminal } = makeScene();
    idleWriter.send(() => 'A');
    idleWriter.stop();
    vi.advanceTimersByTime(100);
    terminal.isPassthrough = true;
    idleWriter.send(() => 'B');
    vi.advanceTimersByTime(100);
    expect(written).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that fails is in the log, and the session goes on', () => {
    const { outlet: idleWriter, errors } = makeScene();
    idleWriter.send(() => {
      throw new Error('broken');
    });
    vi.advanceTimersByTime(0);
    expect(errors[0]).toMatch(/^a notification failed: Error: broken/);
  });
});
