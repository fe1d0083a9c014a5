// The demo agent played with a hand clock, and what its runtime makes of each screen.
import { describe, expect, it } from 'vitest';
import { advance, demoDeadline, startDemo, type DemoEvent } from '../../src/demo/agent.js';
import { startPaintState, paint, title } from '../../src/demo/draw.js';
import { liveRows, titleOf } from '../../src/demo/live-rows.js';
import { typePrompt, type Step } from '../../src/demo/script.js';
import { present } from '../../src/core/present.js';
import { demoScreen } from '../../src/agents/demo/agent.js';
import { makeScreenModel } from '../../src/terminal/screen-model.js';

const size = { columns: 80, rows: 24 };
const brush = { size, hasColors: true };

interface Look {
  readonly activity: string;
  readonly prompt: string | undefined;
  readonly facts: readonly string[];
}

/** Draws and looks at what was drawn. */
const makeLooker = () => {
  const screen = makeScreenModel(size, () => '');
  let read = demoScreen.reader({});
  return async (output: string, now: number): Promise<Look> => {
    screen.feed(Buffer.from(output));
    await screen.settled();
    const seen = screen.snapshot();
    if (!seen) throw new Error('there is no screen');
    const { next, activity, facts } = read(seen, now);
    read = next;
    return {
      activity: activity.activity,
      prompt: demoScreen.prompt?.(seen)?.text,
      facts: facts.map((fact) => (fact.type === 'compact-result' ? JSON.stringify(fact.result) : fact.type)),
    };
  };
};

/** What is seen after each step of the clock; a user who waits for the keyboard ends there. */
const play = async (...steps: readonly Step[]): Promise<readonly Look[]> => {
  const look = makeLooker();
  let demo = startDemo(brush, steps);
  const looks: Look[] = [];
  let event: DemoEvent = { type: 'start' };
  let now: number | undefined = 0;
  while (now !== undefined && now < 60_000) {
    const advanced = advance(demo, event, now);
    demo = advanced.demo;
    looks.push(await look(advanced.output, now));
    if (demo.agent.end) break;
    const due = demoDeadline(demo, now);
    now = due === undefined ? undefined : Math.max(now + 1, due);
    event = { type: 'tick' };
  }
  return looks;
};

interface Frame {
  readonly said?: readonly string[];
  readonly draft?: string;
  readonly work?: string;
}

const idle = undefined;
const compacting = 'Compacting conversation';

/** What is seen in windows of the agent's, of which some show what the demo never does. */
const playFrames = async (...frames: readonly Frame[]): Promise<readonly Look[]> => {
  const look = makeLooker();
  const looks: Look[] = [];
  for (const [now, { said = [], draft = '', work }] of frames.entries()) {
    const printed = said.flatMap((text) => [{ text }, { text: '' }]);
    const { text } = paint(
      startPaintState,
      printed,
      liveRows({ work, since: 0, draft, isShow: false, leaveUntil: 0, drawOptions: brush }, now),
      brush,
    );
    looks.push(await look(`${title(titleOf({ work, since: 0 }, now))}\x1b[H\x1b[2J${text}`, now));
  }
  return looks;
};

const kindOf = (prompt: string | undefined): string =>
  prompt === undefined ? 'none' : prompt === '' ? 'empty' : 'text';

const activities = (looks: readonly Look[]) =>
  looks.map(({ activity }) => activity).filter((each, index, all) => each !== all[index - 1]);
const facts = (looks: readonly Look[]) => looks.flatMap((look) => look.facts);

const settled: readonly Step[] = [{ until: 'idle' }, { waitMs: 500 }];
const command: readonly Step[] = [...typePrompt('/compact'), ...settled];

describe('the screen of the demo agent', () => {
  it('shows what it does, and its prompt', async () => {
    const looks = await play(
      ...settled,
      ...typePrompt('hi'),
      ...settled,
      ...typePrompt('run make'),
      { waitMs: 500 },
      { name: 'escape' },
      ...settled,
      ...command,
      ...typePrompt('/quit'),
    );
    expect(activities(looks)).toEqual([
      'ready',
      'draft',
      'busy',
      'ready',
      'draft',
      'dialog',
      'busy',
      'ready',
      'draft',
      'compacting',
      'ready',
      'draft',
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

  it('has a dialog, which Enter approves', async () => {
    const looks = await play(...settled, ...typePrompt('run make'), { waitMs: 500 }, { name: 'enter' });
    expect(activities(looks)).toEqual(['ready', 'draft', 'dialog', 'busy', 'ready']);
  });

  it.each([
    ['✗ Compaction failed: the model is overloaded', compacting, { kind: 'failed', failure: 'error' }],
    ['● Nothing to compact.', idle, { kind: 'noop' }],
  ])('tells once how a compaction ends that changes nothing: %s', async (words, work, result) => {
    const again = ['> /compact', words, '> /compact'];
    const looks = await playFrames(
      {},
      { draft: '/compact' },
      { said: again.slice(0, 1), ...present({ work }) },
      { said: again.slice(0, 2) },
      { said: again.slice(0, 2), draft: 'more' },
      { said: again.slice(0, 2), draft: '/compact' },
      { said: again, ...present({ work }) },
      { said: [...again, words] },
      { said: [...again, words] },
    );
    const told = facts(looks).map((fact) => JSON.parse(fact) as { readonly text: string });
    expect(told).toEqual([expect.objectContaining(result), expect.objectContaining(result)]);
    expect(words).toContain(told[0]?.text);
  });

  it('tells that the user stopped it', async () => {
    const looks = await play(
      ...settled,
      ...typePrompt('/compact'),
      { waitMs: 800 },
      { name: 'escape' },
      ...settled,
    );
    expect(facts(looks)).toEqual(['{"kind":"interrupted","by":"the user"}']);
  });

  it('tells nothing of a command that is gone without an answer', async () => {
    const looks = await playFrames({}, { draft: '/compact' }, {}, { said: ['● hello'] });
    expect(activities(looks)).toEqual(['ready', 'draft', 'ready']);
    expect(facts(looks)).toEqual([]);
  });

  it('is recognised by its title', async () => {
    const seen = { screen: makeScreenModel(size, () => '').snapshot(), signals: { title: '⠐ demo' } };
    if (!seen.screen) throw new Error('there is no screen');
    expect(demoScreen.recognises({ screen: seen.screen.screen, signals: seen.signals })).toBe(true);
    expect(demoScreen.recognises({ screen: seen.screen.screen, signals: { title: 'demo' } })).toBe(false);
  });
});
