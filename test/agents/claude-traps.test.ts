import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ScreenEvidence } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import { BUSY, HINTS, conversation, drawn, look, seenOf } from '../support/claude-frame.js';
import { atRight, viewOf } from '../support/claude-view.js';
import type { Drawn } from '../support/claude-view.js';
import { playScreens } from '../support/screen-play.js';

// Every text that means something where Claude writes it, and nothing in a conversation or a draft.
const markers = [
  '3% until auto-compact',
  '97% context used',
  'Context low (4% remaining) · Run /compact to compact & continue',
  'Context left until auto-compact: 2%',
  '✻ Conversation compacted (ctrl+o for history)',
  '✢ Compacting conversation…',
  '▰▰▰▱▱▱▱▱ 8%',
  '⎿  Compacted (ctrl+o to see full summary)',
  '⎿  Set model to Opus 4.8 (1M context) and saved as your default for new sessions',
  '✽ Scurrying… (4s · ↓ 391 tokens)',
  'Done (0 tool uses · 190.0k tokens · 0s)',
  '129.9k/200k tokens (65%)',
  'Do you want to proceed?',
  '❯ 1. Yes',
  '❯',
  'Esc to cancel · Tab to amend',
  'Enter to confirm · Esc to cancel',
  'esc to interrupt',
  '-- INSERT --',
  '! for shell mode',
  'search prompts:',
  '▝▜█████▛▘  Opus 4.8 (1M context) · API Usage Billing',
  '─'.repeat(120),
];

describe('what a conversation and a draft cannot do', () => {
  const bases: readonly (readonly [string, ScreenEvidence])[] = [
    ['idle', seenOf(drawn())],
    ['full', seenOf(drawn({ footer: [atRight(100, '11% until auto-compact', HINTS)] }))],
    ['busy', seenOf(drawn({ above: [...conversation, '✽ Scurrying… (4s)', ''] }), BUSY)],
    [
      'compacting',
      seenOf(drawn({ above: [...conversation, '❯ /compact', '', '✢ Compacting conversation…', ''] }), BUSY),
    ],
  ];
  const said = fc
    .tuple(
      fc.constantFrom('● ', '  ', '  ⎿  ', '     ', '❯ ', '    '),
      fc.oneof(fc.constantFrom(...markers), fc.string({ maxLength: 40 })),
      fc.nat(60),
      fc.constantFrom(...markers, ''),
    )
    .map(([prefix, first, gap, second]) =>
      `${prefix}${first}${' '.repeat(gap)}${second}`.slice(0, 100).trimEnd(),
    )
    .filter((row) => !row.includes('─'.repeat(100)));
  const rowsOf = ({ screen }: ScreenEvidence) => Array.from({ length: 24 }, (_, row) => screen.text(row));
  const withRows = (seen: ScreenEvidence, rows: readonly string[]): ScreenEvidence => {
    const { cursorRow, cursorColumn, columns } = seen.screen;
    const screen: Drawn = {
      columns,
      rows: [...rows, ...rowsOf(seen)].map((row) => row),
      cursor: [cursorRow + rows.length, cursorColumn],
    };
    return { ...seen, screen: viewOf(screen) };
  };

  it.each(bases)('a conversation above the frame changes nothing (%s)', (_, seen) => {
    const { activity, facts } = look(seen);
    fc.assert(
      fc.property(fc.array(said, { minLength: 1, maxLength: 12 }), (rows) => {
        const step = look(withRows(seen, rows));
        expect([step.activity, step.facts]).toEqual([activity, facts]);
      }),
    );
  });

  it('a conversation right above the prompt gives no number, no window and no activity', () => {
    fc.assert(
      fc.property(fc.array(said, { minLength: 1, maxLength: 12 }), (rows) => {
        const step = look(seenOf(drawn({ above: [...conversation, ...rows, ''] })));
        expect([step.activity.activity, step.facts]).toEqual(['ready', []]);
      }),
    );
  });

  it('a draft is a draft whatever it says', () => {
    const text = fc
      .tuple(fc.constantFrom(...markers), fc.string({ maxLength: 20 }))
      .map(([marker, more]) => `${marker}${more}`.slice(0, 90).trimEnd());
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), ([first = '', ...rest]) => {
        const prompt = [`❯\u00a0${first}`, ...rest.map((row) => `  ${row}`)];
        const step = look(seenOf(drawn({ prompt })));
        expect([step.activity.activity, step.facts]).toEqual(['draft', []]);
      }),
    );
  });

  it('the imitations in a recording are never read', async () => {
    const looks = await playScreens('claude/traps', agents.claude);
    expect(looks.length).toBeGreaterThan(8);
    const kinds = looks.flatMap(({ facts }) => facts.map(({ type }) => type));
    expect(new Set(kinds)).toEqual(new Set(['window']));
    expect(looks.some(({ activity }) => ['dialog', 'compacting'].includes(activity.activity))).toBe(false);
  });
});
