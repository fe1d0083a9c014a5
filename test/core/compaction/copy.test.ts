// Before the command is typed the session file is copied: without a copy nothing is typed at auto, and at hard ctxwrap goes on and says so.
import { describe, expect, it } from 'vitest';
import type { CopyResult } from '../../../src/core/compaction/copy.js';
import { compacted, inSession } from '../../support/sessions.js';
import { AUTO_TOKENS, HARD_TOKENS, playCompaction, settings } from '../../support/compaction-play.js';

const full: CopyResult = { kind: 'failed', reason: 'disk full' };

/** A full window at rest, with these results of the copies, one after the other; the last one again and again. */
const play = (count: number, ...results: readonly (CopyResult | undefined)[]) => {
  let asked = 0;
  const next = () => results[Math.min(asked++, results.length - 1)];
  const played = playCompaction({ keepsCopy: true }, {}, undefined, next);
  played.is('ready');
  played.turn(count);
  return { ...played, copies: () => played.done.filter(({ effect }) => effect.type === 'copy') };
};

describe('the copy before a compaction', () => {
  it('is asked for once the gate is open, before the countdown begins', () => {
    const { copies, wait, phase, typings, words } = play(AUTO_TOKENS, undefined);
    wait(1_499);
    expect(copies()).toEqual([]);
    wait(1);
    expect(copies()).toEqual([{ at: 5_500, effect: { type: 'copy', id: 1 } }]);
    wait(30_000);
    expect([phase().kind, typings()]).toEqual(['held', []]);
    expect(words()).toBe('waiting: backing up the session file');
  });

  it('lets the countdown begin when it is made', () => {
    const { wait, tell, words, typings } = play(AUTO_TOKENS, undefined);
    wait(1_500);
    tell({ type: 'copied', id: 1, result: { kind: 'kept' } });
    expect(words()).toBe('compacting in 10 s · Esc: not now');
    wait(9_999);
    expect(typings()).toEqual([]);
    wait(1);
    expect(typings()).toHaveLength(1);
  });

  it('is not needed where there is nothing to copy, and not asked for where the black box is off', () => {
    const without = play(AUTO_TOKENS, { kind: 'nothing' });
    without.wait(11_500);
    expect(without.typings()).toHaveLength(1);
    const off = playCompaction(settings);
    off.is('ready');
    off.turn(AUTO_TOKENS);
    off.wait(11_500);
    expect(off.done.map(({ effect }) => effect.type)).toEqual(['type-compact']);
  });

  it('is made anew after the agent has worked, compacted, or changed the conversation', () => {
    for (const news of [
      (played: ReturnType<typeof play>) => played.turn(AUTO_TOKENS + 500),
      (played: ReturnType<typeof play>) => played.tell({ type: 'voided' }),
      (played: ReturnType<typeof play>) => played.tell(inSession('another')),
      (played: ReturnType<typeof play>) => played.tell(compacted()),
    ]) {
      const played = play(AUTO_TOKENS, { kind: 'kept' });
      played.wait(3_000);
      expect(played.copies()).toHaveLength(1);
      news(played);
      played.used(AUTO_TOKENS + 700);
      played.wait(3_000);
      expect(played.copies()).toHaveLength(2);
    }
  });

  it('is not made anew because the user has typed', () => {
    const { wait, keys, copies, typings } = play(AUTO_TOKENS, { kind: 'kept' });
    wait(4_000);
    keys();
    wait(20_000);
    expect([copies().length, typings().length]).toEqual([1, 1]);
  });

  it('that comes too late, for a conversation that went on, counts for nothing', () => {
    const { wait, tell, turn, typings, phase } = play(AUTO_TOKENS, undefined);
    wait(1_500);
    turn(AUTO_TOKENS + 500);
    wait(1_500);
    tell({ type: 'copied', id: 1, result: { kind: 'kept' } });
    expect(phase()).toMatchObject({ kind: 'held', hold: { why: 'copying' } });
    wait(30_000);
    expect(typings()).toEqual([]);
  });
});

