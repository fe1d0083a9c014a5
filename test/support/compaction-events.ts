import fc from 'fast-check';
import type { CopyResult } from '../../src/core/compaction/copy.js';
import type { Activity } from '../../src/core/reading.js';
import type { CompactSettings, TypeResult } from '../../src/core/compaction/state.js';
import type { Event } from '../../src/core/event.js';
import { NOON, playCompaction } from './compaction-play.js';
import type { Play, PlayStep } from './compaction-play.js';
import { compacted, inSession, shows, tokens } from './sessions.js';

/** An event of a session. */
export type SessionEvent =
  | { readonly kind: 'event'; readonly event: Event }
  | { readonly kind: 'wait'; readonly ms: number }
  /** the clock is set */
  | { readonly kind: 'clock'; readonly ms: number };

export interface EventSequence {
  /** results of the copies that are asked for, in turn */
  readonly copies: readonly (CopyResult | undefined)[];
  readonly wish: Partial<CompactSettings>;
  readonly happenings: readonly SessionEvent[];
}

const activity = (is: Activity): Event => ({ type: 'activity', report: { activity: is, witnesses: [] } });
const typed = (result: TypeResult): Event => ({ type: 'typed', result });
const results: readonly Event[] = [
  { type: 'compact-result', result: { kind: 'noop', text: 'nothing' } },
  { type: 'compact-result', result: { kind: 'failed', failure: 'error', text: '500' } },
  { type: 'compact-result', result: { kind: 'interrupted', by: 'the user' } },
];
const sent = typed({ kind: 'sent', isQueued: false, evidence: [] });
const told = typed({
  kind: 'sent',
  isQueued: false,
  evidence: [],
  pendingSession: { id: 'told', writtenAt: 0 },
});

const anyActivity = fc
  .constantFrom<Activity>(
    'ready',
    'ready',
    'ready',
    'busy',
    'busy',
    'draft',
    'dialog',
    'compacting',
    'unknown',
  )
  .map(activity);
const anyNumber = fc.oneof(
  fc.constantFrom(0, 20_000, 141_000, 150_000, 165_000, 165_001, 180_000).map((used) => tokens('log', used)),
  fc.constantFrom(0, 180_000).map((used) => tokens('official', used)),
  fc.constantFrom(10, 95).map((used) => shows(used)),
);
const anyTyped = fc.constantFrom(
  sent,
  sent,
  typed({ kind: 'sent', isQueued: true, evidence: [] }),
  told,
  typed({ kind: 'withdrawn', reason: 'a dialog', evidence: [] }),
  typed({ kind: 'skipped', reason: 'busy', evidence: [] }),
);
const anyRequest = fc
  .tuple(fc.constantFrom('one', 'two'), fc.boolean(), fc.boolean())
  .map(([id, force, isByKey]): Event => ({ type: 'compact-requested', request: { id, force, isByKey } }));
const anyOther = fc.constantFrom<Event>(
  ...results,
  { type: 'user-keys' },
  { type: 'user-keys' },
  compacted(),
  compacted('screen'),
  { type: 'boundary', boundary: { at: 1, summary: 'empty' } },
  { type: 'growth', tokens: 15_000 },
  { type: 'limit', limit: 'none' },
  { type: 'limit', limit: { value: 100_000, unit: 'tokens' } },
  { type: 'proactive', isProactive: true },
  { type: 'proactive', isProactive: false },
  { type: 'visibility', unseen: 'off' },
  { type: 'visibility', unseen: 'small' },
  { type: 'voided' },
  { type: 'work', work: { plan: { done: 1, total: 3 } } },
  { type: 'work', work: { plan: { done: 2, total: 3 }, ended: 'item' } },
  { type: 'work', work: {} },
  { type: 'screen-blank' },
  { type: 'compact-cancelled', id: 'one' },
  { type: 'mode', mode: 'auto' },
  { type: 'mode', mode: 'auto' },
  { type: 'mode', mode: 'ask' },
  { type: 'mode', mode: 'warn' },
  { type: 'postpone' },
  { type: 'undone' },
  inSession('one'),
  inSession('two'),
  inSession('told'),
);
const event = fc
  .oneof(
    { weight: 6, arbitrary: anyActivity },
    { weight: 4, arbitrary: anyNumber },
    { weight: 5, arbitrary: anyTyped },
    { weight: 1, arbitrary: anyRequest },
    { weight: 4, arbitrary: anyOther },
  )
  .map((each): SessionEvent => ({ kind: 'event', event: each }));
