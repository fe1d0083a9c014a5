import { describe, expect, it } from 'vitest';
import { noPastAttempts, recordAttempts } from '../../../src/core/report/history.js';
import type { EndedCompaction } from '../../../src/core/compaction/outcome.js';
import { failOnce } from '../../support/compaction-play.js';
import { overviewAt } from '../../support/overview-play.js';
import type { OverviewPlay } from '../../support/overview-play.js';

const rows = ({ report }: OverviewPlay): readonly string[] =>
  report()
    .sections.filter(({ title }) => title?.startsWith('Compactions'))
    .flatMap(({ rows: all }) => all.map(({ text = '' }) => text));

const typed = (overview: OverviewPlay): OverviewPlay => {
  overview.play.wait(11_500);
  overview.play.sent();
  overview.play.wait(500);
  overview.play.is('compacting');
  overview.play.wait(4_500);
  return overview;
};

describe('the list of past compactions', () => {
  it('has ours, from the first key to the outcome', () => {
    const overview = typed(overviewAt());
    overview.play.boundary({ postTokens: 12_000 });
    expect(rows(overview)).toEqual(['165k → 12k, 5 s, by ctxwrap: verified']);
  });

  it('has the number of the next turn where the record tells none, and no number of another conversation', () => {
    const overview = typed(overviewAt());
    overview.play.boundary();
    expect(rows(overview)).toEqual(['165k, 5 s, by ctxwrap: verified']);
    overview.play.used(14_000);
    expect(rows(overview)).toEqual(['165k → ~14k, 5 s, by ctxwrap: verified']);
    overview.play.used(30_000);
    expect(rows(overview)).toEqual(['165k → ~14k, 5 s, by ctxwrap: verified']);

    const other = typed(overviewAt());
    other.play.tell({ type: 'session-changed', sessionId: 'one' });
    other.play.boundary();
    other.play.tell({ type: 'session-changed', sessionId: 'two' });
    other.play.used(14_000);
    expect(rows(other)).toEqual(['165k, 5 s, by ctxwrap: verified']);
  });

  it.each([{}, { isOtherSession: true } as const])('has one that was taken back as undone: %j', (where) => {
    const overview = typed(overviewAt());
    overview.play.boundary({ postTokens: 12_000 });
    expect(overview.play.last()?.outcome.kind).toBe('verified');
    overview.play.tell({ type: 'undone', ...where });
    expect(rows(overview)).toEqual(['165k, 5 s, by ctxwrap: undone']);
    expect(overview.play.state().last).toBeUndefined(); // the footer has nothing more to say of it
  });

  it("has the user's and the agent's own, with what was used before though the number is void by then", () => {
    const overview = overviewAt(100_000);
    overview.play.boundary({ initiator: 'user', postTokens: 9_000 });
    overview.play.turn(50_000);
    overview.play.boundary({ preTokens: 51_000, postTokens: 8_000 });
    expect(rows(overview)).toEqual(['51k → 8.0k, by the agent: verified', '100k → 9.0k, by you: verified']);
  });

  it('has one that came while ours was typed, once', () => {
    const overview = overviewAt();
    overview.play.wait(11_500);
    expect(overview.play.phase().kind).toBe('typing');
    overview.play.boundary({ initiator: 'user', postTokens: 9_000 });
    expect(rows(overview)).toEqual(['165k → 9.0k, by you: verified']);
  });

  it('has one that left no less than there was as one that failed', () => {
    const overview = overviewAt(100_000);
    overview.play.boundary({ preTokens: 100_000, postTokens: 101_000 });
    expect(rows(overview)).toEqual(['100k, by the agent: failed: not smaller: 100k → 101k']);
  });

  it('has one whose summary is of no use, and none that only the screen tells of', () => {
    const overview = overviewAt(100_000);
    overview.play.boundary({ summary: 'empty' });
    expect(rows(overview)).toEqual(['100k, by the agent: failed: the summary is empty']);
    overview.play.boundary({ source: 'screen' });
    expect(rows(overview)).toHaveLength(1);
  });

  it('has attempts that failed, and nothing that was not tried', () => {
    const overview = overviewAt();
    overview.play.wait(11_500);
    failOnce(overview.play);
    expect(rows(overview)).toEqual(['165k, 1 s, by ctxwrap: failed: API Error: 500']);
    const skipped = overviewAt();
    skipped.play.wait(11_500);
    skipped.play.typed({ kind: 'skipped', reason: 'the agent is busy', evidence: [] });
    expect(rows(skipped)).toEqual([]);
  });

  it('has the last eight, and is the same object while nothing is new', () => {
    const ended = (second: number): EndedCompaction => ({
      initiator: 'agent',
      startedAt: second,
      endedAt: second,
      outcome: { kind: 'not-started' },
      evidence: [],
    });
    const fill = { usedTokens: 1 };
    const past = Array.from({ length: 20 }, (_, index) => index).reduce(
      (list, index) =>
        recordAttempts(list, {
          effects: [{ type: 'ended', ended: ended(index) }],
          fill,
          compactions: 0,
          now: index,
        }),
      noPastAttempts,
    );
    expect(past.attempts.map((each) => each.ended.endedAt)).toEqual([12, 13, 14, 15, 16, 17, 18, 19]);
    expect(
      recordAttempts(past, {
        event: { type: 'output' },
        effects: [],
        fill: { usedTokens: 1 },
        compactions: 0,
        now: 30,
      }),
    ).toBe(past);
  });
});
