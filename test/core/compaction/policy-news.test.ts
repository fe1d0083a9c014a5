// What the log says of the breaker.
import { describe, expect, it } from 'vitest';
import { compactionRecord } from '../../../src/core/report/records.js';
import { AUTO_TOKENS, failOnce, HARD_TOKENS, playCompaction } from '../../support/compaction-play.js';

/** Three attempts that fail, each after a turn that left so many tokens. */
const failThrice = (count: number) => {
  const log: string[] = [];
  const play = playCompaction({}, {}, ({ after }) => log.push(...after.warnings));
  play.is('ready');
  for (const more of [0, 1, 2]) {
    play.turn(count + more);
    play.wait(75_000);
    failOnce(play);
  }
  return { play, log };
};

const OPEN = 'breaker open: 3 failures in a row, used 165,002 tokens';

describe('the log', () => {
  it('has one line when three failures open the breaker, with what was used', () => {
    expect(failThrice(AUTO_TOKENS).log).toEqual([OPEN]);
  });

  it('has one line for each attempt at hard that the open breaker would not have let through', () => {
    const { play, log } = failThrice(AUTO_TOKENS);
    play.turn(HARD_TOKENS);
    play.wait(15_000);
    const bypassed =
      'breaker bypassed at hard: 3 failures in a row, used 180,000 tokens, hard 177,000: 3,000 less than the effective window of 180,000';
    expect(log).toEqual([OPEN, bypassed]);
    failOnce(play);
    expect(log).toEqual([OPEN, bypassed, 'breaker open: 4 failures in a row, used 180,000 tokens']);
  });

  it('has none at hard while the breaker is closed, nor for what the user asks for', () => {
    const log: string[] = [];
    const play = playCompaction({}, {}, ({ after }) => log.push(...after.warnings));
    play.is('ready');
    play.turn(HARD_TOKENS);
    play.wait(15_000);
    expect(play.typings()).toHaveLength(1);
    failOnce(play);
    play.ask('mine', { force: true });
    play.wait(15_000);
    expect(play.typings()).toHaveLength(2);
    expect(log).toEqual([]);
  });
});

describe('whether the last one worked', () => {
  it('is told to other programs, from the first one on', () => {
    const told: (boolean | undefined)[] = [];
    const play = playCompaction({}, {}, ({ after }) => {
      const { compactSuccessful } = compactionRecord(after.compaction, after.record.past, undefined);
      if (told.length === 0 || told.at(-1) !== compactSuccessful) told.push(compactSuccessful);
    });
    play.is('ready');
    play.turn(AUTO_TOKENS);
    play.wait(15_000);
    failOnce(play);
    play.turn(AUTO_TOKENS + 1);
    play.wait(75_000);
    play.sent();
    play.boundary({ preTokens: AUTO_TOKENS, postTokens: 9_000 });
    expect(told).toEqual([undefined, false, true]);
  });
});

describe('the request that the words are about', () => {
  it('is told from its arrival to its end, and not with what came of it', () => {
    const told: (string | undefined)[] = [];
    const play = playCompaction({}, {}, ({ after }) => {
      const { request } = compactionRecord(after.compaction, after.record.past, undefined);
      if (told.length === 0 || told.at(-1) !== request) told.push(request);
    });
    play.is('busy');
    play.ask('mine');
    expect(told).toEqual([undefined, 'mine']);
    play.is('ready');
    play.wait(15_000);
    play.sent();
    expect(told).toEqual([undefined, 'mine']);
    failOnce(play);
    expect(told).toEqual([undefined, 'mine', undefined]);
  });
});
