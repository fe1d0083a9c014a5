// The whole path from a recording to what the session knows, on the recording's own clock: no timer, no real time.
import type { Event } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import type { Runtime } from '../../runtimes/runtime.js';
import type { RecordingFile } from '../../storage/recording-file.js';
import { momentsInOrder } from './in-order.js';
import { logMoments, type LogMoment } from './log-moments.js';
import { openReplayLogs } from './log.js';
import { makeJournal } from './journal.js';
import type { ReplayEvent } from './records.js';
import type { FlowContext } from '../session-flow.js';
import { makeReplayEstimate } from './estimate.js';
import { settledScreens } from './settled-screens.js';
import { startOfRecording } from './clock.js';

export interface ReplayOptions extends FlowContext {
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
  const journal = makeJournal(options, startedAt);
  const { log, isEstimated } = options.runtime;
  const estimate = makeReplayEstimate();
  const written = log ? logMoments(log, logs.records(), { env: options.env, startedAt }) : nothing();
  let last = 0;
  const failures: string[] = [];
  let heard = options.logs.length === 0;

  function* tellEstimate(until: Millis): Generator<ReplayEvent> {
    const told = estimate.next(startedAt + until);
    if (!told) return;
    yield* journal.wakeUntil(told.at - startedAt);
    yield* journal.take(told.facts, told.at - startedAt);
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
      yield* journal.wakeUntil(at);
      if ('events' in moment) {
        heard ||= moment.events.some(isSaid);
        yield* journal.take(moment.events, at);
        continue;
      }
      if (moment.type === 'screen') yield* journal.see(moment.seen, at);
      else if (moment.type === 'blank') yield* journal.goBlind(at);
      else yield* journal.noteOutput(at);
      if (moment.type === 'screen' && moment.written) estimate.note(moment.written, startedAt + at);
    }
    yield* tellEstimate(Infinity);
  }
  return {
    events: events(),
    notes: () => [
      ...recording.notes(),
      ...failures,
      ...journal.notes(),
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
