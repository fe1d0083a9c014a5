import type { Event } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import type { Seen } from '../../runtimes/seen.js';
import { makePen } from './pen.js';
import type { ReplayEvent } from './records.js';
import { OUTPUT_EVERY_MS } from '../observing/scan-timing.js';
import { blankScreen, startWatch, watchScreen } from '../observing/screen-watch.js';
import {
  flowDue,
  startFlow,
  stepFlow,
  wakeFlow,
  type FlowContext,
  type SessionFlow,
} from '../session-flow.js';

/** Runs the session and writes down what becomes known. Times are in milliseconds since the start of the recording. */
export interface Journal {
  readonly take: (events: readonly Event[], at: Millis) => Generator<ReplayEvent>;
  readonly see: (seen: Seen, at: Millis) => Generator<ReplayEvent>;
  /** the screen is not followed from here on, or for a while */
  readonly goBlind: (at: Millis) => Generator<ReplayEvent>;
  readonly noteOutput: (at: Millis) => Generator<ReplayEvent>;
  /** lets everything happen that is due before then */
  readonly wakeUntil: (at: Millis) => Generator<ReplayEvent>;
  /** what of ours has failed */
  readonly notes: () => readonly string[];
}

export const makeJournal = (context: FlowContext, startedAt: Millis): Journal => {
  const { runtime, env } = context;
  const write = makePen(runtime.name);
  const notes: string[] = [];
  let flow = startFlow(context, startedAt);
  let watch = runtime.screen && startWatch(runtime.screen.reader(env));
  let lastOutput = -Infinity;
  let wokenAt = -Infinity;

  function* go(after: SessionFlow, at: Millis, event?: Event): Generator<ReplayEvent> {
    const before = flow;
    flow = after;
    const lines = [...after.session.logged, ...after.warnings];
    notes.push(...lines.map((text) => `at ${at / 1000} s: ${text}`));
    yield* write({ before: before.session, after: after.session, at, now: startedAt + at }, event);
  }
  function* take(events: readonly Event[], at: Millis): Generator<ReplayEvent> {
    for (const event of events) yield* go(stepFlow(flow, event, startedAt + at), at, event);
  }
  const look = (seen: Seen, at: Millis): readonly Event[] => {
    if (!watch) return [];
    try {
      const watched = watchScreen(watch, seen, startedAt + at);
      ({ watch } = watched);
      return watched.events;
    } catch (error) {
      watch = undefined; // as in a live session, where the other sources go on
      notes.push(`at ${at / 1000} s: reading the screen failed: ${String(error)}`);
      return [];
    }
  };
  /** Times only go on, also for a session that is due again at once. */
  const nextWake = (): Millis => Math.max(flowDue(flow, wokenAt) ?? Infinity, wokenAt + 1);
  return {
    take,
    see: (seen, at) => take(look(seen, at), at),
    goBlind: (at) => {
      const blank = watch && blankScreen(watch);
      watch = blank?.watch;
      return take(blank?.events ?? [], at);
    },
    noteOutput: (at) => {
      const isDue = at - lastOutput >= OUTPUT_EVERY_MS;
      if (isDue) lastOutput = at;
      return take(isDue ? [{ type: 'output' }] : [], at);
    },
    wakeUntil: function* wakeUntil(until) {
      for (let due = nextWake(); due < startedAt + until; due = nextWake()) {
        wokenAt = due;
        yield* go(wakeFlow(flow, context, due), due - startedAt);
      }
    },
    notes: () => notes,
  };
};
