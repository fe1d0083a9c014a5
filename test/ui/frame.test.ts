import fc from 'fast-check';
import stringWidth from 'string-width';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Tier } from '../../src/core/ladder.js';
import type { FooterView } from '../../src/core/footer-view.js';
import { type FooterItem, footerItems } from '../../src/core/format.js';
import { drawnFooter } from '../support/drawn-footer.js';
import type { ColorLevel, Look } from '../../src/core/look.js';
import { runs } from '../support/runs.js';
import { footerRow, rowText } from '../../src/ui/footer-row.js';

const known: FooterView = {
  runtime: 'claude',
  usedTokens: 124_000,
  windowTokens: 200_000,
  usedPercent: 62,
  tier: 'safe',
  estimated: false,
  windowInferred: false,
  compactions: 2,
};
const unknown: FooterView = { runtime: 'codex', estimated: false, windowInferred: false, compactions: 0 };
const guessed: FooterView = {
  ...known,
  usedTokens: 524_288,
  windowTokens: 1_048_576,
  usedPercent: 50,
  tier: 'warn',
  estimated: true,
  windowInferred: true,
};

const plain = (columns: number): Look => ({ columns, colorLevel: 0, ascii: false });
/** What Ink draws, without its colours, and without the time that it takes. */
const textOf = (view: FooterView, look: Look, items?: readonly FooterItem[]): string =>
  rowText(footerRow(view, look, items));
