// The offer of a limit in a large window, and what a chosen limit does to the boundaries.
import { describe, expect, it } from 'vitest';
import type { LadderChoice } from '../../src/core/ladder.js';
import { isLargeWindow, limitOfferText } from '../../src/core/limit-offer.js';
import { withSessionLimit, type SessionLimit } from '../../src/core/own-limit.js';
import { sessionLadder } from '../../src/core/report/report.js';
import type { Session } from '../../src/core/session.js';
import type { SessionFlow } from '../../src/core/session-flow.js';
import { playCompaction, settings, type PlayStep } from '../support/compaction-play.js';
import { grew, tokens } from '../support/sessions.js';

const MILLION = 1_000_000;
const USUAL = 947_000; // where auto begins in it if nobody sets it

/** A session in which a limit can be offered, with how often it was. */
const play = (
  more: Parameters<typeof playCompaction>[1] = {},
  wish: Parameters<typeof playCompaction>[0] = {},
) => {
  let offers = 0;
  let last: SessionFlow | undefined;
  const watch = ({ before, after }: PlayStep): void => {
    last = after;
    if (before.limitOffer === 'open' && after.limitOffer === 'made') offers += 1;
  };
  const { tell, is, wait, ...rest } = playCompaction(wish, { offersLimit: true, ...more }, watch);
  const auto = (): number | undefined => last && sessionLadder(last.session).auto?.value;
  is('ready');
  /** The number after a turn, in a window that the agent reports. */
  const used = (count: number, windowTokens = MILLION): void =>
    tell(tokens('log', count, { windowTokens, windowSource: 'agent' }));
  const turn = (count: number, windowTokens?: number): void => {
    is('busy');
    wait(4_000);
    used(count, windowTokens);
    is('ready');
  };
  return { ...rest, tell, is, wait, used, turn, offers: () => offers, auto };
};

const thousand = (thousands: number) => ({ value: thousands * 1_000, unit: 'tokens' }) as const;
const changed = (ladder: LadderChoice) =>
  ({ type: 'settings', settings: { ladder, compact: settings } }) as const;

describe('a limit is offered', () => {
  it('at 200k, when the agent rests, and once in a session', () => {
    const session = play();
    session.turn(199_999);
    expect(session.offers()).toBe(0);
    session.is('busy');
    session.used(200_000);
    expect(session.offers()).toBe(0);
    session.is('ready');
    expect(session.offers()).toBe(1);
    session.turn(150_000);
    session.turn(250_000);
    session.boundary();
    session.turn(300_000);
    expect(session.offers()).toBe(1);
  });

  it('not in a window below 500k', () => {
    const [small, large] = [play(), play()];
    small.turn(210_000, 499_999);
    large.turn(210_000, 500_000);
    expect([small.offers(), large.offers()]).toEqual([0, 1]);
  });

  it('not by an estimate, and not in an assumed window', () => {
    const estimated = play();
    estimated.turn(190_000);
    estimated.tell(grew(50_000));
    estimated.tell(tokens('estimate', 210_000, { windowTokens: MILLION, windowSource: 'agent' }));
    expect(estimated.offers()).toBe(0);
    const unread = play();
    unread.tell(tokens('estimate', 210_000, { windowTokens: MILLION, windowSource: 'agent' }));
    expect(unread.offers()).toBe(0);
    const assumed = play({ assumedWindow: MILLION });
    assumed.tell({ type: 'reading', reading: { usedTokens: 210_000, source: 'log', at: 1 } });
    expect(assumed.offers()).toBe(0);
  });

  it.each<[string, Parameters<typeof play>]>([
    ['where auto is set', [{ ladder: { auto: { value: 90, unit: 'percent' } } }]],
    ['where a limit was chosen before a restart', [{ limit: 'none' }]],
    ['where nothing is typed by itself', [{ ladder: { preset: 'handoff' } }]],
    ['in mode warn', [{}, { mode: 'warn' }]],
    ['without a command', [{}, { command: undefined } as object]],
    ['where none can be offered', [{ offersLimit: false }]],
  ])('not %s', (_, given) => {
    const session = play(...given);
    session.turn(210_000);
    expect(session.offers()).toBe(0);
  });

  it('also in mode ask, which suggests compacting', () => {
    const session = play({}, { mode: 'ask' });
    session.turn(210_000);
    expect(session.offers()).toBe(1);
  });

  it('not with a model that has a limit of its own, but with another', () => {
    for (const [pattern, offers] of [
      ['*opus*', 0],
      ['*haiku*', 1],
    ] as const) {
      const session = play({ ladder: { limits: { [pattern]: thousand(400) } } });
      session.tell({ type: 'model', model: 'claude-opus-4-8' });
      session.turn(210_000);
      expect(session.offers()).toBe(offers);
    }
  });

  it('not where the limit that is set cannot be reached', () => {
    const session = play({ ladder: { auto: thousand(999) } });
    session.turn(210_000);
    expect(session.offers()).toBe(0);
  });

  it('not while something else is to be said, but after it', () => {
    const session = play();
    session.tell({ type: 'notice', text: 'news', priority: 150 });
    session.turn(210_000);
    expect(session.offers()).toBe(0);
    session.wait(10_000);
    expect(session.offers()).toBe(1);
    const asked = play();
    asked.is('busy');
    asked.ask('mine');
    asked.used(210_000);
    asked.is('ready');
    expect(asked.offers()).toBe(0);
  });

  it('not after the user has chosen one', () => {
    const session = play();
    session.tell({ type: 'limit', limit: thousand(500) });
    session.tell({ type: 'limit', limit: 'none', isSaved: true });
    session.turn(210_000);
    expect(session.offers()).toBe(0);
  });

  it('in words that name the keys', () =>
    expect(limitOfferText('Ctrl-] l')).toBe('200k used · Ctrl-] l keeps it below a limit'));
});

