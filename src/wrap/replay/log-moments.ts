import type { Event } from '../../core/event.js';
import type { Millis } from '../../core/reading.js';
import type { SessionLog } from '../../runtimes/runtime.js';
import { factInbox } from '../observing/fact-inbox.js';
import { seeLine, shapeProblem, unknownShape } from '../observing/file-shape.js';
import type { LogRecord } from './log.js';
import type { Env } from '../../runtimes/place.js';
import type { AgentStatus } from '../../runtimes/seen.js';

/** What the session files say at one moment, in milliseconds since the epoch. */
export interface LogMoment {
  readonly at: Millis;
  readonly events: readonly Event[];
  /** what the agent does from then on, as its records tell; undefined where they do not */
  readonly status?: AgentStatus | undefined;
}

interface Moment {
  readonly at: Millis;
  readonly opening: readonly Event[];
}

/** Reads the records as the live wrapper does: what was written at once counts together, and what is older than the start is history. */
export async function* logMoments(
  log: SessionLog,
  records: AsyncIterable<LogRecord>,
  { env, startedAt }: { readonly env: Env; readonly startedAt: Millis },
): AsyncGenerator<LogMoment> {
  const inbox = factInbox(startedAt);
  let reader = log.reader(env);
  let shape = unknownShape;
  let said: string | undefined;
  let status: AgentStatus | undefined;
  let file: number | undefined;
  let moment: Moment | undefined;

  const finish = ({ at, opening }: Moment): LogMoment => {
    const problem = shapeProblem(shape);
    const isNew = problem !== undefined && problem !== said;
    said = problem;
    const trouble: readonly Event[] = isNew ? [{ type: 'source-problem', reason: problem }] : [];
    return { at, events: [...opening, ...inbox.take(), ...trouble], status };
  };

  for await (const record of records) {
    const at = Math.max(record.at, startedAt);
    if (moment && (at > moment.at || record.file !== file)) {
      yield finish(moment);
      moment = undefined;
    }
    if (record.file !== file) {
      ({ file } = record);
      reader = log.reader(env);
      shape = unknownShape;
      status = undefined;
      moment = { at, opening: [{ type: 'session-changed', sessionId: record.sessionId }] };
    }
    moment ??= { at, opening: [] };
    status = log.stateIn?.(record.line) ?? status;
    const step = reader(record.line, at);
    reader = step.next;
    shape = seeLine(shape, step);
    for (const fact of step.facts) inbox.put(fact);
  }
  if (moment) yield finish(moment);
}
