// When a user who looks elsewhere is called, through the whole flow of a session.
import { describe, expect, it } from 'vitest';
import type { CompactSettings } from '../../src/core/compaction/state.js';
import { notificationRecord } from '../../src/core/report/records.js';
import { notificationKinds } from '../../src/core/config/notification-kinds.js';
import type { NotificationKind } from '../../src/core/config/notification-kinds.js';
import type { SessionFlow } from '../../src/core/session-flow.js';
import { AUTO_TOKENS, failOnce, HARD_TOKENS, NOON, playCompaction } from '../support/compaction-play.js';

const playCalls = (
  wish: Partial<CompactSettings> = {},
  notify: readonly NotificationKind[] = notificationKinds,
) => {
  const calls: { readonly at: number; readonly kind: string; readonly text: string }[] = [];
  let flow: SessionFlow | undefined;
  const play = playCompaction(wish, { notify }, ({ after, now }) => {
    flow = after;
    for (const each of after.notifying.due) calls.push({ at: now - NOON, ...each });
  });
  return { ...play, calls, kinds: () => calls.map(({ kind }) => kind), flow: () => flow };
};

describe('a full window', () => {
  it('calls at auto and at hard, each once until the window is emptier', () => {
    const play = playCalls({ mode: 'warn' });
    play.turn(100_000);
    expect(play.calls).toEqual([]);
    for (const used of [AUTO_TOKENS, AUTO_TOKENS + 1_000, HARD_TOKENS, AUTO_TOKENS, HARD_TOKENS])
      play.turn(used);
    expect(play.calls.map(({ kind, text }) => [kind, text])).toEqual([
      ['auto', '83% of the window used: auto'],
      ['hard', '90% of the window used: hard'],
    ]);
    play.boundary();
    play.turn(12_000);
    play.turn(HARD_TOKENS);
    expect(play.kinds()).toEqual(['auto', 'hard', 'hard']);
    play.turn(AUTO_TOKENS);
    expect(play.kinds()).toEqual(['auto', 'hard', 'hard']); // who was told of hard knows
  });

  it('calls at hard who wants to hear of auto only, if it was not told before', () => {
    const play = playCalls({ mode: 'warn' }, ['auto']);
    play.turn(HARD_TOKENS);
    play.turn(AUTO_TOKENS);
    expect(play.kinds()).toEqual(['auto']);
  });

  it('calls nobody for a number that is an estimate', () => {
    const play = playCalls({ mode: 'warn' });
    play.tell({
      type: 'reading',
      reading: {
        usedTokens: HARD_TOKENS,
        windowTokens: 200_000,
        windowSource: 'table',
        source: 'estimate',
        at: 1,
      },
    });
    expect(play.calls).toEqual([]);
    play.turn(AUTO_TOKENS);
    play.tell({ type: 'growth', tokens: 40_000 });
    expect(play.flow()?.session.fused?.tier).toBe('hard');
    expect(play.kinds()).toEqual(['auto']);
  });
});

describe('a compaction that fails', () => {
  it('calls once in an episode, in words', () => {
    const play = playCalls({}, ['failure']);
    play.is('ready');
    play.turn(AUTO_TOKENS);
    play.wait(11_500);
    failOnce(play);
    expect(play.calls).toMatchObject([
      { kind: 'failure', text: 'compaction failed after 1.0 s: API Error: 500' },
    ]);
    play.turn(AUTO_TOKENS + 500);
    play.wait(90_000);
    failOnce(play);
    expect(play.outcomes()).toHaveLength(2);
    expect(play.calls).toHaveLength(1);
  });

  it('calls nobody when the user has asked the agent, or when nothing had to be done', () => {
    const play = playCalls();
    play.turn(100_000);
    play.is('compacting');
    play.failed();
    play.is('ready');
    play.is('compacting');
    play.result({ kind: 'noop', text: 'nothing' });
    expect(play.kinds()).not.toContain('failure');
  });

  it('is told in one line without control characters', () => {
    const play = playCalls({}, ['failure']);
    play.is('ready');
    play.turn(AUTO_TOKENS);
    play.wait(11_500);
    play.sent();
    play.is('compacting');
    play.failed(`bad\u001b]0;x\u0007\r\nnews ${'x'.repeat(500)}`);
    expect(play.calls[0]?.text).toMatch(/^compaction failed after 0.0 s: bad ]0;x news x+$/);
    expect(play.calls[0]?.text.length).toBeLessThanOrEqual(200);
  });
});