describe('a chosen limit', () => {
  it('is where the window is compacted, at the next safe moment', () => {
    const session = play();
    session.turn(210_000);
    expect(session.phase().kind).toBe('rest');
    session.tell({ type: 'limit', limit: thousand(200) });
    expect(session.auto()).toBe(200_000);
    session.wait(60_000);
    expect(session.typings()).toHaveLength(1);
  });

  it('from before the agent was started again still holds', () => {
    const session = play({ limit: thousand(300) });
    session.turn(20_000);
    expect(session.auto()).toBe(300_000);
  });

  it('for a session outlives a change of the configuration', () => {
    const session = play();
    session.turn(20_000);
    session.tell({ type: 'limit', limit: thousand(300) });
    session.tell(changed({ auto: thousand(700) }));
    expect(session.auto()).toBe(300_000);
    session.tell({ type: 'limit', limit: 'none' });
    session.tell(changed({ auto: thousand(700) }));
    expect(session.auto()).toBe(USUAL);
  });

  it('that is saved gives way to the next change of the configuration', () => {
    const session = play({ ladder: { auto: thousand(700) } });
    session.turn(20_000);
    session.tell({ type: 'limit', limit: thousand(500) });
    session.tell({ type: 'limit', limit: thousand(300), isSaved: true });
    expect(session.auto()).toBe(300_000);
    session.tell(changed({ auto: thousand(400) }));
    expect(session.auto()).toBe(400_000);
    session.tell({ type: 'limit', limit: 'none', isSaved: true });
    expect(session.auto()).toBe(USUAL);
  });

  it('takes the place of auto and of the limits of models, and leaves the rest', () => {
    const limits = { '*': thousand(100) };
    const choice = { preset: 'percent', warn: thousand(50), auto: thousand(400), limits } as LadderChoice;
    const rest = { preset: 'percent', warn: thousand(50) };
    const after = (limit?: SessionLimit) => withSessionLimit(choice, limit);
    expect(after()).toBe(choice);
    expect(after('none')).toEqual(rest);
    expect(after(thousand(200))).toEqual({ ...rest, auto: thousand(200) });
  });
});

describe('a window is large', () => {
  const window = { windowTokens: 1_000_000, windowSource: 'remembered', certain: true } as const;
  const isLarge = (more: object): boolean =>
    isLargeWindow({ fused: { window: { ...window, ...more } } as unknown as NonNullable<Session['fused']> });

  it('from 500k on, where that is certain', () => {
    expect(isLarge({})).toBe(true);
    expect(isLarge({ windowTokens: 500_000 })).toBe(true);
    expect(isLarge({ windowTokens: 499_999 })).toBe(false);
    expect(isLarge({ certain: false })).toBe(false);
  });
});
