import { describe, expect, it } from 'vitest';
import { provenance } from '../../src/core/report/report.js';
import { footerView } from '../../src/core/footer-view.js';
import { claim, sessionAfter, shows, tokens } from '../support/sessions.js';
import type { Timed } from '../support/sessions.js';

const WINDOW_UNKNOWN = 'window unknown: set --window';
const OPUS = 'claude-opus-4-8';
const HAIKU = 'claude-haiku-4-5';
const bare = (usedTokens: number, model?: string): Timed[1] => ({
  type: 'reading',
  reading: { usedTokens, source: 'log', at: 1, ...(model ? { model } : {}) },
});
const assumed = (usedTokens: number, model: string) =>
  tokens('log', usedTokens, { windowSource: 'default', model });

const view = (...events: readonly Timed[]) => footerView(sessionAfter(events), 60_000);
const known = (...events: readonly Timed[]) => provenance(sessionAfter(events), 60_000);

describe('the window', () => {
  it('is the one of the most trusted who spoke, whatever the order', () => {
    const said: readonly Timed[] = [
      [0, bare(50_000)],
      [0, claim(100_000, 'default')],
      [0, claim(110_000, 'table')],
      [0, claim(120_000, 'derived')],
      [0, claim(130_000, 'agent')],
      [0, { type: 'user-window', windowTokens: 140_000 }],
    ];
    const sizes = [undefined, undefined, 110_000, 120_000, 130_000, 140_000];
    for (const [index, size] of sizes.entries()) {
      expect(view(...said.slice(0, index + 1)).windowTokens).toBe(size);
      expect(view(...said.slice(0, index + 1).toReversed()).windowTokens).toBe(size);
    }
  });

  it('of equal trust is the last one said', () => {
    const events: Timed[] = [
      [0, bare(1)],
      [1, claim(200_000, 'agent')],
      [2, claim(1_000_000, 'agent')],
    ];
    expect(view(...events)).toMatchObject({ windowTokens: 1_000_000 });
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('of %d tokens was never said', (size) => {
    for (const source of ['user', 'agent', 'derived'] as const)
      expect(view([0, tokens('log', 5)], [1, claim(size, source)])).toMatchObject({ windowTokens: 200_000 });
    expect(view([0, tokens('log', 5)], [1, { type: 'user-window', windowTokens: size }])).toMatchObject({
      windowTokens: 200_000,
    });
  });

  it('that is only guessed counts for nothing: no window, no percentage, no tier, and the footer says how to tell it', () => {
    const guessed = view([0, assumed(190_000, OPUS)]);
    expect(guessed).toMatchObject({ usedTokens: 190_000, windowInferred: false, words: WINDOW_UNKNOWN });
    for (const each of [guessed, known([0, assumed(190_000, OPUS)])]) {
      for (const field of ['windowTokens', 'windowSource', 'usedPercent', 'tier'])
        expect(each).not.toHaveProperty(field);
    }
    expect(view([0, tokens('log', 50_000)])).not.toHaveProperty('words');
    expect(view([0, shows(40)])).not.toHaveProperty('words');
  });

  it('that the user assumes is shown with ? and starts nothing', () => {
    const wish: Timed = [0, { type: 'assumed-window', windowTokens: 200_000 }];
    expect(view(wish, [0, assumed(50_000, OPUS)])).toMatchObject({ windowInferred: true, usedPercent: 25 });
    expect(known(wish, [0, assumed(50_000, OPUS)])).toMatchObject({ exact: false, windowCertain: false });
    expect(known([0, tokens('log', 50_000)])).toMatchObject({ exact: true, windowCertain: true });
  });

  it('that a second witness confirms is certain', () => {
    const events: Timed[] = [
      [0, assumed(50_000, OPUS)],
      [1, claim(200_000, 'derived', OPUS)],
    ];
    expect(known(...events)).toMatchObject({ exact: true, windowSource: 'derived', windowTokens: 200_000 });
  });

  it('that a table and a derivation disagree about is not certain', () => {
    const table: Timed = [0, tokens('log', 50_000)];
    expect(known(table, [1, claim(400_000, 'derived')])).toMatchObject({
      windowTokens: 400_000,
      exact: false,
    });
    expect(known(table, [1, claim(200_000, 'derived')])).toMatchObject({ exact: true });
    expect(known(table, [1, claim(400_000, 'derived')], [2, claim(400_000, 'agent')])).toMatchObject({
      exact: true,
    });
  });

  it('that holds less than is used was wrong: it is not known then', () => {
    const seen = view([0, assumed(200_001, OPUS)]);
    expect(seen).toMatchObject({ usedTokens: 200_001, windowInferred: false });
    expect(seen.windowTokens).toBeUndefined();
    expect(seen.usedPercent).toBeUndefined();
    expect(seen.tier).toBeUndefined();
    const derived = claim(200_000, 'derived', OPUS);
    expect(view([0, assumed(9, OPUS)], [1, derived], [2, assumed(200_001, OPUS)])).not.toHaveProperty(
      'windowTokens',
    );
    expect(view([0, assumed(200_001, OPUS)], [1, claim(1_000_000, 'agent', OPUS)])).toMatchObject({
      usedPercent: 20.0001,
      tier: 'safe',
    });
  });

  it('that the agent itself names may be exceeded: then it is full', () => {
    expect(view([0, tokens('log', 205_000, { windowSource: 'agent' })])).toMatchObject({
      usedPercent: 100,
      tier: 'hard',
    });
  });

  it('recounts the percentage of the agent where it was counted against something else', () => {
    const codex: Timed = [
      0,
      tokens('log', 100_000, { usedPercent: 47, basis: 'baseline', windowSource: 'agent' }),
    ];
    expect(view(codex)).toMatchObject({ usedPercent: 50 });
    expect(known(codex)).toMatchObject({ basis: 'window' });
    expect(view(codex, [1, { type: 'user-window', windowTokens: 400_000 }])).toMatchObject({
      usedPercent: 25,
    });
    expect(known(codex, [1, { type: 'user-window', windowTokens: 400_000 }])).toMatchObject({
      basis: 'window',
    });
    const own: Timed = [0, tokens('log', 100_000, { usedPercent: 47, windowSource: 'agent' })];
    expect(view(own, [1, { type: 'user-window', windowTokens: 200_000 }])).toMatchObject({ usedPercent: 47 });
  });

  it('named by the user leaves a percentage that is all there is', () => {
    const user: Timed = [1, { type: 'user-window', windowTokens: 500 }];
    expect(view([0, shows(100)], user)).toMatchObject({ usedPercent: 100, windowTokens: 500 });
  });
});

describe('a switch of the model', () => {
  it('brings the window that was said for the new one', () => {
    const events: Timed[] = [
      [0, claim(1_000_000, 'agent', OPUS)],
      [1, bare(100_000, OPUS)],
      [2, claim(200_000, 'agent', HAIKU)],
    ];
    expect(view(...events.slice(0, 2))).toMatchObject({ windowTokens: 1_000_000, tier: 'safe' });
    expect(view(...events)).toMatchObject({ windowTokens: 200_000, usedPercent: 50 });
    expect(view(...events, [3, bare(110_000, HAIKU)])).toMatchObject({ windowTokens: 200_000 });
    expect(view(...events, [3, bare(110_000, OPUS)])).toMatchObject({ windowTokens: 1_000_000 });
  });

  it('that names no model is about the one that answers next', () => {
    const banner: readonly Timed[] = [
      [0, claim(1_000_000, 'agent')],
      [1, assumed(100_000, OPUS)],
    ];
    expect(view(...banner)).toMatchObject({ windowTokens: 1_000_000, windowInferred: false });
    const switched: readonly Timed[] = [...banner, [2, claim(200_000, 'agent')]];
    expect(view(...switched)).toMatchObject({ windowTokens: 200_000 });
    expect(view(...switched, [3, bare(110_000, HAIKU)])).toMatchObject({ windowTokens: 200_000 });
    expect(view(...switched, [3, bare(110_000, HAIKU)], [4, bare(120_000, OPUS)])).toMatchObject({
      windowTokens: 1_000_000,
    });
  });

  it('is no news as long as the screen only repeats it', () => {
    const banner = claim(1_000_000, 'agent', OPUS);
    const events: Timed[] = [
      [0, banner],
      [1, bare(100_000, OPUS)],
      [2, assumed(100_000, HAIKU)],
      [3, banner],
    ];
    expect(view(...events)).not.toHaveProperty('windowTokens');
    expect(view(...events, [4, claim(200_000, 'derived', HAIKU)], [5, banner])).toMatchObject({
      windowTokens: 200_000,
      windowInferred: false,
    });
  });

  it('unseen by the screen leaves the old banner without meaning', () => {
    const events: Timed[] = [
      [0, claim(1_000_000, 'agent')],
      [1, bare(9, OPUS)],
      [2, assumed(100_000, HAIKU)],
    ];
    expect(view(...events)).not.toHaveProperty('windowTokens');
  });

  it('makes what was said about the other one void', () => {
    const events: Timed[] = [
      [0, tokens('official', 150_000, { model: OPUS })],
      [1, shows(90)],
      [2, tokens('log', 20_000, { model: HAIKU })],
    ];
    expect(known(...events)).toMatchObject({ source: 'log', usedTokens: 20_000 });
    expect(known(...events)?.candidates).toHaveLength(1);
    expect(view(...events, [3, shows(90)])).toMatchObject({ tier: 'safe' });
    expect(view(...events, [3, shows(91)])).toMatchObject({ tier: 'hard' });
  });
});
