import { describe, expect, it } from 'vitest';
import type { Effect, Event } from '../../src/demo/state.js';
import { advance, demoDeadline, startDemo } from '../../src/demo/agent.js';
import type { Step } from '../../src/demo/script.js';
import { story } from '../../src/demo/script.js';

const brush = { size: { columns: 80, rows: 24 }, colors: true };

interface Timed {
  readonly at: number;
  readonly effect: Effect;
}

/** Plays a script with a hand clock until nothing is due any more. */
const playThrough = (steps: readonly Step[]): readonly Timed[] => {
  let demo = startDemo(brush, steps);
  const seen: Timed[] = [];
  let at: number | undefined = 0;
  let event: Event = { type: 'start' };
  while (at !== undefined) {
    const now: number = at;
    const advanced = advance(demo, event, now);
    demo = advanced.demo;
    seen.push(...advanced.effects.map((effect) => ({ at: now, effect })));
    if (advanced.effects.some(({ type }) => type === 'end')) return seen;
    const due: number | undefined = demoDeadline(demo, now);
    at = due === undefined ? undefined : Math.max(now, due);
    event = { type: 'tick' };
  }
  return seen;
};

const records = (seen: readonly Timed[]) =>
  seen.flatMap(({ effect }) => (effect.type === 'record' ? [effect.record] : []));

describe('the story', () => {
  const seen = playThrough(story);

  it('takes about a minute', () => {
    const last = seen.at(-1);
    expect(last?.effect).toEqual({ type: 'end', code: 0 });
    expect(last?.at).toBeGreaterThan(50_000);
    expect(last?.at).toBeLessThan(65_000);
  });

  it('passes through every tier of a 200k window and back', () => {
    const used = records(seen).map((record) =>
      record.type === 'turn' ? record.usedTokens : record.type === 'compaction' ? record.postTokens : 0,
    );
    // the boundaries of the ladder for an agent that never compacts by itself
    const tiers = used.map((tokens) => [147_000, 167_000, 177_000].filter((bound) => tokens >= bound).length);
    expect(tiers).toEqual([0, 0, 0, 0, 0, 1, 2, 3, 0, 0]);
  });

  it('erases row by row while it runs, never the rest of the screen', () => {
    const text = seen.slice(0, -3).map(({ effect }) => (effect.type === 'write' ? effect.text : ''));
    expect(text.join('')).not.toMatch(/\x1b\[\d*J/);
  });

  it('writes nothing when nothing changes', () => {
    const writes = seen.flatMap(({ effect }) => (effect.type === 'write' ? [effect.text] : []));
    expect(writes.filter((text) => text === '')).toEqual([]);
  });
});

describe('a full window', () => {
  it('takes no more turns until it is compacted', () => {
    const ask: readonly Step[] = [
      { step: 'type', text: 'more', everyMs: 0 },
      { step: 'key', key: 'enter' },
      { step: 'wait', until: 'idle' },
    ];
    const seen = playThrough([
      { step: 'fill', usedTokens: 199_000 },
      ...ask,
      ...ask,
      { step: 'type', text: '/compact', everyMs: 0 },
      { step: 'key', key: 'enter' },
      { step: 'wait', until: 'idle' },
      ...ask,
      { step: 'exit', code: 0 },
    ]);
    expect(records(seen).map(({ type }) => type)).toEqual(['turn', 'compaction', 'turn']);
    const text = seen.map(({ effect }) => (effect.type === 'write' ? effect.text : '')).join('');
    expect(text).toContain('Context is full: 199k of 200k used');
  });
});
