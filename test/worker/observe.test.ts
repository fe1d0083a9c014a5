import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Event } from '../../src/core/event.js';
import type { ScreenReader } from '../../src/agents/agent.js';
import { type AgentStatus, makeScreenReader } from '../../src/agents/agent.js';
import { makeObserver } from '../../src/worker/screen-reader.js';

const screen = {
  columns: 80,
  rows: 24,
  cursorRow: 0,
  cursorColumn: 0,
  alternate: false,
  text: () => '',
  styleAt: () => undefined,
};

/** An agent whose screen shows a percentage, or nothing. */
const makeAgent = () => {
  const agent = {
    percent: undefined as number | undefined,
    behind: false,
    midFrame: false,
    hasModel: true,
    looks: 0,
  };
  const read: ScreenReader = makeScreenReader(0, (state, { status }, now) => {
    agent.looks += 1;
    const reading = { usedPercent: agent.percent ?? 0, source: 'screen', at: now } as const;
    return {
      state,
      activity: { activity: status?.state === 'idle' ? 'ready' : 'unknown', witnesses: [] },
      facts: agent.percent === undefined ? [] : [{ type: 'reading', reading }],
    };
  });
  const model = {
    isBehind: () => agent.behind,
    isMidFrame: () => agent.midFrame,
    snapshot: () => (agent.hasModel ? { screen, signals: {} } : undefined),
  };
  return { agent, read, model };
};

const observing = (status?: () => Promise<AgentStatus | undefined>) => {
  const { agent, read, model } = makeAgent();
  const events: Event[] = [];
  const failures: unknown[] = [];
  const observer = makeObserver({
    model,
    read,
    status,
    onEvent: (event) => events.push(event),
    onFailure: (error) => failures.push(error),
  });
  const types = (): readonly string[] => events.splice(0).map(({ type }) => type);
  return { agent, observer, types, failures };
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the screen of a live agent', () => {
  it('says nothing any more, once, from when there is no model of it, and says it all again when there is', async () => {
    const { agent, observer, types } = observing(async () => ({ state: 'idle' }));
    const next = async (): Promise<readonly string[]> => {
      observer.noteOutput();
      await vi.advanceTimersByTimeAsync(3_000);
      return types().filter((type) => type !== 'output');
    };
    agent.percent = 40;
    await next();
    expect(observer.observe()?.activity).toBe('ready');
    types();
    agent.hasModel = false;
    expect(await next()).toEqual(['screen-blank', 'activity']);
    expect(observer.observe()).toBeUndefined();
    expect(await next()).toEqual([]);
    agent.hasModel = true;
    expect(await next()).toEqual(['reading', 'activity']);
    expect(observer.observe()?.activity).toBe('ready');
  });

  it('is looked at 50 ms after the last output', () => {
    const { agent, observer } = observing();
    for (let count = 0; count < 3; count += 1) {
      observer.noteOutput();
      vi.advanceTimersByTime(40);
    }
    expect(agent.looks).toBe(0);
    vi.advanceTimersByTime(10);
    expect(agent.looks).toBe(1);
  });

  it('is looked at every 250 ms while output does not stop', () => {
    const { agent, observer } = observing();
    for (let count = 0; count < 100; count += 1) {
      observer.noteOutput();
      vi.advanceTimersByTime(10);
    }
    expect(agent.looks).toBe(4);
  });

  it('is not read while nothing happens: no timer runs', async () => {
    const { agent, observer } = observing(async () => ({ state: 'idle' }));
    observer.noteOutput();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(agent.looks).toBe(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is not looked at while the model has not caught up', () => {
    const { agent, observer } = observing();
    agent.behind = true;
    observer.noteOutput();
    vi.advanceTimersByTime(5_000);
    expect(agent.looks).toBe(0);
    agent.behind = false;
    vi.advanceTimersByTime(50);
    expect(agent.looks).toBe(1);
  });

  it('is not looked at inside a frame, but soon after it', () => {
    const { agent, observer } = observing();
    agent.midFrame = true;
    observer.noteOutput();
    vi.advanceTimersByTime(400);
    expect(agent.looks).toBe(0);
    agent.midFrame = false;
    observer.noteOutput();
    vi.advanceTimersByTime(10);
    expect(agent.looks).toBe(1);
  });

  it('is looked at all the same when a frame never ends', () => {
    const { agent, observer } = observing();
    agent.midFrame = true;
    observer.noteOutput();
    vi.advanceTimersByTime(1_000);
    expect(agent.looks).toBe(1);
  });

  it('reports its number at each read, and once that it has disappeared', () => {
    const { agent, observer, types } = observing();
    const look = (percent: number | undefined): readonly string[] => {
      agent.percent = percent;
      observer.noteOutput();
      vi.advanceTimersByTime(100);
      return types().filter((type) => type !== 'output');
    };
    expect(look(undefined)).toEqual(['activity']);
    expect(look(50)).toEqual(['reading']);
    expect(look(50)).toEqual(['reading']);
    expect(look(undefined)).toEqual(['screen-blank']);
    expect(look(undefined)).toEqual([]);
  });

  it('reports at most once a second that the agent writes', () => {
    const { observer, types } = observing();
    for (let count = 0; count < 35; count += 1) {
      observer.noteOutput();
      vi.advanceTimersByTime(100);
    }
    expect(types().filter((type) => type === 'output')).toHaveLength(4);
  });

  it('is not read any more when its reader has failed, which is reported once', () => {
    const failures: unknown[] = [];
    let looks = 0;
    const observer = makeObserver({
      ...makeAgent(),
      read: () => {
        looks += 1;
        throw new Error('a bad row');
      },
      status: undefined,
      onEvent: () => undefined,
      onFailure: (error) => failures.push(error),
    });
    for (let count = 0; count < 5; count += 1) {
      observer.noteOutput();
      vi.advanceTimersByTime(1_000);
    }
    expect(looks).toBe(1);
    expect(failures).toEqual([new Error('a bad row')]);
  });

  it('is not read any more after the end', () => {
    const { agent, observer } = observing(async () => ({ state: 'idle' }));
    observer.noteOutput();
    observer.stop();
    observer.noteOutput();
    vi.advanceTimersByTime(5_000);
    expect(agent.looks).toBe(0);
  });
});

