import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { footerItems } from '../../src/core/format.js';
import type { FooterItem } from '../../src/core/format.js';
import type { Tier } from '../../src/core/ladder.js';
import type { FooterView } from '../../src/core/footer-view.js';
import { drawnFooter } from '../support/drawn-footer.js';
import type { Look } from '../../src/core/look.js';
import { seenAfter } from '../support/drawn-screen.js';
import { runs } from '../support/runs.js';

const view: FooterView = {
  runtime: 'claude',
  model: 'claude-opus-4-8',
  usedTokens: 124_000,
  windowTokens: 200_000,
  usedPercent: 62,
  tier: 'auto',
  estimated: false,
  windowInferred: false,
  compactions: 2,
};
const plain = (columns: number): Look => ({ columns, colorLevel: 0, ascii: false });
const drawn = (items: readonly FooterItem[], more: Partial<FooterView> = {}, columns = 80): string =>
  drawnFooter({ ...view, ...more }, plain(columns), items);

describe('what follows from the tier', () => {
  const noted = { ...view, tierNote: 'compacts when idle' };
  const widths = Array.from({ length: 181 }, (_, index) => index + 20);
  const row = (columns: number, more: Partial<FooterView> = {}): string =>
    drawnFooter({ ...noted, ...more }, plain(columns));

  it('stands beside its word wherever everything else has room, and in narrower rows the word alone', () => {
    expect(row(80)).toContain('124k/200k  auto: compacts when idle  ⟳2');
    expect(row(50)).toContain('124k/200k  auto  ⟳2');
    const first = widths.find((columns) => row(columns).includes('auto: compacts when idle')) ?? Infinity;
    expect(first).toBeLessThan(70);
    for (const columns of widths) {
      expect(row(columns).includes('auto: compacts when idle'), `${columns}`).toBe(columns >= first);
      expect(stringWidth(row(columns))).toBeLessThanOrEqual(columns);
    }
    for (const columns of widths.filter((each) => each < first))
      expect(row(columns)).toBe(drawnFooter(view, plain(columns)));
  });

  it('gives way to any message, and before the distance, but not to the hint', () => {
    for (const columns of widths)
      expect(row(columns, { words: 'waiting: the agent is busy' })).not.toContain('when idle');
    const distance = { to: 'limit', tokens: 41_000 } as const;
    expect(row(75, { distance })).toMatch(/auto {2}41k to your limit/);
    expect(row(200, { distance })).toMatch(/auto: compacts when idle {2}41k to your limit/);
    expect(row(70, { hint: 'Ctrl-] shows more' })).toContain('auto: compacts when idle');
  });
});

describe('what is wrong with the configuration', () => {
  const start: FooterView = {
    runtime: 'claude',
    note: 'waiting for the first turn',
    estimated: false,
    windowInferred: false,
    compactions: 0,
    hint: 'Ctrl-] overview',
  };
  const problems = [
    ['strategy zzz is not used: no such strategy', 'ctxwrap config set strategy auto'],
    ['strategy summarize is not used: no summariser is set', 'ctxwrap config set summariser.url agent'],
    ['backend zzz is not used', 'ctxwrap config set backend openai'],
    ['strategy zzz is not used: no such strategy', 'unset COMPACTION_STRATEGY'],
    ['strategy trunkate is not used: no such strategy', "export CTXWRAP_STRATEGY='truncate'"],
    ['strategy zzz is not used: no such strategy', '${EDITOR:-vi} ~/a/.ctxwrap.jsonc'],
  ] as const;

  it.each(problems)('%s: is said with the command that mends it from 80 columns on', (problem, fix) => {
    for (let columns = 80; columns <= 200; columns += 1) {
      const row = drawnFooter({ ...start, words: `${problem} · ${fix}` }, plain(columns));
      expect(row, `${columns}`).toContain(fix);
      expect(stringWidth(row)).toBeLessThanOrEqual(columns);
    }
  });

  it('is said in fewer words before the command goes', () => {
    const words = problems[0].join(' · ');
    const row = (columns: number): string => drawnFooter({ ...start, words }, plain(columns)).trim();
    expect(row(140)).toContain(words);
    expect(row(110)).toMatch(/first turn {2}strategy zzz is not used · ctxwrap config set strategy auto/);
    expect(row(80)).toMatch(/^claude +waiting +strategy zzz is not used · ctxwrap config set strategy auto/);
    expect(row(70)).toMatch(/^claude +waiting +no such strategy · ctxwrap config set strategy auto/);
    expect(row(60)).toMatch(/^claude +waiting +fix it: ctxwrap config set strategy auto/);
    expect(row(40)).not.toContain('ctxwrap');
  });
});