describe('a dialog', () => {
  it('calls after two seconds when nobody has typed for five, once', () => {
    const play = playCalls();
    play.keys();
    play.wait(1_000);
    play.is('dialog');
    play.wait(3_900);
    expect(play.calls).toEqual([]);
    play.wait(100);
    expect(play.calls).toEqual([
      { at: 5_000, kind: 'permission', text: 'waits for your answer in a dialog' },
    ]);
    play.wait(600_000);
    expect(play.calls).toHaveLength(1);
  });

  it('calls with what is asked where that is told', () => {
    const play = playCalls();
    play.is('dialog', 'approve Bash: touch\u0007\nzz.txt');
    play.wait(2_000);
    expect(play.calls.map(({ text }) => text)).toEqual(['waits for your answer: approve Bash: touch zz.txt']);
  });

  it('calls after two seconds where no key was ever pressed', () => {
    const play = playCalls();
    play.is('dialog');
    play.wait(1_999);
    expect(play.calls).toEqual([]);
    play.wait(1);
    expect(play.kinds()).toEqual(['permission']);
  });

  it('waits again after each key', () => {
    const play = playCalls();
    play.is('dialog');
    for (let each = 0; each < 10; each += 1) {
      play.keys();
      play.wait(4_999);
    }
    expect(play.calls).toEqual([]);
    play.wait(1);
    expect(play.kinds()).toEqual(['permission']);
  });

  it('that answers itself calls nobody', () => {
    const play = playCalls();
    play.is('dialog');
    play.wait(1_500);
    play.is('busy');
    play.wait(60_000);
    expect(play.calls).toEqual([]);
  });

  it('is another one after work, but not where the screen was not understood for a moment', () => {
    const play = playCalls();
    play.is('dialog');
    play.wait(3_000);
    play.is('unknown');
    play.is('dialog');
    play.wait(30_000);
    expect(play.calls).toHaveLength(1);
    play.is('busy');
    play.is('dialog');
    play.wait(30_000);
    expect(play.calls).toHaveLength(2);
  });
});

it.each(notificationKinds)('only what was asked for is told: %s', (kind) => {
  const play = playCalls({}, [kind]);
  play.is('ready');
  play.turn(HARD_TOKENS);
  play.wait(11_500);
  failOnce(play);
  for (const _ of [1, 2, 3]) play.boundary();
  play.is('dialog');
  play.wait(60_000);
  expect(play.kinds()).toEqual([kind]);
});

it('nobody is called unless they asked for it', () => {
  const play = playCalls({}, []);
  play.turn(HARD_TOKENS);
  play.is('dialog');
  play.wait(60_000);
  expect(play.calls).toEqual([]);
});

it('a notification says where it comes from and how full the window is', () => {
  const play = playCalls({ mode: 'warn' });
  play.tell({ type: 'session-changed', sessionId: 's1' });
  play.turn(AUTO_TOKENS);
  const { session, notifying } = play.flow() ?? {};
  const due = { kind: 'auto', text: 'full' } as const;
  expect(notifying?.sent).toEqual(['auto']);
  expect(session && notificationRecord(due, session, { session: '7-a', cwd: '/p' }, NOON)).toEqual({
    schema: 'ctxwrap.notification/1',
    at: NOON,
    kind: 'auto',
    text: 'full',
    runtime: 'claude',
    session: '7-a',
    agentSessionId: 's1',
    cwd: '/p',
    activity: 'ready',
    reading: expect.objectContaining({ schema: 'ctxwrap.reading/1', usedTokens: AUTO_TOKENS, tier: 'auto' }),
  });
});
