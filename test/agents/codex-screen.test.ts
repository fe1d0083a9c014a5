import { describe, expect, it } from 'vitest';
import { codexPercent } from '../../src/agents/codex/percent.js';
import { codex } from '../../src/agents/codex/agent.js';
import { codexScreen } from '../../src/agents/codex/screen.js';
import { compacted, compacting, dim, failed, ranOut, readFrames, seenFrame } from '../support/codex-frame.js';
import type { CodexFrame } from '../support/codex-frame.js';
import { seenAfter } from '../support/drawn-screen.js';
import { playScreens } from '../support/screen-play.js';

const answer = [`${dim('• ')}It is done.`, '', dim('  Worked for 3s • 07:58')];
const items = (used: number, window = '95K') => [
  'GPT-5.5 default',
  `Context ${100 - used}% left`,
  `Context ${used}% used`,
  `${window} window`,
  '633K used',
  'Ready',
  '/proj/app',
];
const fresh = { state: 'idle', items: items(0, '100K') };
const turn = (used: number) => ({ state: 'done', conversation: answer, items: items(used) });
const percents = async (...frames: readonly CodexFrame[]) =>
  (await readFrames(...frames)).map(({ percent }) => percent);

describe('the percentage in the status line of codex', () => {
  it.each([
    [5_000, 0],
    [20_000, 10],
    [50_050, 46],
    [62_050, 60],
    [66_050, 65],
    [70_050, 70],
    [75_050, 76],
    [80_050, 82],
    [84_050, 87],
    [86_050, 89],
    [88_050, 92],
    [90_550, 95],
    [94_050, 99],
    [96_050, 100],
  ])('is read at every width when %i tokens are used', async (tokens, used) => {
    expect(codexPercent(tokens, 95_000)).toBe(used);
    const widths = [200, 120, 80, 60, 40, 30].map((columns) => ({ ...turn(used), columns }));
    expect(await percents(...widths)).toEqual(widths.map(() => used));
  });

  it('is the same at each width the recorded screen had', async () => {
    const played = await playScreens('codex/statusline-climb', codex);
    const resized = played.filter(({ at }) => at > 21.1 && at < 26);
    expect(resized.length).toBeGreaterThanOrEqual(6);
    expect(resized.map(({ facts }) => facts.filter(({ type }) => type !== 'view'))).toEqual(
      resized.map(() => [{ type: 'reading', reading: expect.objectContaining({ usedPercent: 92 }) }]),
    );
  });

  it('counts above the baseline of a window that the screen proved', async () => {
    const [, second] = await readFrames(fresh, turn(46));
    expect(second?.facts).toEqual([
      {
        type: 'reading',
        reading: {
          usedPercent: 46,
          basis: 'baseline',
          windowTokens: 95_000,
          windowSource: 'agent',
          basisTokens: 83_000,
          source: 'screen',
          at: 0,
        },
      },
    ]);
  });

  it('names no window when only a rounded one was seen', async () => {
    const [only] = await readFrames(turn(46));
    expect(only?.facts).toEqual([
      { type: 'reading', reading: { usedPercent: 46, basis: 'baseline', source: 'screen', at: 0 } },
    ]);
  });

  it.each([
    ['only what is left', ['Context 54% left']],
    ['only what is used', ['Context 46% used']],
    ['a cut end', ['Context 46% used', '/proj/ap…']],
  ])('is read from %s', async (_, shown) => {
    expect(await percents({ state: 'idle', items: shown })).toEqual([46]);
  });

  it.each([
    ['two that contradict each other', ['Context 54% left', 'Context 47% used']],
    ['more than all', ['Context 146% used']],
    ['a cut item', ['Context 46% us…']],
    ['the tokens of the whole session', ['46% used', '900K used']],
  ])('is not read from %s', async (_, shown) => {
    expect(await percents({ state: 'idle', items: shown })).toEqual([undefined]);
  });

  it('is read from the title where it is told to show it', async () => {
    const title = (used: number) => ({ state: 'idle', title: `⠋ Working | Context ${used}% used | app` });
    expect(await percents(title(46), { ...title(46), ...turn(46) }, { ...title(46), ...turn(47) })).toEqual([
      46,
      46,
      undefined,
    ]);
  });

  it.each([
    ['0.98', '  ? for shortcuts                    72% context left'],
    ['0.50', '  72% context left · ? for shortcuts'],
  ])('is read from the footer of %s', async (_, hints) => {
    expect(await percents({ hints: dim(hints), conversation: answer })).toEqual([28]);
    expect(await percents({ hints, conversation: answer })).toEqual([undefined]);
  });
});

