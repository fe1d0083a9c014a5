// How often is tried, and when it is tried again.
import { describe, expect, it } from 'vitest';
import { pauseOf } from '../../../src/core/compaction/policy.js';
import { inSession } from '../../support/sessions.js';
import {
  AUTO_TOKENS,
  failOnce,
  HARD_TOKENS,
  NOON,
  playBegun,
  playFull,
  playTyping,
} from '../../support/compaction-play.js';
import type { Play } from '../../support/compaction-play.js';

const MINUTE = 60_000;

/** Three attempts that fail, each with a turn of the agent behind it. */
const failThrice = (count = AUTO_TOKENS): Play => {
  const play = playTyping({}, count);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    failOnce(play);
    play.turn(count + attempt);
    if (attempt < 3) play.wait(MINUTE + 11_500);
  }
  return play;
};

describe('after an attempt that failed', () => {
  it('the next one comes after 60 s and a countdown', () => {
    const play = playTyping();
    failOnce(play);
    const failedAt = play.at();
    play.turn();
    play.wait(10 * MINUTE);
    expect(play.typings()[1]?.at).toBe(failedAt + MINUTE + 10_000);
  });

  it('there is no next one without a turn of the agent', () => {
    const play = playTyping();
    failOnce(play);
    play.wait(24 * 60 * MINUTE);
    expect(play.typings()).toHaveLength(1);
    expect(play.phase()).toEqual({ kind: 'blocked', block: { why: 'same' } });
  });

  it('what the agent writes down of the attempt itself is no turn', () => {
    const play = playBegun();
    play.failed();
    play.is('busy'); // a hook that runs after it
    play.wait(100);
    play.is('ready');
    play.tell({ type: 'growth', tokens: 40 }); // its error text in the session file
    play.used(AUTO_TOKENS);
    play.wait(60 * MINUTE);
    expect(play.typings()).toHaveLength(1);
  });

  it('a turn too short to be seen shows in the number', () => {
    const play = playTyping();
    failOnce(play);
    play.used(AUTO_TOKENS + 200);
    play.wait(2 * MINUTE);
    expect(play.typings()).toHaveLength(2);
  });

  it('a turn that a dialog interrupts is one, too', () => {
    const play = playTyping();
    play.is('dialog');
    play.typed({ kind: 'withdrawn', reason: 'a dialog came up', evidence: [] });
    play.is('busy');
    play.wait(1_000);
    play.is('ready');
    play.wait(2 * MINUTE);
    expect(play.typings()).toHaveLength(2);
  });

  it.each([
    ['nothing to do', { kind: 'noop', text: 'Not enough messages to compact.' }],
    ['an interruption', { kind: 'interrupted', by: 'the user' }],
  ] as const)('%s is an attempt, but no failure', (_, result) => {
    const play = playBegun();
    play.result(result);
    expect(play.state().policy).toMatchObject({ attempts: 1, failures: 0 });
  });
});

describe('what the agent calls too long to be compacted', () => {
  const refuse = (): Play => {
    const play = playTyping({}, 195_000);
    failOnce(play, "Codex ran out of room in the model's context window.");
    play.used(200_000); // Codex records a full window then
    return play;
  };

  it('is not tried again, also where the number says now that the window is full', () => {
    const play = refuse();
    play.wait(60 * MINUTE);
    expect(play.typings()).toHaveLength(1);
    expect(play.phase()).toEqual({ kind: 'blocked', block: { why: 'same' } });
  });

  it('is tried again after a turn, or when it has become shorter', () => {
    const [later, shorter] = [refuse(), refuse()];
    later.turn(200_000);
    shorter.used(170_000);
    for (const play of [later, shorter]) {
      play.wait(2 * MINUTE);
      expect(play.typings()).toHaveLength(2);
    }
  });
});

describe('at hard', () => {
  it('the pause is not waited for', () => {
    const play = playTyping({}, HARD_TOKENS);
    failOnce(play);
    play.turn();
    play.wait(11_500);
    expect(play.typings()).toHaveLength(2);
  });

  it('neither an open breaker nor three attempts at auto hinder it, but three of its own are the end', () => {
    const play = failThrice();
    play.used(HARD_TOKENS);
    for (let more = 0; more < 10; more += 1) {
      play.wait(11_500);
      if (play.phase().kind === 'typing') failOnce(play);
      play.turn();
    }
    expect(play.typings()).toHaveLength(6);
    expect(play.phase()).toEqual({ kind: 'blocked', block: { why: 'attempts', attempts: 6 } });
    play.wait(60 * MINUTE);
    expect(play.typings()).toHaveLength(6);
  });

  it('there is no attempt without a turn of the agent, either', () => {
    const play = playTyping({}, HARD_TOKENS);
    failOnce(play);
    play.wait(60 * MINUTE);
    expect(play.typings()).toHaveLength(1);
  });

  it('the gate is the same', () => {
    const play = playFull({}, HARD_TOKENS);
    play.wait(11_499);
    expect(play.typings()).toEqual([]);
  });
});

