import { toAgentFacts, type Env, type Agent, type ScreenEvidence } from '../agents/agent.js';
import type { Event } from '../core/event.js';
import type { Millis, CharacterCounts } from '../core/reading.js';
import {
  flowDeadline,
  startFlow,
  stepFlow,
  type FlowContext,
  type SessionFlow,
} from '../core/session-flow.js';
import type { RecordingFile, RecordingHeader } from '../storage/recording-reader.js';
import { estimateDue, estimateStep, noEstimate } from '../worker/estimate.js';
import { OUTPUT_EVERY_MS, blankScreen, startScreenState, readScreen } from '../worker/screen-reader.js';
import { makeReplayEvents, type ReplayEvent } from './events.js';
import {
  mergeByTime,
  logBatches,
  type LogBatch,
  openReplayLogs,
  type RecordingItem,
  settledScreens,
} from './sources.js';

// Replays a recording: runs the session on the recording's own clock, without timers or real time.

/** Runs the session and makes events of its steps. Times are in milliseconds since the start of the recording. */
const runSession = (options: ReplayOptions, startedAt: Millis) => {
  const { agent, env } = options;
  const stepEvents = makeReplayEvents(agent.name);
  const notes: string[] = [];
  let flow = startFlow({ ...options, agent: toAgentFacts(agent, env) }, startedAt);
  let state = agent.screen && startScreenState(agent.screen.reader(env));
  let lastOutput = -Infinity;
  let wokenAt = -Infinity;

  function* applyStep(after: SessionFlow, at: Millis, event?: Event): Generator<ReplayEvent> {
    const before = flow.session;
    flow = after;
    const lines = [...after.session.logged, ...after.warnings];
    notes.push(...lines.map((text) => `at ${at / 1000} s: ${text}`));
    yield* stepEvents({ before, after: after.session, at, now: startedAt + at }, event);
  }
  function* applyEvents(events: readonly Event[], at: Millis): Generator<ReplayEvent> {
    for (const event of events) yield* applyStep(stepFlow(flow, event, startedAt + at), at, event);
  }
  const readSeen = (seen: ScreenEvidence, at: Millis): readonly Event[] => {
    if (!state) return [];
    try {
      const report = readScreen(state, seen, startedAt + at);
      ({ state } = report);
      return report.events;
    } catch (error) {
      state = undefined; // as in a live session, where the other sources continue
      notes.push(`at ${at / 1000} s: reading the screen failed: ${String(error)}`);
      return [];
    }
  };
  const eventsOf = (item: RecordingItem): readonly Event[] => {
    if (item.type === 'screen') return readSeen(item.seen, item.at);
    if (item.type === 'blank') {
      const blank = state && blankScreen(state);
      state = blank?.state;
      return blank?.events ?? [];
    }
    if (item.at - lastOutput < OUTPUT_EVERY_MS) return [];
    lastOutput = item.at;
    return [{ type: 'output' }];
  };
  /** Strictly increasing, even if the session is due again at once. */
  const nextWake = (): Millis => Math.max(flowDeadline(flow, wokenAt) ?? Infinity, wokenAt + 1);
  return {
    applyEvents,
    applyItem: (item: RecordingItem) => applyEvents(eventsOf(item), item.at),
    /** runs all alarms that are due before this time */
    wakeUntil: function* wakeUntil(until: Millis): Generator<ReplayEvent> {
      for (let due = nextWake(); due < startedAt + until; due = nextWake()) {
        wokenAt = due;
        yield* applyStep(stepFlow(flow, { type: 'alarm' }, due), due - startedAt);
      }
    },
    /** failures that did not end the replay */
    notes,
  };
};

/** Reports estimates at the times at which the wrapper would have reported them. Times are in milliseconds since the epoch. */
export const makeReplayEstimate = () => {
  let last = noEstimate;
  let waiting: { readonly written: CharacterCounts; readonly since: Millis } | undefined;
  return {
    note: (written: CharacterCounts, now: Millis): void => {
      waiting = { written, since: now };
    },
    /** the estimate that is due until this time, if any; to be called at least once for each item of the recording */
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
 * When the recording was started, so that the records of session files can be placed on its clock: from its header; otherwise so that the
 * user's first prompt in the session files matches the first Enter among the recorded keys, or the start.
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

// A whole replay: opens the recording and the session files, and runs them through the session.

export interface ReplayOptions extends Omit<FlowContext, 'agent'> {
  readonly agent: Agent;
  /** of the recorded agent */
  readonly env: Env;
  /** opens the recording at its first event; it may be read more than once */
  readonly open: () => Promise<RecordingFile>;
  /** session files of the recorded agent, in any order */
  readonly logs: readonly string[];
}

export interface Replay {
  readonly events: AsyncGenerator<ReplayEvent>;
  /** harmless problems, and the length of the recording in seconds; complete when the events have been read */
  readonly notes: () => readonly string[];
  readonly seconds: () => number;
}

/** Opens a recording and plays it as fast as its events are read. Throws a UserError for a file that cannot be read. */
export const openReplay = async (options: ReplayOptions): Promise<Replay> => {
  const recording = await options.open();
  const logs = await openReplayLogs(options.logs, options.agent.log);
  const startedAt = await startOfRecording(options.open, recording.header, logs.promptAt);
  const run = runSession(options, startedAt);
  const { log, isEstimated } = options.agent;
  const estimate = makeReplayEstimate();
  const written = log ? logBatches(log, logs.records(), { env: options.env, startedAt }) : noEntries();
  let last = 0;
  const failures: string[] = [];
  let hasLogFacts = options.logs.length === 0;

  function* emitEstimate(until: Millis): Generator<ReplayEvent> {
    const estimated = estimate.next(startedAt + until);
    if (!estimated) return;
    yield* run.wakeUntil(estimated.at - startedAt);
    yield* run.applyEvents(estimated.facts, estimated.at - startedAt);
  }
  async function* events(): AsyncGenerator<ReplayEvent> {
    const screens = settledScreens(recording.header, recording.events(), {
      isCounted: isEstimated,
      onFailure: (error) =>
        failures.push(`at ${last / 1000} s: the model of the screen failed: ${String(error)}`),
    });
    for await (const { at, item } of mergeByTime(screens, written, startedAt)) {
      last = Math.max(last, at);
      yield* emitEstimate(at);
      yield* run.wakeUntil(at);
      if ('events' in item) {
        hasLogFacts ||= item.events.some(isLogFact);
        yield* run.applyEvents(item.events, at);
        continue;
      }
      yield* run.applyItem(item);
      if (item.type === 'screen' && item.written) estimate.note(item.written, startedAt + at);
    }
    yield* emitEstimate(Infinity);
  }
  return {
    events: events(),
    notes: () => [
      ...recording.warnings(),
      ...failures,
      ...run.notes,
      ...(hasLogFacts ? [] : [noFactsNote(options.agent)]),
    ],
    seconds: () => last / 1000,
  };
};

/** The event comes from a session file itself, not from the wrapper. */
const isLogFact = ({ type }: Event): boolean => type !== 'session-changed' && type !== 'source-problem';

const noFactsNote = ({ name, log }: Agent): string =>
  log
    ? `the session files say nothing of ${name} up to the end of the recording`
    : `the session files are not read: ${name} has none that is known`;

async function* noEntries(): AsyncGenerator<LogBatch> {}
