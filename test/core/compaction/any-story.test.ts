// What must hold whatever happens: activities, keys, numbers, records, requests and answers in any order, at any time.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Activity } from '../../../src/core/reading.js';
import { compactionDeadline } from '../../../src/core/compaction/machine.js';
import { compactionText } from '../../../src/core/compaction/texts.js';
import type { OutcomeKind } from '../../../src/core/compaction/outcome.js';
import { NOON } from '../../support/compaction-play.js';
import type { PlayStep } from '../../support/compaction-play.js';
import { eventSequence, eventSequenceWithClockJumps, playEvents } from '../../support/compaction-events.js';
import type { EventSequence } from '../../support/compaction-events.js';
import { runs } from '../../support/runs.js';

const often = runs(400);

const stepsOf = (told: EventSequence): readonly PlayStep[] => {
  const steps: PlayStep[] = [];
  playEvents(told, (each) => steps.push(each));
  return steps;
};

const types = ({ after }: PlayStep): boolean =>
  after.compaction.effects.some(({ type }) => type === 'type-compact');

const endings = ({ after }: PlayStep) =>
  after.compaction.effects.flatMap((each) =>
    each.type === 'ended' && each.ended.initiator === 'ctxwrap' && !each.ended.isLate ? [each.ended] : [],
  );

const isAsked = ({ after }: PlayStep): boolean =>
  after.compaction.phase.kind === 'typing' && after.compaction.phase.attempt.request !== undefined;

const isHard = ({ after, before }: PlayStep): boolean =>
  [before, after].some(({ compaction: { phase } }) => 'attempt' in phase && phase.attempt.isHard);

/** Checks each order to type in any story, with what went before it. */
const whenever = (holds: (typing: PlayStep, past: readonly PlayStep[], told: EventSequence) => boolean) =>
  fc.property(eventSequence, (told) => {
    const steps = stepsOf(told);
    return steps.every((each, index) => !types(each) || holds(each, steps.slice(0, index), told));
  });