describe('the breaker', () => {
  it('opens after three failures, whatever they were', () => {
    const play = playTyping();
    play.typed({ kind: 'withdrawn', reason: 'the command did not arrive in the prompt', evidence: [] });
    play.turn();
    play.wait(MINUTE + 11_500);
    play.sent();
    play.wait(65_000);
    play.turn();
    play.wait(MINUTE + 11_500);
    play.sent();
    play.is('compacting');
    play.wait(120_000);
    expect(play.outcomes()).toEqual(['not-delivered', 'not-started', 'timeout']);
    play.is('ready');
    play.turn();
    expect(play.phase()).toMatchObject({ kind: 'blocked', block: { why: 'breaker', failures: 3 } });
  });

  it('counts as a pause while it is open, also in a window with room', () => {
    const play = failThrice();
    play.turn(100_000);
    expect(play.phase().kind).toBe('rest');
    const now = NOON + play.at();
    expect(pauseOf(play.state(), now)).toMatchObject({ why: 'breaker' });
    expect(pauseOf(play.state(), now + 300_000)).toBeUndefined();
  });

  it('is no pause at hard, where three more attempts are made', () => {
    const play = failThrice();
    const now = NOON + play.at();
    expect(pauseOf(play.state(), now, { isHard: true })).toBeUndefined();
    play.tell({ type: 'postpone' });
    expect(pauseOf(play.state(), now, { isHard: true })).toEqual({ why: 'postponed' });
  });

  it('lets one attempt through after five minutes, and shuts for as long when that is no success', () => {
    const play = failThrice();
    const { openedAt } = play.state().policy;
    const open = (openedAt ?? 0) - NOON;
    play.wait(open + 5 * MINUTE - play.at() + 9_999);
    expect(play.typings()).toHaveLength(3);
    play.wait(1);
    expect(play.typings()).toHaveLength(4);
    play.sent();
    play.is('compacting');
    play.result({ kind: 'interrupted', by: 'the user' });
    play.is('ready');
    play.turn();
    play.wait(5 * MINUTE - 4_001);
    expect(play.phase()).toMatchObject({ kind: 'blocked', block: { why: 'breaker' } });
    play.wait(1 + 10_000);
    expect(play.typings()).toHaveLength(5);
  });

  it.each(['user', 'agent'] as const)('closes when a compaction by the %s has worked', (initiator) => {
    const play = failThrice();
    play.is('compacting');
    play.boundary({ initiator });
    play.is('ready');
    expect(play.state().policy).toMatchObject({ attempts: 0, failures: 0 });
    for (let turns = 0; turns < 5; turns += 1) play.turn(30_000);
    play.turn(AUTO_TOKENS);
    play.wait(11_500);
    expect(play.typings()).toHaveLength(4);
  });

  it('closes when an attempt of ours has worked that was half open', () => {
    const play = failThrice();
    play.wait(5 * MINUTE + 11_500);
    play.sent();
    play.boundary();
    expect(play.state().policy).toMatchObject({ attempts: 0, failures: 0 });
    expect(play.state().policy.openedAt).toBeUndefined();
  });

  it('stays open for a compaction of which the agent only says that it worked', () => {
    const play = failThrice();
    play.is('compacting');
    play.boundary({ source: 'screen' });
    play.is('ready');
    play.wait(MINUTE);
    expect(play.state().policy.failures).toBe(3);
  });

  it('stays open in another conversation, for the agent is the same', () => {
    const play = failThrice();
    play.tell(inSession('one'), inSession('two'));
    play.turn(AUTO_TOKENS);
    expect(play.phase()).toMatchObject({ kind: 'blocked', block: { why: 'breaker' } });
  });

  it('counts what the user asks of us, and not what they type into the agent', () => {
    const own = playFull();
    own.is('compacting');
    own.boundary({ summary: 'empty' });
    expect(own.state().policy.failures).toBe(0);
    const asked = playFull({}, 30_000);
    asked.ask('one');
    asked.wait(1_500);
    failOnce(asked);
    expect(asked.state().policy.failures).toBe(1);
  });

  it('counts only failures that follow each other', () => {
    const play = playTyping();
    failOnce(play);
    play.turn();
    play.wait(MINUTE + 11_500);
    failOnce(play);
    play.boundary({ initiator: 'user' });
    play.turn(AUTO_TOKENS);
    play.wait(MINUTE + 11_500);
    failOnce(play);
    expect(play.state().policy).toMatchObject({ failures: 1 });
  });
});

describe('an attempt that ended before the first key', () => {
  const skip = (play: Play): void =>
    play.typed({ kind: 'skipped', reason: 'the agent is busy', evidence: [] });

  it('never counts, and the next moment at rest is used', () => {
    const play = playTyping();
    for (let times = 2; times <= 20; times += 1) {
      play.is('busy');
      skip(play);
      play.wait(3_000);
      play.is('ready');
      play.wait(11_500);
      expect(play.typings()).toHaveLength(times);
    }
    expect(play.state().policy).toMatchObject({ attempts: 0, failures: 0 });
    expect(play.state().policy.cooldownUntil).toBeUndefined();
  });

  it('is made again when the screen was only being drawn, but not for ever', () => {
    const play = playTyping();
    for (let times = 0; times < 20; times += 1) {
      if (play.phase().kind === 'typing') skip(play);
      play.wait(10_000);
    }
    expect(play.typings()).toHaveLength(3);
    play.keys();
    play.wait(13_000);
    expect(play.typings()).toHaveLength(4);
  });
});
