import { agents } from '../../src/agents/index.js';
import type { Agent } from '../../src/agents/agent.js';
import {
  openRecordingFile,
  type RecordedEvent,
  type RecordingFile,
} from '../../src/storage/recording-reader.js';
import { openReplay } from '../../src/replay/replay.js';
import type { ReplayEvent } from '../../src/replay/events.js';
import { castPath, logPath } from './screen-play.js';
import type { Env } from '../../src/agents/agent.js';

export interface ReplayInput {
  /** as for playScreens */
  readonly cast: string;
  readonly runtime: string;
  /** in test/fixtures/logs */
  readonly logs?: readonly string[];
  readonly env?: Env;
  /** changes the events of the recording before they are played */
  readonly edit?: (events: readonly RecordedEvent[]) => readonly RecordedEvent[];
}

/** A whole replay of a recording. */
export const playReplay = async ({ cast, runtime: agent, logs = [], env = {}, edit }: ReplayInput) => {
  const known = Object.values<Agent>(agents).find(({ name }) => name === agent);
  if (!known) throw new Error(`no runtime ${agent}`);
  const open = async (): Promise<RecordingFile> => {
    const recording = await openRecordingFile(castPath(cast));
    return edit ? { ...recording, events: () => edited(recording.events(), edit) } : recording;
  };
  const { events, notes } = await openReplay({
    open,
    agent: known,
    env,
    logs: logs.map(logPath),
  });
  const all: ReplayEvent[] = [];
  for await (const event of events) all.push(event);
  return { events: all, notes: notes() };
};

async function* edited(
  events: AsyncIterable<RecordedEvent>,
  edit: NonNullable<ReplayInput['edit']>,
): AsyncGenerator<RecordedEvent> {
  const all: RecordedEvent[] = [];
  for await (const event of events) all.push(event);
  yield* edit(all);
}
