// A recorded session file gives the same facts, whatever happens to the file between two reads.
import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Boundary, Fact } from '../../src/core/event.js';
import { agents } from '../../src/agents/index.js';
import type { Agent } from '../../src/agents/agent.js';
import { makeTailReader } from '../../src/storage/tail.js';
import { footerSequence, linesOf, readLines } from '../support/read-log.js';
import { makeFactCoalescer, makeFileReader } from '../../src/session-files/session-facts.js';

const cases = [
  { name: 'claude', file: 'session-with-compaction.jsonl' },
  { name: 'codex', file: 'compactions.jsonl' },
  { name: 'gemini', file: 'failed-compactions.jsonl' },
  { name: 'qwen', file: 'ladder.jsonl' },
] as const;

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'session-file-'));
  path = join(folder, 'session.jsonl');
});
afterEach(() => rmSync(folder, { recursive: true }));

const factsOf = (agent: Agent) => {
  let facts: Fact[] = [];
  let reader = agent.log?.reader({});
  const file = makeTailReader({
    path,
    onLine: (line) => {
      const step = reader?.(line, 0);
      reader = step?.next;
      facts.push(...(step?.facts ?? []));
    },
    onRestart: () => {
      reader = agent.log?.reader({});
      facts = [];
    },
  });
  return { readNew: file.readNew, facts: () => facts };
};

// The last ones are invalid UTF-8.
const torn = fc.constantFrom(
  ...['', '{"type":"assis', 'garbage', '{}', 'null', '[1]'].map((text) => Buffer.from(text)),
  Buffer.from([0xff, 0xfe]),
  Buffer.from([0x7b, 0xff, 0x7d]),
);

const readingsIn = (facts: readonly Fact[]) => facts.filter(({ type }) => type === 'reading');

describe.each(cases)('a session file of $name', ({ name, file }) => {
  const agent = agents[name];
  const lines = linesOf(name, file);
  const expected = readLines(agent, lines).facts;
  const whole = Buffer.from(lines.map((line) => `${line}\n`).join(''));

  it('gives the same facts in any pieces', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 8 }), async (places) => {
        const { readNew, facts } = factsOf(agent);
        writeFileSync(path, '');
        let written = 0;
        for (const place of [...places.toSorted((a, b) => a - b), whole.length]) {
          appendFileSync(path, whole.subarray(written, place));
          written = place;
          await readNew();
        }
        expect(facts()).toEqual(expected);
      }),
      { numRuns: 40 },
    );
  });

  // An agent that was killed leaves an incomplete record.
  const half = fc
    .tuple(fc.constantFrom(...lines), fc.nat())
    .map(([line, length]) => Buffer.from(line.slice(0, length % line.length)));

  it('gives the same facts with lines of nonsense in it and with CRLF', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(torn, half), { maxLength: 20 }),
        fc.nat(),
        async (nonsense, seed) => {
          const mixed = lines.flatMap((line, i) => [nonsense[(i + seed) % 20] ?? '', '\r\n', line, '\r\n']);
          writeFileSync(path, Buffer.concat(mixed.map((piece) => Buffer.from(piece))));
          const { readNew, facts } = factsOf(agent);
          await readNew();
          expect(facts()).toEqual(expected);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('gives what its first line says behind a byte order mark', async () => {
    const telling = lines.filter((line) => readLines(agent, [line]).facts.length > 0);
    const { readNew, facts } = factsOf(agent);
    writeFileSync(path, `\ufeff${telling[0]}\n`);
    await readNew();
    expect(facts()).toEqual(readLines(agent, telling.slice(0, 1)).facts);
    expect(facts()).not.toEqual([]);
  });

  it('gives the same facts again after it was truncated and written anew', async () => {
    const { readNew, facts } = factsOf(agent);
    writeFileSync(path, whole);
    await readNew();
    writeFileSync(path, '');
    await readNew();
    expect(facts()).toEqual([]);
    writeFileSync(path, whole);
    await readNew();
    expect(facts()).toEqual(expected);
  });

  it('gives the same facts again after another file has taken its place', async () => {
    const { readNew, facts } = factsOf(agent);
    writeFileSync(path, whole.subarray(0, whole.length / 2));
    await readNew();
    writeFileSync(`${path}.new`, whole);
    renameSync(`${path}.new`, path);
    await readNew();
    expect(facts()).toEqual(expected);
  });

  it('says nothing else when records are in it twice', () => {
    const numbers = (said: readonly Fact[]) =>
      footerSequence(
        name,
        said.filter(({ type }) => type !== 'growth'),
      );
    const inTurn = (each: readonly string[]): readonly Fact[] => {
      const coalescer = makeFactCoalescer(() => 0);
      let reader = agent.log?.reader({});
      return each.flatMap((line) => {
        const step = reader?.(line, 0);
        reader = step?.next;
        for (const fact of step?.facts ?? []) coalescer.add(fact);
        return coalescer.flush();
      });
    };
    const once = numbers(inTurn(lines));
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }), (twice) => {
        const repeated = lines.flatMap((line, i) => (twice[i % 20] ? [line, line] : [line]));
        expect(numbers(inTurn(repeated))).toEqual(once);
      }),
      { numRuns: 50 },
    );
  });

  it('of 200 MB is read at its end only, and gives the same number', async () => {
    const file = openSync(path, 'w');
    writeSync(file, whole);
    // a hole in the file between the two
    writeSync(file, Buffer.concat([Buffer.from('\n'), whole]), 0, whole.length + 1, 200 * 1024 * 1024);
    closeSync(file);
    let facts: Fact[] = [];
    let reader = agent.log?.reader({});
    const read = (line: string): readonly Fact[] => {
      const step = reader?.(line, 0);
      reader = step?.next;
      return step?.facts ?? [];
    };
    await makeTailReader({
      path,
      onHead: read,
      onLine: (line) => facts.push(...read(line)),
      onRestart: () => {
        facts = [];
      },
      isEnough: () => readingsIn(facts).length > 0,
    }).readNew();
    expect(readingsIn(facts)).toEqual(readingsIn(expected));
  });
});

