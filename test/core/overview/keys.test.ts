import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nextMode, initialOverviewState, pressOverviewKey } from '../../../src/core/overview-keys.js';
import type { OverviewKey, OverviewState } from '../../../src/core/overview-keys.js';

const drawn: OverviewState = { ...initialOverviewState, most: 30, shown: 10 };
const pressed = (state: OverviewState, ...keys: readonly OverviewKey[]): OverviewState =>
  keys.reduce((held, key) => pressOverviewKey(held, key).state, state);

describe('a key in the overview', () => {
  it.each([
    ['c', 'compact'],
    ['a', 'mode'],
    ['p', 'postpone'],
    ['n', 'proactive'],
    ['q', 'close'],
    ['escape', 'close'],
  ] as const)('%s asks for: %s', (key, action) => {
    expect(pressOverviewKey(drawn, key).action).toBe(action);
  });

  it('d and ? turn a page and turn it back, and Esc goes back before it closes', () => {
    expect(pressed(drawn, 'd').page).toBe('detail');
    expect(pressed(drawn, 'd', 'd').page).toBe('main');
    expect(pressed(drawn, 'd', '?').page).toBe('help');
    expect(pressed(drawn, '?', '?').page).toBe('main');
    const back = pressOverviewKey(pressed(drawn, 'd'), 'escape');
    expect(back).toEqual({ state: { ...drawn, page: 'main' } });
    expect(pressOverviewKey(pressed(drawn, 'd'), 'q').action).toBe('close');
  });

  it('a page begins at its top, and an answer is looked for at the top of the first one', () => {
    expect(pressed(drawn, 'end', 'd').scroll).toBe(0);
    expect(pressed(drawn, 'end', 'c')).toMatchObject({ page: 'main', scroll: 0 });
    expect(pressed(drawn, '?', 'c')).toMatchObject({ page: 'main', scroll: 0 });
  });

  it.each([
    [['down'], 1],
    [['up'], 0],
    [['pagedown'], 9],
    [['pagedown', 'pageup'], 0],
    [['end'], 30],
    [['end', 'down'], 30],
    [['end', 'up'], 29],
    [['end', 'home'], 0],
    [['wheel-down', 'wheel-down'], 6],
    [['wheel-down', 'wheel-down', 'wheel-up'], 3],
  ] as const)('%s scroll to row %i', (keys, scroll) => {
    expect(pressed(drawn, ...keys).scroll).toBe(scroll);
  });

  it('that has nothing to scroll changes nothing', () => {
    const short = { ...initialOverviewState, shown: 20 };
    for (const key of ['up', 'down', 'pageup', 'pagedown', 'home', 'end', 'wheel-up', 'wheel-down'] as const)
      expect(pressOverviewKey(short, key).state).toBe(short);
  });

  it('never scrolls out of the contents', () => {
    const anyKey = fc.constantFrom<OverviewKey>('up', 'down', 'pageup', 'pagedown', 'home', 'end', 'd', '?');
    fc.assert(
      fc.property(fc.array(anyKey), fc.nat(40), fc.nat(40), (keys, most, shown) => {
        const { scroll } = pressed({ ...initialOverviewState, most, shown }, ...keys);
        expect(scroll >= 0 && scroll <= most).toBe(true);
      }),
    );
  });
});

describe('on the page with limits', () => {
  const chosen = (...keys: readonly OverviewKey[]) => {
    const { answer } = pressOverviewKey(pressed(drawn, 'l', ...keys), 'enter');
    return answer?.page === 'limit' ? answer.limit : undefined;
  };
  const tokens = (value: number) => ({ value, unit: 'tokens' });

  it('the arrows and the digits choose one, and Enter takes it', () => {
    expect(chosen()).toEqual({ limit: tokens(200_000), span: 'session' });
    expect(chosen('down')).toEqual({ limit: tokens(300_000), span: 'session' });
    expect(chosen('down', 'down', 'down', 'down', 'up')).toEqual({ limit: tokens(500_000), span: 'session' });
    expect(chosen('up', '4')).toEqual({ limit: 'none', span: 'session' });
  });

  it('Left, Right and Tab choose for how long', () => {
    expect(chosen('right')?.span).toBe('always');
    expect(chosen('right', 'right', 'left')?.span).toBe('session');
    expect(chosen('tab')?.span).toBe('always');
    expect(chosen('tab', 'tab')?.span).toBe('session');
  });

  it('Esc and l leave without a choice, and the next one begins anew', () => {
    expect(pressOverviewKey(pressed(drawn, 'l', '3'), 'escape')).toEqual({
      state: expect.objectContaining({ page: 'main' }),
    });
    expect(pressed(drawn, 'l', 'l').page).toBe('main');
    expect(chosen('3', 'tab', 'l', 'l')).toEqual({ limit: tokens(200_000), span: 'session' });
  });

  it.each(['c', 'a', 'p', 'n', 'u', 'b', 'r'] as const)('%s does nothing', (key) => {
    const { state } = pressOverviewKey(drawn, 'l');
    expect(pressOverviewKey(state, key)).toEqual({ state });
  });

  it('everywhere else their keys do nothing', () => {
    for (const key of ['1', '4', 'left', 'right', 'tab', ' ', 'enter'] as const)
      expect(pressOverviewKey(drawn, key)).toEqual({ state: drawn });
  });
});

