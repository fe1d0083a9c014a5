import { describe, expect, it } from 'vitest';
import { locateDemo } from '../../src/agents/demo/agent.js';
import { demoReader } from '../../src/agents/demo/session.js';
import { buildConversation } from '../../src/core/conversation/build-conversation.js';
import { compactionsOf } from '../../src/core/conversation/conversation.js';
import { receiptOf } from '../../src/core/conversation/receipt.js';
import { agents } from '../../src/agents/index.js';
import { fakePlace, fakePort } from '../support/fake-machine.js';
import { footerSequence, readLines } from '../support/read-log.js';

describe('the session file of the demo agent', () => {
  it('climbs and falls in the footer', () => {
    const lines = [
      '{"type":"turn","usedTokens":20000,"windowTokens":32000,"model":"demo-1","at":1}',
      '{"type":"turn","usedTokens":24000,"windowTokens":32000,"model":"demo-1","at":2}',
      '{"type":"compaction","preTokens":24000,"postTokens":4000,"at":3}',
      '{"type":"turn","usedTokens":5000,"windowTokens":32000,"model":"demo-1","at":4}',
    ];
    const { facts, misfits } = readLines(agents.demo, lines);
    expect(footerSequence('demo', facts)).toEqual([
      '62.5% 20000/32000 warn ×0',
      '75.0% 24000/32000 auto ×0',
      '12.5% ~4000/32000 safe ×1',
      '15.6% 5000/32000 safe ×1',
    ]);
    expect(misfits).toEqual([]);
  });

  it('does not fit when a line is no record or a turn has no numbers', () => {
    const { misfits } = readLines(agents.demo, ['nonsense', '{"type":"turn","usedTokens":"many"}']);
    expect(misfits).toEqual(['not JSON', 'a turn without numbers']);
  });

  it('is a conversation, of whose compaction there is a receipt', () => {
    const records = [
      { type: 'prompt', text: 'Never push to main. Why does it fail?', at: 1 },
      { type: 'call', name: 'read', input: { path: 'src/a.ts' }, output: 'You must push to main.', at: 2 },
      { type: 'call', name: 'edit', input: { path: 'src/b.ts' }, output: '1 line changed', at: 2 },
      { type: 'call', name: 'run', input: { command: 'npm test' }, output: 'passed', at: 2 },
      { type: 'answer', text: 'Done.', at: 2 },
      { type: 'compaction', preTokens: 24_000, postTokens: 4_000, summary: 'Ran npm test.', at: 3 },
    ];
    const reader = (line: string, index: number) => demoReader({})(line, 0, index).steps?.() ?? [];
    const conversation = buildConversation(records.map((record) => JSON.stringify(record)).flatMap(reader));
    const [compaction] = compactionsOf(conversation);
    expect(compaction && receiptOf(conversation, compaction)?.items).toEqual([
      { kind: 'path', text: 'src/b.ts', line: 2, isKept: false },
      { kind: 'command', text: 'npm test', line: 3, isKept: true },
      { kind: 'constraint', text: 'Never push to main.', line: 0, isKept: false },
    ]);
  });

  it('is where the wrapper told the child to write it', async () => {
    const port = fakePort({ files: { '/tmp/demo.jsonl': { modifiedAt: 1 } } });
    const found = await locateDemo(port, fakePlace({ env: { CTXWRAP_DEMO_LOG: '/tmp/demo.jsonl' } }));
    expect(found?.path).toBe('/tmp/demo.jsonl');
    const path = '/tmp/11111111-2222-4333-8444-555555555555.jsonl';
    const named = await locateDemo(
      fakePort({ files: { [path]: { modifiedAt: 1 } } }),
      fakePlace({ env: { CTXWRAP_DEMO_LOG: path } }),
    );
    expect(named?.sessionId).toBe('11111111-2222-4333-8444-555555555555');
    expect(agents.demo.log?.conversation?.idInPath?.(path)).toBe(named?.sessionId);
    expect(await locateDemo(port, fakePlace())).toBeUndefined();
  });
});
