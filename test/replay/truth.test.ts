// What must be read from each recording, written down from the facts about the agents and the numbers their server sent, and compared
// exactly with what a replay gives. One file a recording: test/fixtures/truth/<runtime>/<version>/<case>.json
//
//   {
//     "cast": "claude/traps",               in test/fixtures/casts, without .cast.gz; the runtime is the first folder of the truth file
//     "log": ["claude/session.jsonl"],      optional: in test/fixtures/logs, as in `ctxwrap replay --log`
//     "env": { "NAME": "value" },           optional: the agent's environment
//     "readings": [                         EVERY reading event, in order: one whenever a source gives a new or changed number
//       { "source": "screen",               screen, log, estimate
//         "basis": "auto-compact",          window, effective, auto-compact, baseline
//         "usedPercent": 62,                0…100 used on that basis, with one decimal, as printed; null where the event has none
//         "usedTokens": 1234,               optional: compared only when named; null demands that there is none
//         "windowTokens": 200000,           optional, the same
//         "tier": "safe",                   optional, the same: the tier that the session shows with it
//         "from": 3.2, "to": 4 }            optional: seconds; the event's `at` is not before `from` and not after `to`
//     ],
//     "activities": ["unknown", "ready",    EVERY activity event, in order: the first screen's, then each change
//       { "activity": "busy", "from": 3, "to": 3.5 }],   or with the seconds between which the change must be seen,
//       { "activity": "unknown", "place": "shell mode" }],                or with the place that is named
//     "tiers": ["safe", "warn"],            optional: every tier event, in order; not compared when absent
//     "boundaries": 1                       optional: how many boundary events; 0 when absent
//   }
//
// Times: the screen is looked at when 50 ms passed without output, and 250 ms after its first unseen output at the latest, so an event
// comes up to 250 ms after the bytes that cause it. `playScreens` of test/support/screen-play.ts shows each look.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordedEvent } from '../../src/storage/recording-reader.js';
import { casts } from '../support/casts.js';
import { playReplay } from '../support/replay-play.js';
import { runs } from '../support/runs.js';
import type { ReplayEvent, ReplayedActivity, ReplayedReading } from '../../src/replay/events.js';

interface Window {
  readonly from?: number;
  readonly to?: number;
}

interface Truth {
  readonly cast: string;
  readonly log?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly readings: readonly (Window & {
    readonly source: string;
    readonly basis: string;
    readonly usedPercent: number | null;
    readonly usedTokens?: number | null;
    readonly windowTokens?: number | null;
    readonly tier?: string | null;
  })[];
  readonly activities: readonly (
    | string
    | (Window & { readonly activity: string; readonly place?: string })
  )[];
  readonly tiers?: readonly (string | null)[];
  readonly boundaries?: number;
}

const folder = fileURLToPath(new URL('../fixtures/truth/', import.meta.url));
const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.json'),
);
const truths = names.sort().map((name) => ({ name, runtime: name.split('/')[0] ?? '', truth: read(name) }));

function read(name: string): Truth {
  return JSON.parse(readFileSync(folder + name, 'utf8')) as Truth;
}

/** The bounds when the time is between them, otherwise the time itself, so that a failure shows it. */
const timeAs = ({ from, to }: Window, at: number): object => {
  if (at < (from ?? -Infinity) || at > (to ?? Infinity)) return { at };
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
};

/** The event in the words of the truth it is compared with. */
const readingAs = (event: ReplayedReading, truth: Truth['readings'][number] | undefined): object => {
  if (!truth) return event;
  const named = ['usedTokens', 'windowTokens', 'tier'] as const;
  const { source, basis, usedPercent = null, at } = event;
  const more = named.filter((key) => truth[key] !== undefined).map((key) => [key, event[key] ?? null]);
  return { source, basis, usedPercent, ...Object.fromEntries(more), ...timeAs(truth, at) };
};

const activityAs = (event: ReplayedActivity, truth: Truth['activities'][number] | undefined) =>
  truth === undefined || typeof truth === 'string'
    ? event.activity
    : {
        activity: event.activity,
        ...(truth.place === undefined ? {} : { place: event.place }),
        ...timeAs(truth, event.at),
      };

const resultAs = (events: readonly ReplayEvent[], truth: Truth): Omit<Truth, 'cast' | 'log' | 'env'> => {
  const readings = events.filter((event) => event.schema === 'ctxwrap.reading/1');
  const activities = events.filter((event) => event.schema === 'ctxwrap.activity/1');
  const tiers = events.filter((event) => event.schema === 'ctxwrap.tier/1').map(({ tier }) => tier);
  return {
    readings: readings.map((event, index) => readingAs(event, truth.readings[index])) as Truth['readings'],
    activities: activities.map((event, index) => activityAs(event, truth.activities[index])),
    ...(truth.tiers ? { tiers } : {}),
    boundaries: events.filter((event) => event.schema === 'ctxwrap.boundary/1').length,
  };
};

/** The output split anew: events of the same time are joined, then cut at random places, between and inside characters and sequences. */
const cutAnew =
  (seed: number) =>
  (events: readonly RecordedEvent[]): readonly RecordedEvent[] => {
    const [cuts] = fc.sample(fc.infiniteStream(fc.integer({ min: 1, max: 400 })), { numRuns: 1, seed });
    return joined(events).flatMap((event) => {
      if (event.type !== 'output') return [event];
      const pieces: RecordedEvent[] = [];
      for (let from = 0; from < event.text.length;) {
        const length = Number(cuts?.next().value);
        pieces.push({ ...event, text: event.text.slice(from, from + length) });
        from += length;
      }
      return pieces;
    });
  };

const joined = (events: readonly RecordedEvent[]): readonly RecordedEvent[] => {
  const result: RecordedEvent[] = [];
  for (const event of events) {
    const last = result.at(-1);
    if (last?.type === 'output' && event.type === 'output' && last.at === event.at)
      result[result.length - 1] = { ...last, text: last.text + event.text };
    else result.push(event);
  }
  return result;
};

describe('the expected readings of the recordings', () => {
  it.each(truths)(
    '$name is what a replay gives, however its output is cut',
    async ({ runtime: agent, truth }) => {
      const { cast, log = [], env = {}, ...expected } = truth;
      const wish = { cast, runtime: agent, logs: log, env };
      const whole = await playReplay(wish);
      expect(resultAs(whole.events, truth)).toEqual({ boundaries: 0, ...expected });
      await fc.assert(
        fc.asyncProperty(fc.nat(), async (seed) => {
          expect(await playReplay({ ...wish, edit: cutAnew(seed) })).toEqual(whole);
        }),
        runs(1),
      );
    },
  );

  it('exist for each recording', () => {
    const known = new Set(truths.map(({ truth }) => truth.cast));
    const missing = casts().filter(({ name }) => !known.has(name));
    expect(missing.map(({ name }) => name)).toEqual([]);
  });

  it("stands in a folder with the recording's own name for its agent, none of them empty", () => {
    const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    const empty = folders.filter(({ name }) => truths.every(({ runtime: agent }) => agent !== name));
    expect(empty.map(({ name }) => name)).toEqual([]);
    expect(truths.filter(({ runtime: agent, truth }) => !truth.cast.startsWith(`${agent}/`))).toEqual([]);
  });
});
