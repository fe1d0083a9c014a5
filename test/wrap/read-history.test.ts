// Compactions of recorded sessions, against what was counted by hand in the files themselves.
import { readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { historyRecord, type HistoryRecord } from '../../src/core/boundary-record.js';
import { readHistory, type HistoryOptions } from '../../src/wrap/read-history.js';

type Name = 'claude' | 'codex' | 'gemini' | 'qwen';

const fixture = (agent: Name, file: string): string =>
  fileURLToPath(new URL(`../fixtures/logs/${agent}/${file}`, import.meta.url));

const options: HistoryOptions = { isFull: false, withUsage: false, now: 0 };

const readFixture = async (agent: Name, file: string, more: Partial<HistoryOptions> = {}) => {
  const path = fixture(agent, file);
  const { size, mtimeMs: modifiedAt } = statSync(path);
  return readHistory({ agent: agents[agent], path, size, modifiedAt }, { ...options, ...more });
};

async function* inChunks(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  const buffer = Buffer.alloc(Math.max(...sizes));
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = Math.min(sizes[turn % sizes.length] ?? 1, bytes.length - at);
    bytes.copy(buffer, 0, at, at + length); // the same memory each time, as a file is read
    yield buffer.subarray(0, length);
    at += length;
  }
}

const readBytes = async (agent: Name, bytes: Buffer | string, sizes: readonly number[] = [65_536]) => {
  const content = Buffer.from(bytes);
  const source = { agent: agents[agent], path: '/x/session.jsonl', size: content.length, modifiedAt: 0 };
  const read = await readHistory({ ...source, open: () => inChunks(content, sizes) }, options);
  return read?.history;
};

const recordsOf = (history: NonNullable<Awaited<ReturnType<typeof readBytes>>>): readonly HistoryRecord[] =>
  history.compactions.map((each) => historyRecord(history, each));

type Sizes = readonly [pre: number | null, post: number | null, next: number | null];

interface Counted {
  readonly agent: Name;
  readonly file: string;
  readonly session: string | null;
  readonly project: string | null;
  readonly found: readonly {
    readonly at: string;
    readonly by: HistoryRecord['initiator'];
    readonly sizes: Sizes;
    readonly tookMs: number | null;
    readonly after: number;
    readonly replaced: readonly number[] | null;
    readonly summary: string | null;
    readonly line: number;
  }[];
}

const upTo = (last: number): readonly number[] => Array.from({ length: last }, (_, index) => index + 1);
const MOCK = 'MOCK SUMMARY: the user and the agent talked about the demo app.';
const GOAL = '<overall_goal>MOCK-SUMMARY</overall_goal>';
const own = { by: 'agent', tookMs: null, replaced: null, summary: GOAL } as const;
const asked = { by: 'user', tookMs: null, replaced: null, summary: GOAL } as const;
const day = (time: string): string => `2026-11-21T${time}Z`;