const sgr = /\x1b\[[\d;]*m/g;
const bare = (row: string): string => row.replaceAll(sgr, '');
const widths = Array.from({ length: 181 }, (_, index) => index + 20);

const views: readonly { name: string; view: FooterView; percent?: string }[] = [
  { name: 'an empty window', view: { ...known, usedTokens: 0, usedPercent: 0 }, percent: '0%' },
  { name: 'a safe reading', view: known, percent: '62%' },
  {
    name: 'a hard reading',
    view: { ...known, usedTokens: 178_000, usedPercent: 89, tier: 'hard' },
    percent: '89%',
  },
  { name: 'a guessed reading', view: guessed, percent: '~50%' },
  { name: 'only a percentage', view: { ...unknown, usedPercent: 40.4, tier: 'safe' }, percent: '40%' },
  {
    name: 'an overfull window',
    view: { ...known, usedTokens: 231_000, usedPercent: 100, isOver: true, tier: 'hard' },
    percent: '>100%',
  },
  { name: 'a long runtime name', view: { ...known, runtime: 'r'.repeat(250) }, percent: '62%' },
  { name: 'many compactions', view: { ...known, compactions: 123_456 }, percent: '62%' },
  { name: 'no reading', view: { ...unknown, note: 'no reading' } },
  { name: 'a pending size', view: { ...unknown, compactions: 3, note: 'size pending' } },
  { name: 'the first turn', view: { ...unknown, note: 'waiting for the first turn' } },
  {
    name: 'an agent’s own percentage',
    view: { ...unknown, tier: 'auto', note: '1% until auto-compact' },
    percent: '1% until',
  },
  { name: 'nothing at all', view: unknown },
];

describe('the footer row', () => {
  it.each(views)('$name is one row within every width from 20 to 200', ({ view, percent }) => {
    for (const columns of widths) {
      for (const ascii of [false, true]) {
        const row = textOf(view, { columns, colorLevel: 3, ascii });
        expect(stringWidth(row), `at ${columns}`).toBeLessThanOrEqual(columns);
        expect(row, `at ${columns}`).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
        expect(row.trim(), `at ${columns}`).not.toBe('');
        expect(row, `at ${columns}`).toContain(percent ?? '');
      }
    }
  });

  it.each([80, 100, 120, 160])(
    'keeps the length of its bar when a usual message appears: %s columns',
    (columns) => {
      const barIn = (view: FooterView): number =>
        [...bare(drawnFooter(view, plain(columns)))].filter((cell) => '▰▱'.includes(cell)).length;
      const quiet = barIn({ ...known, compactions: 0 });
      for (const words of [
        'compacting',
        'waiting: backing up the session file',
        'waiting: unsent text in the prompt',
      ])
        expect(barIn({ ...known, compactions: 0, words })).toBe(quiet);
      for (const seconds of [10, 9]) {
        const words = `compacting in ${seconds} s · Esc: not now`;
        expect(barIn({ ...known, compactions: 0, words, due: 'countdown' })).toBe(quiet);
      }
    },
  );

  it('sets a message apart from the numbers, even where these are close together', () => {
    const words = 'claude 2.1.331 is newer than the tested 2.1.330';
    expect(bare(drawnFooter({ ...known, compactions: 0, words }, plain(82)))).toBe(
      ` claude ▰▰▰▰▱▱ 62% 124k/200k safe  ${words}`,
    );
  });

  it.each([
    { columns: 200, row: ' claude  ▰▰▰▰▰▰▰▰▰▰▰▰▱▱▱▱▱▱▱▱  62%  124k/200k  safe  ⟳2' },
    { columns: 60, row: ' claude  ▰▰▰▰▱▱▱  62%  124k/200k  safe  ⟳2' },
    { columns: 40, row: ' claude ▰▰▰▰▱▱ 62% 124k/200k safe ⟳2' },
    { columns: 34, row: ' claude ▰▰▰▰▱▱ 62% 124k/200k safe' },
    { columns: 30, row: ' ▰▰▰▰▱▱  62%  124k/200k  safe' },
    { columns: 20, row: ' 62% 124k/200k safe' },
    { columns: 12, row: ' 62%  safe' },
    { columns: 5, row: ' 62%' },
    { columns: 3, row: '' },
  ])('gives up the least useful part first: $columns columns', ({ columns, row }) => {
    expect(drawnFooter(known, plain(columns))).toBe(row);
  });

  it('shows a countdown before everything else, whatever the user has chosen to see', () => {
    const any = fc.record({
      each: fc.constantFrom(...views),
      items: fc.option(fc.uniqueArray(fc.constantFrom(...footerItems)), { nil: undefined }),
      seconds: fc.integer({ min: 0, max: 10 }),
      columns: fc.integer({ min: 20, max: 200 }),
      ascii: fc.boolean(),
    });
    fc.assert(
      fc.property(any, ({ each, items, seconds, columns, ascii }) => {
        const words = `compacting in ${seconds} s, proactive, Esc: not now`;
        const view: FooterView = { ...each.view, words, due: 'countdown' };
        const row = textOf(view, { columns, colorLevel: 0, ascii }, items);
        expect(row).toContain(`compacting in ${seconds} s`);
        expect(stringWidth(row)).toBeLessThanOrEqual(columns);
      }),
    );
    const last: FooterView = { ...known, words: 'compacting in 10 s · Esc: not now', due: 'countdown' };
    expect(textOf(last, plain(20))).toBe(' compacting in 10 s');
    // alone in the row, and one column too long for it
    const alone: FooterView = {
      ...known,
      words: 'compacting in 0 s, proactive, Esc: not now',
      due: 'countdown',
    };
    expect(textOf(alone, plain(42), [])).toBe(' compacting in 0 s, proactive, Esc: not');
  });

  it('keeps the key that stops a countdown before agent, bar, tokens and compactions', () => {
    const words = 'compacting in 8 s · Esc: not now';
    const due: FooterView = { ...known, tier: 'auto', words, due: 'countdown' };
    for (const columns of widths.filter((each) => each >= 33))
      expect(textOf(due, plain(columns)), `at ${columns}`).toContain(words);
    expect(textOf(due, plain(61))).toBe(` ▰▰▰▰▱▱▱ 62% 124k/200k auto  ${words}`);
    expect(textOf(due, plain(44))).toBe(` 62%  auto  ${words}`);
    expect(textOf(due, plain(33))).toBe(` ${words}`);
  });

  it('keeps what an outcome offers, and the key for it, before agent, bar and compactions', () => {
    const words = '✓ compacted 160k → 23k · forgot 2 of 3 rules · Ctrl-] b';
    const done: FooterView = { ...known, words, tone: 'success' };
    expect(textOf(done, plain(80))).toBe(` 62%  124k/200k  safe  ${words}`);
    expect(textOf(done, plain(66))).toBe(` 62% safe  ${words}`);
    expect(textOf(done, plain(60))).toContain('62%  safe  ✓ compacted 160k → 23k · forgot 2 of 3 rules');
    const shortWords = '✓ compacted · forgot 2 of 3 rules · Ctrl-] b';
    expect(textOf({ ...done, shortWords }, plain(66))).toBe(` 62% safe  ${words}`);
    expect(textOf({ ...done, shortWords }, plain(60))).toBe(` 62%  safe  ${shortWords}`);
    expect(textOf(done, plain(40))).toContain('✓ compacted 160k → 23k');
  });

  it('ends a message that is cut with an ellipsis', () => {
    const words = 'the session file cannot be read because another program holds it';
    for (const columns of widths.filter((each) => each < 70))
      expect(textOf({ ...known, words }, plain(columns)), `at ${columns}`).toMatch(/…$/);
    expect(textOf({ ...known, words }, { columns: 40, colorLevel: 0, ascii: true })).toMatch(/\.\.\.$/);
  });

  it('keeps every part that a narrower row showed', () => {
    const shown = (columns: number): readonly string[] =>
      ['▰', '50%', '~524k/1.0M?', 'warn', 'claude', '⟳2'].filter((part) =>
        textOf(guessed, plain(columns)).includes(part),
      );
    for (const columns of widths.slice(1))
      expect(shown(columns)).toEqual(expect.arrayContaining([...shown(columns - 1)]));
    expect(shown(200)).toHaveLength(6);
  });

  it('marks an estimate with ~ and an inferred window with ? at every width', () => {
    for (const columns of widths) {
      const row = textOf(guessed, plain(columns));
      expect(row, `at ${columns}`).toContain('~50%');
      expect(row, `at ${columns}`).toContain('?');
      expect(textOf(known, plain(columns)), `at ${columns}`).not.toMatch(/[~?]/);
    }
    expect(textOf(guessed, plain(80))).toContain('~524k/1.0M?');
  });

  it.each([
    { missing: 'everything', view: unknown, row: ' codex  no reading' },
    {
      missing: 'the percentage',
      view: { ...unknown, usedTokens: 9_400, windowTokens: 200_000 },
      row: ' codex  9.4k/200k',
    },
    { missing: 'the window', view: { ...unknown, usedTokens: 9_400 }, row: ' codex  9.4k tokens' },
    {
      missing: 'the usage',
      view: { ...unknown, windowTokens: 200_000, note: 'size pending' },
      row: ' codex  size pending',
    },
    { missing: 'the tier', view: { ...unknown, usedPercent: 12 }, row: ' codex  ▰▱▱▱▱▱▱▱▱▱▱▱  12%' },
  ])('draws nothing in place of $missing', ({ view, row }) => {
    expect(drawnFooter(view, plain(100))).toBe(row);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])('treats %s as unknown', (value) => {
    const view = {
      ...unknown,
      usedPercent: value,
      usedTokens: value,
      windowTokens: value,
      compactions: value,
    };
    expect(drawnFooter(view, plain(100))).toBe(' codex  no reading');
  });

  it('shows a note only where there is no number', () => {
    expect(drawnFooter({ ...known, note: 'size pending' }, plain(80))).not.toContain('pending');
  });

  it('shortens a long note to its first word, never to half a word', () => {
    const view = { ...unknown, note: 'waiting for the first turn' };
    expect(drawnFooter(view, plain(34))).toBe(' codex  waiting for the first turn');
    expect(drawnFooter(view, plain(30))).toBe(' codex  waiting');
  });

  it('lets no control byte of a name or note through', () => {
    const row = drawnFooter({ ...unknown, runtime: 'a\x1b[2Jb\n', note: 'x\x07\u{202e}y' }, plain(80));
    expect(row).toBe(' a_[2Jb_  x__y');
  });
});

describe('the way to the next compaction', () => {
  const million: FooterView = {
    ...known,
    usedTokens: 259_000,
    windowTokens: 1_000_000,
    usedPercent: 25.9,
    wayPercent: 86.3,
    compactions: 0,
    distance: { to: 'limit', tokens: 41_000 },
  };
  const own: FooterView = { ...million, distance: { to: 'own', tokens: 58_000 } };
  const bar = (view: FooterView): string => drawnFooter(view, plain(80)).match(/[▰▱]+/)?.[0] ?? '';

  it('is the bar, while the percentage is that of the window', () => {
    expect(drawnFooter(million, plain(80))).toBe(
      ' claude  ▰▰▰▰▰▰▰▰▰▱  26%  259k/1.0M  safe  41k to your limit',
    );
    expect(drawnFooter(own, plain(80))).toContain("safe  58k to claude's own");
    expect(drawnFooter({ ...own, estimated: true }, plain(80))).toContain("  ~58k to claude's own");
  });

  it('is a bar that is full or empty only where the next compaction is reached or nothing is used', () => {
    expect(bar({ ...million, wayPercent: 0 })).toMatch(/^▱+$/);
    expect(bar({ ...million, wayPercent: 1e-9 })).toMatch(/^▰▱+$/);
    expect(bar({ ...million, wayPercent: 99.999 })).toMatch(/^▰+▱$/);
    expect(bar({ ...million, wayPercent: 100 })).toMatch(/^▰+$/);
  });

  it('is a bar without a percentage where the window is not known', () => {
    const { windowTokens: _, usedPercent: __, ...unsized } = million;
    expect(drawnFooter(unsized, plain(80))).toBe(' claude  ▰▰▰▰▰▰▰▰▰▱  259k tokens  safe  41k to your limit');
  });

  it('is told as a distance after the agent and before model, cache, limits and compactions', () => {
    const all = { ...own, model: 'opus', cache: '4m', limits: '5h 42%', compactions: 3 };
    const texts = ['claude ', "58k to claude's own", 'opus', 'cache 4m', '5h 42%', '⟳3'];
    const items = [...footerItems];
    const shown = (columns: number): number =>
      texts.filter((text) => textOf(all, plain(columns), items).includes(text)).length;
    for (const columns of widths)
      for (const text of texts.slice(0, shown(columns)))
        expect(textOf(all, plain(columns), items), `at ${columns}`).toContain(text);
    expect(shown(200)).toBe(texts.length);
  });

  it('takes no room from a message, and none from the bar beside it', () => {
    const { distance: _, ...without } = own;
    const messages = [
      'compacting in 8 s · Esc: not now',
      'waiting: unsent text in the prompt',
      '✓ compacted',
    ];
    for (const words of messages)
      for (const columns of widths) {
        const row = textOf({ ...own, words }, plain(columns));
        const spared = textOf({ ...without, words }, plain(columns));
        expect(row.replace(/ {2}58k to claude's own/, ''), `at ${columns}`).toBe(spared);
      }
    expect(textOf({ ...own, words: '✓ compacted' }, plain(100))).toContain("58k to claude's own  ✓");
  });
});

describe('messages', () => {
  const row = (more: Partial<FooterView>): string =>
    drawnFooter(
      { ...known, tier: 'auto', ...more },
      { columns: 110, colorLevel: 3, ascii: false, background: 'dark' },
    );

  it('a countdown is bold and in the colour of the tier, a failure red, a success green, all others plain', () => {
    const words = 'compacting in 8 s · Esc: not now';
    expect(row({ words, due: 'countdown' })).toContain(`\x1b[38;2;255;135;0m\x1b[1m${words}`);
    expect(row({ words: '✗ compaction failed', tone: 'failure' })).toContain(
      '\x1b[38;2;255;112;112m✗ compaction',
    );
    expect(row({ words: '✓ compacted', tone: 'success' })).toContain('\x1b[38;2;111;192;127m✓ compacted');
    expect(row({ words: 'waiting: the agent is busy' })).toContain('  waiting: the agent is busy');
  });

  it('the hint at the hotkey is dim, the last thing in the row, and the first to go', () => {
    const hint = 'Ctrl-] overview';
    const { words: _, ...rest } = known;
    const all = (columns: number): string =>
      drawnFooter({ ...rest, hint }, { columns, colorLevel: 1, ascii: false });
    expect(all(110)).toMatch(/\x1b\[2mCtrl-\] overview\x1b\[22m$/);
    expect(all(40)).not.toContain('overview');
    expect(all(40)).toContain('62%');
  });

  it('a message gives way in steps: first what stands behind a dot, then a reason, then its last words', () => {
    const hard = { ...known, tier: 'hard' as const, compactions: 0 };
    const messageAt = (columns: number, words: string): string =>
      drawnFooter({ ...hard, words }, { columns, colorLevel: 0, ascii: false }).split(/hard\s+/)[1] ?? '';
    const paused = 'paused: compaction failed 3× · Ctrl-] c to try again';
    expect(messageAt(120, paused)).toBe(paused);
    expect(messageAt(80, paused)).toBe('paused: compaction failed 3×');
    expect(messageAt(40, paused)).toBe('paused: compaction failed 3×');
    expect(messageAt(30, paused)).toBe('paused: compaction…');
    const failed = '✗ compaction failed after 3.7 s: the model is overloaded';
    expect(messageAt(120, failed)).toBe(failed);
    expect(messageAt(60, failed)).toBe('✗ compaction failed after 3.7 s: the model is…');
    expect(messageAt(40, failed)).toBe('✗ compaction failed…');
    expect(messageAt(30, failed)).toMatch(/^✗ compaction/);
  });

  it('a narrow row keeps what a compaction waits for, rather than the bar and the tokens', () => {
    const auto = { ...known, tier: 'auto' as const, usedPercent: 82, compactions: 0 };
    const at = (words: string): string => bare(drawnFooter({ ...auto, words }, plain(40)));
    expect(at('waiting: unsent text in the prompt')).toBe(' 82%  auto  unsent text in the prompt');
    expect(at('waiting: the agent is busy')).toBe(' 82%  124k/200k  auto  the agent is busy');
    expect(at('waiting: approve Bash: rm -rf build')).toBe(' 82%  auto  approve Bash: rm -rf build');
  });

  it('the hint at the hotkey takes no room from the bar', () => {
    const { words: _, ...rest } = known;
    const barAt = (columns: number): number =>
      textOf({ ...rest, hint: 'Ctrl-] overview' }, { columns, colorLevel: 0, ascii: false }).match(/[▰▱]/g)
        ?.length ?? 0;
    for (let columns = 60; columns < 120; columns += 1)
      expect(barAt(columns + 1)).toBeGreaterThanOrEqual(barAt(columns));
  });
});

describe('colours', () => {
  const tiers: readonly Tier[] = ['safe', 'warn', 'auto', 'hard'];
  const at = (tier: Tier, colorLevel: ColorLevel): string =>
    drawnFooter({ ...known, tier }, { columns: 80, colorLevel, ascii: false });

  it('are absent at level 0, also dim and bold', () => {
    for (const tier of tiers) expect(at(tier, 0)).not.toContain('\x1b');
  });

  it('change nothing but SGR', () => {
    for (const tier of tiers)
      for (const level of [1, 2, 3] as const) expect(bare(at(tier, level))).toBe(at(tier, 0));
  });

  it.each([
    { level: 1 as const, sequences: ['\x1b[32m', '\x1b[33m', '\x1b[33m', '\x1b[31m'] },
    { level: 2 as const, sequences: ['\x1b[38;5;65m', '\x1b[38;5;136m', '\x1b[38;5;166m', '\x1b[38;5;167m'] },
    {
      level: 3 as const,
      sequences: [
        '\x1b[38;2;63;143;82m',
        '\x1b[38;2;168;121;0m',
        '\x1b[38;2;200;96;26m',
        '\x1b[38;2;212;60;69m',
      ],
    },
  ])('at level $level are those of the tier and of no higher level', ({ level, sequences }) => {
    const colors = tiers.map((tier) => [...new Set(at(tier, level).match(/\x1b\[3[0-8][;\d]*m/g) ?? [])]);
    expect(colors).toEqual(sequences.map((sequence) => [sequence]));
  });

  it('give way to dim for a number that has lost its source', () => {
    for (const tier of tiers) {
      const view = { ...known, tier, stale: true };
      const row = drawnFooter(view, { columns: 80, colorLevel: 3, ascii: false });
      expect(new Set(row.match(/\x1b\[[;\d]*m/g))).toEqual(new Set(['\x1b[2m', '\x1b[22m']));
      expect(bare(row)).toBe(at(tier, 0));
    }
  });

  it('end before the row does', () => {
    for (const tier of tiers) {
      const open = (at(tier, 3).match(sgr) ?? []).reduce(
        (state, code) =>
          code === '\x1b[39m'
            ? { ...state, color: false }
            : code === '\x1b[22m'
              ? { ...state, weight: false }
              : code.startsWith('\x1b[38')
                ? { ...state, color: true }
                : { ...state, weight: true },
        { color: false, weight: false },
      );
      expect(open).toEqual({ color: false, weight: false });
    }
  });

  describe('in continuous integration', () => {
    afterEach(() => vi.unstubAllEnvs());

    it('are the same: the environment of this process has no say', () => {
      const before = at('hard', 3);
      vi.stubEnv('CI', 'true');
      vi.stubEnv('NO_COLOR', '1');
      vi.stubEnv('TERM', 'dumb');
      expect(at('hard', 3)).toBe(before);
      expect(before).toContain('\x1b[38;2;');
    });
  });
});

describe('any view at any width', () => {
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const anyView = fc
    .record({
      runtime: fc.string({ unit: 'binary', maxLength: 30 }),
      usedTokens: optional(fc.oneof(fc.nat(3_000_000), fc.double())),
      windowTokens: optional(fc.oneof(fc.nat(3_000_000), fc.double())),
      usedPercent: optional(fc.oneof(fc.double({ min: 0, max: 130 }), fc.double())),
      tier: optional(fc.constantFrom<Tier>('safe', 'warn', 'auto', 'hard')),
      estimated: fc.boolean(),
      windowInferred: fc.boolean(),
      compactions: fc.oneof(fc.nat(99), fc.double()),
      note: optional(fc.string({ unit: 'binary', maxLength: 60 })),
      words: optional(fc.string({ unit: 'binary', maxLength: 60 })),
      wayPercent: optional(fc.oneof(fc.double({ min: 0, max: 100 }), fc.double())),
      distance: optional(
        fc.record({ to: fc.constantFrom('limit', 'own'), tokens: fc.integer({ min: 1, max: 10_000_000 }) }),
      ),
    })
    .map(
      (view) =>
        Object.fromEntries(
          Object.entries(view).filter(([, value]) => value !== undefined),
        ) as unknown as FooterView,
    );
  const anyLook = fc.record({
    columns: fc.integer({ min: 1, max: 300 }),
    colorLevel: fc.constantFrom<ColorLevel>(0, 1, 2, 3),
    ascii: fc.boolean(),
  });

  it('is drawn by Ink as the text that was chosen to fit', () => {
    fc.assert(
      fc.property(anyView, anyLook, (view, look) => {
        expect(bare(drawnFooter(view, look)).trimEnd()).toBe(textOf(view, look).trimEnd());
      }),
      runs(200),
    );
  });

  it('is one row of SGR and text that fits, in ASCII only 0x20–0x7e', () => {
    fc.assert(
      fc.property(anyView, anyLook, (view, look) => {
        const row = drawnFooter(view, look);
        const text = bare(row);
        expect(stringWidth(row)).toBeLessThanOrEqual(look.columns);
        expect(text).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
        expect(look.colorLevel > 0 || row === text).toBe(true);
        expect(text).toMatch(look.ascii ? /^[\x20-\x7e]*$/ : /^/);
      }),
      runs(400),
    );
  });
});
