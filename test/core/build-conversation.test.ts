import { describe, expect, it } from 'vitest';
import { buildConversation } from '../../src/core/conversation/build-conversation.js';
import {
  compactionsOf,
  planIn,
  toolUsesIn,
  windowOf,
  type Conversation,
  type Entry,
  type SourceRecord,
  type Step,
} from '../../src/core/conversation/conversation.js';

const textsOf = (entries: readonly Entry[]): readonly string[] =>
  entries.map((entry) => ('text' in entry ? entry.text : entry.kind));

const source = (line: number, more: Partial<SourceRecord> = {}): SourceRecord => ({ line, ...more });

const said = (kind: 'prompt' | 'answer' | 'summary' | 'context', text: string, from: SourceRecord): Step => ({
  kind: 'record',
  source: from,
  entries: [{ kind, text, source: from, tokens: 1 }],
});

const compacted = (from: SourceRecord, more: Partial<Extract<Entry, { kind: 'compaction' }>> = {}): Step => ({
  kind: 'record',
  source: from,
  entries: [
    {
      kind: 'compaction',
      source: from,
      tokens: 0,
      boundary: { at: 1 },
      keptIds: [],
      startLine: from.line,
      ...more,
    },
  ],
});

/** A record of an agent whose records name the one before. */
const linked = (line: number, id: string, parentId: string | null, more: Partial<SourceRecord> = {}) =>
  source(line, { id, parentId, ...more });

const call = (callId: string, from: SourceRecord): Step => ({
  kind: 'record',
  source: from,
  entries: [{ kind: 'call', callId, name: 'Bash', input: {}, files: [], source: from, tokens: 1 }],
});

const result = (
  callId: string,
  from: SourceRecord,
  more: { isError?: true; output?: string } = {},
): Step => ({
  kind: 'record',
  source: from,
  entries: [{ kind: 'result', callId, output: '', source: from, tokens: 1, ...more }],
});

describe('records that name the one before', () => {
  it('are in the order of the chain, whatever their order in the file', () => {
    const { entries } = buildConversation([
      said('answer', 'one', linked(0, 'b', 'a')),
      said('prompt', 'say one', linked(1, 'a', null)),
      said('prompt', 'say two', linked(2, 'c', 'b')),
    ]);
    expect(textsOf(entries)).toEqual(['say one', 'one', 'say two']);
  });

  it('leave out the branch that the user has left, and count it', () => {
    const conversation = buildConversation([
      said('prompt', 'first', linked(0, 'a', null)),
      said('prompt', 'wrong', linked(1, 'b', 'a')),
      said('answer', 'no', linked(2, 'c', 'b')),
      said('prompt', 'right', linked(3, 'd', 'a')),
    ]);
    expect(textsOf(conversation.entries)).toEqual(['first', 'right']);
    expect(conversation.abandoned).toBe(2);
  });

  it('hold all tool calls of one answer, though the chain goes through one of them', () => {
    const { entries } = buildConversation([
      said('prompt', 'do both', linked(0, 'a', null)),
      call('1', linked(1, 'b', 'a', { answerId: 'm' })),
      call('2', linked(2, 'c', 'b', { answerId: 'm' })),
      result('1', linked(3, 'd', 'b')),
      result('2', linked(4, 'e', 'c')),
      said('answer', 'done', linked(5, 'f', 'd')),
    ]);
    expect(
      toolUsesIn(entries).map(({ call: { callId }, result: found }) => [callId, found !== undefined]),
    ).toEqual([
      ['1', true],
      ['2', true],
    ]);
    expect(entries.at(-1)?.kind).toBe('answer');
  });

  it('go on before a lost record, and never in a circle', () => {
    const lost = buildConversation([
      said('prompt', 'first', linked(0, 'a', null)),
      said('answer', 'after a lost line', linked(2, 'c', 'b')),
    ]);
    expect(textsOf(lost.entries)).toEqual(['first', 'after a lost line']);
    const circle = buildConversation([
      said('prompt', 'x', linked(0, 'a', 'b')),
      said('answer', 'y', linked(1, 'b', 'a')),
    ]);
    expect(circle.entries).toHaveLength(2);
  });

  it('go on before a compaction, whose kept records are in the window behind the summary', () => {
    const conversation = buildConversation([
      said('prompt', 'first', linked(0, 'a', null)),
      said('answer', 'one', linked(1, 'b', 'a')),
      said('prompt', 'second', linked(2, 'c', 'b')),
      compacted(linked(3, 'k', null), { previousId: 'c', keptIds: ['c'], keptAfterId: 's' }),
      said('summary', 'a summary', linked(4, 's', 'k')),
      said('prompt', 'third', linked(5, 'd', 's')),
    ]);
    expect(textsOf(conversation.entries)).toEqual([
      'first',
      'one',
      'second',
      'compaction',
      'a summary',
      'third',
    ]);
    expect(textsOf(windowOf(conversation))).toEqual(['a summary', 'second', 'third']);
  });

  it('that a compaction has kept before its summary come first', () => {
    const conversation = buildConversation([
      said('prompt', 'first', linked(0, 'a', null)),
      said('prompt', 'second', linked(1, 'b', 'a')),
      compacted(linked(2, 'k', null), {
        previousId: 'b',
        keptSpan: { firstId: 'a', lastId: 'a' },
        keptAfterId: 'k',
      }),
      said('summary', 'of the rest', linked(3, 's', 'k')),
    ]);
    expect(textsOf(windowOf(conversation))).toEqual(['first', 'of the rest']);
  });
});

