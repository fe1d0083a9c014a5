import { describe, expect, it } from 'vitest';
import {
  advance,
  demoDeadline,
  startDemo,
  type DemoEvent,
  type SessionRecord,
} from '../../src/demo/agent.js';
import { typePrompt, demoScript, type Step } from '../../src/demo/script.js';

const brush = { size: { columns: 80, rows: 24 }, hasColors: true };

/** Plays a script with a manual clock until the agent quits. */
const playThrough = (steps: readonly Step[]) => {
  let demo = startDemo(brush, steps);
  const outputs: string[] = [];
  const records: SessionRecord[] = [];
  let at = 0;
  let event: DemoEvent = { type: 'start' };
  for (;;) {
    const advanced = advance(demo, event, at);
    demo = advanced.demo;
    outputs.push(advanced.output);
    records.push(...advanced.records);
    if (demo.agent.end) return { outputs, records, endedAt: at };
    const due = demoDeadline(demo, at);
    if (due === undefined) throw new Error('it waits for ever');
    at = Math.max(at, due);
    event = { type: 'tick' };
  }
};

describe('the demo script', () => {
  const { outputs, records, endedAt } = playThrough(demoScript);

  it('takes about a minute', () => {
    expect(endedAt).toBeGreaterThan(50_000);
    expect(endedAt).toBeLessThan(65_000);
  });

  it('passes through every tier of a 200k window and back', () => {
    const used = records.map((record) => (record.type === 'turn' ? record.usedTokens : record.postTokens));
    // the boundaries of the ladder for an agent without a compaction of its own
    const tiers = used.map((tokens) => [147_000, 167_000, 177_000].filter((bound) => tokens >= bound).length);
    expect(tiers).toEqual([0, 0, 0, 0, 0, 1, 2, 3, 0, 0]);
  });

  it('erases row by row while it runs, never the rest of the screen', () => {
    expect(outputs.slice(0, -1).join('')).not.toMatch(/\x1b\[\d*J/);
  });

  it('writes nothing when nothing changes', () => {
    const { demo } = advance(startDemo(brush, []), { type: 'start' }, 0);
    expect(advance(demo, { type: 'tick' }, 1_000).output).toBe('');
  });
});

describe('a full window', () => {
  it('takes no more turns until it is compacted', () => {
    const more: readonly Step[] = [...typePrompt('more'), { until: 'idle' }];
    const { outputs, records } = playThrough([
      ...Array.from({ length: 11 }, () => more).flat(),
      ...typePrompt('/compact'),
      { until: 'idle' },
      ...more,
      ...typePrompt('/quit'),
    ]);
    const types = records.map(({ type }) => type);
    expect(types).toEqual([...Array.from({ length: 9 }, () => 'turn'), 'compaction', 'turn']);
    expect(outputs.join('')).toContain('Context is full: 196k of 200k used');
  });
});
