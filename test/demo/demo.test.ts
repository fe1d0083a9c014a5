import { describe, expect, it } from 'vitest';
import {
  advance,
  demoDeadline,
  startDemo,
  type DemoEvent,
  type SessionRecord,
} from '../../src/demo/agent.js';
import type { Key } from '../../src/demo/keys.js';
import { typePrompt, type Step } from '../../src/demo/script.js';
import { tourScript, tourTurns } from '../../src/demo/tour.js';
import { makeEmulator } from '../support/emulator.js';
import { rowsOf } from '../support/window.js';

/** How full the window is, by each record that tells. */
const usedIn = (records: readonly SessionRecord[]): readonly number[] =>
  records.flatMap((record) =>
    record.type === 'turn' ? record.usedTokens : record.type === 'compaction' ? record.postTokens : [],
  );

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

it('writes nothing when nothing changes', () => {
  const { demo } = advance(startDemo(brush, []), { type: 'start' }, 0);
  expect(advance(demo, { type: 'tick' }, 1_000).output).toBe('');
});

/** What the real user, ctxwrap or its overview does in a tour, at a time since the start. */
type Happening = readonly [at: number, event: DemoEvent];

const typed = (text: string): readonly DemoEvent[] =>
  [{ name: 'text', text } as const, { name: 'enter' } as const].map((key) => ({
    type: 'key',
    key,
    isReal: true,
  }));

const pressed = (key: Key): DemoEvent => ({ type: 'key', key, isReal: true });

/** Plays the tour while other things happen, in order. */
const playTour = (...happenings: readonly Happening[]) => {
  let demo = startDemo(brush, tourScript, tourTurns('auto'));
  const outputs: string[] = [];
  const records: SessionRecord[] = [];
  const ahead = [...happenings];
  let at = 0;
  let event: DemoEvent = { type: 'start' };
  for (;;) {
    const advanced = advance(demo, event, at);
    demo = advanced.demo;
    outputs.push(advanced.output);
    records.push(...advanced.records);
    if (demo.agent.end) return { outputs, records, endedAt: at };
    const due = demoDeadline(demo, at) ?? Infinity;
    const next = ahead[0];
    if (next && next[0] <= Math.max(at, due)) {
      ahead.shift();
      [at, event] = [Math.max(at, next[0]), next[1]];
    } else {
      if (due === Infinity) throw new Error('it waits for ever');
      [at, event] = [Math.max(at, due), { type: 'tick' }];
    }
  }
};

describe('the tour', () => {
  const compact: readonly Happening[] = typed('/compact').map((event) => [16_000, event] as const);

  it('has a number before the first prompt, and passes warn and auto', () => {
    const { records } = playTour(...compact, [25_000, { type: 'over' }]);
    expect(usedIn(records)[0]).toBe(12_180);
    expect(usedIn(records)).toEqual([
      12_180, 36_480, 62_580, 85_980, 108_480, 149_480, 151_380, 155_680, 169_020, 169_300, 13_873,
    ]);
  });

  it.each([
    ['auto', 'ctxwrap counts down'],
    ['ask', 'ctxwrap suggests compacting'],
    ['warn', 'ctxwrap only shows it'],
    ['off', 'ctxwrap is off'],
  ])('says in mode %s what ctxwrap does about the full window', (mode, words) => {
    expect(tourTurns(mode)[1]?.answer).toContain(words);
  });

  it('waits for the compaction that ctxwrap types, and for the end of the overview, and quits', () => {
    const { records, endedAt } = playTour(...compact, [25_000, { type: 'over' }]);
    expect(records.at(-1)).toMatchObject({ type: 'compaction' });
    expect(endedAt).toBeGreaterThan(25_000);
    expect(endedAt).toBeLessThan(35_000);
  });

  it('forgets the rule of its first prompt, and sends what is then given back', () => {
    const { records, endedAt } = playTour(
      ...compact,
      [25_000, { type: 'over' }],
      [28_000, pressed({ name: 'text', text: 'Your summary left this out: Never push to main.' })],
    );
    const said = records.flatMap((record) => (record.type === 'prompt' ? [record.text] : []));
    const summary = records.find((record) => record.type === 'compaction')?.summary;
    expect(said[0]).toContain('Never push to main.');
    expect(summary).not.toContain('push');
    expect(summary).toContain('Always run npm test after an edit.');
    expect(said.at(-1)).toBe('Your summary left this out: Never push to main.');
    expect(
      records.find((record) => record.type === 'answer' && record.text.includes('forgotten')),
    ).toBeDefined();
    expect(endedAt).toBeLessThan(36_000);
  });

  it('goes on to hard after "not now", and quits without a compaction', () => {
    const { records, endedAt } = playTour();
    expect(usedIn(records).at(-1)).toBe(179_000);
    expect(endedAt).toBeLessThan(60_000);
  });

  it('erases row by row while it runs, never the rest of the screen', () => {
    expect(playTour().outputs.slice(0, -1).join('')).not.toMatch(/\x1b\[\d*J/);
  });

  it('can be seen only in whole frames, also in a terminal that reads them in pieces', async () => {
    const emulator = makeEmulator(brush.size.columns, brush.size.rows);
    for (const output of playTour().outputs.slice(0, 60)) {
      const before = rowsOf(emulator);
      const seen: (readonly string[])[] = [];
      for (const piece of output.match(/[^]{1,37}/gu) ?? []) {
        await emulator.write(piece);
        if (!emulator.terminal.modes.synchronizedOutputMode) seen.push(rowsOf(emulator));
      }
      const after = rowsOf(emulator);
      for (const rows of seen) expect([before, after]).toContainEqual(rows);
    }
  });

  it.each([{ key: { name: 'text', text: 'q' } as const }, { key: { name: 'ctrl-c' } as const }])(
    '$key.name ends it at any time: while it types, while it works, and while it waits',
    ({ key }) => {
      for (const at of [100, 1_100, 4_000, 12_000]) expect(playTour([at, pressed(key)]).endedAt).toBe(at);
    },
  );

  it('leaves a q alone that is in the middle of a text', () => {
    const text = pressed({ name: 'text', text: 'uni' });
    const { endedAt } = playTour([12_000, text], [12_100, pressed({ name: 'text', text: 'q' })]);
    expect(endedAt).toBeGreaterThan(12_100);
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
    const types = records.map(({ type }) => type).filter((type) => type === 'turn' || type === 'compaction');
    expect(types).toEqual([...Array.from({ length: 9 }, () => 'turn'), 'compaction', 'turn']);
    expect(outputs.join('')).toContain('Context is full: 196k of 200k used');
  });
});
