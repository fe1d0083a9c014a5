// What the footer says of compacting: facts about what is and was, never what will be.
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/core/compaction/outcome.js';
import { startCompaction } from '../../../src/core/compaction/state.js';
import { compactionText } from '../../../src/core/compaction/texts.js';
import {
  failOnce,
  HARD_TOKENS,
  playBegun,
  playCompaction,
  playFull,
  playTyping,
  settings,
} from '../../support/compaction-play.js';
import type { Play } from '../../support/compaction-play.js';

describe('the words for what is now', () => {
  const cases: readonly { is: string; play: () => Play; words: string | undefined }[] = [
    { is: 'nothing', play: () => playCompaction(), words: undefined },
    { is: 'a window that is not full', play: () => playFull({}, 100_000), words: undefined },
    { is: 'the first moment at rest', play: () => playFull(), words: 'waiting: the agent has just stopped' },
    {
      is: 'the mode ask',
      play: () => playFull({ mode: 'ask' }),
      words: 'full · run ctxwrap compact',
    },
    { is: 'the mode warn', play: () => playFull({ mode: 'warn' }), words: undefined },
    { is: 'the typing', play: () => playTyping(), words: 'typing /compact' },
    { is: 'the compaction', play: () => playBegun(), words: 'compacting' },
  ];
  it.each(cases)('$is: $words', ({ play, words }) => {
    expect(play().words()).toBe(words);
  });

  it.each([
    ['busy', 'waiting: the agent is busy'],
    ['dialog', 'waiting: a dialog is open'],
    ['draft', 'waiting: unsent text in the prompt'],
    ['unknown', 'waiting: cannot read the screen'],
    ['compacting', 'the agent is compacting'],
    ['dead', undefined],
  ] as const)('the agent is %s: %s', (activity, words) => {
    const play = playFull();
    play.is(activity);
    expect(play.words()).toBe(words);
  });

  it('the agent is in a dialog and says what it asks: that, in one plain line', () => {
    const play = playFull();
    play.is('dialog', 'approve Bash: touch zz.txt');
    expect(play.words()).toBe('waiting: approve Bash: touch zz.txt');
    play.is('dialog', 'approve Bash: rm\u001b[2J\n-r\u202e old');
    expect(play.words()).toBe('waiting: approve Bash: rm [2J -r old');
    play.is('dialog');
    expect(play.words()).toBe('waiting: a dialog is open');
  });

  it('the countdown counts every second, and waits for a user who types', () => {
    const play = playFull();
    play.wait(1_500);
    const said: (string | undefined)[] = [];
    for (let second = 0; second < 10; second += 1) {
      said.push(play.words());
      play.wait(1_000);
    }
    const seconds = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1];
    expect(said).toEqual(seconds.map((left) => `compacting in ${left} s · Esc: not now`));
    const typing = playFull();
    typing.wait(5_000);
    typing.keys();
    expect(typing.words()).toBe('waiting: you just typed');
  });

  it('what was sent, queued, begun and said', () => {
    const play = playTyping();
    play.sent();
    expect(play.words()).toBe('command sent');
    play.is('compacting');
    expect(play.words()).toBe('compacting');
    play.boundary({ source: 'screen' });
    expect(play.words()).toBe('compacted, waiting for the new size');
    const queued = playFull({ mayQueue: true });
    queued.is('busy');
    queued.wait(11_500);
    queued.sent(true);
    expect(queued.words()).toBe('compacting after this turn');
  });

  it('a compaction of which nobody knows who asked for it, and what it says of itself', () => {
    const play = playCompaction();
    play.is('compacting');
    expect(play.words()).toBe('the agent is compacting');
    play.boundary({ source: 'screen' });
    expect(play.words()).toBe('compacted, waiting for the new size');
  });
});

