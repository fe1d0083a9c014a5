import type { Millis } from '../../core/reading.js';
import type { AgentStatus, Seen } from '../../runtimes/seen.js';
import type { LogMoment } from './log-moments.js';
import type { Replayed } from './settled-screens.js';

/** A moment of either kind; `at` is in milliseconds since the start of the recording. */
export interface Placed {
  readonly at: Millis;
  readonly moment: Replayed | LogMoment;
}

// A header gives the start of its recording to the second only, so what was recorded in the last one may seem to come after the end.
const LATE_MS = 1_000;

/**
 * Both in the order of time; a screen is not asked for before the last one was used. What was written long after the end is left out.
 * Screens carry what the agent's records say that it does, and the last one comes again when that changes while nothing is drawn.
 */
export async function* momentsInOrder(
  screens: AsyncGenerator<Replayed>,
  written: AsyncGenerator<LogMoment>,
  startedAt: Millis,
): AsyncGenerator<Placed> {
  let record = await written.next();
  let end = 0;
  let status: AgentStatus | undefined;
  let last: Seen | undefined;

  /** The records up to a time. `isDrawing`: the screen has moved on already, and comes by itself. */
  async function* recordsUntil(until: Millis, isDrawing: boolean): AsyncGenerator<Placed> {
    for (; record.done !== true && record.value.at - startedAt <= until; record = await written.next()) {
      const at = record.value.at - startedAt;
      const isNew = record.value.status?.state !== status?.state;
      ({ status } = record.value);
      yield { at, moment: record.value };
      if (isNew && last && !isDrawing)
        yield { at, moment: { at, type: 'screen', seen: withStatus(last, status) } };
    }
  }
  for await (const moment of screens) {
    yield* recordsUntil(moment.at, moment.type !== 'output');
    if (moment.type === 'screen') last = moment.seen;
    yield {
      at: moment.at,
      moment: moment.type === 'screen' ? { ...moment, seen: withStatus(moment.seen, status) } : moment,
    };
    end = moment.at;
  }
  yield* recordsUntil(end + LATE_MS, false);
}

const withStatus = (seen: Seen, status: AgentStatus | undefined): Seen =>
  status === undefined ? seen : { ...seen, status };
