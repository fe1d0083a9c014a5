// What is run after an agent that has ended to be started again.
import { describe, expect, it } from 'vitest';
import { agents } from '../../src/agents/index.js';
import { defaultValues } from '../../src/core/config/keys.js';
import { nullLog } from '../../src/storage/log-file.js';
import { sessionAfter } from '../../src/cli/session.js';
import type { WrapSession, RestartPlan } from '../../src/session/options.js';

const first: WrapSession = {
  values: { ...defaultValues, mode: 'auto' },
  isModeGiven: true,
  agent: agents.codex,
  file: '/usr/bin/codex',
  args: ['-m', 'gpt-5', 'resume', 'an-id', 'a prompt'],
  env: {},
  cwd: '/proj',
  startingDraft: 'a draft',
  notices: ['welcome'],
  recording: undefined,
  log: nullLog,
};
const restart: RestartPlan = {
  session: { id: 'the-new', path: '/x' },
  before: { id: 'the-old', path: '/y' },
  preTokens: 100_000,
  postTokens: 20_000,
  shortening: { strategy: 'truncate', isManual: true },
  writtenAt: 5,
  mode: 'ask',
  limit: { value: 300_000, unit: 'tokens' },
  times: [1, 5],
};
const status = { kind: 'code', code: 0 } as const;

describe('after the end of an agent', () => {
  it('nothing follows, unless it has ended for that', () => {
    expect(sessionAfter({ first, session: first, end: { status } })).toBeUndefined();
  });

  it('follows the same agent with the new session, in the mode and with the limit that the user has chosen meanwhile', () => {
    const next = sessionAfter({ first, session: first, end: { status, restart } });
    expect(next).toMatchObject({
      args: ['-m', 'gpt-5', 'resume', 'the-new'],
      restarted: restart,
      shortenedAt: [1, 5],
      values: { mode: 'ask' },
      limit: { value: 300_000, unit: 'tokens' },
    });
    expect(next).not.toHaveProperty('startingDraft');
    expect(next).not.toHaveProperty('notices');
  });

  it('follows the same agent with the old session where it has not taken the new one, and the footer says so', () => {
    const session = { ...first, restarted: restart };
    const next = sessionAfter({ first, session, end: { status, hasLostRestart: true } });
    expect(next).toMatchObject({
      args: ['-m', 'gpt-5', 'resume', 'the-old'],
      notices: ['the agent did not continue with the shorter conversation, so it has the whole one again'],
      shortenedAt: [1, 5],
    });
    expect(next).not.toHaveProperty('restarted');
    expect(next).not.toHaveProperty('unstarted'); // the run that has ended has recorded it
  });

  it('follows the same where it could not be started again, and records that', () => {
    const session = { ...first, restarted: restart };
    const next = sessionAfter({ first, session, end: { status, hasLostRestart: true, isUnstarted: true } });
    expect(next).toMatchObject({ args: ['-m', 'gpt-5', 'resume', 'the-old'], unstarted: restart });
  });
});
