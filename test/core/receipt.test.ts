// What a compaction has kept: counted by texts alone, against facts that were planted in the conversation before it.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildConversation } from '../../src/core/conversation/build-conversation.js';
import { evidenceIn } from '../../src/core/conversation/conversation-evidence.js';
import {
  compactionsOf,
  windowOf,
  type Call,
  type Compaction,
  type Entry,
  type PlanItem,
  type Step,
  type Summary,
} from '../../src/core/conversation/conversation.js';
import {
  beforeCounts,
  beforeText,
  keptCounts,
  keptText,
  lostItems,
  parseReceiptLine,
  receiptLine,
  receiptOf,
  receiptText,
  unknownItems,
  type Receipt,
} from '../../src/core/conversation/receipt.js';
import { runs } from '../support/runs.js';

type Draft =
  | { readonly prompt: string }
  | { readonly answer: string }
  | { readonly edits: string; readonly fails?: true }
  | { readonly runs: string }
  | { readonly plans: readonly PlanItem[] }
  | { readonly compacted: string; readonly keeps?: number; readonly isEncrypted?: true };

/** The steps of a session in /proj, a line for each. `keeps`: that many lines before the compaction stay in the window. */
const stepsOf = (drafts: readonly Draft[]): readonly Step[] => {
  const steps: Step[] = [{ kind: 'head', head: { cwd: '/proj' } }];
  for (const [line, draft] of drafts.entries()) {
    const source = { line, id: `r${line}` };
    const base = { source, tokens: 1 };
    const record = (...entries: readonly Entry[]): void =>
      void steps.push({ kind: 'record', source, entries });
    const call = (more: Partial<Call>, fails = false): void =>
      record(
        { ...base, kind: 'call', callId: `c${line}`, name: 'tool', input: {}, files: [], ...more },
        { ...base, kind: 'result', callId: `c${line}`, output: '', ...(fails ? { isError: true } : {}) },
      );
    if ('prompt' in draft) record({ ...base, kind: 'prompt', text: draft.prompt });
    else if ('answer' in draft) record({ ...base, kind: 'answer', text: draft.answer });
    else if ('edits' in draft) call({ files: [{ path: draft.edits, access: 'edit' }] }, draft.fails);
    else if ('runs' in draft) call({ commands: [draft.runs] });
    else if ('plans' in draft) call({ plan: { kind: 'whole', items: draft.plans } });
    else {
      const keptIds = Array.from({ length: draft.keeps ?? 0 }, (_, index) => `r${line - index - 1}`);
      const compaction: Compaction = { ...base, kind: 'compaction', boundary: { at: 1 }, keptIds };
      const summary: Summary = { ...base, kind: 'summary', text: draft.compacted };
      record(compaction, draft.isEncrypted ? { ...summary, isEncrypted: true } : summary);
    }
  }
  return steps;
};

const receiptIn = (drafts: readonly Draft[], number = 1): Receipt => {
  const conversation = buildConversation(stepsOf(drafts));
  const compaction = compactionsOf(conversation)[number - 1];
  const found = compaction && receiptOf(conversation, compaction);
  if (!found) throw new Error('there is no receipt');
  return found;
};

const keptIn = (drafts: readonly Draft[], number?: number): string | undefined =>
  keptText(keptCounts(receiptIn(drafts, number)));

