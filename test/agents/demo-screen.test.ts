// The demo agent played with a hand clock, and what its runtime makes of each screen.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/demo/state.js';
import { advance, demoDeadline, startDemo } from '../../src/demo/agent.js';
import { parseScript } from '../../src/demo/script.js';
import { demoScreen } from '../../src/agents/demo/agent.js';
import { runtimes } from '../../src/agents/index.js';
import { makeScreen } from '../../src/terminal/screen.js';
import { readLines } from '../support/read-log.js';

const size = { columns: 80, rows: 24 };

interface Look {
  readonly activity: string;
  readonly prompt: string | undefined;
  readonly facts: readonly string[];
}

/** What is seen after each step of the clock; a script that waits for keys ends there. */
const play = async (
  ...steps: readonly object[]
): Promise<{ looks: readonly Look[]; records: readonly string[] }> => {
  const screen = makeScreen(size, () => '');
  let demo = startDemo({ size, colors: true }, parseScript(JSON.stringify(steps)));
  let read = demoScreen.reader({});
  const looks: Look[] = [];
  const records: string[] = [];
  let event: Event = { type: 'start' };
  let now: number | undefined = 0;
  while (now !== undefined && now < 60_000) {
    const advanced = advance(demo, event, now);
    demo = advanced.demo;
    for (const effect of advanced.effects) {
      if (effect.type === 'write') screen.feed(Buffer.from(effect.text));
      if (effect.type === 'record') records.push(JSON.stringify({ ...effect.record, at: now }));
    }
    await screen.settled();
    const seen = screen.seen();
    if (!seen) throw new Error('there is no screen');
    const step = read(seen, now);
    read = step.next;
    const facts = step.facts.map((fact) =>
      fact.type === 'compact-result' ? JSON.stringify(fact.result) : fact.type,
    );
    looks.push({ activity: step.activity.activity, prompt: demoScreen.prompt?.(seen)?.text, facts });
    if (advanced.effects.some(({ type }) => type === 'end')) break;
    const due = demoDeadline(demo, now);
    now = due === undefined ? undefined : Math.max(now + 1, due);
    event = { type: 'tick' };
  }
  return { looks, records };
};

const kindOf = (prompt: string | undefined): string =>
  prompt === undefined ? 'none' : prompt === '' ? 'empty' : 'text';

const activities = (looks: readonly Look[]) =>
  looks.map(({ activity }) => activity).filter((each, index, all) => each !== all[index - 1]);
const facts = (looks: readonly Look[]) => looks.flatMap((look) => look.facts);

const settled = [
  { step: 'wait', until: 'idle' },
  { step: 'wait', ms: 500 },
];
const command = [
  { step: 'type', text: '/compact', everyMs: 10 },
  { step: 'wait', ms: 100 },
  { step: 'key', key: 'enter' },
  ...settled,
];

