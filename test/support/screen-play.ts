import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ActivityReport } from '../../src/core/reading.js';
import type { Fact } from '../../src/core/event.js';
import type { Millis } from '../../src/core/reading.js';
import type { Event } from '../../src/core/event.js';
import { agents } from '../../src/agents/index.js';
import type { PromptContent, ScreenReader } from '../../src/agents/agent.js';
import type { Agent } from '../../src/agents/agent.js';
import { openRecordingFile } from '../../src/storage/recording-reader.js';
import { startOfRecording } from '../../src/replay/replay.js';
import { logBatches, mergeByTime, openReplayLogs, settledScreens } from '../../src/replay/sources.js';
import { readScreen, startScreenState } from '../../src/worker/screen-reader.js';
import type { Env } from '../../src/agents/agent.js';

/** What an agent's reader reads from one screen. */
export interface PlayedScreen {
  /** seconds since the start of the recording */
  readonly at: number;
  readonly activity: ActivityReport;
  readonly facts: readonly Fact[];
  /** the text of the prompt; undefined where there is none */
  readonly prompt: PromptContent | undefined;
  /** the rows of the screen, for the message of a failed test */
  readonly rows: readonly string[];
}

const unknown: ActivityReport = { activity: 'unknown', witnesses: [] };
const fixtures = fileURLToPath(new URL('../fixtures/casts/', import.meta.url));

/** A name in test/fixtures/logs, like `claude/session.jsonl`. */
export const logPath = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/logs/${name}`, import.meta.url));

/** A name in test/fixtures/casts, like `claude/traps`, or the path of any recording. */
export const castPath = (cast: string): string => {
  const known = `${fixtures}${cast}.cast.gz`;
  return existsSync(known) ? known : cast;
};

/**
 * Everything that an agent's reader reads from the screens of a recording, at the times when the wrapper reads them. `startedAt` is time 0.
 */
export const playScreens = async (
  cast: string,
  agent: Agent,
  env: Env = {},
  startedAt: Millis = 0,
): Promise<readonly PlayedScreen[]> => {
  const { header, events } = await openRecordingFile(castPath(cast));
  let read = agent.screen?.reader(env);
  const played: PlayedScreen[] = [];
  for await (const moment of settledScreens(header, events())) {
    if (moment.type !== 'screen') continue;
    const { at, seen } = moment;
    const rows = Array.from({ length: seen.screen.rows }, (_, row) => seen.screen.text(row));
    const step = read?.(seen, startedAt + at);
    read = step?.next;
    played.push({
      at: at / 1000,
      activity: step?.activity ?? unknown,
      facts: step?.facts ?? [],
      prompt: agent.screen?.prompt?.(seen),
      rows,
    });
  }
  return played;
};

/** One screen of a whole recording, with all that is asked of it. */
export interface RecordedScreen extends PlayedScreen {
  readonly atMs: Millis;
  /** what a session is told of it */
  readonly events: readonly Event[];
  /** names of the agents that take it for their own */
  readonly recognisedBy: readonly string[];
}

/** Plays a recording and its session files (in test/fixtures/logs) from bytes to the events of a session. */
export const playRecording = async (
  cast: string,
  { name, log, screen }: Agent,
  logs: readonly string[],
): Promise<readonly RecordedScreen[]> => {
  if (!log || !screen) throw new Error(`nothing is known of the screen or the session file of ${name}`);
  const open = () => openRecordingFile(castPath(cast));
  const { header, events } = await open();
  const { promptAt, records } = await openReplayLogs(logs.map(logPath), log);
  const startedAt = await startOfRecording(open, header, promptAt);
  let facts: readonly Fact[] = [];
  let activity = unknown;
  const remembered =
    (read: ScreenReader): ScreenReader =>
    (seen, now) => {
      const step = read(seen, now);
      ({ facts, activity } = step);
      return { ...step, next: remembered(step.next) };
    };
  let state = startScreenState(remembered(screen.reader({})));
  const played: RecordedScreen[] = [];
  const written = logBatches(log, records(), { env: {}, startedAt });
  for await (const { item } of mergeByTime(settledScreens(header, events()), written, startedAt)) {
    if (!('type' in item) || item.type !== 'screen') continue;
    const { at: atMs, seen } = item;
    const report = readScreen(state, seen, atMs);
    ({ state } = report);
    played.push({
      at: atMs / 1000,
      atMs,
      activity,
      facts,
      events: report.events,
      prompt: screen.prompt?.(seen),
      recognisedBy: Object.values<Agent>(agents)
        .filter((agent) => agent.screen?.recognises(seen))
        .map((agent) => agent.name),
      rows: Array.from({ length: seen.screen.rows }, (_, row) => seen.screen.text(row)),
    });
  }
  return played;
};