describe('the receipt of a compaction', () => {
  it('counts files, commands, demands, open plan items, and names that the summary still has', () => {
    const receipt = receiptIn([
      { prompt: 'Rename parseLine in the parser. Never touch the public API! Use port 8443.' },
      { edits: '/proj/src/parser.ts' },
      { edits: '/proj/src/lexer.ts' },
      { runs: 'npm test -- parser' },
      {
        plans: [
          { text: 'rename the function', status: 'done' },
          { text: 'update the documentation', status: 'open' },
        ],
      },
      { compacted: 'We renamed parseLine in src/parser.ts. Rule: never touch the public API.' },
    ]);
    expect(keptText(keptCounts(receipt))).toBe(
      '1 of 2 paths, 0 of 1 command, 1 of 1 rule, 0 of 1 plan item, 1 of 2 names and numbers',
    );
    expect(lostItems(receipt).map(({ kind, text, line }) => [kind, text, line])).toEqual([
      ['path', 'src/lexer.ts', 2],
      ['command', 'npm test -- parser', 3],
      ['plan', 'update the documentation', 4],
      ['identifier', '8443', 0],
    ]);
  });

  it('counts what stays in the window word for word as kept', () => {
    const drafts = [{ runs: 'make build' }, { runs: 'make test' }] as const;
    expect(keptIn([...drafts, { compacted: 'nothing', keeps: 1 }])).toBe('1 of 2 commands');
    expect(keptIn([...drafts, { compacted: 'nothing' }])).toBe('0 of 2 commands');
  });

  it('is not told by what is said after the compaction', () => {
    const drafts: readonly Draft[] = [
      { edits: '/proj/a.ts' },
      { compacted: 'nothing' },
      { prompt: 'where is a.ts' },
      { answer: 'a.ts is there' },
    ];
    expect(keptIn(drafts)).toBe('0 of 1 path');
  });

  it('of a second compaction is about what was in the window then', () => {
    const drafts: readonly Draft[] = [
      { edits: '/proj/first.ts' },
      { compacted: 'first.ts' },
      { edits: '/proj/second.ts' },
      { compacted: 'first.ts' },
    ];
    expect(keptIn(drafts, 1)).toBe('1 of 1 path');
    expect(keptIn(drafts, 2)).toBe('0 of 1 path');
  });

  it.each([
    ['the whole path', 'see /proj/src/deep/one.ts', true],
    ['the path from the folder of the session', 'see src/deep/one.ts.', true],
    ['its name, which no other file has', 'see one.ts', true],
    ['a longer name', 'see another-one.ts and one.tsx', false],
    ['a part of the path', 'see src/deep', false],
    ['the path after the name of the folder', 'see proj/src/deep/one.ts', true],
    ['a part of it after dots', 'see …/deep/one.ts and .../one.ts', true],
    ['the same path in another folder', 'see packages/b/src/deep/one.ts', false],
    ['the same name in another folder', 'see test/one.ts', false],
  ])('a path is kept by %s: %s', (_, summary, isKept) => {
    const receipt = receiptIn([{ edits: '/proj/src/deep/one.ts' }, { compacted: summary }]);
    expect(receipt.items).toMatchObject([{ text: 'src/deep/one.ts', isKept }]);
  });

  it.each([
    ['make', 'we make sure that it works', false],
    ['make', 'ran `make` twice', true],
    ['make', 'Commands:\n- make\n', true],
    ['npm test', 'we ran npm tests', false],
    ['npm test', 'ran npm test.', true],
  ])(
    'a command is kept as a whole, and not as a word of the language: %s in %j',
    (command, summary, isKept) => {
      const receipt = receiptIn([{ runs: command }, { compacted: summary }]);
      expect(receipt.items).toMatchObject([{ kind: 'command', text: command, isKept }]);
    },
  );

  it('a file whose name is a word is kept where it stands as code', () => {
    expect(keptIn([{ edits: '/proj/test' }, { compacted: 'the test passes' }])).toBe('0 of 1 path');
    expect(keptIn([{ edits: '/proj/test' }, { compacted: 'edited `test`' }])).toBe('1 of 1 path');
  });

  it.each([
    ['wait 250 ms', 'waits 250ms', true],
    ['wait 250ms', 'waits 250 ms', true],
    ['at most 1,000 ms', 'at most 1000 ms', true],
    ['at most 1000 ms', 'at most 1,000ms', true],
    ['at most 1000 ms', 'at most 1,0001 ms or 21,000 ms', false],
  ])('a number is kept in either way of writing: %j in %j', (prompt, summary, isKept) => {
    expect(receiptIn([{ prompt }, { compacted: summary }]).items).toMatchObject([{ isKept }]);
  });

  it('does not take the name of one file for another with the same name', () => {
    const edits = [{ edits: '/proj/a/index.ts' }, { edits: '/proj/b/index.ts' }] as const;
    expect(keptIn([...edits, { compacted: 'in index.ts' }])).toBe('0 of 2 paths');
  });

  it('leaves out edits that failed, and plan items that are done', () => {
    const drafts: readonly Draft[] = [
      { edits: '/proj/a.ts', fails: true },
      { plans: [{ text: 'do it now', status: 'done' }] },
      { prompt: 'hello' },
      { compacted: '' },
    ];
    expect(keptIn(drafts)).toBeUndefined();
  });

  it.each([
    ['never  TOUCH the public api', true],
    ['The public API must never be touched by us: never touch public API', true],
    ['the API is public', false],
  ])('a demand is kept word for word or in a line with most of its words: %s', (summary, isKept) => {
    const receipt = receiptIn([{ prompt: 'Never touch the public API.' }, { compacted: summary }]);
    expect(receipt.items).toMatchObject([
      { kind: 'constraint', text: 'Never touch the public API.', isKept },
    ]);
  });

  it.each([
    ['Never push directly to the main branch.', 'Push directly to the main branch', false],
    ['Never push directly to the main branch.', "Don't ever push directly to the main branch", true],
    ['Always run every test of suite s12 first.', 'Always run every test of suite s21 first', false],
    ['Never push to main.', '- Do not push to the main branch', true],
    ['Never push to main.', 'The main push was done, not finished', false],
    ['You must not edit generated files.', 'must edit generated files', false],
  ])(
    'a line with other names, or that allows what was forbidden, does not keep "%s": %s',
    (demand, summary, isKept) => {
      const receipt = receiptIn([{ prompt: demand }, { compacted: summary }]);
      expect(receipt.items).toMatchObject([{ kind: 'constraint', isKept }]);
    },
  );

  it('is none where the file begins with the compaction and has of what was before only what stayed', () => {
    const base = { tokens: 1 } as const;
    const stayed: Entry = { ...base, kind: 'answer', text: 'heard 2 of you', source: { line: 9 } };
    const compaction = compactionsOf(buildConversation(stepsOf([{ compacted: '' }])))[0];
    if (!compaction) throw new Error('no compaction');
    const later = { ...compaction, source: { line: 7 } };
    const summary: Entry = { ...base, kind: 'summary', text: 'a summary', source: { line: 8 } };
    const conversation = { ...buildConversation([]), entries: [stayed, later, summary] };
    expect(receiptOf(conversation, later)).toBeUndefined();
    const whole = { ...conversation, entries: [{ ...stayed, source: { line: 5 } }, later, summary] };
    expect(receiptOf(whole, later)?.items).toEqual([]);
  });

  it('claims no loss when the summary cannot be read', () => {
    const drafts: readonly Draft[] = [{ edits: '/proj/a.ts' }, { compacted: '', isEncrypted: true }];
    const receipt = receiptIn(drafts);
    expect(receipt).toMatchObject({ isUnreadable: true, items: [{ isKept: false }] });
    expect([keptCounts(receipt), lostItems(receipt)]).toEqual([[], []]);
  });

  it('says of an encrypted summary what was in the window before, and what is nowhere else now', () => {
    const receipt = receiptIn([
      { prompt: 'Never touch the public API.' },
      { edits: '/proj/a.ts' },
      { edits: '/proj/b.ts' },
      { runs: 'npm test' },
      { compacted: '', isEncrypted: true, keeps: 1 },
    ]);
    expect(beforeText(receipt)).toBe('in the window before: 2 paths, 1 command, 1 rule');
    expect(beforeText(receipt, 1)).toBe('in the window before: 2 paths');
    expect(receiptText(receipt)).toBe(`unknown, summary encrypted · ${beforeText(receipt) ?? ''}`);
    expect(beforeCounts(receipt)).toContainEqual({ kind: 'path', count: 2 });
    expect(unknownItems(receipt).map(({ text }) => text)).toEqual([
      'a.ts',
      'b.ts',
      'Never touch the public API.',
    ]);
  });

  it('knows of nothing unknown where the summary can be read', () => {
    const receipt = receiptIn([{ edits: '/proj/a.ts' }, { compacted: 'nothing' }]);
    expect([unknownItems(receipt), receiptText(receipt)]).toEqual([[], '0 of 1 path']);
  });

  it('counts every command that ran, and lists those that matter', () => {
    const receipt = receiptIn([{ runs: 'ls' }, { runs: 'npm test' }, { runs: 'ls' }, { compacted: 'x' }]);
    expect(receipt.commandsRun).toBe(2);
    expect(receipt.items.map(({ text }) => text)).toEqual(['npm test']);
  });

  it('is one line of safe text an item, whatever the session holds', () => {
    const receipt = receiptIn([
      { runs: './test.sh "\x1b]0;title\x07"\r\n' },
      { prompt: `You must keep \u202e this. ${'a'.repeat(100_000)} must stay` },
      { compacted: '' },
    ]);
    expect(receipt.items.map(({ text }) => text)).toEqual(['./test.sh " ]0;title "', 'You must keep this.']);
  });

  it('counts exactly the planted facts that the summary names', () => {
    const facts = fc.uniqueArray(fc.integer({ min: 10_000, max: 99_999 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(facts, fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }), (numbers, chosen) => {
        const named = numbers.filter((_, index) => chosen[index]);
        const files = numbers.map((number): Draft => ({ edits: `/proj/src/file-${number}.ts` }));
        const commands = numbers.map((number): Draft => ({ runs: `./test-${number}.sh` }));
        const summary = named.map((number) => `- src/file-${number}.ts by ./test-${number}.sh`).join('\n');
        const receipt = receiptIn([...files, ...commands, { compacted: summary }]);
        expect(keptCounts(receipt)).toEqual([
          { kind: 'path', kept: named.length, of: numbers.length },
          { kind: 'command', kept: named.length, of: numbers.length },
        ]);
      }),
      runs(60),
    );
  });
});