describe('the status file of a live agent', () => {
  it('is asked at most every 500 ms while the agent writes, and some times after', async () => {
    let asked = 0;
    const { observer } = observing(async () => {
      asked += 1;
      return { state: 'idle' };
    });
    for (let count = 0; count < 100; count += 1) {
      observer.noteOutput();
      await vi.advanceTimersByTimeAsync(20);
    }
    expect(asked).toBeLessThanOrEqual(5);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toBeLessThanOrEqual(10);
  });

  it('causes another read of the screen when it changes', async () => {
    let state = 'busy';
    const { observer, types } = observing(async () => ({ state }));
    observer.noteOutput();
    await vi.advanceTimersByTimeAsync(300);
    expect(types()).toEqual(['output', 'activity']);
    state = 'idle';
    await vi.advanceTimersByTimeAsync(1_000);
    expect(types()).toEqual(['activity']);
  });

  it('is asked while the screen is at rest for as long as it may change then', async () => {
    let status: AgentStatus = { state: 'busy', isSilent: true };
    let asked = 0;
    const { observer, types } = observing(async () => {
      asked += 1;
      return status;
    });
    observer.noteOutput();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(types()).toEqual(['output', 'activity']);
    status = { state: 'idle' };
    await vi.advanceTimersByTimeAsync(1_000);
    expect(types()).toEqual(['activity']);
    const before = asked;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toBe(before);
  });

  it('that cannot be read counts as none', async () => {
    const { observer, types, failures } = observing(() => Promise.reject(new Error('gone')));
    observer.noteOutput();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(types()).toEqual(['output', 'activity']);
    expect(failures).toEqual([]);
  });
});
