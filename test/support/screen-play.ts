import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ActivityReport } from '../../src/core/reading.js';
import type { Fact } from '../../src/core/event.js';
import type { Millis } from '../../src/core/reading.js';
import type { PromptContent } from '../../src/agents/agent.js';
import type { Agent } from '../../src/agents/agent.js';
import { openRecordingFile } from '../../src/storage/recording-reader.js';
import { settledScreens } from '../../src/replay/sources.js';
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
