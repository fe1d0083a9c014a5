import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import type { Agent } from '../../src/agents/agent.js';
import { openRecordingFile } from '../../src/storage/recording-reader.js';
import { detectAgent } from '../../src/replay/sources.js';
import { settledScreens } from '../../src/replay/sources.js';
import { casts } from '../support/casts.js';
import { castPath } from '../support/screen-play.js';

const table = Object.values<Agent>(agents);
const recordings = casts().map(({ name }) => ({ name, agent: name.split('/')[0] ?? '' }));

const recognised = async (cast: string): Promise<readonly string[]> => {
  const { header, events } = await openRecordingFile(castPath(cast));
  const names = new Set<string>();
  for await (const moment of settledScreens(header, events())) {
    if (moment.type !== 'screen') continue;
    for (const { name, screen } of table) if (screen?.recognises(moment.seen)) names.add(name);
  }
  return [...names];
};

describe('the agent of a recording', () => {
  it.concurrent.each(recordings)('$name is not taken for another one', async ({ name, agent }) => {
    expect((await recognised(name)).filter((other) => other !== agent)).toEqual([]);
  });

  it('is recognised in all but the recordings that hold none of its own screens', async () => {
    const found = await Promise.all(
      recordings.map(async ({ name, agent }) => ({ name, agent, is: (await recognised(name))[0] })),
    );
    const missed = found.filter(({ agent, is }) => agent !== is).map(({ name }) => name);
    expect(missed).toEqual([]);
  });

  it.each([
    { command: 'claude -c', expected: 'claude' },
    { command: '/opt/bin/codex', expected: 'codex' },
    { title: 'gemini', expected: 'gemini' },
    { command: 'vim claude', expected: undefined },
  ])('is what the header says, $command $title', async ({ expected, ...said }) => {
    const recording = {
      header: { columns: 80, rows: 24, ...said },
      events: async function* events() {},
      warnings: () => [],
      close: async () => undefined,
    };
    expect((await detectAgent(recording, table))?.name).toBe(expected);
  });
});
