import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attemptRecord } from '../../../src/core/compaction/protocol.js';
import { successfulEnd } from '../../support/ended.js';
import type { EndedCompaction, Outcome } from '../../../src/core/compaction/outcome.js';
import {
  isExpired,
  parseAnswer,
  parseRequest,
  type RequestRecord,
} from '../../../src/core/compaction/requests.js';

const request = {
  schema: 'ctxwrap.request/1',
  session: '4711-abc',
  request: '9-f00',
  askedAt: 1_000,
  force: true,
  focus: 'keep the tests',
  pid: 12,
  processStart: '345',
};
const ended = (outcome: Outcome): EndedCompaction =>
  successfulEnd({ isManual: true, before: { usedTokens: 166_000, usedPercent: 83 }, outcome });
const outcomes: readonly Outcome[] = [
  { kind: 'verified', after: { usedTokens: 12_000 } },
  { kind: 'noop', text: 'nothing to do' },
  { kind: 'failed', failure: 'empty', text: 'the summary is empty' },
  { kind: 'interrupted', by: 'the user' },
  { kind: 'not-delivered', reason: 'the prompt shows something else' },
  { kind: 'not-started' },
  { kind: 'timeout', afterMs: 120_000 },
  { kind: 'unverified', text: 'compacted' },
  { kind: 'skipped-busy', reason: 'the agent is busy' },
];
const answer = (outcome: Outcome) => ({
  schema: 'ctxwrap.answer/1',
  session: '4711-abc',
  request: '9-f00',
  at: 16_000,
  state: 'ended',
  attempt: attemptRecord(ended(outcome)),
});

const parse = (text: string) => parseRequest(text) as RequestRecord<'compact'> | undefined;

describe('a request', () => {
  it('is read back as it was written', () => {
    expect(parseRequest(JSON.stringify(request))).toEqual(request);
  });

  it('never brings more into the prompt than a line of text', () => {
    const parsed = parse(JSON.stringify({ ...request, focus: 'x\r\u001b[A\n!ls' }));
    expect(parsed?.focus).toBe('x [A !ls');
  });

  it('is forced only by a plain yes', () => {
    for (const force of [undefined, 'true', 1, {}])
      expect(parse(JSON.stringify({ ...request, force }))?.force).toBe(false);
  });

  it.each([
    [1_000, false],
    [601_000, false],
    [601_001, true],
    [-599_001, true], // the clock was set back
  ])('asked at 1000 is expired at %d: %s', (now, is) => expect(isExpired(request, now)).toBe(is));

  it('with an id that could name another file is none', () => {
    for (const id of ['', '../x', 'a/b', 'a.b', 'x'.repeat(65), 7])
      for (const field of ['session', 'request'])
        expect(parseRequest(JSON.stringify({ ...request, [field]: id }))).toBeUndefined();
  });

  it('to give something back in a way that is not known is none, so that it never becomes a draft', () => {
    const { session, request: id, askedAt } = request;
    const given = { schema: 'ctxwrap.brief/1', session, request: id, askedAt };
    for (const into of ['draft', 'context'])
      expect(parseRequest(JSON.stringify({ ...given, into }))).toMatchObject({ into });
    expect(parseRequest(JSON.stringify(given))).toEqual(given);
    for (const into of ['prompt', '', 1, null])
      expect(parseRequest(JSON.stringify({ ...given, into }))).toBeUndefined();
  });

  it('is whole or nothing, whatever a file holds', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(request)), fc.jsonValue(), (name, value) => {
        const parsed = parse(JSON.stringify({ ...request, [name]: value }));
        if (!parsed) return;
        expect(parsed.session).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(typeof parsed.askedAt).toBe('number');
        expect(typeof parsed.force).toBe('boolean');
      }),
    );
  });
});

describe('an answer', () => {
  it.each(outcomes)('that it ended as $kind is read back as it was written', (outcome) => {
    expect(parseAnswer(JSON.stringify(answer(outcome)))).toEqual(answer(outcome));
  });

  it('says the outcome in the words of the footer', () => {
    expect(attemptRecord(ended(outcomes[0] as Outcome)).words).toBe('compacted 166k → 12k');
  });

  it('is bounded however much an agent had to say, and keeps the facts that decided', () => {
    const text = `\u001b[31m${'error '.repeat(10_000)}`;
    const evidence = Array.from({ length: 5_000 }, (_, index) => `${index} ${text}`);
    const record = attemptRecord({ ...ended({ kind: 'failed', failure: 'error', text }), evidence });
    expect(JSON.stringify(record).length).toBeLessThan(20_000);
    expect(JSON.stringify(record)).not.toContain('\\u001b');
    expect(record.evidence.at(-1)).toMatch(/^4999 /);
  });

  it('to give something back in a way that is not known is none, so that it never becomes a draft', () => {
    const { session, request: id, askedAt } = request;
    const given = { schema: 'ctxwrap.brief/1', session, request: id, askedAt };
    for (const into of ['draft', 'context'])
      expect(parseRequest(JSON.stringify({ ...given, into }))).toMatchObject({ into });
    expect(parseRequest(JSON.stringify(given))).toEqual(given);
    for (const into of ['prompt', '', 1, null])
      expect(parseRequest(JSON.stringify({ ...given, into }))).toBeUndefined();
  });

  it('is whole or nothing, whatever a file holds', () => {
    const whole = answer({ kind: 'verified' });
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(whole)), fc.jsonValue(), (name, value) => {
        const parsed = parseAnswer(JSON.stringify({ ...whole, [name]: value }));
        const endedAt = parsed?.state === 'ended' ? parsed.attempt.endedAt : 15_000;
        expect(endedAt).toBe(15_000);
        expect([undefined, 'waiting', 'refused', 'ended']).toContain(parsed?.state);
      }),
    );
  });
});
