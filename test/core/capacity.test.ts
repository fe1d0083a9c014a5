// A window that becomes smaller while a session runs, through the whole flow of the session.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/core/event.js';
import { currentMessage } from '../../src/core/messages.js';
import type { WindowSource } from '../../src/core/reading.js';
import { NOON, playCompaction } from '../support/compaction-play.js';

const used = (usedTokens: number, model: string): Event => ({
  type: 'reading',
  reading: { usedTokens, source: 'log', model, at: NOON },
});
const window = (windowTokens: number, model: string, windowSource: WindowSource = 'agent'): Event => ({
  type: 'window',
  claim: { windowTokens, windowSource, model },
});

/** What the footer and the log say, one after the other. */
const said = (...events: readonly Event[]) => {
  const footer: string[] = [];
  const log: string[] = [];
  const play = playCompaction({ mode: 'warn' }, {}, ({ after, now }) => {
    const text = currentMessage(after.messages, after.compaction, now)?.text;
    if (text !== undefined && text !== footer.at(-1)) footer.push(text);
    log.push(...after.warnings);
  });
  for (const event of events) {
    play.tell(event);
    play.wait(20_000);
  }
  return { footer, log };
};

const BIG = [window(1_000_000, 'opus'), used(50_000, 'opus')] as const;
const REDUCED = 'reduced capacity: window 1.0M → 200k (haiku)';

describe('a window that becomes smaller', () => {
  it('is said once in the footer and the log, when another model runs', () => {
    const heard = said(...BIG, window(200_000, 'haiku'), used(51_000, 'haiku'), used(52_000, 'haiku'));
    expect(heard).toEqual({ footer: [REDUCED], log: [REDUCED] });
  });

  it('is said although the conversation is another one', () => {
    const heard = said(
      { type: 'session-changed', sessionId: 'one' },
      ...BIG,
      { type: 'session-changed', sessionId: 'two' },
      window(200_000, 'haiku'),
      used(5_000, 'haiku'),
    );
    expect(heard.log).toEqual([REDUCED]);
  });

  it('is said when the agent gives the same model less', () => {
    expect(said(...BIG, window(200_000, 'opus')).log).toEqual([
      'reduced capacity: window 1.0M → 200k (opus)',
    ]);
  });

  it.each<[string, readonly Event[]]>([
    ['a larger one', [window(200_000, 'haiku'), used(5_000, 'haiku'), window(1_000_000, 'opus')]],
    [
      'a better word on the same model',
      [window(1_000_000, 'opus', 'table'), used(5_000, 'opus'), window(200_000, 'opus')],
    ],
    ['what the user sets', [...BIG, { type: 'user-window', windowTokens: 100_000 }]],
    ['a guess', [...BIG, window(200_000, 'haiku', 'default'), used(51_000, 'haiku')]],
  ])('is not %s', (_, events) => {
    expect(said(...events).log).toEqual([]);
  });
});
