import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import type { Event } from '../../src/core/event.js';
import { defaultValues } from '../../src/core/config/keys.js';
import { agents } from '../../src/agents/index.js';
import type { Agent } from '../../src/agents/agent.js';
import { nullLog } from '../../src/storage/log-file.js';
import { followOwnCompaction } from '../../src/worker/agent-reports.js';

const folders: string[] = [];
const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const follow = (agent: Agent, agentFolder: string) => {
  const home = mkdtempSync(join(tmpdir(), 'ctxwrap-own-'));
  folders.push(home);
  mkdirSync(join(home, agentFolder));
  const events: Event[] = [];
  const start = (): void => {
    const session = {
      agent,
      file: '/bin/true',
      args: [],
      env: { HOME: home },
      cwd: home,
      values: defaultValues,
      isModeGiven: false,
      recording: undefined,
      log: nullLog,
    } as const;
    stops.push(followOwnCompaction(session, (event) => events.push(event)).stop);
  };
  return { start, events, path: (name: string) => join(home, agentFolder, name) };
};

const PATIENCE = { timeout: 15_000 };

it('a changed settings file counts in a session that runs, also behind a link', async () => {
  const { start, events, path } = follow(agents.claude, '.claude');
  writeFileSync(path('kept.json'), '{"autoCompactWindow":150000}');
  symlinkSync('kept.json', path('settings.json'));
  start();
  await vi.waitFor(() => expect(events).toHaveLength(1), PATIENCE);
  expect(events[0]).toMatchObject({ type: 'own-compaction', trigger: { mostWindowTokens: 150_000 } });
  writeFileSync(path('kept.json'), '{"autoCompactEnabled":false}');
  await vi.waitFor(() => expect(events).toHaveLength(2), PATIENCE);
  expect(events[1]).toEqual({ type: 'own-compaction', trigger: undefined });
  rmSync(path('kept.json'));
  await vi.waitFor(() => expect(events).toHaveLength(3), PATIENCE);
  expect(events[2]).toEqual({ type: 'own-compaction', trigger: agents.claude.nativeTrigger({}) });
});

it.each([
  { name: 'gemini', text: '{"model":{"compressionThreshold":0.8}}' },
  { name: 'qwen', text: '{"context":{"autoCompactThreshold":0.8}}' },
] as const)('what $name reads at its start counts as it was then', async ({ name, text }) => {
  const { start, events, path } = follow(agents[name], `.${name}`);
  writeFileSync(path('settings.json'), text);
  start();
  await vi.waitFor(() => expect(events).toHaveLength(1), PATIENCE);
  expect(events[0]).toMatchObject({ trigger: { share: 0.8 } });
  expect(agents[name].ownCompaction?.isReadOnce).toBe(true);
});
