// The page of the overview with the choice of a limit.
import { describe, expect, it } from 'vitest';
import { startCompaction } from '../../../src/core/compaction/state.js';
import type { LadderChoice } from '../../../src/core/ladder.js';
import { isReached, limitSection, markedChoice } from '../../../src/core/report/limit-page.js';
import type { Session } from '../../../src/core/session.js';
import { settings } from '../../support/compaction-play.js';
import { sessionAfter, tokens } from '../../support/sessions.js';

const native = { share: 1, reserveTokens: 33_000 };

const session = (windowTokens: number, ladder: LadderChoice = {}): Session =>
  sessionAfter([[0, tokens('log', 90_000, { windowTokens, windowSource: 'agent' })]], {
    agent: 'claude',
    native,
    ladder,
  });

const page = (state: Session, more: object = {}) => {
  const { title, rows } = limitSection(state, startCompaction({ ...settings, ...more }), undefined);
  return { title, texts: rows.map(({ text }) => text), marked: markedChoice(state, undefined) };
};

const limit = (value: number): LadderChoice => ({ auto: { value, unit: 'tokens' } });

describe('the choice of a limit', () => {
  it('marks the limit that is set, or else the first', () => {
    expect(page(session(1_000_000))).toMatchObject({ title: 'Limit (now none)', marked: 0 });
    const set = page(session(1_000_000, limit(300_000)));
    expect(set).toMatchObject({ title: 'Limit (now 300,000 tokens)', marked: 1 });
    expect(set.texts[1]).toBe('now');
    expect(page(session(1_000_000, limit(250_000)))).toMatchObject({
      title: 'Limit (now 250,000 tokens)',
      marked: 0,
    });
    expect(markedChoice(session(1_000_000), { choice: 3, span: 'session' })).toBe(3);
  });

  it('names a limit that is set and cannot be reached, and does not say that there is none', () => {
    const state = session(400_000, limit(500_000));
    const { title, texts, marked } = page(state);
    expect([title, marked, isReached(state)]).toEqual([
      'Limit (now 500,000 tokens, not reached here)',
      2,
      false,
    ]);
    expect(texts.slice(0, 4)).toEqual(['', '', 'now, not reached here', 'at 359k']);
    expect(page({ ...session(400_000), limit: { value: 500_000, unit: 'tokens' } }).title).toBe(title);
  });

  it('lets each limit be reached that the boundaries let be reached, also in a window that the user has set', () => {
    const state = sessionAfter(
      [
        [0, tokens('log', 90_000, { windowTokens: 200_000, windowSource: 'agent' })],
        [1, { type: 'user-window', windowTokens: 400_000 }],
      ],
      { agent: 'claude', native },
    );
    expect(page(state).texts.slice(0, 3)).toEqual(['', '', 'not reached here']);
  });

  it('says what happens above it, also where the command is not known', () => {
    const last = (more: object): string | undefined => page(session(1_000_000), more).texts.at(-1);
    expect(last({})).toContain('told to compact');
    expect(last({ command: undefined })).toContain('Above it nothing happens');
  });
});
