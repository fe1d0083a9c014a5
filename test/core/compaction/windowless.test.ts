// Where nobody says how large the window is, only what the user has said in tokens may start anything.
import { describe, expect, it } from 'vitest';
import type { LadderChoice } from '../../../src/core/ladder.js';
import type { Reading } from '../../../src/core/reading.js';
import { playCompaction } from '../../support/compaction-play.js';
import type { Play } from '../../support/compaction-play.js';
import { tokens } from '../../support/sessions.js';

const at50k: LadderChoice = { auto: { value: 50_000, unit: 'tokens' } };
const guess: Partial<Reading> = { windowSource: 'default' };

/** A turn that leaves so many tokens in a window of which the agent only knows what most models have. */
const playGuessed = (ladder: LadderChoice, used: number, assumedWindow?: number): Play => {
  const play = playCompaction({}, { ladder, assumedWindow });
  play.is('ready');
  play.is('busy');
  play.tell(tokens('log', used, guess));
  play.is('ready');
  return play;
};

describe('in a window that is not known', () => {
  it('auto in tokens starts a compaction, and its record ends the episode', () => {
    const play = playGuessed(at50k, 50_000);
    play.wait(11_500);
    expect(play.typings()).toHaveLength(1);
    play.sent();
    play.boundary({ initiator: 'user', postTokens: 9_000 });
    expect(play.words()).toBe('✓ compacted 50k → 9.0k');
  });

  it('auto in tokens starts nothing before it is reached', () => {
    const play = playGuessed(at50k, 49_999);
    play.wait(600_000);
    expect(play.typings()).toEqual([]);
  });

  it.each<LadderChoice>([{}, { auto: { value: 5, unit: 'percent' } }, { preset: 'percent' }])(
    'nothing else starts one, however much is used: %o',
    (ladder) => {
      const play = playGuessed(ladder, 199_000);
      play.wait(600_000);
      expect(play.typings()).toEqual([]);
    },
  );

  it('an estimate starts none, either', () => {
    const play = playCompaction({}, { ladder: at50k });
    play.is('ready');
    play.tell(tokens('estimate', 90_000, guess));
    play.wait(600_000);
    expect(play.typings()).toEqual([]);
  });

  it('the episode is over when the window is clearly emptier', () => {
    const play = playGuessed(at50k, 60_000);
    expect(play.state().episodeSince).toBeDefined();
    play.tell(tokens('log', 20_000, guess));
    expect(play.state().episodeSince).toBeUndefined();
  });
});

describe('in a window that the user assumes', () => {
  it.each([
    { ladder: at50k, typings: 1 },
    { ladder: {}, typings: 0 },
  ])('only bounds in tokens start one: $ladder', ({ ladder, typings }) => {
    const play = playGuessed(ladder, 190_000, 200_000);
    play.wait(11_500);
    expect(play.typings()).toHaveLength(typings);
  });
});
