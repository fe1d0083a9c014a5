import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import type { Agent } from '../../src/agents/agent.js';
import { detectAgent } from '../../src/replay/sources.js';

const table = Object.values<Agent>(agents);
describe('the agent of a recording', () => {
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
