import { basename, extname } from 'node:path';
import type { Seen, SessionLog, Env, AgentStatus, Runtime } from '../agents/agent.js';
import { recordTime, type RecordTime } from '../agents/records.js';
import type { Event } from '../core/event.js';
import type { Characters, Millis } from '../core/reading.js';
import {
  type RecordedEvent,
  type RecordingHeader,
  readLines,
  type RecordingFile,
} from '../storage/recording-reader.js';
import { makeScreen, type Screen } from '../terminal/screen.js';
import { noteUnseen, postponed, scanDue, type Unseen } from '../wrap/screen-reader.js';
import { factInbox, makeFileReader } from '../wrap/session-file.js';

/** What a replay meets on its way, in the order of the recording's clock (milliseconds since its start). */
export type Replayed =
  /** the screen has come to rest, or has changed for too long; to be read before the next one is asked for */
  | { readonly at: Millis; readonly type: 'screen'; readonly seen: Seen; readonly written?: Characters }
  | { readonly at: Millis; readonly type: 'output' }
  /** there is no model of the screen: it is too large, or its model has failed */
  | { readonly at: Millis; readonly type: 'blank' };

export interface PlayingOptions {
  /** what has been written up to a screen is told with it */
  readonly isCounted?: boolean | undefined;
  /** told once: the screen is not followed any more */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

const FEED_CHARACTERS = 64 * 1024; // held back between two looks
const FEED_BYTES = 256 * 1024; // fed at once: below what the model skips

/** The bytes between two looks go into the model at once: it takes a turn of the event loop whatever their number. */
const makeFeed = (screen: Screen) => {
  let texts: string[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    const bytes = Buffer.from(texts.join(''));
    texts = [];
    length = 0;
    for (let from = 0; from < bytes.length; from += FEED_BYTES) {
      screen.feed(bytes.subarray(from, from + FEED_BYTES));
      await screen.settled();
    }
  };
  return {
    flush,
    add: async (text: string): Promise<void> => {
      texts.push(text);
      length += text.length;
      if (length > FEED_CHARACTERS) await flush();
    },
  };
};

/**
 * Plays a recording into a screen model and gives its screens whenever the wrapper would have looked at them. Only the times of the
 * output matter, not how it is cut into events.
 */
export async function* settledScreens(
  header: RecordingHeader,
  events: AsyncIterable<RecordedEvent>,
  { isCounted = false, onFailure }: PlayingOptions = {},
): AsyncGenerator<Replayed> {
  const screen = makeScreen(header, () => '', onFailure);
  if (isCounted) screen.countWritten();
  const feed = makeFeed(screen);
  let unseen: Unseen | undefined;

  async function* look(until: Millis): AsyncGenerator<Replayed> {
    for (
      let at = unseen && scanDue(unseen);
      unseen && at !== undefined && at <= until;
      at = unseen && scanDue(unseen)
    ) {
      await feed.flush();
      const later = screen.isMidFrame() ? postponed(unseen, at) : undefined;
      unseen = later;
      const seen = later ? undefined : screen.seen();
      const written = screen.written();
      if (seen) yield { at, type: 'screen', seen, ...(written ? { written } : {}) };
      else if (!later) yield { at, type: 'blank' };
    }
  }

  for await (const event of events) {
    yield* look(event.at);
    if (event.type === 'input') continue;
    if (event.type === 'output') await feed.add(event.text);
    else {
      await feed.flush();
      await screen.resize(event);
    }
    unseen = noteUnseen(unseen, event.at);
    if (event.type === 'output') yield { at: event.at, type: 'output' };
  }
  yield* look(Infinity);
}

// Session files beside a recording: their records come when they were written, on the recording's own clock.

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
  const inbox = factInbox(() => startedAt);
  const reader = makeFileReader(log, env, inbox);
  let status: AgentStatus | undefined;
  let file: number | undefined;
  let moment: Moment | undefined;

  const finish = ({ at, opening }: Moment): LogMoment => {
    const reason = reader.problem();
    const trouble: readonly Event[] = reason === undefined ? [] : [{ type: 'source-problem', reason }];
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
      reader.restart();
      status = undefined;
      moment = { at, opening: [{ type: 'session-changed', sessionId: record.sessionId }] };
    }
    moment ??= { at, opening: [] };
    status = log.stateIn?.(record.line) ?? status;
    reader.read(record.line, at);
  }
  if (moment) yield finish(moment);
}

const LEAD = 20; // screens that only one runtime knows as its own decide, however long the recording goes on

/** The runtime whose agent was recorded: the header names its command, or most of the screens are its own; undefined for any other. */
export const detectRuntime = async (
  recording: RecordingFile,
  table: readonly Runtime[],
): Promise<Runtime | undefined> => {
  try {
    return namedRuntime(recording.header, table) ?? (await recognisedRuntime(recording, table));
  } finally {
    await recording.close();
  }
};

const namedRuntime = (
  { command, title }: RecordingHeader,
  table: readonly Runtime[],
): Runtime | undefined => {
  const words = [command, title].map((text) => basename(text?.trim().split(/\s+/)[0] ?? ''));
  return table.find((runtime) => runtime.command !== undefined && words.includes(runtime.command));
};

const recognisedRuntime = async (
  { header, events }: RecordingFile,
  table: readonly Runtime[],
): Promise<Runtime | undefined> => {
  const counts = table.map(() => 0);
  for await (const moment of settledScreens(header, events())) {
    if (moment.type !== 'screen') continue;
    table.forEach((runtime, index) => {
      if (runtime.screen?.recognises(moment.seen)) counts[index] = (counts[index] ?? 0) + 1;
    });
    const known = counts.filter((count) => count > 0);
    if (known.length === 1 && Math.max(...known) >= LEAD) break;
  }
  const most = Math.max(...counts);
  return most > 0 ? table[counts.indexOf(most)] : undefined;
};

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
