import { describe, expect, it } from 'vitest';
import { locateDemo } from '../../src/agents/demo/agent.js';
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

  it('is where the wrapper told the child to write it', async () => {
    const port = fakePort({ files: { '/tmp/demo.jsonl': { modifiedAt: 1 } } });
    const found = await locateDemo(port, fakePlace({ env: { CTXWRAP_DEMO_LOG: '/tmp/demo.jsonl' } }));
    expect(found?.path).toBe('/tmp/demo.jsonl');
    expect(await locateDemo(port, fakePlace())).toBeUndefined();
  });
});
