// Session files beside a recording: their records come when they were written, on the recording's own clock.
import { basename, extname } from 'node:path';
import type { Millis } from '../../core/reading.js';
import { recordTime, type RecordTime } from '../../runtimes/record-time.js';
import type { SessionLog } from '../../runtimes/runtime.js';
import { readLines } from '../../storage/recording-file.js';

/** One line of a session file; `at` is in milliseconds since the epoch. */
export interface LogRecord {
  readonly at: Millis;
  /** which of the files, in the order of their first records */
  readonly file: number;
  readonly sessionId: string;
  readonly line: string;
}

/** What has to be known of a session file before it is played. */
interface LogFile {
  readonly path: string;
  readonly startsAt: Millis;
  readonly promptAt?: Millis;
}

export interface ReplayLogs {
  /** when the user first sent something, as the files tell */
  readonly promptAt?: Millis;
  /** in the order in which they were written; a file that was left for the next one is not followed any further */
  readonly records: () => AsyncGenerator<LogRecord>;
}

/** Looks into the files; throws a UserError if one cannot be read. Files without any time in them come first, at time 0. */
export const openReplayLogs = async (
  paths: readonly string[],
  log: Pick<SessionLog, 'timeOf'> = {},
): Promise<ReplayLogs> => {
  const timeOf: TimeOf = (line) => {
    const known = recordTime(line);
    const at = log.timeOf?.(line) ?? known.at;
    return { isPrompt: known.isPrompt, ...(at === undefined ? {} : { at }) };
  };
  const opened = await Promise.all(paths.map((path) => openLog(path, timeOf)));
  const files = opened.sort((one, other) => one.startsAt - other.startsAt);
  const promptAt = files.find((file) => file.promptAt !== undefined)?.promptAt;
  return { records: () => recordsOf(files, timeOf), ...(promptAt === undefined ? {} : { promptAt }) };
};

type TimeOf = (line: string) => RecordTime;

const openLog = async (path: string, timeOf: TimeOf): Promise<LogFile> => {
  let startsAt: Millis | undefined;
  for await (const line of readLines(path, 'session file')) {
    const { at, isPrompt } = timeOf(line);
    startsAt ??= at;
    if (isPrompt && at !== undefined) return { path, startsAt: startsAt ?? at, promptAt: at };
  }
  return { path, startsAt: startsAt ?? 0 };
};

async function* recordsOf(files: readonly LogFile[], timeOf: TimeOf): AsyncGenerator<LogRecord> {
  for (const [file, { path, startsAt }] of files.entries()) {
    const sessionId = basename(path, extname(path));
    const endsAt = files[file + 1]?.startsAt ?? Infinity;
    let at = startsAt;
    for await (const line of readLines(path, 'session file')) {
      at = Math.max(at, timeOf(line).at ?? at); // a record without a time comes with the one before it
      if (at >= endsAt) break;
      yield { at, file, sessionId, line };
    }
  }
}