describe('the evidence in a window', () => {
  it('takes sentences of demand from the messages of the user, without the marks of lists', () => {
    const conversation = buildConversation(
      stepsOf([
        { prompt: '- Always run the tests\n- be nice\n2) Do not use `any`. It is fine to ask.' },
        { answer: 'I must never say that.' },
      ]),
    );
    const found = evidenceIn(windowOf(conversation), '/proj').filter(({ kind }) => kind === 'constraint');
    expect(found.map(({ text }) => text)).toEqual(['Always run the tests', 'Do not use `any`.']);
  });

  it('takes names, ids, versions and numbers from them, each once', () => {
    const text =
      'Set maxRetries to 250 ms in http_client, as in `a b`, 4f0c2d9a and v1.24.3; maxRetries again, 12 of them.';
    const conversation = buildConversation(stepsOf([{ prompt: text }]));
    expect(evidenceIn(windowOf(conversation), undefined).map((each) => each.text)).toEqual([
      'a b',
      'maxRetries',
      'http_client',
      '4f0c2d9a',
      'v1.24.3',
      '250 ms',
    ]);
  });
});

describe('the counts in the audit log', () => {
  const origin = { session: '4711-a', version: '1', runtime: 'claude', conversation: 'c\u001b1' };
  const counts = [
    { kind: 'path', kept: 3, of: 41 },
    { kind: 'command', kept: 0, of: 12 },
  ] as const;

  it('are read as they were written', () => {
    const line = receiptLine({ at: 5, counts }, origin);
    expect(line).toMatch(/^[\x20-\x7e]+\n$/);
    expect(parseReceiptLine(line)).toEqual({ at: 5, session: '4711-a', counts });
  });

  it.each([
    ['half a line', '{"schema":"ctxwrap.receipt-counts/1","at":5'],
    ['another record', '{"schema":"ctxwrap.attempt/1","at":5,"session":"a"}'],
    ['no time', '{"schema":"ctxwrap.receipt-counts/1","session":"a"}'],
  ])('are none in %s', (_, line) => expect(parseReceiptLine(line)).toBeUndefined());

  it('are without what cannot be', () => {
    const odd = [
      { kind: 'path', kept: 9, of: 3 },
      { kind: 'x', kept: 1, of: 2 },
      null,
      { kind: 'plan', of: 0 },
    ];
    const line = JSON.stringify({ schema: 'ctxwrap.receipt-counts/1', at: 5, session: 'a', counts: odd });
    expect(parseReceiptLine(line)?.counts).toEqual([]);
  });
});