// Lines from 1. A message of Claude is a record of its main conversation with type user or assistant, one of Codex a response item of user or
// assistant other than the summary itself; Gemini's are those of the conversation as it was last written.
const counted: readonly Counted[] = [
  {
    agent: 'claude',
    file: 'session-with-compaction.jsonl',
    session: '11111111-2222-4333-8444-555555555555',
    project: '/proj/app-claude',
    found: [
      {
        at: day('08:37:12.289'),
        by: 'user',
        sizes: [131_023, 777, 131_003],
        tookMs: 97,
        after: 9,
        replaced: upTo(8), // the ninth, `tool finished`, is preserved
        summary: '1. Primary Request: mock summary.',
        line: 29,
      },
    ],
  },
  {
    agent: 'claude',
    file: 'compact-ends.jsonl', // with eight that failed or were cancelled
    session: '2aa6e11e-0d05-493a-8809-aa032ff81000',
    project: '/home/user/tools/proj-claude-22903',
    found: [
      {
        at: day('16:51:52.381'),
        by: 'user',
        sizes: [60_470, 1_230, 60_003],
        tookMs: 1_895,
        after: 19,
        replaced: upTo(9),
        summary: '1. mock summary',
        line: 29,
      },
    ],
  },
  {
    agent: 'codex',
    file: 'compactions.jsonl', // with four that failed, were cancelled or cut off
    session: '01a1fd1c-f01b-7b00-a700-c9e1017aceb1',
    project: '/proj/app-codex',
    found: [
      {
        at: day('07:58:16.076'),
        by: 'user',
        sizes: [null, 7_905, 70_050],
        tookMs: 24,
        after: 0,
        replaced: [],
        summary: MOCK,
        line: 7,
      },
      {
        at: day('07:58:24.330'),
        by: 'user',
        sizes: [70_050, 8_241, 9_050],
        tookMs: 4_026,
        after: 2,
        replaced: [2], // what the user says is kept
        summary: MOCK,
        line: 31,
      },
      {
        at: day('07:58:47.793'), // the model returned no summary: the last answer is in its place
        by: 'user',
        sizes: [70_050, 8_251, 70_050],
        tookMs: 1_519,
        after: 10,
        replaced: [4, 6, 8, 10],
        summary: 'empty',
        line: 86,
      },
      {
        at: day('07:59:18.688'),
        by: 'user',
        sizes: [70_050, 8_269, 15_050],
        tookMs: 6_020,
        after: 17,
        replaced: [12, 14, 16, 17], // the last one says that the turn before was aborted
        summary: MOCK,
        line: 138,
      },
    ],
  },
  {
    agent: 'codex',
    file: 'context-exceeded.jsonl',
    session: '01a1fd38-352f-7bc2-bbae-91f5e30548c0',
    project: '/proj/app-codex',
    found: [],
  },
  {
    agent: 'codex',
    file: 'own-compact-ends.jsonl',
    session: '01a1ff09-9daf-7eb3-8fca-32ca0a1664b1',
    project: '/home/user/tools/proj-codex-6305',
    found: [
      {
        at: day('16:56:53.824'),
        by: 'agent',
        sizes: [91_050, 8_281, 30_050], // not the 5 060 of the request for the summary
        tookMs: 1_783,
        after: 9,
        replaced: [3, 4, 5, 6, 8],
        summary: 'empty',
        line: 39,
      },
    ],
  },
  {
    agent: 'codex',
    file: 'old-0.137.0.jsonl', // no ids, no attribution of turns
    session: '01a204ac-b9b7-7700-9c4c-7bfe46c674ff',
    project: '/proj/app-codex-----------------------------------------------------/project',
    found: [
      {
        at: '2026-11-22T19:13:11.028Z',
        by: 'user',
        sizes: [55_020, 5_611, 15_020],
        tookMs: 4_085,
        after: 12,
        replaced: [1, 3, 5, 7, 9, 11, 12],
        summary: 'Another language model started to solve this problem and pro…',
        line: 49,
      },
    ],
  },
  {
    agent: 'gemini',
    file: 'auto-compactions.jsonl',
    session: '9abe08e9-0581-4ea6-afe4-67e7c986900d',
    project: null,
    found: [
      { ...own, at: day('07:52:16.255'), sizes: [524_288, null, 681_574], after: 5, line: 12 },
      { ...own, at: day('07:52:16.938'), sizes: [681_574, null, 786_432], after: 7, line: 20 },
      { ...own, at: day('07:52:17.565'), sizes: [786_432, null, 891_290], after: 9, line: 28 },
      { ...own, at: day('07:52:18.216'), sizes: [891_290, null, 964_690], after: 11, line: 36 },
      { ...own, at: day('07:52:18.853'), sizes: [964_690, null, 1_017_119], after: 11, line: 44 },
      { ...own, at: day('07:52:19.510'), sizes: [1_017_119, null, 1_048_576], after: 11, line: 52 },
      { ...own, at: day('07:52:20.160'), sizes: [1_048_576, null, 1_080_033], after: 11, line: 60 },
    ],
  },
  {
    agent: 'gemini',
    file: 'manual-compaction.jsonl',
    session: '60f4dd20-5ca6-4622-ac05-e88aa42d09a4',
    project: null,
    found: [{ ...asked, at: day('08:41:36.050'), sizes: [310_000, null, null], after: 5, line: 12 }],
  },
  {
    agent: 'gemini',
    file: 'failed-compactions.jsonl',
    session: '3224a607-4fcc-4739-a838-4f332d176893',
    project: null,
    found: [{ ...asked, at: day('08:16:12.182'), sizes: [500_000, null, 500_000], after: 17, line: 46 }],
  },
  {
    agent: 'gemini',
    file: 'cancelled-and-failed.jsonl', // written again three times without its summary
    session: '3d77a710-187f-49b4-93b9-4a6dafa32460',
    project: null,
    found: [{ ...own, at: day('08:17:19.289'), sizes: [700_000, null, 100_000], after: 3, line: 8 }],
  },
  {
    agent: 'gemini',
    file: 'document-0.20.0.json', // proved by the number after it alone
    session: '27b5599c-9271-4bcf-ab39-de97a45e72ac',
    project: null,
    found: [
      {
        ...asked,
        at: day('15:24:14.197'),
        sizes: [500_000, null, 20_000],
        after: 4,
        line: 56,
        summary: null,
      },
    ],
  },
  {
    agent: 'qwen',
    file: 'ladder.jsonl',
    session: 'b3603808-fed8-4da3-976d-e26fb89ab012',
    project: '/proj/app-qwen',
    found: [
      { ...own, at: day('08:36:00.889'), sizes: [99_659, null, 65_536], after: 9, line: 26 }, // its estimate of 0 is none
      { ...own, at: day('08:36:03.199'), sizes: [110_144, 10_444, 78_643], after: 13, line: 38 },
    ],
  },
  {
    agent: 'qwen',
    file: 'compress-cancelled.jsonl',
    session: 'b015d5ca-64cf-464d-9a69-e65b22c7383d',
    project: '/tmp/app-qwen',
    found: [{ ...asked, at: day('15:28:31.237'), sizes: [71_000, 68_732, null], after: 4, line: 18 }],
  },
  {
    agent: 'qwen',
    file: 'old-0.15.10.jsonl', // does not say who wanted it
    session: 'c960d6d1-b781-418d-bb60-5042f19d1518',
    project: '/proj/app-qwen-----------------------------------------------------/project',
    found: [
      {
        at: '2026-11-22T19:16:49.626Z',
        by: null,
        sizes: [55_020, 1_040, 15_000],
        tookMs: null,
        after: 11,
        replaced: null,
        summary: '<analysis>The user said hello.</analysis>',
        line: 12,
      },
    ],
  },
];

