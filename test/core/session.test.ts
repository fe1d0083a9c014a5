import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Activity } from '../../src/core/reading.js';
import type { Event } from '../../src/core/event.js';
import type { Reading } from '../../src/core/reading.js';
import { sessionDeadline, startSession, stepSession } from '../../src/core/session.js';
import { footerView } from '../../src/core/footer-view.js';
import { alarm, blank, claim, grew, output, sessionAfter, shows, tokens } from '../support/sessions.js';
import type { Timed } from '../support/sessions.js';
import type { Session } from '../../src/core/session.js';
import { runs } from '../support/runs.js';

const used = (usedTokens: number, more: Partial<Reading> = {}): Event => ({
  type: 'reading',
  reading: { usedTokens, windowTokens: 200_000, windowSource: 'table', source: 'log', at: 1, ...more },
});
const boundary: Event = { type: 'boundary', boundary: { at: 2, preTokens: 160_000, postTokens: 777 } };
const session = (sessionId: string): Event => ({ type: 'session-changed', sessionId });

const after = (...events: readonly Event[]): Session =>
  events.reduce((state, event, i) => stepSession(state, event, i), startSession({ agent: 'claude' }, 0));
const view = (...events: readonly Event[]) => footerView(after(...events), 99);

const empty = { runtime: 'claude', compactions: 0, estimated: false, windowInferred: false };

