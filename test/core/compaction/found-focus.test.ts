// With the word `evidence` for a focus text, what the agent must keep is read from the conversation before the countdown.
import { describe, expect, it } from 'vitest';
import { comingFocus } from '../../../src/core/compaction/focus.js';
import { AUTO_TOKENS, playCompaction } from '../../support/compaction-play.js';
import { compacted, inSession } from '../../support/sessions.js';

const RULES = 'Keep word for word: "Never push to main".';

/** A full window at rest. */
const play = (wish: Parameters<typeof playCompaction>[0] = { focus: 'evidence' }) => {
  const played = playCompaction(wish);
  played.is('ready');
  played.turn(AUTO_TOKENS);
  return {
    ...played,
    asked: () => played.done.flatMap(({ effect }) => (effect.type === 'find-focus' ? [effect.id] : [])),
    found: (id: number, text?: string) => played.tell({ type: 'focus-found', id, text }),
    /** what is typed behind the command */
    behind: () =>
      played.done.flatMap(({ effect }) =>
        effect.type === 'type-compact' ? [{ focus: effect.focus, found: effect.found }] : [],
      ),
    coming: () => comingFocus(played.state()),
  };
};

describe('what the conversation says must be kept', () => {
  it('is read before the countdown, shown during it, and typed', () => {
    const { wait, asked, found, phase, words, behind, coming } = play();
    wait(1_500);
    expect([asked(), phase().kind, words()]).toEqual([[1], 'held', 'waiting: reading what must be kept']);
    found(1, RULES);
    expect([phase().kind, coming()]).toEqual(['countdown', RULES]);
    wait(10_000);
    expect(behind()).toEqual([{ found: RULES }]);
  });

  it('is left out where nothing is known, or the file takes too long to read', () => {
    const without = play();
    without.wait(1_500);
    without.found(1);
    without.wait(10_000);
    expect(without.behind()).toEqual([{}]);
    const slow = play();
    slow.wait(1_500 + 15_000 + 9_999);
    slow.found(1, RULES);
    expect(slow.behind()).toEqual([]);
    slow.wait(1);
    expect(slow.behind()).toEqual([{}]);
  });

  it('is read for a request, too, and not where the request has a text of its own', () => {
    const asking = play({ focus: 'evidence', mode: 'warn' });
    asking.wait(3_000);
    expect(asking.asked()).toEqual([]);
    asking.ask('one');
    asking.found(1, RULES);
    expect(asking.behind()).toEqual([{ found: RULES }]);
    const own = play({ focus: 'evidence', mode: 'warn' });
    own.wait(3_000);
    own.tell({ type: 'compact-requested', request: { id: 'one', force: false, focus: 'the tests' } });
    expect([own.asked(), own.behind()]).toEqual([[], [{ focus: 'the tests' }]]);
    const word = play({ mode: 'warn' });
    word.wait(3_000);
    word.tell({ type: 'compact-requested', request: { id: 'one', force: false, focus: 'evidence' } });
    word.found(1, RULES);
    expect(word.behind()).toEqual([{ found: RULES }]);
  });

  it('is shown before the user confirms a compaction in the mode ask', () => {
    const { wait, found, phase, coming } = play({ focus: 'evidence', mode: 'ask' });
    wait(3_000);
    found(1, RULES);
    expect([phase().kind, coming()]).toEqual(['proposed', RULES]);
  });

  it('is read anew after the agent has worked, compacted, or changed the conversation', () => {
    for (const news of [
      (played: ReturnType<typeof play>) => played.turn(AUTO_TOKENS + 500),
      (played: ReturnType<typeof play>) => played.tell({ type: 'voided' }),
      (played: ReturnType<typeof play>) => played.tell(inSession('another')),
      (played: ReturnType<typeof play>) => played.tell(compacted()),
    ]) {
      const played = play();
      played.wait(3_000);
      played.found(1, RULES);
      news(played);
      expect(played.coming()).toBeUndefined();
      played.used(AUTO_TOKENS + 700);
      played.wait(3_000);
      expect(played.asked()).toEqual([1, 2]);
      played.found(1, 'of before');
      expect(played.coming()).toBeUndefined();
    }
  });

  it('is not tried again in this window where the prompt did not show it: the command goes alone', () => {
    const { wait, found, typed, turn, asked, behind } = play();
    wait(1_500);
    found(1, RULES);
    wait(10_000);
    typed({ kind: 'withdrawn', reason: 'the command did not arrive in the prompt', evidence: [] });
    turn(AUTO_TOKENS + 500);
    wait(75_000);
    expect(asked()).toEqual([1]);
    expect(behind()).toEqual([{ found: RULES }, {}]);
  });

  it('is not read for a fixed text, nor where a strategy shortens the conversation', () => {
    for (const wish of [{}, { focus: 'the tests' }, { focus: 'evidence', strategy: 'truncate' }]) {
      const { wait, asked, behind } = play(wish);
      wait(11_500);
      expect(asked()).toEqual([]);
      expect(behind()).toHaveLength(1);
    }
  });
});