describe('a footer that the user has arranged', () => {
  it('shows the items in their order, and no others', () => {
    expect(drawn(['tier', 'percent', 'model'])).toBe(' auto  62%  claude-opus-4-8');
    expect(drawn(['used', 'runtime'])).toBe(' 124k/200k  claude');
    expect(drawn([...footerItems])).toMatch(
      /^ claude {2}claude-opus-4-8 {2}▰+▱+ {2}62% {2}124k\/200k {2}auto {2}⟳2$/,
    );
  });

  it('shows the model only where it was asked for', () => {
    expect(drawnFooter(view, plain(120))).not.toContain('opus');
  });

  it('shows the distance to the next compaction unless others were chosen', () => {
    const far = { distance: { to: 'limit', tokens: 41_000 } } as const;
    expect(drawnFooter({ ...view, ...far }, plain(120))).toContain('41k to your limit');
    expect(drawn(['distance', 'percent'], far)).toBe(' 41k to your limit  62%');
    expect(drawn(['percent', 'tier'], far)).toBe(' 62%  auto');
  });

  it('always has the message: what is about to be typed is never hidden', () => {
    const words = 'compacting in 8 s · Esc: not now';
    expect(drawn(['percent'], { words })).toBe(` 62%  ${words}`);
    expect(drawn(['message', 'percent'], { words })).toBe(` ${words}  62%`);
    expect(drawn(['tier'], { words }, 28)).toBe(' auto  compacting in 8 s');
  });

  it('says why there is no number', () => {
    const blank: FooterView = { runtime: 'codex', estimated: false, windowInferred: false, compactions: 0 };
    expect(drawnFooter({ ...blank, note: 'size pending' }, plain(80), ['bar'])).toBe(' size pending');
    const waiting = { ...blank, note: 'waiting for the first turn' };
    expect(drawnFooter(waiting, plain(80), ['bar'])).toBe(' waiting for the first turn');
    const words = 'waiting: a dialog is open';
    expect(drawnFooter({ ...waiting, words }, plain(80))).toMatch(
      /no number yet {2}waiting: a dialog is open/,
    );
  });

  it('is never empty: with nothing to say it shows what matters most', () => {
    const { tier: _, ...rest } = view;
    expect(drawnFooter(rest, plain(80), ['tier'])).toBe(' 62%');
  });

  it.each([
    { columns: 60, row: ' ⟳2  claude-opus-4-8  ▰▰▰▰▱▱▱  62%  auto  claude' },
    { columns: 50, row: ' ⟳2  claude-opus-4-8  ▰▰▰▰▱▱  62%  auto  claude' },
    { columns: 44, row: ' ⟳2 claude-opus-4-8 ▰▰▰▰▱▱ 62% auto claude' },
    { columns: 40, row: ' claude-opus-4-8 ▰▰▰▰▱▱ 62% auto claude' },
    { columns: 30, row: ' ▰▰▰▰▱▱  62%  auto  claude' },
    { columns: 20, row: ' ▰▰▰▰▱▱  62%  auto' },
    { columns: 12, row: ' 62%  auto' },
  ])('gives up the same parts first as the usual one: $columns columns', ({ columns, row }) => {
    expect(drawn(['compactions', 'model', 'bar', 'percent', 'tier', 'runtime'], {}, columns)).toBe(row);
  });

  it('cuts a long name of a model off', () => {
    expect(drawn(['model'], { model: 'm'.repeat(60) })).toBe(` ${'m'.repeat(23)}…`);
  });
});