describe('the words for what stands against it', () => {
  const afterNotice = (play: Play): string | undefined => {
    play.wait(30_000);
    return play.words();
  };

  it('the pause, with its seconds', () => {
    const play = playTyping();
    failOnce(play);
    play.turn();
    expect(afterNotice(play)).toBe('next try in 26 s');
    play.wait(1_000);
    expect(play.words()).toBe('next try in 25 s');
  });

  it('no news', () => {
    const play = playTyping();
    failOnce(play);
    expect(afterNotice(play)).toBe('waiting: nothing new since the last try');
  });

  it('the breaker, and the end of all attempts', () => {
    const play = playTyping();
    for (let times = 1; times <= 3; times += 1) {
      if (times > 1) play.wait(71_500);
      failOnce(play);
      play.turn();
    }
    expect(afterNotice(play)).toBe('paused: compaction failed 3× · ctxwrap compact to try again');
    play.turn(HARD_TOKENS);
    for (let times = 1; times <= 3; times += 1) {
      play.wait(11_500);
      failOnce(play);
      play.turn();
    }
    expect(afterNotice(play)).toBe('paused: tried 6× · ctxwrap compact to try again');
  });

  it('a window that is full again and again', () => {
    const play = playTyping();
    for (let times = 0; times < 3; times += 1) {
      play.sent();
      play.boundary();
      play.is('ready');
      play.turn(HARD_TOKENS);
      play.wait(11_500);
    }
    expect(afterNotice(play)).toBe('paused: full again after 3 compactions · ctxwrap compact to try again');
  });
});

describe('the words for an outcome', () => {
  const said = (outcome: Outcome, more: object = {}): string | undefined => {
    const last = { initiator: 'ctxwrap', startedAt: 0, endedAt: 10, outcome, evidence: [], ...more } as const;
    return compactionText({ ...startCompaction(settings), last }, 20);
  };

  const outcomes: readonly (readonly [Outcome, string])[] = [
    [{ kind: 'verified' }, '✓ compacted'],
    [{ kind: 'noop', text: 'No messages to compact' }, 'nothing to compact'],
    [
      { kind: 'failed', failure: 'error', text: 'API Error: 500' },
      '✗ compaction failed after 0.0 s: API Error: 500',
    ],
    [{ kind: 'interrupted', by: 'the user' }, 'compaction interrupted by the user'],
    [{ kind: 'not-delivered', reason: 'a dialog came up' }, '✗ command not delivered: a dialog came up'],
    [{ kind: 'not-started' }, '✗ compaction did not start'],
    [{ kind: 'timeout', afterMs: 120_000 }, '✗ compaction not finished after 120 s'],
    [{ kind: 'unverified', text: 'Compacted' }, '✗ compaction not confirmed: the size did not drop'],
    [{ kind: 'skipped-busy', reason: 'the agent is busy' }, 'nothing typed: the agent is busy'],
  ];
  it.each(outcomes)('$kind', (outcome, words) => {
    expect(said(outcome)).toBe(words);
  });

  it.each([
    [
      'Error during compaction: API Error: 529 Overloaded. This is a server-side issue, usually temporary',
      'the model is overloaded',
    ],
    ['Error during compaction: API Error: 400 bad request', 'API Error: 400 bad request'],
    ['Error running remote compact task: stream disconnected', 'stream disconnected'],
    ['Compaction failed · conversation could not be reduced', 'conversation could not be reduced'],
    ['Could not compress chat history.', 'Could not compress chat history.'],
    ['Compaction failed:', 'Compaction failed:'],
  ])('give the reason for a failure, and say only once that it failed: %s', (text, reason) => {
    expect(said({ kind: 'failed', failure: 'error', text })).toBe(
      `✗ compaction failed after 0.0 s: ${reason}`,
    );
  });

  it.each([
    [{ usedTokens: 166_000 }, { usedTokens: 12_000 }, '✓ compacted 166k → 12k'],
    [{ usedPercent: 83 }, { usedPercent: 6 }, '✓ compacted 83% → 6%'],
    [{ usedTokens: 166_000, usedPercent: 83 }, { usedPercent: 6 }, '✓ compacted 83% → 6%'],
    [{ usedTokens: 166_000 }, { usedPercent: 6 }, '✓ compacted'],
    [{ usedTokens: 166_000 }, undefined, '✓ compacted'],
  ])('from %o to %o: %s', (before, after, words) => {
    expect(said({ kind: 'verified', ...(after ? { after } : {}) }, { before })).toBe(words);
  });

  it('an outcome is shown for half a minute, and the alarm rings when it is over', () => {
    const play = playBegun();
    play.boundary({ postTokens: 12_000 });
    play.wait(29_999);
    expect(play.words()).toBe('✓ compacted 165k → 12k');
    expect(play.due()).toBeDefined();
    play.wait(1);
    expect(play.words()).toBeUndefined();
    expect(play.due()).toBeUndefined();
  });

  it('what is under way is shown before what was', () => {
    const play = playTyping({}, HARD_TOKENS);
    failOnce(play);
    play.turn();
    play.wait(2_000);
    expect(play.words()).toBe('compacting in 10 s · Esc: not now');
  });
});