describe('the screen of the demo agent', () => {
  it('shows what it does, and its prompt', async () => {
    const { looks } = await play(
      ...settled,
      { step: 'type', text: 'hi', everyMs: 10 },
      { step: 'key', key: 'enter' },
      ...settled,
      { step: 'dialog', command: 'make' },
      { step: 'wait', ms: 500 },
      { step: 'key', key: 'escape' },
      ...settled,
      ...command,
      { step: 'exit' },
    );
    expect(activities(looks)).toEqual([
      'ready',
      'draft',
      'busy',
      'ready',
      'dialog',
      'busy',
      'ready',
      'draft',
      'compacting',
      'ready',
      'unknown',
    ]);
    expect(facts(looks)).toEqual(['boundary']);
    const kinds = new Set(looks.map(({ activity, prompt }) => `${activity} ${kindOf(prompt)}`));
    expect([...kinds].toSorted()).toEqual([
      'busy empty',
      'compacting empty',
      'dialog none',
      'draft text',
      'ready empty',
      'unknown none',
    ]);
    expect(looks.map(({ prompt }) => prompt)).toContain('/compact');
  });

  it.each([
    ['fail', 'the model is overloaded', { kind: 'failed', failure: 'error' }],
    ['noop', 'Nothing to compact.', { kind: 'noop' }],
  ])('tells once how a compaction ends that is told to %s', async (how, words, result) => {
    const { looks } = await play(...settled, { step: 'on-compact', how }, ...command, ...command);
    const told = facts(looks).map((fact) => JSON.parse(fact) as { readonly text: string });
    expect(told).toEqual([expect.objectContaining(result), expect.objectContaining(result)]);
    expect(told[0]?.text).toContain(words);
  });

  it('says that it has compacted when it lies, and writes no record', async () => {
    const { looks, records } = await play(
      ...settled,
      { step: 'on-compact', how: 'lie' },
      ...command,
      { step: 'say', text: 'x' },
      ...settled,
    );
    expect(facts(looks)).toEqual(['boundary']);
    expect(records.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual(['turn']);
    expect(records[0]).toContain('"usedTokens":34490'); // what it had, and the gain of a first turn
  });

  it('tells that the user stopped it', async () => {
    const { looks } = await play(
      ...settled,
      ...command.slice(0, 3),
      { step: 'wait', ms: 800 },
      { step: 'key', key: 'escape' },
      ...settled,
    );
    expect(facts(looks)).toEqual(['{"kind":"interrupted","by":"the user"}']);
  });

  it('does nothing with a command that it swallows, and with keys that it ignores', async () => {
    const swallowed = await play(...settled, { step: 'on-compact', how: 'swallow' }, ...command);
    expect(activities(swallowed.looks)).toEqual(['ready', 'draft', 'ready']);
    const deaf = await play(...settled, { step: 'ignore-keys', keys: ['enter'] }, ...command);
    expect(deaf.looks.at(-1)).toMatchObject({ activity: 'draft', prompt: '/compact' });
    const lost = await play(...settled, { step: 'ignore-keys', keys: ['text'] }, ...command);
    expect(activities(lost.looks)).toEqual(['ready']);
  });

  it('has a dialog between the command and Enter, which Enter would approve', async () => {
    const { looks } = await play(
      ...settled,
      { step: 'dialog-behind', command: 'rm -rf x' },
      ...command.slice(0, 2),
    );
    expect(looks.at(-1)).toMatchObject({ activity: 'dialog', prompt: undefined });
    const approved = await play(
      ...settled,
      { step: 'dialog-behind', command: 'rm -rf x' },
      ...command.slice(0, 3),
      { step: 'wait', ms: 300 },
    );
    expect(activities(approved.looks)).toContain('busy');
  });

  it('goes on for ever when it hangs', async () => {
    const { looks } = await play(...settled, { step: 'on-compact', how: 'hang' }, ...command.slice(0, 3), {
      step: 'wait',
      ms: 30_000,
    });
    expect(looks.at(-1)?.activity).toBe('compacting');
  });

  it('compacts by itself from a number of tokens on', async () => {
    const { looks, records } = await play(
      ...settled,
      { step: 'auto-compact', usedTokens: 150_000 },
      { step: 'say', text: 'a' },
      ...settled,
      { step: 'fill', usedTokens: 160_000 },
      { step: 'say', text: 'b' },
      { step: 'wait', ms: 8_000 },
      ...settled,
    );
    expect(activities(looks)).toEqual(['ready', 'busy', 'ready', 'busy', 'compacting', 'ready']);
    expect(records.at(-1)).toContain('"type":"compaction","trigger":"agent","preTokens":160000');
  });

  it('is recognised by its title', async () => {
    const seen = { screen: makeScreen(size, () => '').seen(), signals: { title: '⠐ demo' } };
    if (!seen.screen) throw new Error('there is no screen');
    expect(demoScreen.recognises({ screen: seen.screen.screen, signals: seen.signals })).toBe(true);
    expect(demoScreen.recognises({ screen: seen.screen.screen, signals: { title: 'demo' } })).toBe(false);
  });
});

describe('the session file of the demo agent', () => {
  it('tells of a compaction that failed', () => {
    const line = '{"type":"compaction-failed","text":"Compaction failed: no","at":5}';
    expect(readLines(runtimes.demo, [line])).toEqual({
      facts: [
        {
          type: 'compact-result',
          result: { kind: 'failed', failure: 'error', text: 'Compaction failed: no' },
        },
      ],
      misfits: [],
    });
  });
});