describe('whenever a command is typed', () => {
  it('the agent has been ready for 1.5 s, or in a state that the user allows', () => {
    fc.assert(
      whenever(({ now }, past, { wish }) => {
        const told = past.flatMap((each) =>
          each.event?.type === 'activity' ? [{ at: each.now, is: each.event.report.activity }] : [],
        );
        const { is } = told.at(-1) ?? {};
        const allowed: readonly (Activity | undefined)[] = [
          'ready',
          ...(wish.mayStash ? ['draft' as const] : []),
          ...(wish.mayQueue ? ['busy' as const] : []),
        ];
        const since = told.slice(told.findLastIndex((each) => each.is !== is) + 1)[0]?.at ?? now;
        return allowed.includes(is) && now - since >= 1_500;
      }),
      often,
    );
  });

  it('the user has not pressed a key for 3 s', () => {
    fc.assert(
      whenever(({ now }, past) => {
        const key = past.findLast(({ event }) => event?.type === 'user-keys');
        return now - (key?.now ?? -Infinity) >= 3_000;
      }),
      often,
    );
  });

  it('a countdown was shown before it, of 10 s or of 3 s after the user has typed, in the mode auto and at a full window, or somebody asked for it', () => {
    fc.assert(
      whenever((typing, past, { wish }) => {
        if (isAsked(typing))
          return [...past, typing].some(({ event }) => event?.type === 'compact-requested');
        const before = past.findLastIndex(({ after }) => after.compaction.phase.kind !== 'countdown');
        const shown = past.slice(before + 1);
        const words = shown.map(({ after, now }) => compactionText(after.compaction, NOON + now));
        const { session, compaction } = typing.after;
        const { actingTier, isNearAuto } = session.fused ?? {};
        const isProactive = compaction.isProactive && isNearAuto === true && actingTier === 'warn';
        const left = `${isProactive ? ' (proactive)' : ''} · Esc: not now`;
        const paused = past[before]?.after.compaction.countdownLeftMs;
        const leastMs = paused === undefined ? 10_000 : Math.max(3_000, paused);
        const counts = paused === undefined ? [10, 5, 1] : [3, 1];
        const seen = wish.mayTypeUnseen ? [undefined, 'off'] : [undefined];
        return (
          typing.now - (shown[0]?.now ?? Infinity) >= leastMs &&
          counts.every((each) => words.some((text) => text?.startsWith(`compacting in ${each} s`))) &&
          words.at(-1)?.endsWith(left) === true &&
          shown.every(({ after }) => seen.includes(after.compaction.unseen)) &&
          compaction.mode === 'auto' &&
          (actingTier === 'auto' || actingTier === 'hard' || isProactive)
        );
      }),
      often,
    );
  });

  it('the session file was copied since the agent last worked, where copies are made; else at hard or by force', () => {
    fc.assert(
      whenever((typing, past, { wish }) => {
        if (!wish.keepsCopy) return true;
        const { phase } = typing.after.compaction;
        const attempt = phase.kind === 'typing' ? phase.attempt : undefined;
        const works = (each: PlayStep): boolean =>
          each.event?.type === 'activity' &&
          (each.event.report.activity === 'busy' || each.event.report.activity === 'compacting') &&
          each.event.report.activity !== each.before.compaction.activity;
        const since = [...past.slice(past.findLastIndex(works) + 1), typing];
        const isKept = since.some(({ event }) => event?.type === 'copied' && event.result.kind !== 'failed');
        const mayGoOn = isHard(typing) || attempt?.request?.force === true;
        return attempt?.noCopy === undefined ? isKept : mayGoOn;
      }),
      often,
    );
  });

  it('there is news since the last attempt, unless somebody asked for it', () => {
    fc.assert(
      whenever((typing, past) => {
        const last = past.findLastIndex((each) =>
          endings(each).some(({ outcome }) => outcome.kind !== 'skipped-busy'),
        );
        if (isAsked(typing) || last < 0) return true;
        const since = past.slice(last + 1).map(({ event }) => event);
        const news = since.some(
          (event) =>
            (event?.type === 'activity' && event.report.activity === 'busy') ||
            event?.type === 'reading' ||
            event?.type === 'session-changed' ||
            event?.type === 'boundary',
        );
        // another conversation can be what ended it
        return news || past[last]?.event?.type === 'session-changed';
      }),
      often,
    );
  });

  it('no plan is being worked on at auto, a piece of the work has ended, or ten minutes have passed', () => {
    fc.assert(
      whenever((typing) => {
        const { session, compaction } = typing.before;
        const { plan, ended } = session.work ?? {};
        if (isAsked(typing) || !plan || ended || session.fused?.actingTier !== 'auto') return true;
        return typing.now + NOON - (compaction.episodeSince ?? Infinity) >= 600_000;
      }),
      often,
    );
  });

  it('the bounds of an episode hold, and the pauses', () => {
    fc.assert(
      whenever((typing, past) => {
        if (isAsked(typing)) return true;
        const isReset = ({ event, before, after }: PlayStep): boolean =>
          (event?.type === 'boundary' && event.boundary.summary === undefined) ||
          event?.type === 'session-changed' ||
          after.compaction.last?.outcome.kind === 'verified' ||
          (before.compaction.episodeSince !== undefined && after.compaction.episodeSince === undefined);
        const tried = past
          .slice(past.findLastIndex(isReset) + 1)
          .filter((each) => endings(each).some(({ outcome }) => outcome.kind !== 'skipped-busy'));
        const own = tried.filter((each) => isHard(each) === isHard(typing));
        const sinceLast = typing.now - (tried.at(-1)?.now ?? -Infinity);
        if (isHard(typing)) return own.length < 3;
        return sinceLast >= (own.length < 3 ? 60_000 : 300_000);
      }),
      often,
    );
  });

  it('fewer than three attempts have failed one after the other, or the last was five minutes ago, or it is hard', () => {
    const failures: readonly OutcomeKind[] = [
      'failed',
      'not-delivered',
      'not-started',
      'timeout',
      'unverified',
    ];
    fc.assert(
      whenever((typing, past) => {
        if (isAsked(typing) || isHard(typing)) return true;
        const isSuccess = ({ event, after }: PlayStep): boolean =>
          (event?.type === 'boundary' && event.boundary.summary === undefined) ||
          after.compaction.effects.some(
            (each) => each.type === 'ended' && each.ended.outcome.kind === 'verified',
          );
        const failed = past
          .slice(past.findLastIndex(isSuccess) + 1)
          .filter((each) => endings(each).some(({ outcome }) => failures.includes(outcome.kind)));
        return failed.length < 3 || typing.now - (failed.at(-1)?.now ?? 0) >= 300_000;
      }),
      often,
    );
  });
});

