import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OverlayView } from '../../../src/core/overlay-view.js';
import { agentFacts } from '../../../src/agents/agent.js';
import { runtimes } from '../../../src/agents/index.js';
import { HARD_TOKENS } from '../../support/compaction-play.js';
import { overlayAt, playOverlay } from '../../support/overlay-play.js';
import { blank, shows, tokens } from '../../support/sessions.js';

const current = ({ thresholds }: OverlayView): readonly string[] =>
  thresholds.filter((each) => each.current).map(({ name }) => name);
const inWindow = (windowTokens: number, used: number): OverlayView => {
  const overlay = playOverlay({}, { window: windowTokens });
  overlay.play.used(used);
  return overlay.view();
};

describe('the parts of the window', () => {
  it('sum to the whole, in tokens and in percent, in any window however full', () => {
    const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
    const sizes = { used: fc.integer({ min: 1, max: 2_500_000 }), cached: fc.nat(2_500_000) };
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 2_000_000 }),
        fc.record(sizes),
        (window, { used, cached }) => {
          const overlay = playOverlay({}, { window });
          overlay.play.tell(tokens('log', used, { cachedTokens: cached }));
          const { fill } = overlay.view();
          expect(fill?.totalTokens).toBe(Math.max(used, window));
          expect(sum((fill?.parts ?? []).map((part) => part.tokens))).toBe(fill?.totalTokens);
          expect(sum((fill?.parts ?? []).map((part) => part.percent * 10))).toBeCloseTo(1000, 6);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('are none where tokens or the window are not known', () => {
    const overlay = playOverlay();
    overlay.play.tell(shows(40));
    expect(overlay.view().fill).toMatchObject({ parts: [], share: 0.4 });
  });

  it('say so where more is used than there is room for', () => {
    expect(overlayAt(206_000).view().fill).toMatchObject({ isOver: true, totalTokens: 206_000 });
    expect(overlayAt(200_000).view().fill).toMatchObject({ isOver: false });
  });
});

describe('the thresholds', () => {
  it.each([
    ['safe', 100_000, []],
    ['warn', 150_000, ['warn']],
    ['auto', 165_000, ['auto']],
    ['hard', HARD_TOKENS, ['hard']],
  ] as const)('in the tier %s exactly one is marked, and none in safe', (tier, used, marked) => {
    const view = overlayAt(used).view();
    expect(view.tier).toBe(tier);
    expect(current(view)).toEqual(marked);
  });

  it('hold hard only where it is above auto', () => {
    const names = (view: OverlayView): readonly string[] => view.thresholds.map(({ name }) => name);
    const small = inWindow(32_000, 31_000);
    expect(names(small)).not.toContain('hard');
    expect(small).toMatchObject({ tier: 'auto', isHardAuto: true });
    expect(small.fill?.marks.map(({ name }) => name)).toEqual(['auto']);
    const large = overlayAt(100_000).view();
    expect(names(large)).toEqual(['effective', 'warn', 'auto', 'hard', 'native']);
    expect(large.isHardAuto).toBe(false);
    expect(large.fill?.marks.map(({ name, share }) => [name, share])).toEqual([
      ['auto', 0.81],
      ['hard', 0.885],
    ]);
  });

  it('are marked at most once in any window', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 2_000_000 }),
        fc.double({ min: 0, max: 1.2, noNaN: true }),
        (window, share) => {
          const view = inWindow(window, Math.round(window * share));
          expect(current(view)).toHaveLength(view.tier === undefined || view.tier === 'safe' ? 0 : 1);
          for (const mark of view.fill?.marks ?? []) expect(mark.share >= 0 && mark.share <= 1).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('are none before the first number', () => {
    expect(playOverlay().view()).toMatchObject({ thresholds: [], isHardAuto: false });
  });
});

describe('where there is no number', () => {
  it('a sentence says why', () => {
    expect(playOverlay().view().blank).toMatch(/^No answer yet/);
    const pending = overlayAt(100_000);
    pending.play.boundary();
    expect(pending.view().blank).toMatch(/^The last number is void after a compaction/);
    const generic = playOverlay({}, { agent: agentFacts(runtimes.generic, {}) });
    expect(generic.view().blank).toBe('There is no number: generic has no session file.');
    const gone = playOverlay();
    gone.play.tell(shows(40), blank);
    expect(gone.view().blank).toMatch(/has shown one and shows none now\.$/);
    expect(overlayAt(100_000).view().blank).toBeUndefined();
  });
});

describe('the numbers', () => {
  it('say where they come from, how old they are, and which of them is a guess', () => {
    const overlay = overlayAt(100_000);
    overlay.play.wait(30_000);
    expect(overlay.view().fill).toMatchObject({
      source: 'from the session file',
      windowSource: 'from the model table',
      isEstimated: false,
      windowInferred: false,
    });
    const guessed = playOverlay();
    guessed.play.tell(
      { type: 'assumed-window', windowTokens: 200_000 },
      tokens('estimate', 90_000, { windowSource: 'default' }),
    );
    expect(guessed.view().fill).toMatchObject({ isEstimated: true, windowInferred: true });
  });

  it('of a percentage say what it counts against', () => {
    const overlay = playOverlay();
    overlay.play.tell(shows(40, 'effective'));
    expect(overlay.view().fill?.basis).toBe('of what the window leaves beside the answer');
  });
});

describe('the detail', () => {
  it('names every source, what the agent does, and the breaker', () => {
    const { detail } = overlayAt(165_000).view();
    expect(detail.reason).toBe('the session file: 165,000 tokens; window 200,000 from the model table');
    expect(detail.sources).toMatchObject([{ name: 'the session file', usedTokens: 165_000, tier: 'auto' }]);
    expect(detail).toMatchObject({ activity: 'ready', witnesses: ['it is ready'] });
    expect(detail.policy).toEqual([
      'The command is /compact.',
      'The window has been full for 0 s, tried 0×.',
      'The breaker is closed, 0 failures in a row.',
    ]);
  });
});
