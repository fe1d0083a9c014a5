import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { openRecordingFile } from '../../src/storage/recording-reader.js';
import type { ReplayEvent } from '../../src/replay/events.js';
import { openReplay } from '../../src/replay/replay.js';
import { playReplay } from '../support/replay-play.js';
import { castPath } from '../support/screen-play.js';

const folder = mkdtempSync(join(tmpdir(), 'replay-logs-'));
afterAll(() => rmSync(folder, { recursive: true }));

const sessionFile = fileURLToPath(
  new URL('../fixtures/logs/claude/session-with-compaction.jsonl', import.meta.url),
);
const lines = readFileSync(sessionFile, 'utf8').trim().split('\n');

const fileOf = (name: string, content: readonly string[]): string => {
  const path = join(folder, name);
  writeFileSync(path, `${content.join('\n')}\n`);
  return path;
};

const replayWith = async (cast: string, logs: readonly string[]): Promise<readonly ReplayEvent[]> => {
  const open = () => openRecordingFile(castPath(cast));
  const { events } = await openReplay({ open, logs, agent: agents.claude, env: {} });
  const all: ReplayEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
};

/** The events of the session file, abbreviated. */
const written = (events: readonly ReplayEvent[]): readonly string[] =>
  events.flatMap((event) => {
    if (event.schema === 'ctxwrap.reading/1' && event.source === 'log')
      return [`${event.at} ${event.usedTokens}`];
    if (event.schema === 'ctxwrap.boundary/1')
      return [`${event.at} ${event.initiator} ${event.pre_tokens} ${event.post_tokens}`];
    return [];
  });

const story = ['2.041 100503', '3.718 130003', '5.379 131003', '14.09 user 131023 777', '19.44 131003'];

describe('a session file beside a recording', () => {
  it('is placed by the first prompt, when the recording has no time of its start', async () => {
    const { events } = await playReplay({
      cast: 'claude/hooks1',
      runtime: 'claude',
      logs: ['claude/session-with-compaction.jsonl'],
    });
    expect(written(events)).toEqual(story);
    expect(events).toContainEqual({
      schema: 'ctxwrap.boundary/1',
      at: 14.09,
      runtime: 'claude',
      session_id: 'session-with-compaction',
      uuid: 'c1f4ee78-0433-4846-8f99-a5f862eceff8',
      trigger: 'manual',
      initiator: 'user',
      pre_tokens: 131_023,
      post_tokens: 777,
      duration_ms: 97,
      timestamp: '2026-11-21T08:37:12.289Z',
      verified: true,
    });
  });

  it("is placed by the recording's own time, when it says that", async () => {
    const startedAt = Date.parse('2026-11-21T08:36:58Z');
    const at = (text: string): number => (Date.parse(text) - startedAt) / 1000;
    const recording = fileOf('timed.cast', [
      JSON.stringify({ version: 2, width: 100, height: 30, timestamp: startedAt / 1000 }),
      ...[0, 5, 10, 15, 20].map((seconds) => JSON.stringify([seconds, 'o', 'x'])),
    ]);
    expect(
      written(await replayWith(recording, [sessionFile])).map((each) => Number(each.split(' ')[0])),
    ).toEqual([
      at('2026-11-21T08:37:00.240Z'),
      at('2026-11-21T08:37:01.917Z'),
      at('2026-11-21T08:37:03.578Z'),
      at('2026-11-21T08:37:12.289Z'),
      at('2026-11-21T08:37:17.639Z'),
    ]);
  });

  it('that is older than the recording gives its last number at the start, and no compaction', async () => {
    const recording = fileOf('later.cast', [
      JSON.stringify({ version: 2, width: 100, height: 30, timestamp: 1_900_000_000 }),
      '[0.5, "o", "x"]',
    ]);
    expect(written(await replayWith(recording, [sessionFile]))).toEqual(['0 131003']);
  });

  it('that continues after the recording is read only up to its end', async () => {
    const recording = fileOf('short.cast', [
      JSON.stringify({ version: 2, width: 100, height: 30 }),
      '[0.1, "i", "\\r"]',
      '[2, "o", "x"]',
    ]);
    expect(written(await replayWith(recording, [sessionFile]))).toEqual(['0.264 100503', '1.941 130003']);
  });

  it('may be one of several: each is followed until the first record of the next, in any order', async () => {
    const cut = lines.findIndex((line) => line.includes('compact_boundary'));
    const first = fileOf('first.jsonl', lines.slice(0, cut));
    const second = fileOf('second.jsonl', lines.slice(cut));
    const events = await replayWith('claude/hooks1', [second, first]);
    expect(written(events)).toEqual(story);
    expect(events.find(({ schema }) => schema === 'ctxwrap.boundary/1')).toMatchObject({
      session_id: 'second',
    });
  });

  it('with broken and unknown lines still gives its numbers', async () => {
    const torn = lines.flatMap((line) => [line, line.slice(0, 40), '\u0000\uFFFD']);
    expect(written(await replayWith('claude/hooks1', [fileOf('torn.jsonl', torn)]))).toEqual(story);
  });

  it('that cannot be read is an error in words', async () => {
    await expect(replayWith('claude/hooks1', [join(folder, 'none.jsonl')])).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/cannot read the session file ".*none\.jsonl": no such file/),
    });
  });
});