describe('records in order', () => {
  const steps: readonly Step[] = [
    said('prompt', 'one', source(0, { id: 'a' })),
    said('answer', 'half', source(1, { id: 'b' })),
    said('answer', 'whole', source(2, { id: 'b' })),
    said('prompt', 'two', source(3, { id: 'c' })),
  ];

  it('that are written again take their place', () => {
    expect(textsOf(buildConversation(steps).entries)).toEqual(['one', 'whole', 'two']);
  });

  it('are cut where the user has gone back to', () => {
    const back = buildConversation([
      ...steps,
      { kind: 'rewound', toId: 'b' },
      said('prompt', 'other', source(5)),
    ]);
    expect(textsOf(back.entries)).toEqual(['one', 'other']);
    expect(back.abandoned).toBe(2);
    const turns = buildConversation([...steps, { kind: 'rewound-turns', turns: 1 }]);
    expect(textsOf(turns.entries)).toEqual(['one', 'whole']);
  });

  it('give up what the agent records while it compacts', () => {
    const conversation = buildConversation([
      ...steps,
      said('answer', 'what becomes the summary', source(4)),
      compacted(source(5), { startLine: 4 }),
      said('summary', 'the summary', source(5)),
    ]);
    expect(textsOf(conversation.entries)).toEqual(['one', 'whole', 'two', 'compaction', 'the summary']);
    expect(textsOf(windowOf(conversation))).toEqual(['the summary']);
  });

  it('are replaced since the last compaction when the agent writes its conversation anew', () => {
    const from = source(7);
    const conversation = buildConversation([
      ...steps,
      compacted(source(5)),
      said('summary', 'the summary', source(5, { id: 's' })),
      said('prompt', 'three', source(6, { id: 'd' })),
      { kind: 'rewritten', entries: [{ kind: 'summary', text: 'the same', source: from, tokens: 1 }] },
    ]);
    expect(textsOf(conversation.entries)).toEqual(['one', 'whole', 'two', 'compaction', 'the same']);
  });

  it('tell who asked for a compaction, also later', () => {
    const conversation = buildConversation([
      ...steps,
      compacted(source(5)),
      { kind: 'amended', boundary: { initiator: 'agent' } },
    ]);
    expect(compactionsOf(conversation)[0]?.boundary.initiator).toBe('agent');
  });
});

describe('the plan', () => {
  const planned = (plan: Extract<Entry, { kind: 'call' }>['plan'], callId: string): Entry => ({
    kind: 'call',
    callId,
    name: 'plan',
    input: {},
    files: [],
    source: source(0),
    tokens: 1,
    ...(plan ? { plan } : {}),
  });
  const answered = (callId: string, output: string): Entry => ({
    kind: 'result',
    callId,
    output,
    source: source(1),
    tokens: 1,
  });

  it('is the last whole list, with what was added and changed since', () => {
    const entries: Conversation['entries'] = [
      planned({ kind: 'whole', items: [{ text: 'old', status: 'open' }] }, '1'),
      planned({ kind: 'whole', items: [] }, '2'),
      planned({ kind: 'added', item: { text: 'build', status: 'open' } }, '3'),
      answered('3', 'Task #7 created successfully'),
      planned({ kind: 'changed', id: '7', item: { status: 'done' } }, '4'),
    ];
    expect(planIn(entries)).toEqual([{ id: '7', text: 'build', status: 'done' }]);
  });
});
