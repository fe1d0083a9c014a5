import { describe, expect, it } from 'vitest';
import { provenance } from '../../src/core/report/report.js';
import type { SessionStart } from '../../src/core/session.js';
import { footerView } from '../../src/core/footer-view.js';
import {
  blank,
  claim,
  compacted,
  grew,
  inSession,
  sessionAfter,
  shows,
  tokens,
} from '../support/sessions.js';
import type { Timed } from '../support/sessions.js';

const claude = { share: 1, reserveTokens: 33_000 };

/** What counts a minute after the last event. */
const known = (events: readonly Timed[], start: Partial<SessionStart> = {}) =>
  provenance(sessionAfter(events, start), 60_000);
const view = (events: readonly Timed[], start: Partial<SessionStart> = {}) =>
  footerView(sessionAfter(events, start), 60_000);

describe('the most trusted source', () => {
  it('is shown, whatever came last', () => {
    const events: Timed[] = [
      [1, tokens('official', 40_000)],
      [2, tokens('log', 39_000)],
      [3, shows(20)],
    ];
    expect(known(events)).toMatchObject({ source: 'official', usedTokens: 40_000, exact: true });
    expect(known(events.slice(1))).toMatchObject({ source: 'log', usedTokens: 39_000, exact: true });
    expect(known(events.slice(2))).toMatchObject({ source: 'screen', usedPercent: 20, exact: true });
  });

  it('is gone when it has missed an answer that the file tells of', () => {
    const events: Timed[] = [
      [1, tokens('official', 40_000)],
      [2, tokens('log', 41_000)], // the status line is a moment later
    ];
    expect(known(events)).toMatchObject({ source: 'official' });
    expect(known([...events, [9, tokens('log', 42_000)]])).toMatchObject({
      source: 'log',
      usedTokens: 42_000,
    });
  });

  it('keeps all the others beside it', () => {
    const events: Timed[] = [
      [1, tokens('log', 40_000, { at: 900 })],
      [2, shows(20)],
      [3, grew(500)],
    ];
    expect(known(events)?.candidates).toMatchObject([
      { source: 'log', usedTokens: 40_000, ageMs: 59_100, at: 900 },
      { source: 'screen', usedPercent: 20, ageMs: 58_000 },
      { source: 'estimate', usedTokens: 40_500 },
    ]);
  });
});

describe('a worse source', () => {
  it('may only raise the tier, and is marked then', () => {
    const log: Timed = [1, tokens('log', 140_000)];
    expect(view([log, [2, shows(72)]])).toMatchObject({
      tier: 'safe',
      usedTokens: 140_000,
      estimated: false,
    });
    expect(view([log, [2, shows(74)]])).toMatchObject({ tier: 'warn', usedPercent: 74, estimated: true });
    expect(known([log, [2, shows(74)]])).toMatchObject({ source: 'screen', raised: true, exact: false });
    expect(
      view([
        [1, tokens('log', 150_000)],
        [2, shows(71)],
      ]),
    ).toMatchObject({
      tier: 'warn',
      usedTokens: 150_000,
    });
  });

  it('is looked at again after a better number before it raises anything', () => {
    const events: Timed[] = [
      [1, shows(95)],
      [2, tokens('log', 140_000)],
    ];
    expect(view(events)).toMatchObject({ tier: 'safe', estimated: false });
    expect(view([...events, [3, shows(95)]])).toMatchObject({ tier: 'hard', estimated: true });
  });

  it('that is one number behind raises nothing (Gemini’s footer)', () => {
    const events: Timed[] = [
      [1, tokens('log', 180_000)],
      [2, shows(90)],
      [3, tokens('log', 60_000)],
      [4, shows(90)],
    ];
    expect(view(events)).toMatchObject({ tier: 'safe', usedTokens: 60_000 });
  });

  it('goes away with the screen’s number', () => {
    const events: Timed[] = [
      [1, tokens('log', 140_000)],
      [2, shows(74)],
      [3, blank],
    ];
    expect(view(events)).toMatchObject({ tier: 'safe', usedTokens: 140_000 });
    expect(
      view([
        [1, shows(74)],
        [2, blank],
      ]).note,
    ).toBe('no reading');
  });

  it('estimated from text that came after the number is shown with ~ when it raises the tier', () => {
    const log: Timed = [1, tokens('log', 146_000)];
    expect(view([log, [2, grew(999)]])).toMatchObject({ usedTokens: 146_000, estimated: false });
    expect(view([log, [2, grew(999)], [3, grew(1)]])).toMatchObject({
      usedTokens: 147_000,
      tier: 'warn',
      estimated: true,
    });
    expect(known([log, [2, grew(1_000)]])).toMatchObject({ source: 'estimate', exact: false });
    // the next number holds all of it
    expect(view([log, [2, grew(1_000)], [3, tokens('log', 146_500)]])).toMatchObject({ usedTokens: 146_500 });
    // also where the file said about as much before
    const before: Timed[] = [
      [0, tokens('log', 150_000)],
      [1, tokens('log', 100_000)],
    ];
    expect(view([...before, [2, grew(50_000)]])).toMatchObject({ usedTokens: 150_000, estimated: true });
    // the status line tells of the same answer a moment later
    expect(view([log, [2, grew(1_000)], [3, tokens('official', 146_000)]])).toMatchObject({
      usedTokens: 147_000,
    });
    expect(view([log, [2, grew(Number.NaN)], [3, grew(-5)]])).toMatchObject({ estimated: false });
    expect(view([[1, grew(90_000)]]).note).toBe('waiting for the first turn');
  });
});

