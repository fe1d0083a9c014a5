// Summaries of real conversations take 10 to 120 s. Whatever is seen of the agent meanwhile, the record that follows is ours.
import { describe, expect, it } from 'vitest';
import type { Activity } from '../../../src/core/reading.js';
import { inSession } from '../../support/sessions.js';
import { AUTO_TOKENS, playFull, playTyping } from '../../support/compaction-play.js';
import type { Play } from '../../support/compaction-play.js';

const summaries = [20_000, 90_000];

/** From Enter, which the agent answers at once with this activity. */
const playSent = (...seen: readonly Activity[]): Play => {
  const play = playTyping();
  play.sent();
  play.is('draft'); // the command stands in the prompt for a moment
  play.wait(60);
  for (const each of seen) play.is(each);
  return play;
};

const ends = (play: Play) =>
  play.done.flatMap(({ effect }) => (effect.type === 'ended' ? [effect.ended] : []));

const expectOurs = (play: Play): void =>
  expect(ends(play)).toEqual([
    expect.objectContaining({
      initiator: 'ctxwrap',
      before: expect.objectContaining({ usedTokens: AUTO_TOKENS }),
    }),
  ]);

describe.each(summaries)('a summary that takes %i ms', (ms) => {
  it.each<readonly [string, readonly Activity[]]>([
    ['compacts', ['compacting']],
    ['is only busy', ['busy']],
    ['is not understood', ['unknown']],
    ['is busy, then compacts', ['busy', 'compacting']],
    ['is not understood, then compacts', ['unknown', 'compacting']],
    ['compacts, then is not understood', ['compacting', 'unknown']],
    ['seems to be at rest for a frame', ['compacting', 'ready', 'compacting']],
    ['is busy, at rest for a frame, and busy again', ['busy', 'ready', 'busy']],
    ['is busy, at rest for a frame, and not understood', ['busy', 'ready', 'unknown']],
  ])('is ours when the agent %s', (_, seen) => {
    const play = playSent(...seen);
    play.wait(ms);
    expect(ends(play)).toEqual([]);
    play.boundary({ initiator: 'user', preTokens: AUTO_TOKENS, postTokens: 12_000 });
    play.is('ready');
    expectOurs(play);
    expect(play.outcomes()).toEqual(['verified']);
    play.wait(600_000);
    expect(play.outcomes()).toEqual(['verified']);
    expect(play.typings()).toHaveLength(1);
  });

  it.each<Activity>(['compacting', 'busy', 'unknown'])(
    'is ours when its record comes a second after the end of %s is seen',
    (seen) => {
      const play = playSent(seen);
      play.wait(ms);
      play.is('ready');
      play.wait(1_000);
      play.boundary({ initiator: 'user', postTokens: 12_000 });
      expectOurs(play);
      expect(play.outcomes()).toEqual(['verified']);
    },
  );

  it('is ours when its record comes before the end is seen', () => {
    const play = playSent('compacting');
    play.wait(ms);
    play.boundary({ initiator: 'user', postTokens: 12_000 });
    play.wait(500);
    play.is('compacting');
    play.wait(500);
    play.is('ready');
    play.wait(60_000);
    expect(play.outcomes()).toEqual(['verified']);
  });

  it.each<Activity>(['compacting', 'busy', 'unknown'])('is ours when the user types during %s', (seen) => {
    const play = playSent(seen);
    for (let each = 0; each < ms; each += 1_000) {
      play.keys();
      play.wait(1_000);
    }
    expect(ends(play)).toEqual([]);
    play.boundary({ initiator: 'user', postTokens: 12_000 });
    play.is('draft');
    expectOurs(play);
  });

  it.each<Activity>(['compacting', 'busy', 'unknown'])('is interrupted by an Esc during %s', (seen) => {
    const play = playSent(seen);
    play.wait(ms);
    play.keys();
    play.is('draft');
    play.wait(3_000);
    expect(play.outcomes()).toEqual(['interrupted']);
    expect(play.state().policy).toMatchObject({ failures: 0 });
  });

  it.each<Activity>(['compacting', 'busy', 'unknown'])(
    'is interrupted by the end of the agent in %s',
    (seen) => {
      const play = playSent(seen);
      play.wait(ms);
      play.is('dead');
      expect(play.last()?.outcome).toEqual({ kind: 'interrupted', by: 'the end of the agent' });
    },
  );

  it('that fails is a failure, also where only the agent knew that it had begun', () => {
    const play = playSent('unknown');
    play.wait(ms);
    play.failed();
    expect(play.outcomes()).toEqual(['failed']);
  });
});

describe('a screen that is not understood after the command', () => {
  it('is never told as a compaction that did not start', () => {
    const play = playSent('unknown');
    play.wait(3_600_000);
    expect(play.outcomes()).toEqual(['timeout']);
  });

  it('is waited for as long as a compaction, from when it should have begun', () => {
    const play = playSent('unknown');
    play.wait(124_939);
    expect(play.outcomes()).toEqual([]);
    play.wait(1);
    expect(play.outcomes()).toEqual(['timeout']);
    expect(play.last()?.evidence).toContain('its screen is not understood');
  });
});

describe('what the footer says after the command', () => {
  it.each<readonly [Activity, string]>([
    ['compacting', 'compacting'],
    ['busy', 'command sent, the agent is working'],
    ['ready', 'command sent'],
    ['unknown', 'command sent'],
  ])('%s: %s', (seen, words) => {
    expect(playSent(seen).words()).toBe(words);
  });
});

