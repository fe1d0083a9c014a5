import { describe, expect, it } from 'vitest';
import { findNativeHold } from '../../../src/core/compaction/policy.js';
import { sessionRecord } from '../../../src/core/report/records.js';
import type { Liveness } from '../../../src/core/report/records.js';
import { compacted, grew, sessionAfter, shows, tokens } from '../../support/sessions.js';
import type { Timed } from '../../support/sessions.js';

const identity = { id: 'me', version: '1', pid: 1, childPid: 2, runtime: 'claude', cwd: '/', startedAt: 1 };
const NATIVE = { share: 1, reserveTokens: 33_000 };

/** Hard is at 177,000 of 200,000 unless the user says otherwise. */
const held = (
  events: readonly Timed[],
  {
    auto,
    hard,
    liveness = 'live',
  }: { readonly auto?: number; readonly hard?: number; readonly liveness?: Liveness } = {},
) => {
  const bound = (value: number | undefined) =>
    value === undefined ? undefined : ({ value, unit: 'tokens' } as const);
  const [atAuto, atHard] = [bound(auto), bound(hard)];
  const ladder = { ...(atAuto ? { auto: atAuto } : {}), ...(atHard ? { hard: atHard } : {}) };
  const record = sessionRecord(identity, sessionAfter(events, { native: NATIVE, ladder }), {}, 5_000);
  return findNativeHold({ record, liveness });
};

describe('the agent’s own compaction', () => {
  it.each([
    [168_000, '168000 tokens used, held until 177000'],
    [176_999, '176999 tokens used, held until 177000'],
    [177_000, undefined], // the boundary is hard
    [190_000, undefined],
  ])('at %d tokens: %s', (used, reason) => {
    expect(held([[1, tokens('log', used)]])).toBe(reason);
  });

  it('is held no longer than the window bears, whatever hard is set to', () => {
    expect(held([[1, tokens('log', 179_999)]], { hard: 199_000 })).toContain('held until 180000');
    expect(held([[1, tokens('log', 180_000)]], { hard: 199_000 })).toBeUndefined();
    expect(held([[1, tokens('log', 180_000)]], { auto: 190_000 })).toBeUndefined(); // hard is raised to it
  });

  it('is not held in a window that the user has given: its own may be smaller', () => {
    const events = [
      [0, { type: 'user-window', windowTokens: 1_000_000 }],
      [1, tokens('log', 168_000)],
    ] as const;
    expect(held(events)).toBeUndefined();
  });

  it('is held by what Claude counts, its last answer included', () => {
    const events = [[1, tokens('log', 179_000, { answerTokens: 900 })]] as const;
    expect(held(events, { hard: 199_000 })).toBe('179900 tokens used, held until 180000');
    expect(held([[1, tokens('log', 179_000, { answerTokens: 1_000 })]], { hard: 199_000 })).toBeUndefined();
  });

  it.each<{ readonly why: string; readonly events: readonly Timed[]; readonly liveness?: Liveness }>([
    { why: 'no number is known', events: [] },
    { why: 'only a percentage is known', events: [[1, shows(70)]] },
    { why: 'the window is only assumed', events: [[1, tokens('log', 168_000, { windowSource: 'default' })]] },
    {
      why: 'the window is what the user says, and may be larger than its own',
      events: [
        [1, { type: 'user-window', windowTokens: 1_000_000 }],
        [2, tokens('log', 199_000)],
      ],
    },
    {
      why: 'the last number is void',
      events: [
        [1, tokens('log', 168_000)],
        [2, compacted()],
      ],
    },
    {
      why: 'new text alone may have reached hard',
      events: [
        [1, tokens('log', 168_000)],
        [2, grew(20_000)],
      ],
    },
    { why: 'the wrapper is silent', events: [[1, tokens('log', 168_000)]], liveness: 'stale' },
    { why: 'the wrapper is gone', events: [[1, tokens('log', 168_000)]], liveness: 'dead' },
  ])('is left alone where $why', ({ events, liveness }) => {
    expect(held(events, liveness ? { liveness } : {})).toBeUndefined();
  });

  it('is left alone where nobody wraps', () => {
    expect(findNativeHold(undefined)).toBeUndefined();
  });
});