describe('the name of a thread', () => {
  const bare = ['GPT-5.5 default', '/proj/app'];
  const named = (name: string, title = name): CodexFrame => ({
    state: 'idle',
    items: [...bare, name],
    title: `${title} | app`,
  });

  it.each([
    ['Context 97% used'],
    ['Context 3% left'],
    ['Context 3% left · Context 97% used · 95K window'],
    ['Context 3% left | Context 97% used'],
  ])('is no percentage when it is given: %s', async (name) => {
    const unnamed = { state: 'idle', items: bare, title: 'app' };
    expect(await percents(unnamed, named(name), { ...named(name), ...named(name, '⠋ app') })).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('is no percentage when the thread had it before it was resumed', async () => {
    const frame = named('Context 97% used');
    const starting = { title: `${frame.title}`, hints: '  ? for shortcuts' };
    const picker = { ...frame, items: [], conversation: ['  Name thread'], glyph: ' ' };
    expect(
      await percents(starting, frame, picker, { ...frame, state: 'done', conversation: answer }),
    ).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('does not hide a percentage that both places show, once it has changed', async () => {
    const both = (used: number) => ({
      state: 'done',
      conversation: answer,
      items: [...bare, `Context ${used}% used`],
      title: `Context ${used}% used | app`,
    });
    expect(await percents(both(0), both(22), both(22))).toEqual([undefined, 22, 22]);
  });

  it('does not hide a percentage that the user adds to the status line', async () => {
    const picker = {
      conversation: ['  Configure Status Line', '', '\x1b[1;7m› [x] context-used\x1b[0m'],
      glyph: ' ',
      items: [],
      state: 'idle',
    };
    expect(await percents({ state: 'idle', items: bare }, picker, turn(46))).toEqual([
      undefined,
      undefined,
      46,
    ]);
  });

  it('does not hide a percentage that a narrow screen has cut off', async () => {
    const cut = { state: 'idle', items: ['GPT-5.5 default', '/a/long/path · Cont…'] };
    expect(await percents(cut, turn(46))).toEqual([undefined, 46]);
  });
});

describe('a percentage of codex that is not true', () => {
  it('is the 0 of before the first count', async () => {
    expect(await percents(fresh, { ...fresh, draft: ['hi'] }, turn(0))).toEqual([undefined, undefined, 0]);
  });

  it('is the 0 of a manual compaction, and of one that failed, until a turn was counted', async () => {
    const reset = { conversation: answer, items: items(0, '100K') };
    const after = { ...reset, conversation: [...answer, '', failed('stream disconnected')] };
    expect(
      await percents(
        fresh,
        turn(70),
        { ...reset, state: 'working', live: compacting },
        { ...after, state: 'error' },
        { ...after, state: 'idle', draft: ['go on'] },
        { ...after, state: 'working' },
        turn(70),
      ),
    ).toEqual([undefined, 70, undefined, undefined, undefined, undefined, 70]);
  });

  it('is any percentage while a compaction runs', async () => {
    expect(await percents(turn(70), { ...turn(70), state: 'working', live: compacting })).toEqual([
      70,
      undefined,
    ]);
  });

  it.each([
    ['was interrupted', 'idle', [failed('Conversation interrupted')]],
    ['failed', 'error', [failed('stream disconnected')]],
    ['ended well, as an estimate', 'done', compacted],
  ])('is the 0 of a compaction too short to be seen that %s', async (_, state, end) => {
    const over = { state, items: ['Context 0% used'], conversation: [...answer, '', ...end] };
    expect(await percents(turn(70), over, { ...over, state: 'idle' }, { ...over, state: 'working' })).toEqual(
      [70, undefined, undefined, undefined],
    );
  });

  it('is the 0 against the raw window, whatever came before', async () => {
    expect(await percents(fresh, turn(70), { ...turn(0), items: items(0, '100K') }, turn(0))).toEqual([
      undefined,
      70,
      undefined,
      0,
    ]);
  });

  it('is what Codex shows after a request was too long: then the window is full, until the next count', async () => {
    const refused = { conversation: [...answer, '', ranOut], items: items(40) };
    const pushedUp = { ...refused, conversation: [...refused.conversation, '', '/status', '  Model:'] };
    expect(
      await percents(
        turn(46),
        { ...refused, state: 'error' },
        { ...refused, state: 'idle', draft: ['again'] },
        { ...pushedUp, state: 'idle' },
        { ...refused, state: 'working' },
        turn(10),
      ),
    ).toEqual([46, 100, 100, undefined, undefined, 10]);
  });

  it('is full only where Codex says so itself', async () => {
    const said = {
      ...turn(46),
      conversation: [`${dim('• ')}■ Codex ran out of room in the model's context`],
    };
    expect(await percents({ ...said, state: 'error' })).toEqual([46]);
  });
});

describe('the screen of codex', () => {
  it('is recognised by its signal or by its composer over its own hints', async () => {
    expect(codexScreen.recognises(await seenFrame({ state: 'idle' }))).toBe(true);
    expect(codexScreen.recognises(await seenFrame({ hints: dim('  ? for shortcuts') }))).toBe(true);
    expect(
      codexScreen.recognises(await seenAfter('› Ask Codex to do anything\r\n\r\n  ? for shortcuts')),
    ).toBe(false);
  });
});

describe('the model that codex says it has changed to', () => {
  const rest = { ...turn(46), conversation: answer };
  const changed = { ...rest, conversation: [...answer, '', '• Model changed to gpt-6.2-sol low'] };
  const told = async (...frames: readonly CodexFrame[]) =>
    (await readFrames(...frames)).map(({ facts }) =>
      facts.flatMap((fact) => (fact.type === 'model' ? fact.model : [])),
    );

  it('is told once', async () => {
    expect(await told(rest, changed, changed)).toEqual([[], ['gpt-6.2-sol'], []]);
  });

  it('is not told of what was there from the start, or what an answer says', async () => {
    expect(await told(changed, changed)).toEqual([[], []]);
    expect(
      await told(rest, { ...rest, state: 'working' }, { ...changed, state: 'working' }, changed),
    ).toEqual([[], [], [], []]);
  });
});