describe('whatever happens, also to the clock', () => {
  it('each order to type ends once, before the next one, and at the latest with the agent', () => {
    fc.assert(
      fc.property(eventSequenceWithClockJumps, (told) => {
        let open = 0;
        const play = playEvents(told, (each) => {
          open -= endings(each).length;
          expect(open).toBeGreaterThanOrEqual(0);
          if (types(each)) open += 1;
          expect(open).toBeLessThanOrEqual(1);
        });
        play.is('dead');
        expect(open).toBe(0);
      }),
      often,
    );
  });

  it('each request is answered once, unless it was taken back', () => {
    fc.assert(
      fc.property(eventSequence, (told) => {
        const steps = stepsOf(told);
        // a key pressed again only takes back what the first press asked for
        const isAgain = ({ after }: PlayStep): boolean =>
          after.compaction.effects.some(
            (each) => each.type === 'refused' && each.reason === 'withdrawn by the same key',
          );
        const asked = steps.filter(
          (each) => each.event?.type === 'compact-requested' && !isAgain(each),
        ).length;
        const cancelled = steps.filter(
          ({ event, before, after }) =>
            event?.type === 'compact-cancelled' && before.compaction.request && !after.compaction.request,
        ).length;
        const answers = steps
          .flatMap(({ after }) => after.compaction.effects)
          .filter(
            (each) => (each.type === 'ended' || each.type === 'refused') && each.requestId !== undefined,
          ).length;
        const { compaction } = steps.at(-1)?.after ?? {};
        const isOpen = compaction?.request ? 1 : 0;
        const phase = compaction?.phase;
        const isTried = phase && 'attempt' in phase && phase.attempt.request ? 1 : 0;
        expect(answers + isOpen + isTried).toBe(asked - cancelled);
      }),
      often,
    );
  });

  it('nothing follows after the end of the agent, and nothing is waited for', () => {
    fc.assert(
      fc.property(eventSequenceWithClockJumps, eventSequence, (life, after) => {
        const play = playEvents(life);
        play.is('dead');
        expect(play.due()).toBeUndefined();
        const before = play.done.length;
        for (const each of after.happenings) {
          if (each.kind === 'event') play.tell(each.event);
          else play.wait(each.ms);
          expect(play.due()).toBeUndefined();
        }
        const late = play.done.slice(before).filter(({ effect }) => effect.type !== 'refused');
        expect(late).toEqual([]);
        expect(play.phase()).toEqual({ kind: 'rest' });
        expect(play.words()).toBeUndefined();
      }),
      often,
    );
  });

  it('what is waited for lies ahead, at most ten minutes, and an hour of silence leaves nothing to wait for', () => {
    fc.assert(
      fc.property(eventSequenceWithClockJumps, (told) => {
        const play = playEvents(told, ({ after, now }) => {
          const due = compactionDeadline(after.compaction, NOON + now);
          if (due === undefined) return;
          expect(due - NOON).toBeGreaterThan(now);
          expect(due - NOON).toBeLessThanOrEqual(now + 600_000);
        });
        play.wait(3_600_000);
        expect(play.due()).toBeUndefined();
        expect(['rest', 'doubted', 'held', 'blocked', 'proposed', 'sent', 'foreign']).toContain(
          play.phase().kind,
        );
      }),
      often,
    );
  });

  it('the alarm that rings too early changes nothing', () => {
    fc.assert(
      fc.property(eventSequence, (told) => {
        const play = playEvents(told);
        const [phase, due, count] = [play.phase(), play.due(), play.done.length];
        play.tell({ type: 'alarm' });
        expect([play.phase(), play.due(), play.done.length]).toEqual([phase, due, count]);
      }),
      often,
    );
  });
});

describe('the stories', () => {
  it('reach every outcome and every phase, so that the rules above are not about nothing', () => {
    const outcomes = new Set<string>();
    const phases = new Set<string>();
    for (const each of fc.sample(eventSequence, { seed: 1, numRuns: 1_000 })) {
      for (const { after } of stepsOf(each)) {
        phases.add(after.compaction.phase.kind);
        if (after.compaction.last) outcomes.add(after.compaction.last.outcome.kind);
      }
    }
    expect([...phases].sort()).toEqual([
      'blocked',
      'countdown',
      'doubted',
      'foreign',
      'held',
      'proposed',
      'rest',
      'sent',
      'typing',
    ]);
    expect([...outcomes].sort()).toEqual([
      'failed',
      'interrupted',
      'no-evidence',
      'noop',
      'not-delivered',
      'not-started',
      'skipped-busy',
      'timeout',
      'unverified',
      'verified',
    ]);
  });
});
