// What must hold after any events at all, also when several come at one instant.
import { shownId } from '../../src/core/shown-conversation.js';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, it } from 'vitest';
import type { Event } from '../../src/core/event.js';
import { isLess } from '../support/tiers.js';
import { oneDecimal, provenance } from '../../src/core/report/report.js';
import { isOfWindow, percentUsed } from '../../src/core/reading.js';
import type { Reading, Source } from '../../src/core/reading.js';
import { sessionDeadline, startSession, stepSession } from '../../src/core/session.js';
import { footerView } from '../../src/core/footer-view.js';
import {
  alarm,
  blank,
  claim,
  compacted,
  grew,
  inSession,
  output,
  shows,
  tokens,
} from '../support/sessions.js';
import type { Session } from '../../src/core/session.js';
import { runs } from '../support/runs.js';

const count = fc.oneof(
  fc.integer({ min: 1, max: 250_000 }),
  fc.integer({ min: 145_000, max: 182_000 }), // where the tiers change in a window of 200 000
  fc.constantFrom(0, -1, Number.NaN, Number.POSITIVE_INFINITY),
);
// few of them, so that a screen often repeats itself
const percent = fc.constantFrom(0, 1, 40, 69, 70, 71, 72, 84, 85, 100, -1, Number.NaN);
const model = fc.constantFrom(undefined, 'a', 'b');
const size = fc.constantFrom(200_000, 1_000_000, 32_000, 0, Number.NaN);
const by = fc.constantFrom('agent' as const, 'derived' as const, 'table' as const, 'default' as const);
const file = fc.constantFrom('official' as const, 'log' as const, 'log' as const, 'estimate' as const);
const basis = fc.constantFrom(undefined, 'window' as const, 'effective' as const, 'auto-compact' as const);

const event: fc.Arbitrary<Event> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(file, count, fc.record({ windowTokens: size, windowSource: by }))
      .map(([from, used, more]) => tokens(from, used, more)),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(file, count, model)
      .map(([from, used, of]) => tokens(from, used, of === undefined ? {} : { model: of })),
  },
  { weight: 5, arbitrary: fc.tuple(percent, basis).map(([used, on]) => shows(used, on)) },
  fc.tuple(size, by, model).map(([tokensIn, from, of]) => claim(tokensIn, from, of)),
  count.map(grew),
  fc.constantFrom<Event>(blank, blank, output, alarm, { type: 'voided' }, compacted(), compacted('screen')),
  fc.constantFrom<Event>(inSession('one'), inSession('two'), { type: 'source-problem', reason: 'torn' }),
  size.map((windowTokens): Event => ({ type: 'user-window', windowTokens })),
);

// An instant may hold several events.
const pause = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 12_000 }) },
  { weight: 2, arbitrary: fc.constant(0) },
);
// An agent of which nobody knows more than its screen shows.
const onScreen: fc.Arbitrary<Event> = fc.oneof(
  fc.constantFrom(70, 80).map((used) => shows(used)),
  fc.constantFrom<Event>(blank, { type: 'voided' }, compacted('screen'), inSession('one'), inSession('two')),
);
const storyOf = (each: fc.Arbitrary<Event>) => fc.array(fc.tuple(pause, each), { maxLength: 30 });
const story = fc.oneof({ weight: 4, arbitrary: storyOf(event) }, { weight: 1, arbitrary: storyOf(onScreen) });
const native = { share: 1, reserveTokens: 33_000 };
const NOON = 1_800_000_000_000;

interface Moment {
  readonly before: Session;
  readonly event: Event;
  readonly after: Session;
  readonly now: number;
}

/** That something holds at each moment of any story. */
const always = (holds: (moment: Moment, past: readonly Moment[]) => boolean) =>
  fc.property(story, (events) => {
    let now = NOON;
    let before = startSession({ agent: 'claude', native }, now);
    const past: Moment[] = [];
    return events.every(([milliseconds, each]) => {
      now += milliseconds;
      const moment = { before, event: each, after: stepSession(before, each, now), now };
      const isRight = holds(moment, past);
      past.push(moment);
      before = moment.after;
      return isRight;
    });
  });
const often = runs(500);

/** The numbers of the present conversation are void from here on. */
const isCut = ({ before, event: each, after }: Moment): boolean =>
  each.type === 'voided' ||
  (each.type === 'boundary' && after.compactions > before.compactions) ||
  (each.type === 'session-changed' &&
    shownId(before.conversation) !== undefined &&
    shownId(before.conversation) !== each.sessionId) ||
  (each.type === 'view' && !each.isSame);

const readingOf = ({ event: each }: Moment): Reading | undefined =>
  each.type === 'reading' ? each.reading : undefined;

const sameNumber = (a: Reading | undefined, b: Reading | undefined): boolean =>
  a?.usedTokens === b?.usedTokens && a?.usedPercent === b?.usedPercent && a?.basis === b?.basis;

/** What was said since the last cut; a screen that goes on with what it showed before says nothing. */
const saidOf = (moments: readonly Moment[]): readonly Reading[] => {
  const cut = moments.findLastIndex(isCut);
  const screenOf = (part: readonly Moment[]): readonly Reading[] =>
    part.map(readingOf).filter((each) => each?.source === 'screen' && isPossible(each)) as Reading[];
  const old = screenOf(moments.slice(0, Math.max(0, cut))).at(-1);
  let isOld = cut >= 0;
  return moments.slice(cut + 1).flatMap((moment) => {
    const reading = readingOf(moment);
    if (!reading || !isPossible(reading)) return [];
    if (reading.source === 'screen') {
      isOld &&= sameNumber(reading, old);
      if (isOld) return [];
    }
    return [reading];
  });
};

