import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { makeAlarm } from '../../src/storage/timing.js';

beforeEach(() => void vi.useFakeTimers({ now: 1_000 }));
afterEach(() => void vi.useRealTimers());

describe('the alarm', () => {
  const rings: number[] = [];
  const make = () => {
    rings.length = 0;
    return makeAlarm(Date.now, () => rings.push(Date.now()));
  };

  it('fires once, at the time that was set last', () => {
    const alarm = make();
    alarm.set(5_000);
    alarm.set(3_000);
    vi.advanceTimersByTime(60_000);
    expect(rings).toEqual([3_000]);
  });

  it('fires soon for a time that has passed, but never at once', () => {
    make().set(500);
    expect(rings).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(rings).toEqual([1_001]);
  });

  it('does not fire at once for a time that is months away', () => {
    make().set(1_000 + 2 ** 40);
    vi.advanceTimersByTime(30_000);
    expect(rings).toEqual([]);
  });

  it('can be cleared, and never fires after it was stopped', () => {
    const alarm = make();
    alarm.set(2_000);
    alarm.set(undefined);
    vi.advanceTimersByTime(5_000);
    alarm.set(7_000);
    alarm.stop();
    alarm.set(8_000);
    vi.advanceTimersByTime(60_000);
    expect(rings).toEqual([]);
  });
});