describe('the footer view', () => {
  it('waits for the first turn before anything is known', () => {
    expect(view()).toEqual({ ...empty, note: 'waiting for the first turn' });
    expect(view(session('a'))).toEqual({ ...empty, note: 'waiting for the first turn' });
  });

  it('waits no longer when a turn is over that has brought no number, and says so', () => {
    const activity = (name: Activity): Event => ({
      type: 'activity',
      report: { activity: name, witnesses: [] },
    });
    const turn: readonly Event[] = [{ type: 'user-keys' }, activity('busy'), activity('ready')];
    const due = sessionDeadline(after(...turn)) ?? 0;
    const noteAt = (now: number): string | undefined =>
      footerView(stepSession(after(...turn), { type: 'alarm' }, now), now).note;
    expect([noteAt(due - 1), noteAt(due)]).toEqual(['waiting for the first turn', 'no reading']);
    expect(sessionDeadline(stepSession(after(...turn), { type: 'alarm' }, due))).toBeUndefined();
    // an agent that is busy at its start has had no turn
    expect(sessionDeadline(after(activity('busy'), activity('ready')))).toBeUndefined();
    expect(footerView(stepSession(after(...turn), used(5_000), due), due).usedTokens).toBe(5_000);
  });

  it('shows a reading with its percentage and tier', () => {
    expect(view(used(150_000))).toEqual({
      ...empty,
      usedTokens: 150_000,
      wayPercent: (150_000 * 100) / 167_000,
      windowTokens: 200_000,
      usedPercent: 75,
      tier: 'warn',
      tierNote: 'filling up',
    });
  });

  it('shows the size of the record after a compaction, as an estimate, until the next reading', () => {
    const { postTokens: _, ...unsized } = boundary.boundary;
    const sizeless: Event = { type: 'boundary', boundary: unsized };
    expect(view(used(160_000), sizeless)).toEqual({ ...empty, compactions: 1, note: 'size pending' });
    expect(view(used(160_000), boundary)).toMatchObject({ usedTokens: 777, estimated: true, tier: 'safe' });
    expect(view(used(160_000), boundary, used(12_000))).toMatchObject({ usedTokens: 12_000, compactions: 1 });
  });

  it('shows the size from before a compaction that was taken back, as an estimate, until the next reading', () => {
    const undone: Event = { type: 'undone' };
    const full = { usedTokens: 160_000, estimated: true, tier: 'warn' };
    expect(view(used(160_000), boundary, used(12_000), undone)).toMatchObject(full);
    const screen: Event = { type: 'boundary', boundary: { at: 2, source: 'screen' } };
    const file: Event = { type: 'boundary', boundary: { at: 2 } };
    const told = [used(160_000), file, screen, undone, { type: 'voided' }] as const;
    expect(view(...told)).toMatchObject(full);
    expect(view(...told, used(161_000))).toMatchObject({ usedTokens: 161_000, estimated: false });
    expect(view(boundary, session('a'), session('b'), undone)).toMatchObject({ note: 'size pending' });
  });

  it('does not count a compaction that was taken back, here or in another session', () => {
    const elsewhere: Event = { type: 'undone', isOtherSession: true };
    expect(view(used(160_000), boundary, { type: 'undone' })).not.toHaveProperty('compactions', 1);
    expect(
      view(session('a'), used(160_000), boundary, boundary, session('b'), used(150_000), elsewhere),
    ).toMatchObject({
      usedTokens: 150_000,
      compactions: 1,
    });
  });

  it('counts a compaction once that the screen tells of before its record is found', () => {
    const at = 1_000_000;
    const told = (source: 'screen' | 'log', when: number): Event => ({
      type: 'boundary',
      boundary: { at: when, source },
    });
    const shown = used(160_000, { source: 'screen' }); // no file is known yet
    const first = [shown, told('screen', at), told('log', at - 2_000)] as const;
    expect(view(...first)).toMatchObject({ compactions: 1 });
    expect(view(...first, { type: 'undone' })).toMatchObject({ usedTokens: 160_000 });
    expect(view(...first, told('screen', at), told('log', at + 1_000))).toMatchObject({ compactions: 2 });
    expect(view(shown, told('screen', at), told('log', at + 600_000))).toMatchObject({ compactions: 2 });
  });

  it('shows no number after the conversation was cut back, and counts no compaction', () => {
    expect(view(used(160_000), { type: 'voided' })).toEqual({ ...empty, note: 'size pending' });
  });

  it('starts again with a new session but keeps the compactions of the wrap', () => {
    const seen = view(session('a'), used(160_000), boundary, used(12_000), session('b'));
    expect(seen).toEqual({ ...empty, compactions: 1, note: 'waiting for the first turn' });
  });

  it('keeps its number when the same session is named again', () => {
    expect(view(session('a'), used(160_000), session('a'))).toMatchObject({ usedTokens: 160_000 });
  });

  it('says that there is no reading when the source fails, and recovers with the next reading', () => {
    const problem: Event = { type: 'source-problem', reason: 'not JSON' };
    expect(view(used(5), problem)).toEqual({ ...empty, note: 'no reading' });
    expect(view(used(5), problem, used(6))).toMatchObject({ usedTokens: 6 });
  });

  it('marks an estimate and an assumed window', () => {
    expect(view(used(5, { source: 'estimate' }))).toMatchObject({ estimated: true, windowInferred: false });
    const assumption: Event = { type: 'assumed-window', windowTokens: 100_000 };
    expect(view(assumption, used(5, { windowSource: 'default' }))).toMatchObject({
      estimated: false,
      windowInferred: true,
    });
    expect(view(used(5, { windowSource: 'derived' }))).toMatchObject({ windowInferred: false });
  });

  it('ignores an impossible reading', () => {
    expect(view(used(5), used(Number.NaN), used(-1))).toMatchObject({ usedTokens: 5 });
  });

  it('measures against the window the user named, before and after readings', () => {
    const window: Event = { type: 'user-window', windowTokens: 400_000 };
    const expected = { windowTokens: 400_000, usedPercent: 25, windowInferred: false };
    expect(view(window, used(100_000, { windowSource: 'default' }))).toMatchObject(expected);
    expect(view(used(100_000, { windowSource: 'default' }), window)).toMatchObject(expected);
  });

  it('uses the own compaction point of the agent for the tier', () => {
    const native = { share: 1, reserveTokens: 33_000 };
    const seen = stepSession(startSession({ agent: 'claude', native }, 0), used(142_000), 1);
    expect(footerView(seen, 1).tier).toBe('warn');
  });

  it('shows a percentage alone', () => {
    const full: Event = { type: 'reading', reading: { usedPercent: 100, source: 'log', at: 1 } };
    expect(view(full)).toEqual({
      ...empty,
      usedPercent: 100,
      wayPercent: 100,
      tier: 'hard',
      tierNote: 'window full',
    });
  });
});