describe('the compactions of a recorded session', () => {
  it.each(counted)('of $agent ($file) are those counted by hand', async ({ agent, file, ...told }) => {
    const read = await readFixture(agent, file);
    const history = read?.history;
    expect([history?.sessionId ?? null, history?.project ?? null]).toEqual([told.session, told.project]);
    expect(history?.damagedLines).toBe(0);
    const found = history ? recordsOf(history) : [];
    expect(
      found.map((each) => ({
        at: each.timestamp,
        by: each.initiator,
        sizes: [each.pre_tokens, each.post_tokens, each.next_tokens],
        tookMs: each.duration_ms,
        after: each.after_message_index,
        replaced: each.replaced_message_indices,
        summary: each.summary?.split('\n')[0] ?? (each.summary_kind === 'empty' ? 'empty' : null),
        line: each.line,
      })),
    ).toEqual(told.found);
    expect(found.map((each) => each.trigger)).toEqual(
      told.found.map(({ by }) => (by === null ? null : by === 'agent' ? 'auto' : 'manual')),
    );
  });

  it('of Gemini, nineteen times in a row, are nineteen', async () => {
    const history = (await readFixture('gemini', 'repeated-compactions.jsonl'))?.history;
    const after = history?.compactions.map(({ afterMessage }) => afterMessage);
    expect(after).toEqual([5, 5, 7, 9, 9, 9, 9, 9, 11, 9, 9, 11, 9, 9, 9, 9, 11, 9, 9]);
  });

  it('are at the bytes that are said', async () => {
    for (const { agent, file } of counted) {
      const bytes = readFileSync(fixture(agent, file));
      const history = (await readFixture(agent, file))?.history;
      for (const { line, offset } of history?.compactions ?? []) {
        const before = bytes.subarray(0, offset).toString('latin1');
        expect(before.split('\n').length).toBe(line);
        expect(before.endsWith('\n')).toBe(true);
      }
    }
  });

  it('do not depend on how the file is read', async () => {
    for (const { agent, file } of counted) {
      const bytes = readFileSync(fixture(agent, file));
      const whole = await readBytes(agent, bytes);
      expect(await readBytes(agent, bytes, [1, 7, 4096, 13])).toEqual(whole);
    }
  });

  it('of a subagent are none of the user’s', async () => {
    expect(await readFixture('gemini', 'subagent.jsonl')).toBeUndefined();
  });

  it('have their summaries whole when asked', async () => {
    const read = await readFixture('qwen', 'old-0.15.10.jsonl', { isFull: true });
    const summary = read?.history.compactions[0]?.summary;
    expect(summary).toMatchObject({ kind: 'text', isCut: false });
    expect(summary?.text.length).toBe(summary?.characters);
  });
});

