import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { provenance } from '../../src/core/report/report.js';
import { agents } from '../../src/agents/index.js';
import type { Agent } from '../../src/agents/agent.js';
import { readSessionFile, agentOfFile } from '../../src/session-files/read-session-file.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/logs/${name}`, import.meta.url));
const read = (agent: Agent, path: string) => readSessionFile({ path, agent: agent, env: {}, now: 0 });

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'read-session-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const recorded = [
  {
    runtime: 'claude',
    name: 'claude/session-with-compaction.jsonl',
    used: 131_003,
    compactions: ['131023 → 777'],
  },
  { runtime: 'codex', name: 'codex/context-exceeded.jsonl', used: 20_050, compactions: [] },
  { runtime: 'gemini', name: 'gemini/manual-compaction.jsonl', used: undefined, compactions: ['310000 → ?'] },
] as const;

describe('a recorded session file', () => {
  it.each(recorded)('$name is recognised as one of $runtime', async ({ runtime: agent, name }) => {
    expect(await agentOfFile(fixture(name), Object.values(agents))).toBe(agents[agent]);
  });

  it.each(recorded)(
    '$name is recognised when it is packed with gzip, too',
    async ({ runtime: agent, name }) => {
      const packed = join(folder, 'session.jsonl.gz');
      writeFileSync(packed, gzipSync(readFileSync(fixture(name))));
      expect(await agentOfFile(packed, Object.values(agents))).toBe(agents[agent]);
    },
  );

  it.each(
    readdirSync(fixture('.'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.jsonl?$/.test(name))
      .map((name) => [name]),
  )('%s is recognised wherever it lies', async (name) => {
    const copy = join(folder, 'copy');
    writeFileSync(copy, readFileSync(fixture(name)));
    expect((await agentOfFile(copy, Object.values(agents)))?.name).toBe(name.split('/')[0]);
  });

  it.each(recorded)('$name says how full the window is and what was compacted', async (each) => {
    const { state, compactions } = await read(agents[each.runtime], fixture(each.name));
    expect(provenance(state, 0)?.usedTokens).toBe(each.used);
    expect(compactions.map((past) => `${past.preTokens ?? '?'} → ${past.postTokens ?? '?'}`)).toEqual(
      each.compactions,
    );
  });

  it('of codex that ends right after a compaction has that one, too', async () => {
    const lines = readFileSync(fixture('codex/compactions.jsonl'), 'utf8').split('\n');
    const last = lines.findLastIndex((line) => line.includes('"type":"compacted"'));
    const count = lines.slice(0, last + 1).filter((line) => line.includes('"type":"compacted"')).length;
    const path = join(folder, 'rollout.jsonl');
    for (const end of ['', '\n']) {
      writeFileSync(path, lines.slice(0, last + 1).join('\n') + end);
      expect((await read(agents.codex, path)).compactions).toHaveLength(count);
    }
  });

  it('of codex has what came with the next turn where nobody recorded the size after a compaction', async () => {
    const { compactions } = await read(agents.codex, fixture('codex/compactions.jsonl'));
    expect(compactions.map((past) => past.nextTokens)).toEqual([70_050, 9_050, 70_050, 15_050]);
  });
});

// Kimi Code before protocol 1.5, as its records are told of in public: no agent in them, and no size but that of each request.
const oldKimi = [
  { type: 'metadata', protocol_version: '1.4', created_at: 1 },
  { type: 'config.update', profileName: 'agent', systemPrompt: 'You are Kimi.', modelAlias: 'k2' },
  { type: 'turn.prompt', input: [{ type: 'text', text: 'hello' }], origin: { kind: 'user' }, time: 2 },
  {
    type: 'context.append_message',
    message: { role: 'user', content: [{ type: 'text', text: 'hello'.repeat(800) }] },
    time: 2,
  },
  { type: 'llm.request', kind: 'loop', provider: 'kimi', model: 'k2', time: 3 },
  {
    type: 'usage.record',
    model: 'k2',
    usage: { inputOther: 5_000, output: 50, inputCacheRead: 20_000, inputCacheCreation: 0 },
    usageScope: 'turn',
    time: 4,
  },
  {
    type: 'usage.record',
    model: 'k2',
    usage: { inputOther: 90_000, output: 50, inputCacheRead: 0, inputCacheCreation: 0 },
    usageScope: 'session',
    time: 5,
  },
];

const kept = (records: readonly object[]): string => {
  const path = join(folder, 'kept');
  writeFileSync(path, records.map((each) => `${JSON.stringify(each)}\n`).join(''));
  return path;
};

describe('a session file of an older Kimi', () => {
  it('is recognised, and its requests tell how full the window is', async () => {
    const path = kept(oldKimi);
    expect(await agentOfFile(path, Object.values(agents))).toBe(agents.kimi);
    const { state, filled } = await read(agents.kimi, path);
    expect(provenance(state, 9)?.usedTokens).toBe(25_050);
    expect(filled).toEqual({ systemTokens: 24_050, fileTokens: 0, toolTokens: 0 });
  });
});

describe('the window of a session that ends with a compaction', () => {
  it('is the one that came with the last number before it', async () => {
    const records = readFileSync(fixture('qwen/ladder.jsonl'), 'utf8').split('\n');
    const end = records.findLastIndex((each) => each.includes('"chat_compression"')) + 1;
    const path = join(folder, 'kept');
    writeFileSync(path, `${records.slice(0, end).join('\n')}\n`);
    const { state } = await read(agents.qwen, path);
    const { source, windowTokens, windowSource } = provenance(state, 9) ?? {};
    expect([source, windowTokens, windowSource]).toEqual(['estimate', 131_072, 'agent']);
  });
});

describe('the window in the session file of an ended session', () => {
  const SONNET = 'claude-sonnet-4-5';
  const answer = (input_tokens: number, model: string) =>
    JSON.stringify({ type: 'assistant', isSidechain: false, message: { model, usage: { input_tokens } } });
  const known = [{ windowTokens: 1_000_000, windowSource: 'remembered', model: SONNET } as const];
  const seen = async (lines: readonly string[], remembered: typeof known | [] = []) => {
    const path = join(folder, 'session.jsonl');
    writeFileSync(path, `${lines.join('\n')}\n`);
    const request = { path, agent: agents.claude, env: {}, remembered, now: 0 };
    return provenance((await readSessionFile(request)).state, 0);
  };

  it('is the agent’s guess where there is nothing better, which is not certain', async () => {
    expect(await seen([answer(50_000, SONNET)])).toMatchObject({
      windowTokens: 200_000,
      windowSource: 'default',
      usedPercent: 25,
      exact: false,
    });
    expect(await seen([answer(50_000, SONNET), answer(9, 'claude-opus-4-8')])).not.toHaveProperty(
      'windowTokens',
    );
  });

  it('is what another session knew of the model, but for what the file proves', async () => {
    expect(await seen([answer(50_000, SONNET)], known)).toMatchObject({
      windowTokens: 1_000_000,
      windowSource: 'remembered',
      exact: false,
    });
    const compaction = JSON.stringify({
      type: 'system',
      subtype: 'compact_boundary',
      compactMetadata: { trigger: 'auto', preTokens: 167_045 },
    });
    expect(await seen([answer(160_000, SONNET), compaction, answer(50_000, SONNET)], known)).toMatchObject({
      windowTokens: 200_000,
      windowSource: 'derived',
      exact: true,
    });
    expect(await seen([answer(50_000, 'claude-opus-4-8')], known)).not.toHaveProperty('windowTokens');
  });

  it('is one million where a guess is too small for what was used', async () => {
    expect(await seen([answer(200_001, SONNET), answer(50_000, SONNET)])).toMatchObject({
      windowTokens: 1_000_000,
      usedPercent: 5,
    });
  });
});

describe('any other file', () => {
  it.each([
    { what: 'text', text: 'root:x:0:0\nhello\n' },
    { what: 'other JSON lines', text: '{"level":"info","msg":"started"}\n'.repeat(9) },
    { what: 'one JSON document', text: JSON.stringify({ sessionId: 'x', messages: [] }, undefined, 2) },
    { what: 'nothing', text: '' },
  ])('of $what is nobody’s', async ({ text }) => {
    const path = join(folder, 'file');
    writeFileSync(path, text);
    expect(await agentOfFile(path, Object.values(agents))).toBeUndefined();
  });
});

/** What is in use, without garbage: how much of that is there depends on the tests before, in the same process. */
const heldBytes = (): number => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

describe('a session file of hundreds of megabytes', () => {
  it('is read in memory that does not grow with it', async () => {
    const path = join(folder, 'long.jsonl');
    const file = openSync(path, 'w');
    const turn = (id: number): string => {
      const content = [{ type: 'tool_result', tool_use_id: `${id}`, content: 'x'.repeat(200_000) }];
      const usage = { input_tokens: id, cache_read_input_tokens: 1_000 };
      return [
        {
          type: 'user',
          uuid: `result ${id}`,
          parentUuid: id === 1 ? null : `answer ${id - 1}`,
          isSidechain: false,
          message: { content },
        },
        {
          type: 'assistant',
          uuid: `answer ${id}`,
          parentUuid: `result ${id}`,
          isSidechain: false,
          message: { model: 'claude-haiku-4-5', usage },
        },
      ]
        .map((record) => `${JSON.stringify(record)}\n`)
        .join('');
    };
    for (let id = 1; id <= 600; id += 1) writeSync(file, turn(id)); // 120 MB
    closeSync(file);
    let peak = 0;
    const before = heldBytes();
    const watch = setInterval(() => {
      peak = Math.max(peak, heldBytes() - before);
    }, 500); // each look collects the garbage of the whole process, and what that takes counts as time for reading
    const { state, toolResults } = await read(agents.claude, path).finally(() => clearInterval(watch));
    expect(provenance(state, 0)?.usedTokens).toBe(1_600);
    expect(toolResults).toHaveLength(10);
    expect(peak).toBeLessThan(60_000_000); // half of the file
  });
});
