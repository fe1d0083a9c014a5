import { agentFacts, type Env, type Runtime, type Seen } from '../agents/agent.js';
import type { Event } from '../core/event.js';
import type { Millis, Characters } from '../core/reading.js';
import { flowDue, startFlow, stepFlow, type FlowContext, type SessionFlow } from '../core/session-flow.js';
import type { RecordingFile, RecordingHeader } from '../storage/recording-reader.js';
import { estimateDue, estimateStep, noEstimate } from '../wrap/estimate.js';
import { OUTPUT_EVERY_MS, blankScreen, startWatch, watchScreen } from '../wrap/screen-reader.js';
import { makeReplayEvents, type ReplayEvent } from './records.js';
import {
  momentsInOrder,
  logMoments,
  type LogMoment,
  openReplayLogs,
  type Replayed,
  settledScreens,
} from './sources.js';

/** Runs the session; its steps come out as events. Times are in milliseconds since the start of the recording. */
const runSession = (options: ReplayOptions, startedAt: Millis) => {
  const { runtime, env } = options;
  const stepEvents = makeReplayEvents(runtime.name);
  const notes: string[] = [];
  let flow = startFlow({ ...options, agent: agentFacts(runtime, env) }, startedAt);
  let watch = runtime.screen && startWatch(runtime.screen.reader(env));
  let lastOutput = -Infinity;
  let wokenAt = -Infinity;

  function* go(after: SessionFlow, at: Millis, event?: Event): Generator<ReplayEvent> {
    const before = flow.session;
    flow = after;
    const lines = [...after.session.logged, ...after.warnings];
    notes.push(...lines.map((text) => `at ${at / 1000} s: ${text}`));
    yield* stepEvents({ before, after: after.session, at, now: startedAt + at }, event);
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
  const eventsOf = (moment: Replayed): readonly Event[] => {
    if (moment.type === 'screen') return look(moment.seen, moment.at);
    if (moment.type === 'blank') {
      const blank = watch && blankScreen(watch);
      watch = blank?.watch;
      return blank?.events ?? [];
    }
    if (moment.at - lastOutput < OUTPUT_EVERY_MS) return [];
    lastOutput = moment.at;
    return [{ type: 'output' }];
  };
  /** Times only go on, also for a session that is due again at once. */
  const nextWake = (): Millis => Math.max(flowDue(flow, wokenAt) ?? Infinity, wokenAt + 1);
  return {
    take,
    see: (moment: Replayed) => take(eventsOf(moment), moment.at),
    /** lets everything happen that is due before then */
    wakeUntil: function* wakeUntil(until: Millis): Generator<ReplayEvent> {
      for (let due = nextWake(); due < startedAt + until; due = nextWake()) {
        wokenAt = due;
        yield* go(stepFlow(flow, { type: 'alarm' }, due), due - startedAt);
      }
    },
    /** what of ours has failed */
    notes,
  };
};

/** Estimates at the times when the wrapper would have told them. Times are in milliseconds since the epoch. */
export const makeReplayEstimate = () => {
  let last = noEstimate;
  let waiting: { readonly written: Characters; readonly since: Millis } | undefined;
  return {
    note: (written: Characters, now: Millis): void => {
      waiting = { written, since: now };
    },
    /** what is told before then, if anything: it is to be asked for at least once for each moment */
    next: (until: Millis) => {
      if (!waiting) return undefined;
      const at = Math.max(waiting.since, estimateDue(last));
      if (at > until) return undefined;
      const { estimate, facts } = estimateStep(last, waiting.written, at);
      last = estimate;
      waiting = undefined;
      return facts.length > 0 ? { at, facts } : undefined;
    },
  };
};

const ENTER = /\r|\x1b\[13(?:;1)?u/; // also as the kitty keyboard protocol sends it

/**
 * When the recording was started, so that records of session files find their places: as its header says; otherwise so that the first
 * thing the user sent, as the files tell, was sent with the first Enter among the recorded keys, or at the start.
 */
export const startOfRecording = async (
  open: () => Promise<RecordingFile>,
  { startedAt }: RecordingHeader,
  promptAt: Millis | undefined,
): Promise<Millis> => {
  if (startedAt !== undefined) return startedAt;
  return promptAt === undefined ? 0 : promptAt - (await firstEnter(open));
};

/** In milliseconds since the start; 0 for a recording without keys. */
const firstEnter = async (open: () => Promise<RecordingFile>): Promise<Millis> => {
  const { events } = await open();
  for await (const event of events()) if (event.type === 'input' && ENTER.test(event.text)) return event.at;
  return 0;
};

// The whole path from a recording to what the session knows, on the recording's own clock: no timer, no real time.

export interface ReplayOptions extends Omit<FlowContext, 'agent'> {
  readonly runtime: Runtime;
  /** of the recorded agent */
  readonly env: Env;
  /** the recording from its first event; it may be read more than once */
  readonly open: () => Promise<RecordingFile>;
  /** session files of the recorded agent, in any order */
  readonly logs: readonly string[];
}

export interface Replay {
  readonly events: AsyncGenerator<ReplayEvent>;
  /** what was wrong and did no harm, and how long the recording is in seconds, once the events are read */
  readonly notes: () => readonly string[];
  readonly seconds: () => number;
}

/** Opens a recording and plays it as fast as its events are asked for. Throws a UserError for a file that cannot be read. */
export const openReplay = async (options: ReplayOptions): Promise<Replay> => {
  const recording = await options.open();
  const logs = await openReplayLogs(options.logs, options.runtime.log);
  const startedAt = await startOfRecording(options.open, recording.header, logs.promptAt);
  const run = runSession(options, startedAt);
  const { log, isEstimated } = options.runtime;
  const estimate = makeReplayEstimate();
  const written = log ? logMoments(log, logs.records(), { env: options.env, startedAt }) : nothing();
  let last = 0;
  const failures: string[] = [];
  let heard = options.logs.length === 0;

  function* tellEstimate(until: Millis): Generator<ReplayEvent> {
    const told = estimate.next(startedAt + until);
    if (!told) return;
    yield* run.wakeUntil(told.at - startedAt);
    yield* run.take(told.facts, told.at - startedAt);
  }
  async function* events(): AsyncGenerator<ReplayEvent> {
    const screens = settledScreens(recording.header, recording.events(), {
      isCounted: isEstimated,
      onFailure: (error) =>
        failures.push(`at ${last / 1000} s: the model of the screen failed: ${String(error)}`),
    });
    for await (const { at, moment } of momentsInOrder(screens, written, startedAt)) {
      last = Math.max(last, at);
      yield* tellEstimate(at);
      yield* run.wakeUntil(at);
      if ('events' in moment) {
        heard ||= moment.events.some(isSaid);
        yield* run.take(moment.events, at);
        continue;
      }
      yield* run.see(moment);
      if (moment.type === 'screen' && moment.written) estimate.note(moment.written, startedAt + at);
    }
    yield* tellEstimate(Infinity);
  }
  return {
    events: events(),
    notes: () => [
      ...recording.notes(),
      ...failures,
      ...run.notes,
      ...(heard ? [] : [unheard(options.runtime)]),
    ],
    seconds: () => last / 1000,
  };
};

/** What stands in a session file itself, not what we say of it. */
const isSaid = ({ type }: Event): boolean => type !== 'session-changed' && type !== 'source-problem';

const unheard = ({ name, log }: Runtime): string =>
  log
    ? `the session files say nothing of ${name} up to the end of the recording`
    : `the session files are not read: ${name} has none that is known`;

async function* nothing(): AsyncGenerator<LogMoment> {}
