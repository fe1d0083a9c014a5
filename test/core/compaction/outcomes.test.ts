// What became of an attempt, and what decided it.
import { describe, expect, it } from 'vitest';
import type { Activity } from '../../../src/core/reading.js';
import { compacted, inSession, shows, tokens } from '../../support/sessions.js';
import { AUTO_TOKENS, playBegun, playCompaction, playTyping } from '../../support/compaction-play.js';
import type { Play } from '../../support/compaction-play.js';

const outcome = (play: Play) => play.last()?.outcome;

describe('an attempt is verified', () => {
  it("by the agent's own record, with its numbers", () => {
    const play = playBegun();
    play.wait(9_000);
    play.boundary({ postTokens: 12_000 });
    expect(play.last()).toEqual({
      initiator: 'ctxwrap',
      isManual: false,
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
      before: { usedTokens: AUTO_TOKENS, usedPercent: (AUTO_TOKENS * 100) / 200_000 },
      outcome: { kind: 'verified', after: { usedTokens: 12_000 } },
      evidence: ['typed /compact, Enter', 'the agent compacts', 'its record of the compaction'],
    });
    const { startedAt = 0, endedAt = 0 } = play.last() ?? {};
    expect(endedAt - startedAt).toBe(9_600);
  });

  it.each([
    { used: AUTO_TOKENS * 0.9, kind: 'verified' },
    { used: AUTO_TOKENS * 0.9 + 1, kind: undefined },
  ])('by a number that is a tenth lower: $used', ({ used, kind }) => {
    const play = playBegun();
    play.used(used);
    expect(outcome(play)?.kind).toBe(kind);
  });

  it('by a lower number at the next turn, where the agent has only said so', () => {
    const play = playBegun();
    play.boundary({ source: 'screen' });
    play.is('ready');
    play.wait(3_600_000);
    expect(play.outcomes()).toEqual([]);
    play.turn(14_000);
    expect(outcome(play)).toEqual({
      kind: 'verified',
      after: { usedTokens: 14_000, usedPercent: 7 },
    });
  });

  it('and nothing is typed again before the window is full again', () => {
    const play = playBegun();
    play.boundary({ postTokens: 12_000 });
    play.is('ready');
    play.wait(600_000);
    expect(play.typings()).toHaveLength(1);
    expect(play.state().episodeSince).toBeUndefined();
  });

  it('also when its record says little and the number stays high: without a turn there is no second attempt', () => {
    const play = playBegun();
    play.boundary();
    play.is('ready');
    play.used(AUTO_TOKENS);
    play.wait(3_600_000);
    expect(play.typings()).toHaveLength(1);
  });
});

describe('an attempt is not verified', () => {
  it('by zeros, which are what a status line says right after a compaction', () => {
    const play = playBegun();
    play.tell(tokens('official', 0, { usedPercent: 0 }));
    play.tell(tokens('log', 0));
    expect(play.outcomes()).toEqual([]);
    play.boundary({ postTokens: 900 });
    expect(play.outcomes()).toEqual(['verified']);
  });

  it('by a screen that says that all is left, where a file tells', () => {
    const play = playBegun();
    play.tell(compacted('screen'), shows(0, 'baseline'), shows(1));
    expect(play.outcomes()).toEqual([]);
    play.failed();
    expect(play.outcomes()).toEqual(['failed']);
  });

  it('by a screen alone in a new conversation, of which the file is about to tell', () => {
    const play = playCompaction();
    play.used(20_000);
    play.tell(inSession('one'), inSession('two'), shows(90));
    play.is('ready');
    play.ask('one');
    play.wait(1_500);
    play.sent();
    play.is('compacting');
    play.tell(shows(1));
    expect(play.outcomes()).toEqual([]);
  });

  it('by the count of what was only estimated before', () => {
    const play = playCompaction();
    play.is('ready');
    play.turn(AUTO_TOKENS);
    play.tell({ type: 'growth', tokens: 40_000 });
    play.wait(3_000);
    play.ask('one', { force: true });
    play.sent();
    play.is('compacting');
    play.used(AUTO_TOKENS + 500);
    expect(play.outcomes()).toEqual([]);
  });

  it('by a number that was there before the command was sent', () => {
    const play = playTyping();
    play.used(100_000);
    play.sent();
    play.is('compacting');
    expect(play.outcomes()).toEqual([]);
  });

  it('by what another compaction left, whose record came while the command was typed', () => {
    const play = playTyping();
    play.boundary({ initiator: 'agent' });
    play.sent();
    play.used(20_000);
    expect(play.outcomes()).toEqual([]);
    play.wait(65_000);
    expect(play.outcomes()).toEqual(['not-started']);
  });

  it('by the success that it tells on its screen, when the number of the next turn is as high', () => {
    const play = playBegun();
    play.boundary({ source: 'screen' });
    play.is('ready');
    play.turn(AUTO_TOKENS);
    expect(outcome(play)).toEqual({
      kind: 'unverified',
      text: 'it says on its screen that it has compacted',
    });
    expect(play.state().policy).toMatchObject({ failures: 1 });
  });

  it('by a number that is still to come: that is no failure', () => {
    const play = playBegun();
    play.boundary({ source: 'screen' });
    play.tell({ type: 'screen-blank' }, { type: 'voided' });
    play.is('busy');
    play.wait(3_600_000);
    expect(play.outcomes()).toEqual([]);
    expect(play.state().policy).toMatchObject({ attempts: 0, failures: 0 });
  });

  it('by a number of before that is told once more on the way to the success', () => {
    const play = playBegun();
    play.used(AUTO_TOKENS);
    play.boundary({ source: 'screen' });
    expect(play.outcomes()).toEqual([]);
    play.boundary();
    expect(play.outcomes()).toEqual(['verified']);
  });
});