// Records of a Claude session, shortened.
const claudeLine = (uuid: string, more: object): string =>
  JSON.stringify({
    isSidechain: false,
    uuid,
    cwd: '/p',
    sessionId: 's',
    timestamp: day('10:00:00.000'),
    ...more,
  });
const prompt = (uuid: string, at = '10:00:00.000'): string =>
  claudeLine(uuid, { type: 'user', timestamp: day(at), message: { role: 'user', content: 'do it' } });
const answer = (uuid: string, stop = 'end_turn'): string =>
  claudeLine(uuid, {
    type: 'assistant',
    message: { role: 'assistant', content: [], stop_reason: stop, usage: { input_tokens: 5_000 } },
  });
const boundary = (uuid: string, metadata: object, at = '10:05:00.000'): string =>
  claudeLine(uuid, {
    type: 'system',
    subtype: 'compact_boundary',
    timestamp: day(at),
    compactMetadata: { preTokens: 9_000, trigger: 'auto', ...metadata },
  });
const summary = (uuid: string, content = 'the summary'): string =>
  claudeLine(uuid, { type: 'user', isCompactSummary: true, message: { role: 'user', content } });
const claudeFile = async (...lines: readonly string[]) => {
  const history = await readBytes('claude', `${lines.join('\n')}\n`);
  return history ? recordsOf(history) : [];
};

describe('a compaction of Claude', () => {
  it('that it started while it was at rest is marked as such', async () => {
    const [found] = await claudeFile(prompt('a'), answer('b'), boundary('c', {}), summary('d'));
    expect(found).toMatchObject({ initiator: 'agent-idle', trigger: 'auto' });
  });

  it('within a turn is the agent’s', async () => {
    const [found] = await claudeFile(prompt('a'), answer('b', 'tool_use'), boundary('c', {}), summary('d'));
    expect(found?.initiator).toBe('agent');
  });

  it('at the start of a turn whose prompt is written after it is not one at rest', async () => {
    const late = prompt('e', '10:04:00.000');
    const [found] = await claudeFile(prompt('a'), answer('b'), boundary('c', {}), summary('d'), late);
    expect(found?.initiator).toBe('agent');
  });

  it('that keeps nothing replaces every message since the one before, and its summary', async () => {
    const found = await claudeFile(
      ...[prompt('a'), answer('b'), boundary('c', {}), summary('d')],
      ...[prompt('e', '10:06:00.000'), answer('f'), boundary('g', { trigger: 'manual' }, '10:07:00.000')],
    );
    expect(found.map((each) => each.replaced_message_indices)).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
  });

  it('that keeps a message which an earlier one has kept says so', async () => {
    const keep = (...uuids: readonly string[]) => ({ preservedMessages: { uuids, allUuids: uuids } });
    const found = await claudeFile(
      ...[prompt('a'), answer('b'), boundary('c', keep('b')), summary('d')],
      ...[prompt('e', '10:06:00.000'), boundary('f', keep('b', 'e'), '10:07:00.000'), summary('g')],
      ...[boundary('h', keep(), '10:08:00.000')],
    );
    expect(found.map((each) => each.replaced_message_indices)).toEqual([[1], [3], [2, 4, 5]]);
  });

  it('of a version that names only the first and the last message it keeps', async () => {
    const segment = { preservedSegment: { headUuid: 'b', tailUuid: 'e' } };
    const lines = [prompt('a'), prompt('b'), answer('e'), boundary('c', segment)];
    expect((await claudeFile(...lines))[0]?.replaced_message_indices).toEqual([1]);
    const unknown = { preservedSegment: { headUuid: 'system', tailUuid: 'e' } };
    const others = [prompt('a'), prompt('b'), answer('e'), boundary('c', unknown)];
    expect((await claudeFile(...others))[0]?.replaced_message_indices).toBeNull();
  });

  it('of a version without boundaries is known by its summary', async () => {
    const said =
      'This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\nSummary:\nall of it\nPlease continue the conversation from where we left it off without asking the user any further questions.';
    const [found, ...others] = await claudeFile(prompt('a'), answer('b'), summary('c', said), prompt('d'));
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      summary: 'all of it',
      after_message_index: 2,
      pre_tokens: 5_000,
      initiator: null,
    });
    expect(found?.pre_tokens_estimated).toBe(true);
  });

  it('in a subagent’s records is none of this conversation', async () => {
    const side = boundary('c', {}).replace('"isSidechain":false', '"isSidechain":true');
    expect(await claudeFile(prompt('a'), side)).toEqual([]);
  });
});