describe('without a copy', () => {
  it('nothing is typed at auto, and the footer says why', () => {
    const { wait, words, typings } = play(AUTO_TOKENS, full);
    wait(1_500);
    expect(words()).toBe('not compacting: no copy (disk full)');
    wait(3_600_000);
    expect(words()).toBe('not compacting: no copy (disk full)');
    expect(typings()).toEqual([]);
  });

  it('another try is made every minute, and the countdown begins when it works', () => {
    const { wait, words, copies, typings } = play(AUTO_TOKENS, full, full, { kind: 'kept' });
    wait(1_500 + 60_000);
    expect([copies().length, words()]).toEqual([2, 'not compacting: no copy (disk full)']);
    wait(60_000);
    expect([copies().length, words()]).toEqual([3, 'compacting in 10 s · Esc: not now']);
    wait(10_000);
    expect(typings()).toHaveLength(1);
  });

  it('ten tries are enough until something happens', () => {
    const { wait, copies, turn, words } = play(AUTO_TOKENS, full);
    wait(86_400_000);
    expect([copies().length, words()]).toEqual([10, 'not compacting: no copy (disk full)']);
    turn(AUTO_TOKENS + 500);
    wait(1_500);
    expect(copies()).toHaveLength(11);
  });

  it('a copy that hangs counts as none, and may still come', () => {
    const { wait, tell, words } = play(AUTO_TOKENS, undefined);
    wait(1_500 + 60_000);
    expect(words()).toBe('not compacting: no copy (not finished after 60 s)');
    tell({ type: 'copied', id: 1, result: { kind: 'kept' } });
    expect(words()).toBe('compacting in 10 s · Esc: not now');
  });

  it('the command is typed at hard, and everything says so', () => {
    const { wait, words, typings, sent, is, boundary, last } = play(HARD_TOKENS, full);
    wait(1_500);
    expect(words()).toBe('compacting in 10 s · no copy (disk full) · Esc: not now');
    wait(10_000);
    expect(typings()).toHaveLength(1);
    expect(words()).toBe('typing /compact · no copy (disk full)');
    sent();
    is('compacting');
    expect(words()).toBe('compacting · no copy (disk full)');
    boundary();
    expect(last()).toMatchObject({ outcome: { kind: 'verified' } });
    expect(last()?.evidence[0]).toBe('no copy (disk full)');
  });

  it('an attempt that got one says nothing about it', () => {
    const { wait, words } = play(HARD_TOKENS, { kind: 'kept' });
    wait(11_500);
    expect(words()).toBe('typing /compact');
  });

  it('the log has a line when a command is typed all the same', () => {
    const lines: string[] = [];
    const played = playCompaction(
      { keepsCopy: true },
      {},
      ({ after }) => lines.push(...after.warnings),
      () => full,
    );
    played.is('ready');
    played.turn(HARD_TOKENS);
    played.wait(11_500);
    expect(lines).toContain(
      'compacting without a copy of the session file, because the window is at hard: disk full',
    );
  });
});

describe('a request of the user', () => {
  it('waits for the copy, and is carried out with it', () => {
    const { wait, ask, tell, typings, words } = play(20_000, undefined);
    ask('one');
    wait(3_000);
    expect([typings().length, words()]).toEqual([0, 'waiting: backing up the session file']);
    tell({ type: 'copied', id: 1, result: { kind: 'kept' } });
    expect(typings()).toHaveLength(1);
  });

  it('is refused without one, unless it is forced, as by the hotkey', () => {
    const plain = play(20_000, full);
    plain.ask('one');
    plain.wait(3_000);
    expect(plain.done.at(-1)?.effect).toMatchObject({ type: 'refused', reason: 'no copy (disk full)' });
    const forced = play(20_000, full);
    forced.ask('one', { force: true });
    forced.wait(3_000);
    expect(forced.typings()).toHaveLength(1);
    expect(forced.words()).toBe('typing /compact · no copy (disk full)');
  });

  it('tries a copy that has failed before once more at once', () => {
    const { wait, ask, copies, typings } = play(AUTO_TOKENS, full, { kind: 'kept' });
    wait(10_000);
    ask('one');
    wait(100);
    expect([copies().length, typings().length]).toEqual([2, 1]);
  });
});