describe('a percentage on a basis of its own', () => {
  it('is displayed as the share of the window that the tokens behind it are, which decide on the tier', () => {
    const known200: Timed = [0, claim(200_000, 'agent')];
    // 85 % of what Claude fills before it compacts are 141 950 tokens: not yet warn at 142 000
    const view85 = view([known200, [1, shows(85, 'auto-compact', 167_000)]], { native: claude });
    expect(view85).toMatchObject({ usedPercent: 70.975, tier: 'safe', windowTokens: 200_000 });
    expect(view([known200, [1, shows(86, 'auto-compact')]], { native: claude }).tier).toBe('warn');
    expect(view([known200, [1, shows(81, 'effective')]]).tier).toBe('safe'); // 145 800
    expect(view([known200, [1, shows(82, 'effective')]]).tier).toBe('warn'); // 147 600
    expect(view([known200, [1, shows(72, 'baseline', 188_000)]]).tier).toBe('warn'); // 12 000 + 135 360
    expect(view([known200, [1, shows(71, 'baseline', 188_000)]]).tier).toBe('safe');
  });

  it('above a baseline is how the agent fills its window, and stays as its own screen says it', () => {
    const known: Timed = [0, claim(200_000, 'agent')];
    expect(view([known, [1, shows(46, 'baseline', 188_000)]])).toMatchObject({ usedPercent: 46 });
  });

  it.each([
    [99, 'auto-compact', 82.665],
    [82, 'effective', 73.8],
  ] as const)('%i %% on %s is %f %% of a window of 200k', (percent, basis, share) => {
    const shown = view(
      [
        [0, claim(200_000, 'agent')],
        [1, shows(percent, basis)],
      ],
      { native: claude },
    );
    expect(shown).toMatchObject({ usedPercent: expect.closeTo(share, 3) });
    expect(shown.note).toBeUndefined();
  });

  it.each([
    [99, 'auto-compact', '1% until auto-compact'],
    [100, 'auto-compact', '0% until auto-compact'],
    [82, 'effective', '82% context used'],
  ] as const)(
    '%i %% on %s is told as the agent does while the window is unknown: %s',
    (percent, basis, note) => {
      const shown = view([[1, shows(percent, basis)]], { native: claude });
      expect(shown).toMatchObject({ note });
      expect(shown.usedPercent).toBeUndefined();
    },
  );

  it.each(['auto-compact', 'effective', 'baseline', 'window'] as const)(
    'on %s is judged by 70/85/95 while no window is certain',
    (basis) => {
      for (const sizes of [[], [[0, claim(200_000, 'default')]]] as const) {
        expect(view([...sizes, [1, shows(84, basis)]]).tier).toBe('warn');
        expect(view([...sizes, [1, shows(85, basis)]]).tier).toBe('auto');
      }
    },
  );

  it('names its basis and denominator in the reason', () => {
    expect(known([[1, shows(82, 'effective')]])?.reason).toBe(
      "the agent's screen: 82% of the window less the room for the answer",
    );
    const events: Timed[] = [
      [1, tokens('log', 140_000)],
      [2, shows(74)],
    ];
    expect(known(events)?.reason).toBe(
      "the agent's screen: 74% of the window; window 200,000 from the model table; above the session file with 140,000 tokens",
    );
  });
});

