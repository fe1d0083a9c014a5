import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { auditedAttempts, auditLine } from '../../../src/core/compaction/protocol.js';
import type { AuditContext } from '../../../src/core/compaction/protocol.js';
import { successfulEnd } from '../../support/ended.js';

const ended = successfulEnd();
const context: AuditContext = {
  session: '4711-abc',
  version: '0.1.0',
  runtime: 'claude',
  conversation: 's1',
  request: '9-f00',
  reading: {
    schema: 'ctxwrap.reading/1',
    at: 900,
    runtime: 'claude',
    source: 'log',
    basis: 'window',
    usedTokens: 166_000,
    exact: true,
  },
  gate: { activity: 'ready', witnesses: ['status idle', 'the prompt is empty'] },
  strokes: [
    { at: 1_001, keys: '/compact' },
    { at: 1_121, keys: '\r' },
  ],
};

describe('a line of the audit log', () => {
  it('tells what was known, what was typed, and what came of it', () => {
    expect(JSON.parse(auditLine(ended, context))).toEqual({
      schema: 'ctxwrap.attempt/1',
      session: '4711-abc',
      version: '0.1.0',
      runtime: 'claude',
      conversation: 's1',
      request: '9-f00',
      initiator: 'ctxwrap',
      strategy: 'auto',
      isManual: false,
      outcome: 'verified',
      words: 'compacted 166k → 12k',
      before: { usedTokens: 166_000 },
      after: { usedTokens: 12_000 },
      startedAt: 1_000,
      endedAt: 15_000,
      evidence: ['typed /compact', 'its record of the compaction'],
      reading: context.reading,
      gate: context.gate,
      strokes: [
        { at: 1_001, keys: '/compact' },
        { at: 1_121, keys: String.raw`\r` },
      ],
    });
  });

  it('names the strategy that shortened the conversation, and none for the agent’s own compaction', () => {
    const of = (more: object): unknown =>
      (JSON.parse(auditLine({ ...ended, ...more }, context)) as Record<string, unknown>)['strategy'];
    expect(of({ strategy: 'truncate' })).toBe('truncate');
    expect(of({ initiator: 'agent' })).toBeUndefined();
  });

  it('of an attempt that worked late says so, and is read in place of the line before it', () => {
    const failed = { ...ended, outcome: { kind: 'no-evidence', reason: 'no answer' } } as const;
    const lines = [failed, { ...ended, startedAt: 7 }, { ...ended, isLate: true as const }].map((each) =>
      auditLine(each, context),
    );
    const read = auditedAttempts([...lines, auditLine(failed, { ...context, session: 'another' })]);
    expect(read.map(({ session, attempt }) => [session, attempt.startedAt, attempt.outcome])).toEqual([
      ['4711-abc', 7, 'verified'],
      ['4711-abc', 1_000, 'verified'],
      ['another', 1_000, 'no-evidence'],
    ]);
    expect(JSON.parse(lines[2] ?? '')).toMatchObject({ isLate: true });
  });

  it('is one line without control characters and of bounded length, whatever came in', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 2_000 }),
      fc.constant('\u001b]0;x\u0007\n\u009b'),
    );
    fc.assert(
      fc.property(text, fc.array(text, { maxLength: 200 }), (name, lines) => {
        const line = auditLine(
          { ...ended, outcome: { kind: 'failed', failure: 'error', text: name }, evidence: lines },
          {
            session: name,
            version: name,
            runtime: name,
            conversation: name,
            gate: { activity: 'ready', witnesses: lines },
            strokes: lines.map((keys) => ({ at: 1, keys })),
          },
        );
        expect(line.endsWith('}\n')).toBe(true);
        expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        expect(JSON.parse(line).schema).toBe('ctxwrap.attempt/1');
        for (const { keys } of JSON.parse(line).strokes) expect(keys).not.toMatch(/\p{Cc}/u);
        expect(line.length).toBeLessThan(150_000);
      }),
    );
  });
});