describe('on the page with the recap', () => {
  const shownRecap = { at: 7, keys: ['a', 'b', 'c', 'd', 'e'], chosen: ['b', 'c'] };
  const recap = { ...pressed(drawn, 'b'), shownRecap };

  it('the arrows, the pages and the wheel go from line to line, and never out of them', () => {
    expect(pressed(recap, 'down', 'wheel-down').recap.line).toBe(2);
    expect(pressed(recap, 'down', 'up', 'up', 'wheel-up').recap.line).toBe(0);
    expect(pressed(recap, 'pagedown').recap.line).toBe(4);
    expect(pressed(recap, 'end', 'down').recap.line).toBe(4);
    expect(pressed(recap, 'end', 'home').recap.line).toBe(0);
  });

  it('Space chooses a line or leaves it, and Enter gives back what is chosen', () => {
    const chosen = pressed(recap, ' ', 'down', 'down', ' ', 'up', ' ', ' ');
    expect(pressOverviewKey(chosen, 'enter').answer).toEqual({
      page: 'recap',
      recap: { at: 7, keys: ['a', 'b'] },
    });
    expect(pressOverviewKey(recap, 'enter').answer).toEqual({
      page: 'recap',
      recap: { at: 7, keys: ['b', 'c'] },
    });
  });

  it('what was chosen stays chosen, whatever the recap says of it later', () => {
    const chosen = { ...pressed(recap, ' '), shownRecap: { ...shownRecap, chosen: [] } };
    expect(pressed(chosen, 'down', ' ').recap.chosen).toEqual(['c', 'a']);
  });

  it('what was chosen is still chosen when the page opens again', () => {
    const chosen = { ...pressed(recap, ' ', 'down'), page: 'main' } as const;
    expect(pressed(chosen, 'b').recap).toEqual({ line: 0, chosen: ['b', 'c', 'a'] });
  });

  it('after Enter nothing is chosen any more, and what was left out is not chosen at first again', () => {
    const { state } = pressOverviewKey(pressed(recap, 'down', ' '), 'enter');
    expect(state.page).toBe('main');
    expect(state.recap).toEqual({ at: 7, line: 0, declined: ['a', 'b', 'd', 'e'] });
  });

  it('u undoes the compaction, and Esc and q leave', () => {
    expect(pressOverviewKey(recap, 'u').action).toBe('undo');
    expect(pressOverviewKey(recap, 'x')).toEqual({ state: recap, action: 'take-back' });
    expect(pressOverviewKey(recap, 'escape').action).toBe('close');
    expect(pressOverviewKey(recap, 'q').action).toBe('close');
  });

  it('without lines nothing can be chosen', () => {
    for (const none of [undefined, { at: 7, keys: [], chosen: [] }]) {
      const empty = { ...recap, shownRecap: none };
      for (const key of [' ', 'enter', 'down', 'end', 'pagedown'] as const)
        expect(pressOverviewKey(empty, key)).toEqual({ state: empty });
    }
  });

  it.each(['c', 'a', 'p', 'n', 'r', 'l', 'd', '?', '1', 'tab'] as const)('%s does nothing', (key) => {
    expect(pressOverviewKey(recap, key)).toEqual({ state: recap });
  });
});

it('the mode goes round, and the one that observes nothing is never chosen', () => {
  expect(nextMode('auto')).toBe('ask');
  expect(nextMode('ask')).toBe('warn');
  expect(nextMode('warn')).toBe('auto');
  expect(nextMode('off')).toBe('auto');
});
