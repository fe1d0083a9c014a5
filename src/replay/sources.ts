import { basename, extname } from 'node:path';
import type { ScreenEvidence, SessionLog, Env, AgentStatus, Agent } from '../agents/agent.js';
import { parseRecordTime, type RecordTime } from '../agents/records.js';
import type { Event } from '../core/event.js';
import { present } from '../core/present.js';
import type { CharacterCounts, Millis } from '../core/reading.js';
import {
  type RecordedEvent,
  type RecordingHeader,
  readLines,
  type RecordingFile,
} from '../storage/recording-reader.js';
import { makeScreenModel, type ScreenModel } from '../terminal/screen-model.js';
import { addPendingOutput, postponeRead, readDue, type PendingOutput } from '../worker/screen-reader.js';
import { makeWorkFollower } from '../session-files/follow-work.js';
import { makeFactCoalescer, makeFileReader } from '../session-files/session-facts.js';

// The inputs of a replay in order of time: screens of the recording and lines of session files. Also detects which agent was recorded.

/** An event of the recording; times are in milliseconds since its start. */
export type RecordingItem =
  /** the screen after the output paused, or after it changed for too long; must be read before the next event is requested */
  | {
      readonly at: Millis;
      readonly type: 'screen';
      readonly seen: ScreenEvidence;
      readonly written?: CharacterCounts;
    }
  | { readonly at: Millis; readonly type: 'output' }
  /** there is no screen model: the screen is too large, or its model has failed */
  | { readonly at: Millis; readonly type: 'blank' };

export interface ScreenOptions {
  /** count the written text and report it with each screen */
  readonly isCounted?: boolean | undefined;
  /** called once: the screen is not followed any more */
  readonly onFailure?: ((error: unknown) => void) | undefined;
}

const FEED_CHARACTERS = 64 * 1024; // collected before it is fed to the model
const FEED_BYTES = 256 * 1024; // fed at once: below the amount that the model skips

/** Collects output and feeds it to the model at once, because each feed takes a turn of the event loop. */
const makeFeed = (screen: ScreenModel) => {
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
 * Plays a recording into a screen model and yields its screens at the times at which the wrapper would have read them. Only the times of
 * the output matter, not how it is split into events.
 */
export async function* settledScreens(
  header: RecordingHeader,
  events: AsyncIterable<RecordedEvent>,
  { isCounted = false, onFailure }: ScreenOptions = {},
): AsyncGenerator<RecordingItem> {
  const screen = makeScreenModel(header, () => '', onFailure);
  if (isCounted) screen.startCounting();
  const feed = makeFeed(screen);
  let pending: PendingOutput | undefined;

  async function* screensUntil(until: Millis): AsyncGenerator<RecordingItem> {
    for (
      let at = pending && readDue(pending);
      pending && at !== undefined && at <= until;
      at = pending && readDue(pending)
    ) {
      await feed.flush();
      const later = screen.isMidFrame() ? postponeRead(pending, at) : undefined;
      pending = later;
      const seen = later ? undefined : screen.snapshot();
      const written = screen.writtenText();
      if (seen) yield { at, type: 'screen', seen, ...present({ written }) };
      else if (!later) yield { at, type: 'blank' };
    }
  }

  for await (const event of events) {
    yield* screensUntil(event.at);
    if (event.type === 'input') continue;
    if (event.type === 'output') await feed.add(event.text);
    else {
      await feed.flush();
      await screen.resize(event);
    }
    pending = addPendingOutput(pending, event.at);
    if (event.type === 'output') yield { at: event.at, type: 'output' };
  }
  yield* screensUntil(Infinity);
}

// Session files beside a recording: their lines are placed on the recording's clock at the times they were written.

/** One line of a session file; `at` is in milliseconds since the epoch. */
export interface LogRecord {
  readonly at: Millis;
  /** index of the file, in the order of their first records */
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
  /** when the user first sent a prompt, according to the files */
  readonly promptAt?: Millis;
  /** in the order in which they were written; a file ends where the next file starts */
  readonly records: () => AsyncGenerator<LogRecord>;
}

/** Reads the start of each file; throws a UserError if one cannot be read. Files without any times come first, at time 0. */
export const openReplayLogs = async (
  paths: readonly string[],
  log: Pick<SessionLog, 'timeOf'> = {},
): Promise<ReplayLogs> => {
  const timeOf: TimeOf = (line) => {
    const known = parseRecordTime(line);
    const at = log.timeOf?.(line) ?? known.at;
    return { isPrompt: known.isPrompt, ...present({ at }) };
  };
  const opened = await Promise.all(paths.map((path) => openLog(path, timeOf)));
  const files = opened.sort((one, other) => one.startsAt - other.startsAt);
  const promptAt = files.find((file) => file.promptAt !== undefined)?.promptAt;
  return { records: () => recordsOf(files, timeOf), ...present({ promptAt }) };
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
      at = Math.max(at, timeOf(line).at ?? at); // a record without a time gets the time of the one before it
      if (at >= endsAt) break;
      yield { at, file, sessionId, line };
    }
  }
}