describe('an attempt ends', () => {
  it.each([
    { kind: 'noop', text: 'Not enough messages to compact.' },
    { kind: 'failed', failure: 'inflated', text: 'it did not reduce size' },
    { kind: 'failed', failure: 'error', text: 'API Error: 400' },
    { kind: 'interrupted', by: 'the user' },
  ] as const)('as the agent says: $kind $failure', (result) => {
    const play = playBegun();
    play.result(result);
    expect(outcome(play)).toEqual(result);
    expect(play.last()?.evidence.at(-1)).toMatch(/^the agent says: /);
  });

  it.each(['empty', 'truncated'] as const)(
    'as a failure when its record shows that the summary is %s',
    (summary) => {
      const play = playBegun();
      play.boundary({ summary });
      expect(outcome(play)).toMatchObject({ kind: 'failed', failure: summary });
    },
  );

  it('as a failure when its record shows that the window is not emptier', () => {
    const play = playBegun();
    play.boundary({ preTokens: AUTO_TOKENS, postTokens: AUTO_TOKENS });
    const text = 'not smaller: 165k → 165k';
    expect(outcome(play)).toEqual({ kind: 'failed', failure: 'inflated', text });
    expect(play.state().policy).toMatchObject({ failures: 1 });
  });

  it('as a failure when its record tells only the size after it, and that is none smaller', () => {
    const play = playBegun();
    play.boundary({ postTokens: AUTO_TOKENS });
    expect(play.last()?.outcome).toMatchObject({ kind: 'failed', failure: 'inflated' });
  });

  it('as a failure when the screen says success and the record that the summary is empty', () => {
    const play = playBegun();
    play.boundary({ source: 'screen' });
    play.boundary({ summary: 'empty' });
    expect(outcome(play)).toMatchObject({ kind: 'failed', failure: 'empty' });
  });

  it.each<readonly [number, Activity, string]>([
    [5_000, 'draft', 'and the command still stands in the prompt'],
    [65_000, 'ready', 'behind an empty prompt, which has taken the command'],
  ])('as not started after %i ms in which nothing began (%s) %s', (ms, is) => {
    const play = playTyping();
    play.sent();
    play.is(is);
    play.wait(ms - 1);
    expect(play.outcomes()).toEqual([]);
    play.wait(1);
    expect(outcome(play)).toEqual({ kind: 'not-started' });
  });

  it.each([120_000, 300_000])('in a timeout after %i ms in which no end was seen', (finishMs) => {
    const play = playBegun({ finishMs });
    play.wait(finishMs - 1);
    expect(play.outcomes()).toEqual([]);
    play.wait(1);
    expect(outcome(play)).toEqual({ kind: 'timeout', afterMs: finishMs });
  });

  it('without evidence when its end is seen, and 3 s later nobody has said how', () => {
    const play = playBegun();
    play.wait(1_500);
    play.is('ready');
    play.wait(3_000);
    const reason = 'the agent worked 1.5 s, and left no number';
    expect(outcome(play)).toEqual({ kind: 'no-evidence', reason });
    expect(play.words()).toBe(`✗ no evidence: ${reason}`);
  });

  it('as interrupted by the user in the same way, if a key was pressed', () => {
    const play = playBegun();
    play.keys();
    play.is('draft');
    play.wait(2_999);
    expect(play.outcomes()).toEqual([]);
    play.wait(1);
    expect(outcome(play)).toEqual({ kind: 'interrupted', by: 'the user' });
  });

  it('and does not blame the user for a key behind its end, which begins the next message', () => {
    const play = playBegun();
    play.is('ready');
    play.wait(1_500);
    play.keys();
    play.is('draft');
    play.wait(3_000);
    expect(outcome(play)).toMatchObject({ kind: 'no-evidence' });
  });

  it('not when a frame without the progress row was in between', () => {
    const play = playBegun();
    play.is('ready');
    play.wait(1_000);
    play.is('compacting');
    play.wait(60_000);
    expect(play.outcomes()).toEqual([]);
  });

  it('as not delivered when the typing was taken back, or is never told to have ended', () => {
    const withdrawn = playTyping();
    withdrawn.typed({ kind: 'withdrawn', reason: 'a dialog came up', evidence: ['typed /compact'] });
    expect(outcome(withdrawn)).toEqual({ kind: 'not-delivered', reason: 'a dialog came up' });
    const silent = playTyping();
    silent.wait(15_000);
    expect(outcome(silent)).toEqual({ kind: 'not-delivered', reason: 'typing did not end' });
    silent.sent();
    silent.is('compacting');
    expect(silent.outcomes()).toEqual(['not-delivered']);
  });

  it('as interrupted in another conversation, and in no other phase by its first id', () => {
    const play = playBegun();
    play.tell(inSession('one'));
    expect(play.outcomes()).toEqual([]);
    play.tell(inSession('two'));
    expect(outcome(play)).toEqual({ kind: 'interrupted', by: 'another conversation' });
    play.is('ready');
    play.wait(600_000);
    expect(play.typings()).toHaveLength(1);
  });

  it('in another conversation as unverified when it was said to have worked', () => {
    const play = playBegun();
    play.tell(inSession('one'), compacted('screen'), inSession('two'));
    expect(outcome(play)).toMatchObject({ kind: 'unverified' });
    expect(play.last()?.evidence.at(-1)).toBe('no number before another conversation');
  });
});
