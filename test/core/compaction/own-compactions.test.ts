import { describe, expect, it } from 'vitest';
import { auditLine, switchLine } from '../../../src/core/compaction/protocol.js';
import type { EndedCompaction } from '../../../src/core/compaction/outcome.js';
import {
  parseOwnAttempt,
  markOwnCompactions,
  type SessionFileId,
} from '../../../src/core/compaction/own-compactions.js';

const conversation = '60f4dd20-5ca6-4622-ac05-e88aa42d09a4';
const path = `/home/me/.claude/projects/-p/${conversation}.jsonl`;
const [STARTED_AT, ENDED_AT] = [100_000, 103_000];

/** An attempt as it stands in the audit log. */
const logged = (
  more: Partial<EndedCompaction> = {},
  where: { readonly conversation?: string } = { conversation },
) => {
  const ended: EndedCompaction = {
    initiator: 'ctxwrap',
    startedAt: STARTED_AT,
    endedAt: ENDED_AT,
    outcome: { kind: 'verified' },
    evidence: [],
    ...more,
  };
  return parseOwnAttempt(auditLine(ended, { session: 'one', version: '1', runtime: 'claude', ...where }));
};

const initiatorOf = (
  attempt: ReturnType<typeof parseOwnAttempt>,
  {
    at = 102_000,
    initiator = 'user' as 'user' | 'agent' | undefined,
    file = { runtime: 'claude', path } as SessionFileId,
  } = {},
) => {
  const found = { at, ...(initiator ? { initiator } : {}) };
  const noneIsWritten = (): never => {
    throw new Error('ctxwrap has written no session');
  };
  return markOwnCompactions([found], attempt ? [attempt] : [], file, noneIsWritten)[0]?.initiator;
};

describe('a compaction of a session file', () => {
  it.each([
    [STARTED_AT - 2_001, 'user'],
    [STARTED_AT - 2_000, 'ctxwrap'], // an agent may note the time a little before or after
    [ENDED_AT + 2_000, 'ctxwrap'],
    [ENDED_AT + 2_001, 'user'],
  ])('at %i is by the %s', (at, initiator) => {
    expect(initiatorOf(logged(), { at })).toBe(initiator);
  });

  it('is not ours where the agent calls it its own', () => {
    expect(initiatorOf(logged(), { initiator: 'agent' })).toBe('agent');
  });

  it.each(['skipped-busy', 'not-delivered', 'not-started'] as const)('is not ours after %s', (kind) => {
    const outcome = kind === 'not-started' ? { kind } : { kind, reason: 'a key' };
    expect(initiatorOf(logged({ outcome } as Partial<EndedCompaction>))).toBe('user');
  });

  it.each([
    ['a folder has the id', { runtime: 'claude', path: `/sessions/${conversation}/events.jsonl` }],
    ['a database holds it', { runtime: 'claude', path: '/sessions.db', sessionId: conversation }],
  ])('is ours where %s', (_, file) => {
    expect(initiatorOf(logged(), { file })).toBe('ctxwrap');
  });

  it.each([
    ['of another agent', { runtime: 'qwen', path }],
    ['of another conversation', { runtime: 'claude', path: '/p/another.jsonl' }],
    ['with others', { runtime: 'claude', path: '/sessions.db', sessionId: 'another' }],
  ])('is not ours in a file %s', (_, file) => {
    expect(initiatorOf(logged(), { file })).toBe('user');
  });

  it('is not ours where our attempt knew no conversation, nor by a line that is none', () => {
    expect(initiatorOf(logged({}, {}))).toBe('user');
    expect(parseOwnAttempt('not JSON')).toBeUndefined();
    expect(parseOwnAttempt('{"schema":"ctxwrap.late-stroke/1","session":"one"}')).toBeUndefined();
  });
});

it('names ctxwrap for the record in a session that it has written and the agent has taken', () => {
  const about = { session: 'one', version: '1', runtime: 'claude' };
  const taken = (outcome: string) =>
    parseOwnAttempt(switchLine({ name: conversation, outcome }, about, ENDED_AT));
  expect(initiatorOf(taken('switched'))).toBe('ctxwrap');
  expect(initiatorOf(taken('refused'))).toBe('user');
  expect(initiatorOf(taken('switched'), { at: ENDED_AT + 60_000 })).toBe('user');
});