describe('an agent that begins late, behind an empty prompt', () => {
  const begunAfter = (ms: number): Play => {
    const play = playSent('ready');
    play.wait(ms);
    return play;
  };

  it.each([5_500, 20_000, 64_000])('after %i ms has one outcome', (ms) => {
    const play = begunAfter(ms);
    play.is('compacting');
    play.wait(90_000);
    play.boundary({ initiator: 'user', postTokens: 12_000 });
    play.is('ready');
    play.wait(600_000);
    expect(ends(play)).toHaveLength(1);
    expect(ends(play)[0]).not.toHaveProperty('isLate');
    expect(play.outcomes()).toEqual(['verified']);
    expect(play.state().policy).toMatchObject({ attempts: 0, failures: 0 });
  });

  it('is not told as one that did not start, but as not seen to, until it does', () => {
    const play = begunAfter(4_000);
    expect(play.words()).toBe('command sent');
    play.wait(1_000);
    expect(play.words()).toBe('command sent, waiting for it to start');
    play.is('busy');
    expect(play.words()).toBe('command sent, the agent is working');
  });

  it('has not started when the user begins a turn meanwhile, whose number is news', () => {
    const play = begunAfter(20_000);
    play.keys();
    play.is('draft');
    expect(play.outcomes()).toEqual([]);
    play.is('busy');
    expect(play.last()).toMatchObject({
      outcome: { kind: 'not-started' },
      evidence: expect.arrayContaining(['a turn of the user began']),
    });
    play.used(AUTO_TOKENS + 900);
    play.is('ready');
    play.wait(75_000);
    expect(play.typings()).toHaveLength(2);
  });

  it('is seen to compact also when the user types meanwhile', () => {
    const play = begunAfter(20_000);
    play.keys();
    play.is('draft');
    play.is('compacting');
    play.boundary({ initiator: 'user', postTokens: 12_000 });
    expect(play.outcomes()).toEqual(['verified']);
  });
});

describe('a compaction of ours that was given up', () => {
  const givenUp = (): Play => {
    const play = playSent('ready');
    play.wait(65_000);
    expect(play.outcomes()).toEqual(['not-started']);
    return play;
  };
  const late = (play: Play) => ends(play).at(-1);

  it('because a slow machine began late is ours when its record comes', () => {
    const play = givenUp();
    play.wait(3_000);
    play.is('compacting');
    play.wait(20_000);
    play.boundary({ initiator: 'user', postTokens: 12_000 });
    play.is('ready');
    expect(late(play)).toMatchObject({
      initiator: 'ctxwrap',
      isLate: true,
      before: { usedTokens: AUTO_TOKENS },
      outcome: { kind: 'verified', after: { usedTokens: 12_000 } },
    });
    expect(play.state().policy).toMatchObject({ attempts: 0, failures: 0 });
    expect(play.words()).toBe('✓ compacted 165k → 12k');
  });

  it('is listed once, with how it ended at last', () => {
    const play = givenUp();
    play.boundary({ initiator: 'user', postTokens: 12_000 });
    expect(play.past().map(({ ended }) => ended.outcome.kind)).toEqual(['verified']);
  });

  it('is ours after the longest wait, too, unless the user has pressed a key since', () => {
    const alone = playSent('compacting');
    const typedIn = playSent('compacting');
    for (const play of [alone, typedIn]) {
      play.wait(130_000);
      expect(play.outcomes()).toEqual(['timeout']);
    }
    typedIn.keys();
    for (const play of [alone, typedIn]) play.boundary({ initiator: 'user' });
    expect(late(alone)).toMatchObject({ initiator: 'ctxwrap', isLate: true });
    expect(late(typedIn)).toMatchObject({ initiator: 'user' });
  });

  it.each<readonly [string, (play: Play) => void]>([
    ["what the agent's record calls its own", (play) => play.boundary({ initiator: 'agent' })],
    [
      'what comes after words of the agent on how it failed',
      (play) => {
        play.failed();
        play.boundary({ initiator: 'user' });
      },
    ],
    [
      'what comes after another record',
      (play) => {
        play.boundary({ initiator: 'agent' });
        play.boundary({ initiator: 'user' });
      },
    ],
    [
      'what comes in another conversation',
      (play) => {
        play.tell(inSession('one'), inSession('two'));
        play.boundary({ initiator: 'user' });
      },
    ],
  ])('is not %s', (_, happens) => {
    const play = givenUp();
    happens(play);
    expect(late(play)?.initiator).not.toBe('ctxwrap');
  });

  it('answers a request that has come since', () => {
    const play = givenUp();
    play.is('busy');
    play.ask('one');
    play.boundary({ initiator: 'user' });
    expect(play.done.at(-1)?.effect).toMatchObject({ type: 'refused', requestId: 'one' });
  });
});

it('a turn of the user after the command does not hide that nothing was compacted', () => {
  const play = playFull({ mayQueue: true });
  play.wait(11_500);
  play.sent();
  play.is('busy');
  play.wait(30_000);
  play.used(AUTO_TOKENS + 900);
  play.is('ready');
  play.wait(3_000);
  expect(play.last()?.outcome).toEqual({
    kind: 'no-evidence',
    reason: 'the agent worked 30 s, and the size did not drop',
  });
});