describe('names in any script', () => {
  it.each([
    ['模型-大', ' 模型-大'],
    ['モデル', ' モデル'],
    ['큰 모델', ' 큰 모델'],
    ['rocket 🚀', ' rocket _'],
    ['👨‍👩‍👧 x', ' _____ x'],
    ['a\u0301\u200bb\u202ec', ' á_b_c'],
    ['\u1112\u1161\u11ab\u1161\u3164', ' 한__'], // Hangul in parts, and a filler
    ['กำ', ' ก_'],
  ])('%s is drawn as %j', (model, row) => {
    expect(drawn(['model'], { model })).toBe(row);
    expect(drawn(['model'], { model: 'x', words: model })).toBe(` x ${row}`);
  });

  const anyText = fc.string({
    unit: fc.oneof(
      fc.constantFrom(
        '模',
        '型',
        'モ',
        '큰',
        'ﾊ',
        '🚀',
        '👨‍👩‍👧',
        '🇩🇪',
        'é',
        'e\u0301',
        'ﷺ',
        '\u1100',
        '\u1161',
        '\u0e33',
        '\u0d4e',
        '\u200d',
        '\ufe0f',
        '\x1b',
        '\n',
        '→',
        'a',
      ),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
    maxLength: 60,
  });
  const anyRow = fc.record({
    view: fc.record({
      runtime: anyText,
      model: anyText,
      words: anyText,
      usedTokens: fc.nat(3_000_000),
      windowTokens: fc.nat(3_000_000),
      usedPercent: fc.double({ min: 0, max: 130, noNaN: true }),
      tier: fc.constantFrom<Tier>('safe', 'warn', 'auto', 'hard'),
      estimated: fc.boolean(),
      windowInferred: fc.boolean(),
      compactions: fc.nat(99),
      wayPercent: fc.double({ min: 0, max: 100, noNaN: true }),
      distance: fc.record({
        to: fc.constantFrom('limit', 'own'),
        tokens: fc.integer({ min: 1, max: 3_000_000 }),
      }),
    }),
    items: fc.option(fc.shuffledSubarray([...footerItems], { minLength: 1 }), { nil: undefined }),
    columns: fc.integer({ min: 20, max: 200 }),
    ascii: fc.boolean(),
  });

  it('never make the row wrap: whatever is shown, in whatever order, from 20 to 200 columns', async () => {
    await fc.assert(
      fc.asyncProperty(anyRow, async ({ view, items, columns, ascii }) => {
        const row = drawnFooter(view, { columns, colorLevel: 2, ascii, background: 'dark' }, items);
        const text = row.replaceAll(/\x1b\[[\d;]*m/g, '');
        expect(stringWidth(row)).toBeLessThanOrEqual(columns);
        expect(text).not.toMatch(/[\x00-\x1f\x7f-\x9f\p{Cf}\p{M}]/u);
        expect(text.trim()).not.toBe('');
        // as a terminal counts that knows of no clusters
        expect([...text].reduce((sum, char) => sum + stringWidth(char), 0)).toBe(stringWidth(text));
        const { screen } = await seenAfter(row, { columns, rows: 3 });
        expect(screen.cursorRow).toBe(0);
        expect([1, 2].map((each) => screen.text(each))).toEqual(['', '']);
      }),
      runs(150),
    );
  });
});

describe('a theme', () => {
  it.each([
    ['light', '38;2;168;67;0'],
    ['dark', '38;2;255;135;0'],
    [undefined, '38;2;200;96;26'],
  ] as const)('for a background that is %s has its own colours', (background, sequence) => {
    const look = { columns: 80, colorLevel: 3, ascii: false, background } as const;
    expect(drawnFooter(view, look)).toContain(sequence);
  });

  it('of 16 colours is that of the terminal, whatever its background', () => {
    const row = (background: 'light' | 'dark') =>
      drawnFooter(view, { columns: 80, colorLevel: 1, ascii: false, background });
    expect(row('light')).toBe(row('dark'));
  });
});