describe('the activity', () => {
  const does = (activity: 'busy' | 'ready', witness: string): Event => ({
    type: 'activity',
    report: { activity, witnesses: [witness] },
  });

  it('is unknown at first, and is kept with its witnesses and its beginning', () => {
    expect(sessionAfter([])).toMatchObject({ activity: 'unknown', activitySince: 0, witnesses: [] });
    const busy: readonly Timed[] = [
      [5, does('busy', 'spinner')],
      [9, does('busy', 'title')],
    ];
    expect(sessionAfter(busy)).toMatchObject({
      activity: 'busy',
      activitySince: 5_000,
      witnesses: ['title'],
    });
    expect(sessionAfter([...busy, [12, does('ready', 'empty prompt')]])).toMatchObject({
      activity: 'ready',
      activitySince: 12_000,
    });
  });
});

describe('any events at all', () => {
  const number = fc.oneof(
    fc.integer({ min: -10, max: 2_000_000 }),
    fc.constantFrom(0, Number.NaN, Number.POSITIVE_INFINITY),
  );
  const source = fc.constantFrom('official' as const, 'log' as const, 'screen' as const, 'estimate' as const);
  const windowSource = fc.constantFrom(
    'agent' as const,
    'derived' as const,
    'table' as const,
    'default' as const,
  );
  const model = fc.constantFrom(undefined, 'a', 'b');
  const basis = fc.constantFrom(
    'window' as const,
    'effective' as const,
    'auto-compact' as const,
    'baseline' as const,
  );
  const event: fc.Arbitrary<Event> = fc.oneof(
    fc
      .tuple(source, number, number, windowSource)
      .map(([from, count, windowTokens, by]) => tokens(from, count, { windowTokens, windowSource: by })),
    fc.tuple(number, basis).map(([percent, on]) => shows(percent, on)),
    fc.tuple(number, windowSource, model).map(([size, by, of]) => claim(size, by, of)),
    number.map(grew),
    fc.constantFrom(
      boundary,
      blank,
      output,
      alarm,
      session('a'),
      session('b'),
      { type: 'voided' } as const,
      {
        type: 'undone',
      } as const,
    ),
  );
  const story = fc.array(fc.tuple(fc.integer({ min: 0, max: 20 }), event), { maxLength: 40 });

  it('show the size that the record of a compaction gives at once, also where it is hardly another one', () => {
    const small = tokens('estimate', 0, { windowTokens: 0 });
    const state = sessionAfter([
      [0, claim(38_850, 'agent')],
      [0, small],
      [0, boundary],
    ]);
    expect(footerView(state, 0).usedTokens).toBe(777);
  });

  it('give no impossible number, and a deadline that has not passed', () => {
    fc.assert(
      fc.property(story, (events) => {
        let state = startSession({ agent: 'claude', native: { share: 1, reserveTokens: 33_000 } }, 0);
        let now = 0;
        for (const [seconds, each] of events) {
          now += seconds * 1_000;
          state = stepSession(state, each, now);
          const view = footerView(state, now);
          const { usedPercent = 0, usedTokens = 0, note } = view;
          expect(
            usedPercent >= 0 && usedPercent <= 100 && usedTokens >= 0 && Number.isFinite(usedTokens),
          ).toBe(true);
          expect(note === undefined).toBe((view.usedPercent ?? view.usedTokens) !== undefined);
          expect(state.fused !== undefined || note !== undefined).toBe(true);
          expect(sessionDeadline(state) ?? Infinity).toBeGreaterThan(now);
          expect(each.type !== 'boundary' || usedTokens === 777).toBe(true);
        }
      }),
      runs(500),
    );
  });
});
