// Compactions of recorded sessions, counted by hand in the files themselves, and how a test reads a session file.
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { agents } from '../../src/agents/index.js';
import { historyRecord, type HistoryRecord } from '../../src/core/conversation/boundary-record.js';
import { readHistory, type HistoryOptions } from '../../src/session-files/read-history.js';

export type Name = 'claude' | 'codex' | 'gemini' | 'qwen' | 'copilot' | 'kimi';

export const fixture = (agent: Name, file: string): string =>
  fileURLToPath(new URL(`../fixtures/logs/${agent}/${file}`, import.meta.url));

const options: HistoryOptions = { isFull: false, withUsage: false, now: 0 };

export const readFixture = async (agent: Name, file: string, more: Partial<HistoryOptions> = {}) => {
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

export const readSource = async (
  agent: Name,
  bytes: Buffer | string,
  sizes: readonly number[] = [65_536],
) => {
  const content = Buffer.from(bytes);
  const source = { agent: agents[agent], path: '/x/session.jsonl', size: content.length, modifiedAt: 0 };
  return readHistory({ ...source, open: () => inChunks(content, sizes) }, options);
};

export const readBytes = async (...given: Parameters<typeof readSource>) =>
  (await readSource(...given))?.history;

export const recordsOf = (
  history: NonNullable<Awaited<ReturnType<typeof readBytes>>>,
): readonly HistoryRecord[] => history.compactions.map((each) => historyRecord(history, each));

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
export const day = (time: string): string => `2026-11-21T${time}Z`;

// Lines from 1. A message of Claude is a record of its main conversation with type user or assistant, one of Codex a response item of user or
// assistant other than the summary itself; Gemini's are those of the conversation as it was last written.
export const counted: readonly Counted[] = [
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
        after: 11, // the answer behind it is the summary
        replaced: [1, 3, 5, 7, 9, 11],
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
        summary: '<summary>1. Primary Request: to say hello.</summary>',
        line: 12,
      },
    ],
  },
];