it('a compaction of Codex whose summary only the server can read says that it is encrypted', async () => {
  const line = (type: string, payload: object): string =>
    JSON.stringify({ timestamp: day('10:00:00.000'), type, payload });
  const compacted = (history: readonly object[]): string =>
    line('compacted', { message: '', replacement_history: history });
  const kinds = async (text: string) => {
    const history = await readBytes('codex', `${text}\n`);
    return history && recordsOf(history).map((each) => [each.summary_kind, each.summary]);
  };
  expect(await kinds(compacted([{ type: 'compaction', encrypted_content: 'gAAAA' }]))).toEqual([
    ['encrypted', null],
  ]);
  expect(await kinds(compacted([]))).toEqual([['empty', null]]);
});

const cases = counted.filter(({ file, found }) => file.endsWith('.jsonl') && found.length > 0);
const linesOf = (agent: Name, file: string): readonly string[] =>
  readFileSync(fixture(agent, file), 'utf8').trimEnd().split('\n');

describe('a damaged session file', () => {
  it('has all compactions in what is left of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...cases), fc.nat(), async ({ agent, file, found }, cutAt) => {
        const bytes = readFileSync(fixture(agent, file));
        const cut = bytes.subarray(0, cutAt % bytes.length);
        const lines = cut.toString('latin1').split('\n').length - 1; // complete ones
        const history = await readBytes(agent, cut);
        const wanted = found.filter(({ line }) => line <= lines).map(({ line }) => line);
        const isComplete = found.some(({ line }) => line === lines + 1); // the last line may be whole without its newline
        const read = history?.compactions.map(({ line }) => line) ?? [];
        expect(isComplete ? read.filter((line) => line <= lines) : read).toEqual(wanted);
        expect(history?.damagedLines ?? 0).toBe(0); // half a line at the end is being written
      }),
      { numRuns: 60 },
    );
  });

  it('has all compactions between lines of garbage, which are counted', async () => {
    const garbage = fc.constantFrom(
      'garbage',
      '{"type":"user"',
      '\0\0\0\0',
      '{"a":1}{"b":2}',
      '[]',
      'x'.repeat(5_000),
    );
    const places = fc.array(fc.tuple(fc.nat(), garbage), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...cases), places, async ({ agent, file }, added) => {
        const lines = [...linesOf(agent, file)];
        const whole = await readBytes(agent, `${lines.join('\n')}\n`);
        for (const [place, text] of added) lines.splice(1 + (place % lines.length), 0, text);
        const history = await readBytes(agent, `${lines.join('\n')}\n`);
        const without = (each: typeof whole) =>
          each?.compactions.map(({ line: _, offset: __, summary: ___, ...rest }) => rest);
        expect(without(history)).toEqual(without(whole));
        expect(history?.damagedLines).toBe(added.length);
      }),
      { numRuns: 40 },
    );
  });

  it('never fails, whatever bytes are changed', async () => {
    const changes = fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 30 });
    const all = fc.constantFrom(...counted);
    await fc.assert(
      fc.asyncProperty(all, changes, async ({ agent, file, found }, changed) => {
        const bytes = readFileSync(fixture(agent, file));
        for (const [place, byte] of changed) bytes[place % bytes.length] = byte;
        const history = await readBytes(agent, bytes);
        const most = found.length + changed.length; // a changed time can make two of one record
        expect(history?.compactions.length ?? 0).toBeLessThanOrEqual(most);
        if (history) expect(() => JSON.stringify(recordsOf(history))).not.toThrow();
      }),
      { numRuns: 80 },
    );
  });

  it('of any other kind has none', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom<Name>('claude', 'codex', 'gemini', 'qwen'),
        fc.uint8Array(),
        async (agent, noise) => {
          expect((await readBytes(agent, Buffer.from(noise)))?.compactions ?? []).toEqual([]);
        },
      ),
    );
  });
});
