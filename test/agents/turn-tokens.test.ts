// What a turn reads again, in the overview of a large window: the numbers of the agent's own record, and nothing where it has none.
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import type { Agent } from '../../src/agents/agent.js';
import { toAgentFacts } from '../../src/agents/agent.js';
import type { Event } from '../../src/core/event.js';
import { playOverview } from '../support/overview-play.js';
import { readLines } from '../support/read-log.js';

const time = '2026-11-27T12:00:00.000Z';

/** An answer of each agent that has read 312,000 tokens, 298,000 of them from the cache, and has written 20. */
const records: Readonly<Record<string, readonly object[]>> = {
  claude: [
    {
      type: 'assistant',
      isSidechain: false,
      timestamp: time,
      message: {
        role: 'assistant',
        model: 'claude-opus-4-8',
        usage: {
          input_tokens: 4_000,
          cache_creation_input_tokens: 10_000,
          cache_read_input_tokens: 298_000,
          output_tokens: 20,
        },
      },
    },
  ],
  codex: [
    {
      timestamp: time,
      type: 'event_msg',
      payload: {
        type: 'token_count',
        info: {
          total_token_usage: { input_tokens: 999_000, cached_input_tokens: 900_000, total_tokens: 999_020 },
          last_token_usage: {
            input_tokens: 312_000,
            cached_input_tokens: 298_000,
            output_tokens: 20,
            reasoning_output_tokens: 0,
            total_tokens: 312_020,
          },
          model_context_window: 950_000,
        },
      },
    },
  ],
  gemini: [
    {
      id: 'a',
      type: 'gemini',
      timestamp: time,
      content: 'yes',
      tokens: { input: 312_000, output: 20, cached: 298_000, thoughts: 7, tool: 0, total: 312_027 },
      model: 'gemini-3.8-flash',
    },
  ],
  qwen: [
    {
      type: 'assistant',
      timestamp: time,
      model: 'qwen3',
      usageMetadata: {
        promptTokenCount: 312_000,
        candidatesTokenCount: 20,
        totalTokenCount: 312_020,
        cachedContentTokenCount: 298_000,
      },
      contextWindowSize: 1_000_000,
    },
  ],
  opencode: [
    {
      type: 'message',
      id: 'a',
      at: 1,
      data: {
        role: 'assistant',
        modelID: 'm',
        tokens: { input: 4_000, output: 20, reasoning: 3, cache: { read: 298_000, write: 10_000 } },
        time: { created: 1, completed: 2 },
        finish: 'stop',
      },
    },
  ],
  copilot: [
    {
      type: 'session.usage_record',
      id: 'a',
      data: {
        usage: {
          model: 'gpt-4.1',
          inputTokens: 312_000,
          outputTokens: 20,
          cacheReadTokens: 298_000,
          maxPromptTokens: 900_000,
        },
      },
      timestamp: time,
    },
  ],
  kimi: [
    {
      type: 'usage.record',
      agentId: 'main',
      model: 'k2',
      usage: { inputOther: 4_000, output: 20, inputCacheRead: 298_000, inputCacheCreation: 10_000 },
      usageScope: 'turn',
      time: 1,
    },
    { type: 'token_counting.measured', agentId: 'main', length: 3, tokens: 312_020, time: 1 },
  ],
};

const agentOf = (name: string): Agent => {
  const found = Object.values<Agent>(agents).find((agent) => agent.name === name);
  if (!found) throw new Error(`no agent ${name}`);
  return found;
};

/** The row after these records, in a window of this size. */
const rowAfter = (
  name: string,
  lines: readonly object[],
  { window = 1_000_000, more = [] }: { window?: number; more?: readonly Event[] } = {},
): string | undefined => {
  const agent = agentOf(name);
  const { facts, misfits } = readLines(
    agent,
    lines.map((line) => JSON.stringify(line)),
  );
  expect(misfits).toEqual([]);
  const overview = playOverview({}, { agent: toAgentFacts(agent, {}), window });
  overview.play.tell({ type: 'session-changed', sessionId: 'one' }, ...facts, ...more);
  const rows = overview.report().sections.flatMap((section) => section.rows);
  return rows.find(({ label }) => label === 'Each turn')?.text;
};

describe('what a turn reads again', () => {
  it.each(Object.entries(records))('is what the record of %s says', (name, lines) => {
    expect(rowAfter(name, lines)).toBe('reads 312,000 tokens again: 298,000 from the cache, 14,000 fresh');
  });

  it.each(Object.entries(records))('is not told in a small window of %s', (name, lines) => {
    expect(rowAfter(name, lines, { window: 499_999 })).toBeUndefined();
  });

  it('is not told where the record says nothing of a cache', () => {
    const lines = JSON.parse(JSON.stringify(records['claude']).replaceAll('cache_read', 'other')) as object[];
    expect(rowAfter('claude', lines)).toBeUndefined();
  });

  it('is not told where the numbers cannot be of one request', () => {
    const lines = JSON.parse(JSON.stringify(records['copilot']).replace('298000', '398000')) as object[];
    expect(rowAfter('copilot', lines)).toBeUndefined();
  });

  it('is not told any more after a compaction, and with another model', () => {
    const lines = records['claude'] ?? [];
    const boundary: Event = { type: 'boundary', boundary: { at: 1, postTokens: 20_000 } };
    for (const event of [boundary, { type: 'model', model: 'claude-sonnet-5' }] as const)
      expect(rowAfter('claude', lines, { more: [event] })).toBeUndefined();
  });
});