const seen: Event = { type: 'visibility', unseen: undefined };
const wait = fc
  .oneof(
    fc.integer({ min: 0, max: 3_500 }),
    fc.integer({ min: 9_000, max: 16_000 }),
    fc.constantFrom(5_000, 11_500, 60_000, 75_000, 120_000, 310_000),
  )
  .map((ms): SessionEvent => ({ kind: 'wait', ms }));

// The events that lead to an attempt and to its end are too rare in random sequences.
const full = (used: number): readonly SessionEvent[] =>
  [seen, activity('busy'), tokens('log', used), activity('ready')].map((each) => ({
    kind: 'event',
    event: each,
  }));
const tried = (...after: readonly Event[]): readonly SessionEvent[] =>
  [sent, activity('compacting'), ...after].map((each) => ({ kind: 'event', event: each }));
const often = fc.constantFrom<readonly SessionEvent[]>(
  [...full(165_000), { kind: 'wait', ms: 75_000 }],
  [...full(166_000), { kind: 'wait', ms: 11_500 }],
  [...full(180_000), { kind: 'wait', ms: 11_500 }],
  [
    ...full(150_000),
    { kind: 'event', event: { type: 'growth', tokens: 15_000 } },
    { kind: 'wait', ms: 11_500 },
  ],
  [...full(167_000), { kind: 'event', event: { type: 'mode', mode: 'ask' } }],
  tried(),
  [
    { kind: 'event', event: sent },
    { kind: 'wait', ms: 66_000 },
  ],
  [...tried(), { kind: 'wait', ms: 121_000 }],
  [
    ...[told, activity('busy'), activity('ready')].map((each) => ({ kind: 'event', event: each }) as const),
    { kind: 'wait', ms: 12_000 },
  ],
  ...results.map((each) => tried(each, activity('ready'))),
  [...tried(compacted('screen'), activity('ready')), ...full(165_500)],
);
const part = fc.oneof(
  { weight: 5, arbitrary: event.map((each) => [each]) },
  { weight: 5, arbitrary: wait.map((each) => [each]) },
  { weight: 3, arbitrary: often },
);
const clock = fc.constantFrom(5_000, 3_600_000).map((ms): readonly SessionEvent[] => [{ kind: 'clock', ms }]);

const wish = fc.record({
  mayStash: fc.boolean(),
  mayQueue: fc.boolean(),
  isProactive: fc.boolean(),
  mayTypeUnseen: fc.boolean(),
  keepsCopy: fc.boolean(),
});
const anyCopy = fc.constantFrom<CopyResult | undefined>(
  { kind: 'kept' },
  { kind: 'kept' },
  { kind: 'nothing' },
  { kind: 'failed', reason: 'disk full' },
  undefined,
);
const copies = fc.array(anyCopy, { minLength: 1, maxLength: 4 });
const storyOf = (each: fc.Arbitrary<readonly SessionEvent[]>): fc.Arbitrary<EventSequence> =>
  fc.record({ wish, copies, happenings: fc.array(each, { maxLength: 50 }).map((parts) => parts.flat()) });

/** Any sequence of events of a session before its end. */
export const eventSequence = storyOf(part);

/** The same with a clock that jumps, as after a sleep of the machine. */
export const eventSequenceWithClockJumps = storyOf(
  fc.oneof({ weight: 12, arbitrary: part }, { weight: 1, arbitrary: clock }),
);

/** Plays a sequence; `watch` gets each step. */
export const playEvents = (
  { wish: wanted, happenings, copies: results }: EventSequence,
  watch: (step: PlayStep) => void = () => undefined,
): Play => {
  let asked = 0;
  const play = playCompaction(
    wanted,
    {},
    (each) => watch({ ...each, now: each.now - NOON }),
    () => results[asked++ % results.length],
  );
  for (const each of happenings) {
    if (each.kind === 'event') play.tell(each.event);
    if (each.kind === 'wait') play.wait(each.ms);
    if (each.kind === 'clock') {
      play.setClock(each.ms);
      play.tell({ type: 'output' });
    }
  }
  return play;
};