describe('after a compaction', () => {
  const full: readonly Timed[] = [
    [1, tokens('log', 160_000)],
    [2, shows(80)],
    [3, compacted()],
  ];

  it('no source has a number until a file or a status line gives one', () => {
    expect(view(full).note).toBe('size pending');
    expect(view([...full, [4, shows(80)], [5, shows(20)]]).note).toBe('size pending');
    expect(view([...full, [4, tokens('log', 12_000)]])).toMatchObject({ usedTokens: 12_000 });
    expect(view([...full, [4, tokens('official', 12_000)]])).toMatchObject({ usedTokens: 12_000 });
  });

  it('the number that stayed on the screen raises nothing', () => {
    const next: Timed = [5, tokens('log', 12_000)];
    expect(view([...full, next, [6, shows(80)]])).toMatchObject({ tier: 'safe', usedTokens: 12_000 });
    expect(view([...full, [4, blank], next, [6, shows(80)]])).toMatchObject({ tier: 'safe' });
    expect(view([...full, next, [6, shows(81)]])).toMatchObject({ tier: 'warn' });
    // nor one that was hidden while the agent compacted
    const hidden = full.toSpliced(2, 0, [2.5, blank]);
    expect(view([...hidden, next, [6, shows(80)]])).toMatchObject({ tier: 'safe', usedTokens: 12_000 });
  });

  it('an estimate of the file is shown as one', () => {
    expect(view([...full, [4, tokens('estimate', 8_000)]])).toMatchObject({
      usedTokens: 8_000,
      estimated: true,
    });
  });

  it('zeros are no number', () => {
    const zero = { usedPercent: 0 };
    expect(view([...full, [4, tokens('official', 0, zero)]]).note).toBe('size pending');
    // a status line that is quicker than the file
    const early: Timed[] = [
      [1, tokens('official', 160_000)],
      [2, tokens('official', 0, zero)],
    ];
    expect(view(early)).toMatchObject({ note: 'size pending', compactions: 0 });
    expect(view([...early, [3, compacted()]])).toMatchObject({ note: 'size pending', compactions: 1 });
  });

  it('nothing used is a number only on the screen, or above a baseline', () => {
    expect(
      view([
        [1, shows(50)],
        [2, shows(0)],
      ]),
    ).toMatchObject({ usedPercent: 0 });
    const seen: Timed[] = [
      [1, shows(50)],
      [2, compacted('screen')],
    ];
    expect(view([...seen, [3, shows(0)]]).note).toBe('size pending');
    expect(view([...seen, [3, shows(0, 'baseline')]])).toMatchObject({ usedPercent: 0 });
  });

  it('the screen’s next number counts where nothing better was ever seen', () => {
    const seen: Timed[] = [
      [1, shows(80)],
      [2, compacted('screen')],
    ];
    expect(view(seen)).toMatchObject({ note: 'size pending', compactions: 1 });
    expect(view([...seen, [3, shows(80)]]).note).toBe('size pending');
    expect(view([...seen, [3, shows(7)]])).toMatchObject({ usedPercent: 7 });
  });

  it('seen on the screen counts only where no file tells', () => {
    const both: Timed[] = [
      [1, tokens('log', 160_000)],
      [2, compacted('screen')],
    ];
    expect(view(both)).toMatchObject({ compactions: 0, usedTokens: 160_000 });
    expect(
      view([
        [1, tokens('official', 160_000)],
        [2, compacted('screen')],
      ]),
    ).toMatchObject({ compactions: 1 });
    const broken: Timed = [2, { type: 'source-problem', reason: 'unreadable' }];
    expect(view([both[0] ?? [0, blank], broken, [3, compacted('screen')]])).toMatchObject({ compactions: 1 });
  });
});

describe('another conversation', () => {
  it('has no number of the one before, and no count of compactions is lost', () => {
    const events: Timed[] = [
      [0, inSession('a')],
      [1, tokens('official', 160_000)],
      [2, tokens('log', 160_000)],
      [3, shows(80)],
      [4, grew(9_000)],
      [5, compacted()],
      [6, tokens('log', 20_000)],
      [7, inSession('b')],
    ];
    expect(view(events)).toMatchObject({ note: 'waiting for the first turn', compactions: 1 });
    expect(view([...events, [8, shows(80)]])).toMatchObject({ note: 'waiting for the first turn' });
    expect(view([...events, [8, shows(1)]])).toMatchObject({ usedPercent: 1 });
  });

  it('that only gets its first name keeps what was seen of it', () => {
    expect(
      view([
        [1, shows(80)],
        [2, inSession('a')],
      ]),
    ).toMatchObject({ usedPercent: 80 });
  });
});

describe('a session file that fails', () => {
  it('takes only its own numbers along', () => {
    const failed: Timed = [3, { type: 'source-problem', reason: 'not JSON' }];
    expect(view([[1, tokens('log', 20_000)], [2, shows(10)], failed])).toMatchObject({ usedPercent: 10 });
    expect(view([[1, tokens('log', 20_000)], failed]).note).toBe('no reading');
  });
});