const isPossible = ({ usedTokens, usedPercent }: Reading): boolean =>
  [usedTokens, usedPercent].some((each) => each !== undefined && Number.isFinite(each) && each >= 0);

describe('after any events', () => {
  it('the number that counts is one that its source has said in this conversation', () => {
    fc.assert(
      always((moment, past) => {
        const { reading } = moment.after.fused ?? {};
        if (!reading) return true;
        const moments = [...past, moment];
        const said = saidOf(moments);
        if (reading.source === 'estimate') {
          const most = Math.max(0, ...said.map(({ usedTokens = 0 }) => usedTokens));
          return (reading.usedTokens ?? 0) <= most + grownIn(moments);
        }
        const own = said.filter(({ source }) => source === reading.source);
        const { usedTokens, usedPercent } = reading;
        return (
          own.some((each) => each.usedTokens === usedTokens) &&
          (usedPercent === undefined ||
            own.some((each) => each.usedPercent === usedPercent) ||
            (isOfWindow(reading) && own.some((each) => !isOfWindow(each))))
        );
      }),
      often,
    );
  });

  it('nothing is shown right after a compaction, and nothing empty before the next number', () => {
    fc.assert(
      always((moment) => {
        const { note, usedPercent, usedTokens } = footerView(moment.after, moment.now);
        const isBlank = note !== undefined && usedPercent === undefined && usedTokens === undefined;
        const reading = moment.after.fused?.reading;
        const isEmpty = reading && (reading.usedTokens ?? reading.usedPercent) === 0;
        return isCut(moment) ? isBlank : !(moment.before.evidence.isVoid && isEmpty);
      }),
      often,
    );
  });

  it('a worse source is shown only where its tier is higher', () => {
    const order: readonly Source[] = ['official', 'log', 'screen', 'estimate'];
    fc.assert(
      always(({ after, now }) => {
        const known = provenance(after, now);
        const best = known?.candidates[0];
        if (!known || !best) return known === undefined;
        return (
          order.indexOf(known.source) >= order.indexOf(best.source) &&
          (known.raised || known.source === best.source) &&
          isLess(best.tier, known.tier) === known.raised &&
          !isLess(known.tier, best.tier)
        );
      }),
      often,
    );
  });

  it('the tier of the footer is never late, and its number at most two points or five seconds', () => {
    fc.assert(
      always(({ after, now }) => {
        const { fused, shown } = after;
        if (footerView(after, now).tier !== fused?.tier) return false;
        if (!fused || !shown) return !fused && !shown;
        if (shown.fused === fused) return true;
        const points = (percentUsed(fused.reading) ?? NaN) - (percentUsed(shown.fused.reading) ?? NaN);
        return Math.abs(points) <= 2 && now >= shown.at && now < shown.at + 5_000;
      }),
      often,
    );
  });

  it('a screen or a file that is not believed counts for nothing, which is said once', () => {
    fc.assert(
      always(({ before, after }) => {
        const [was, is] = [before.evidence.disagreement.phase, after.evidence.disagreement.phase];
        const isNew = was !== is && (is === 'ignored' || is === 'left');
        const { source } = after.fused?.reading ?? {};
        const isShown = (is === 'ignored' && source === 'screen') || (is === 'left' && source === 'log');
        return after.logged.length === (isNew ? 1 : 0) && !isShown;
      }),
      often,
    );
  });

  it('the screen is given up after ten seconds of disagreement at the earliest', () => {
    fc.assert(
      always((moment, past) => {
        const agreeing = past.findLastIndex(({ after }) => after.evidence.disagreement.phase !== 'apart');
        const times = past.slice(agreeing + 1).map(({ now }) => now);
        return moment.after.logged.length === 0 || moment.now - Math.min(...times) >= 10_000;
      }),
      often,
    );
  });

  it('what counts is explained', () => {
    fc.assert(
      always(({ after, now }) => {
        const known = provenance(after, now);
        if (!known) return after.fused === undefined;
        const { usedTokens, usedPercent, source } = known;
        const figure =
          usedTokens === undefined ? `${oneDecimal(usedPercent ?? 0)}%` : usedTokens.toLocaleString('en-US');
        const isUncertain = known.windowTokens !== undefined && !known.windowCertain;
        const isSure = source !== 'estimate' && (usedTokens === undefined || !isUncertain);
        return (
          known.reason.includes(figure) &&
          known.ageMs >= 0 &&
          known.candidates.some((each) => each.source === source) &&
          (isSure || !known.exact)
        );
      }),
      often,
    );
  });

  it('nothing is waited for longer than ten seconds, and what was waited for comes', () => {
    fc.assert(
      always(({ after, now }) => {
        let state = after;
        for (let rings = 0; rings < 3; rings += 1) {
          const at = sessionDeadline(state);
          if (at === undefined) return state.shown?.fused === state.fused;
          if (at <= now || at > now + 10_000) return false;
          state = stepSession(state, alarm, at);
        }
        return sessionDeadline(state) === undefined;
      }),
      often,
    );
  });

  it('an alarm that rings early changes nothing', () => {
    fc.assert(
      always(({ after, now }) => {
        const again = stepSession(after, alarm, now);
        return (
          isDeepStrictEqual(footerView(again, now), footerView(after, now)) &&
          sessionDeadline(again) === sessionDeadline(after)
        );
      }),
      often,
    );
  });
});

const grownIn = (moments: readonly Moment[]): number =>
  moments.reduce(
    (sum, { event: each }) =>
      each.type === 'growth' && each.tokens > 0 && Number.isFinite(each.tokens) ? sum + each.tokens : sum,
    0,
  );