/** The events of the session files at one time, in milliseconds since the epoch. */
export interface LogBatch {
  readonly at: Millis;
  readonly events: readonly Event[];
  /** what the agent does from then on, according to its records; undefined where they do not say */
  readonly status?: AgentStatus | undefined;
}

interface OpenBatch {
  readonly at: Millis;
  readonly opening: readonly Event[];
}

/**
 * Reads the lines as the live wrapper does: lines written at the same time are applied together, and lines older than the start are
 * history.
 */
export async function* logBatches(
  log: SessionLog,
  records: AsyncIterable<LogRecord>,
  { env, startedAt }: { readonly env: Env; readonly startedAt: Millis },
): AsyncGenerator<LogBatch> {
  const coalescer = makeFactCoalescer(() => startedAt);
  const reader = makeFileReader(log, env, coalescer);
  const work = makeWorkFollower(coalescer);
  let status: AgentStatus | undefined;
  let file: number | undefined;
  let batch: OpenBatch | undefined;

  const finish = ({ at, opening }: OpenBatch): LogBatch => {
    const reason = reader.problem();
    const trouble: readonly Event[] = reason === undefined ? [] : [{ type: 'source-problem', reason }];
    return { at, events: [...opening, ...coalescer.flush(), ...trouble], status };
  };

  for await (const record of records) {
    const at = Math.max(record.at, startedAt);
    if (batch && (at > batch.at || record.file !== file)) {
      yield finish(batch);
      batch = undefined;
    }
    if (record.file !== file) {
      ({ file } = record);
      reader.restart();
      work.restart();
      status = undefined;
      batch = { at, opening: [{ type: 'session-changed', sessionId: record.sessionId }] };
    }
    batch ??= { at, opening: [] };
    status = log.stateIn?.(record.line) ?? status;
    work.read(record.line, reader.read(record.line, at));
  }
  if (batch) yield finish(batch);
}

const LEAD = 20; // a lead of this many screens decides, when no other agent recognizes any screen

/** The agent that was recorded: the one whose command the header names, or that recognizes most of the screens; undefined for any other. */
export const detectAgent = async (
  recording: RecordingFile,
  table: readonly Agent[],
): Promise<Agent | undefined> => {
  try {
    return namedAgent(recording.header, table) ?? (await recognizedAgent(recording, table));
  } finally {
    await recording.close();
  }
};

const namedAgent = ({ command, title }: RecordingHeader, table: readonly Agent[]): Agent | undefined => {
  const words = [command, title].map((text) => basename(text?.trim().split(/\s+/)[0] ?? ''));
  return table.find((agent) => agent.command !== undefined && words.includes(agent.command));
};

const recognizedAgent = async (
  { header, events }: RecordingFile,
  table: readonly Agent[],
): Promise<Agent | undefined> => {
  const counts = table.map(() => 0);
  for await (const item of settledScreens(header, events())) {
    if (item.type !== 'screen') continue;
    table.forEach((agent, index) => {
      if (agent.screen?.recognises(item.seen)) counts[index] = (counts[index] ?? 0) + 1;
    });
    const known = counts.filter((count) => count > 0);
    if (known.length === 1 && Math.max(...known) >= LEAD) break;
  }
  const most = Math.max(...counts);
  return most > 0 ? table[counts.indexOf(most)] : undefined;
};

/** An item of either kind; `at` is in milliseconds since the start of the recording. */
export interface TimedItem {
  readonly at: Millis;
  readonly item: RecordingItem | LogBatch;
}

// A header gives the start of its recording in whole seconds, so records of the last second may seem to come after the end.
const LATE_MS = 1_000;

/**
 * Both sources in order of time; a screen is requested only after the previous one was used. Records written long after the end are left
 * out. Screens carry the status from the agent's records; the last screen is repeated when the status changes while nothing is drawn.
 */
export async function* mergeByTime(
  screens: AsyncGenerator<RecordingItem>,
  written: AsyncGenerator<LogBatch>,
  startedAt: Millis,
): AsyncGenerator<TimedItem> {
  let record = await written.next();
  let end = 0;
  let status: AgentStatus | undefined;
  let last: ScreenEvidence | undefined;

  /** The records up to this time. `isDrawing`: the screen has changed already and will be yielded anyway. */
  async function* recordsUntil(until: Millis, isDrawing: boolean): AsyncGenerator<TimedItem> {
    for (; record.done !== true && record.value.at - startedAt <= until; record = await written.next()) {
      const at = record.value.at - startedAt;
      const isNew = record.value.status?.state !== status?.state;
      ({ status } = record.value);
      yield { at, item: record.value };
      if (isNew && last && !isDrawing)
        yield { at, item: { at, type: 'screen', seen: withStatus(last, status) } };
    }
  }
  for await (const item of screens) {
    yield* recordsUntil(item.at, item.type !== 'output');
    if (item.type === 'screen') last = item.seen;
    yield {
      at: item.at,
      item: item.type === 'screen' ? { ...item, seen: withStatus(item.seen, status) } : item,
    };
    end = item.at;
  }
  yield* recordsUntil(end + LATE_MS, false);
}

const withStatus = (seen: ScreenEvidence, status: AgentStatus | undefined): ScreenEvidence =>
  status === undefined ? seen : { ...seen, status };