describe('where a compaction is recorded', () => {
  const records = [
    { name: 'claude', file: 'session-with-compaction.jsonl', sign: '"compact_boundary"' },
    { name: 'codex', file: 'compactions.jsonl', sign: '"type":"compacted"' },
    { name: 'gemini', file: 'manual-compaction.jsonl', sign: '<state_snapshot>' },
    { name: 'qwen', file: 'ladder.jsonl', sign: '"chat_compression"' },
  ] as const;

  it.each(records)(
    'in a file of $name is the byte at which that line begins',
    async ({ name, file, sign }) => {
      const { log } = agents[name];
      if (!log) throw new Error('no session file');
      const text = linesOf(name, file)
        .map((line) => `${line}\n`)
        .join('');
      writeFileSync(path, `${JSON.stringify({ type: 'x', text: 'ä€🙂' })}\n${text}`); // bytes are not characters
      const facts: Fact[] = [];
      const reader = makeFileReader(log, {}, { add: (fact) => facts.push(fact) });
      const onLine = (line: string, offset: number): void => void reader.read(line, 0, { offset });
      await makeTailReader({ path, onLine, onRestart: () => undefined }).readNew();
      const offsets = facts.flatMap((fact) => (fact.type === 'boundary' ? [fact.boundary.offset] : []));
      const whole = readFileSync(path);
      expect(offsets.length).toBeGreaterThan(0);
      for (const offset of offsets) {
        const line = whole.subarray(offset).toString().split('\n')[0] ?? '';
        expect(line.startsWith('{') && line.includes(sign)).toBe(true);
        expect(offset === 0 || whole[(offset ?? 0) - 1] === 0x0a).toBe(true);
      }
      const before = whole.subarray(0, offsets[0]).toString();
      expect(before).not.toContain(sign);
    },
  );
});

// The system prompt and the tools are sent with every request; Claude's estimate of what a compaction leaves is without them.
describe('what every request sends besides the conversation', () => {
  const said = (text: string) => ({ type: 'user', message: { role: 'user', content: text } });
  const answer = (input_tokens: number) => ({
    type: 'assistant',
    message: {
      id: `m${input_tokens}`,
      model: 'claude-sonnet-4-6',
      content: [],
      usage: { input_tokens, output_tokens: 9 },
    },
  });
  const compaction = (preTokens: number, postTokens: number) => ({
    type: 'system',
    subtype: 'compact_boundary',
    timestamp: new Date(preTokens * 1_000).toISOString(),
    compactMetadata: { trigger: 'manual', preTokens, postTokens },
  });
  const factsFrom = (agent: Agent, records: readonly object[]): readonly Fact[] => {
    const facts: Fact[] = [];
    if (!agent.log) throw new Error('no session file');
    const reader = makeFileReader(agent.log, {}, { add: (fact) => facts.push(fact) });
    for (const record of records) reader.read(JSON.stringify(record), 0);
    return facts;
  };
  const boundaries = (...records: readonly object[]): readonly Boundary[] =>
    factsFrom(agents.claude, records).flatMap((fact) => (fact.type === 'boundary' ? [fact.boundary] : []));
  const message = 'x'.repeat(40_000); // 10,000 tokens

  it('is the first count of a conversation without its first message', () => {
    const [first] = boundaries(said(message), answer(30_000), answer(150_000), compaction(150_000, 2_900));
    expect(first).toMatchObject({ postTokens: 2_900, fixedTokens: 20_000 });
  });

  it('is at most the smallest count, and at most what the first count after a compaction leaves for it', () => {
    const [first, second] = boundaries(
      said('a'),
      answer(60_000),
      answer(40_000),
      answer(150_000),
      compaction(150_000, 3_000),
      said(message),
      answer(33_000),
      answer(160_000),
      compaction(160_000, 4_000),
    );
    expect(first?.fixedTokens).toBe(40_000);
    expect(second?.fixedTokens).toBe(20_000);
  });

  it('is the same for compactions in a row', () => {
    const row = boundaries(
      said('a'),
      answer(20_001),
      answer(90_000),
      compaction(90_000, 3_000),
      compaction(40_000, 2_000),
    );
    expect(row.map(({ fixedTokens }) => fixedTokens)).toEqual([20_000, 20_000]);
  });

  it('is not added where that would leave no less than there was', () => {
    const [first] = boundaries(said('a'), answer(20_001), compaction(22_000, 2_900));
    expect(first).not.toHaveProperty('fixedTokens');
  });

  it('is not known of a file that begins with a compaction', () => {
    const [first] = boundaries(compaction(150_000, 3_000));
    expect(first).not.toHaveProperty('fixedTokens');
  });

  it('is in what a resumed session starts with', () => {
    const coalescer = makeFactCoalescer(() => 1e12);
    for (const fact of factsFrom(agents.claude, [
      said('a'),
      answer(20_001),
      answer(90_000),
      compaction(90_000, 3_000),
    ]))
      coalescer.add(fact);
    expect(coalescer.flush().at(-1)).toEqual({ type: 'voided', leftTokens: 23_000 });
  });

  it('is in the estimates of the other agents already', () => {
    for (const agent of [agents.codex, agents.qwen, agents.kimi, agents.opencode, agents.copilot])
      expect(agent.log?.leavesOutFixed).toBeUndefined();
  });
});
