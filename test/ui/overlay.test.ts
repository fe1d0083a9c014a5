// The overlay as it is drawn, in every state and at every size.
import fc from 'fast-check';
import stringWidth from 'string-width';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { OverlayPage } from '../../src/core/overlay-keys.js';
import type { OverlayView } from '../../src/core/overlay-view.js';
import { renderOverlay } from '../../src/ui/overlay/Overlay.js';
import type { OverlayFrame } from '../../src/ui/overlay/Overlay.js';
import type { ColorLevel } from '../../src/ui/look.js';
import { overlayAt, playOverlay } from '../support/overlay-play.js';
import { heldCases, overlayCases } from '../support/overlay-states.js';
import { tokens } from '../support/sessions.js';

interface Size {
  readonly columns: number;
  readonly rows: number;
  readonly page?: OverlayPage;
  readonly scroll?: number;
  readonly colorLevel?: ColorLevel;
  readonly ascii?: boolean;
}

const draw = (
  view: OverlayView,
  { columns, rows, page = 'overview', scroll = 0, colorLevel = 0, ascii = false }: Size,
): OverlayFrame => renderOverlay(view, { look: { columns, colorLevel, ascii }, rows, page, scroll });

const sgr = /\x1b\[[\d;]*m/g;
const bare = (row: string): string => row.replaceAll(sgr, '');
const widths = [40, 60, 80, 120, 200];

/** A row of its own for the size, and the contents without the empty rows before the keys. */
const picture = (view: OverlayView, size: Size): string => {
  const rows = draw(view, size).rows.map((row) => row.trimEnd());
  const end = rows.findLastIndex((row, index) => index < rows.length - 1 && row !== '') + 1;
  return [`── ${size.columns} columns`, ...rows.slice(0, end), rows.at(-1) ?? ''].join('\n');
};

describe('in the state', () => {
  it.each(overlayCases())('$name it looks as it did', async ({ name, view }) => {
    const pictures = widths.map((columns) => picture(view, { columns, rows: 70 }));
    await expect(`${pictures.join('\n\n')}\n`).toMatchFileSnapshot(`../fixtures/overlay/${name}.txt`);
  });

  it('of waiting or working the sentence says on what', async () => {
    const pictures = heldCases().flatMap(({ name, view }) => [
      `═══ ${name}`,
      ...widths.map((columns) => picture(view, { columns, rows: 12 })),
    ]);
    await expect(`${pictures.join('\n\n')}\n`).toMatchFileSnapshot('../fixtures/overlay/held.txt');
  });

  it.each(['detail', 'help'] as const)('of a full window the page %s looks as it did', async (page) => {
    const view = overlayCases().find(({ name }) => name === 'auto-countdown')?.view ?? playOverlay().view();
    const pictures = widths.map((columns) => picture(view, { columns, rows: 70, page }));
    await expect(`${pictures.join('\n\n')}\n`).toMatchFileSnapshot(`../fixtures/overlay/page-${page}.txt`);
  });
});

const everyCase = [...overlayCases(), ...heldCases()];
const countdown = everyCase.find(({ name }) => name === 'auto-countdown')?.view ?? playOverlay().view();

describe('at the size', () => {
  it.each([
    [40, 10],
    [60, 20],
    [80, 24],
    [120, 40],
    [200, 50],
  ])('%i × %i the keys and whose window it is are always there', (columns, rows) => {
    for (const { view } of everyCase) {
      const drawn = draw(view, { columns, rows }).rows.map(bare);
      expect(drawn).toHaveLength(rows);
      expect(drawn[0]).toMatch(/^ +(claude|generic)/);
      expect(drawn.at(-1)).toMatch(/^ +c compact .*q close/);
    }
  });

  it('40 × 10 what happens next is seen without scrolling', () => {
    for (const { view } of everyCase)
      expect(draw(view, { columns: 40, rows: 10 }).rows.map(bare).join('\n')).toMatch(/\n Next {4}\S/);
  });

  it('smaller than anything useful it still draws nothing that is too large', () => {
    for (const [columns, rows] of [
      [1, 1],
      [3, 2],
      [10, 3],
      [20, 5],
    ] as const) {
      const drawn = draw(countdown, { columns, rows });
      expect(drawn.rows).toHaveLength(rows);
      for (const row of drawn.rows) expect(stringWidth(row)).toBeLessThanOrEqual(columns);
    }
  });
});

describe('scrolled', () => {
  const size = { columns: 60, rows: 16 };

  it('the contents move between what stays, and no row of them is left out', () => {
    const { most, shown } = draw(countdown, size);
    const all = new Set<string>();
    for (let scroll = 0; scroll <= most; scroll += shown)
      for (const row of draw(countdown, { ...size, scroll }).rows.slice(2, -2)) all.add(row);
    for (const row of draw(countdown, { ...size, scroll: most }).rows.slice(2, -2)) all.add(row);
    for (const row of draw(countdown, { ...size, rows: 70 }).rows.slice(2, -2)) expect(all).toContain(row);
    expect(draw(countdown, { ...size, scroll: most }).rows[0]).toBe(draw(countdown, size).rows[0]);
  });

  it('beyond an end stays at that end, and says where it is', () => {
    const { most, shown } = draw(countdown, size);
    expect(draw(countdown, { ...size, scroll: 999 })).toMatchObject({ scroll: most, most, shown });
    expect(draw(countdown, { ...size, scroll: -5 }).scroll).toBe(0);
    expect(bare(draw(countdown, size).rows.at(-1) ?? '')).toMatch(/ 1-12\/\d+$/);
    expect(draw(countdown, { ...size, rows: 70 }).most).toBe(0);
  });
});

describe('what it says', () => {
  const shown = (view: OverlayView, page: OverlayPage = 'overview'): string =>
    draw(view, { columns: 100, rows: 70, page }).rows.map(bare).join('\n');

  it('▶ stands in one row of the thresholds or in none', () => {
    for (const { view } of overlayCases()) {
      const marks = shown(view).split('▶').length - 1;
      expect(marks).toBe(view.tier === undefined || view.tier === 'safe' ? 0 : 1);
    }
  });

  it('a window that holds more than it can is above 100 %', () => {
    expect(shown(overlayAt(206_000).view())).toContain(' >100%  hard');
    expect(shown(overlayAt(200_000).view())).toContain(' 100%  hard');
    expect(shown(overlayAt(199_999).view())).toContain(' 99%  hard');
  });

  it('a number that was rounded up to a million is one', () => {
    const overlay = playOverlay({}, { window: 1_000_000 });
    overlay.play.used(999_950);
    overlay.play.boundary({ postTokens: 20_000 });
    expect(shown(overlay.view())).toContain('1.0M → 20k');
  });

  it('the keys of what cannot be done are absent', () => {
    const view = overlayAt(60_000).view();
    expect(shown(view)).not.toMatch(/postpone|undo|handoff/);
    expect(shown({ ...view, can: { postpone: true, undo: true, handoff: true } })).toMatch(
      /p postpone {2}u undo {2}h handoff/,
    );
    expect(shown(view, 'help')).not.toMatch(/undo|handoff|5 minutes/);
  });

  it('a refusal stands under the sentence, and what the file does not tell is said', () => {
    const view = overlayAt(60_000).view({ notice: 'Paused after 3 failures.' });
    expect(shown(view)).toMatch(/Next .*\n +Paused after 3 failures\./);
    expect(shown(view)).toContain('Not reported by the agent.');
    expect(shown({ ...view, contents: [] })).toContain('None yet.');
  });

  it('evidence of the last compaction is on the second page', () => {
    expect(shown(countdown, 'detail')).toMatch(/The last compaction\n.*164k → 12k.*verified\n/);
    expect(shown(countdown, 'detail')).toContain('its record of the compaction');
  });
});

describe('names from outside', () => {
  const named = (name: string): readonly string[] => {
    const overlay = playOverlay();
    overlay.play.tell(tokens('log', 60_000, { model: name }));
    const view = overlay.view({ name, contents: [{ name, label: name, tokens: 1_000, at: 0 }] });
    return draw(view, { columns: 60, rows: 40 }).rows;
  };

  it.each([
    ['CJK', '会話の名前と模型', '会話の名前と模型'],
    ['Hangul', '한글 이름', '한글 이름'],
    ['emoji', 'party 🎉 model', 'party 🎉 model'],
    ['a joined emoji', 'dev 👩‍💻 x', 'dev 👩 💻 x'],
    ['a flag', 'fr 🇫🇷 x', 'fr  x'],
    ['marks', 'ne\u0301 z\u0351\u0352 x', 'né z x'],
    ['control characters', 'a\x1b[2Jb\x07\u202ec', 'a [2Jb c'],
  ])('%s is shown in the width that is counted', (_, name, drawn) => {
    const rows = named(name).map(bare);
    expect(rows[0]).toContain(drawn);
    for (const row of rows) expect(stringWidth(row)).toBeLessThanOrEqual(60);
    expect(rows.join('')).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202e]|\u200d/);
  });

  it('that are longer than the terminal are cut', () => {
    for (const row of named('模'.repeat(300))) expect(stringWidth(row)).toBeLessThanOrEqual(60);
  });
});

describe('colours', () => {
  const size = { columns: 80, rows: 24 };
  const codes = (view: OverlayView, colorLevel: ColorLevel): readonly string[] => [
    ...new Set(
      draw(view, { ...size, colorLevel })
        .rows.join('')
        .match(/\x1b\[[349][0-8]?[;\d]*m/g) ?? [],
    ),
  ];

  it('are absent in a monochrome terminal, which shows the same text', () => {
    for (const { view } of everyCase) {
      const { rows } = draw(view, size);
      expect(rows.join('')).not.toContain('\x1b');
      for (const colorLevel of [1, 2, 3] as const)
        expect(draw(view, { ...size, colorLevel }).rows.map(bare)).toEqual(rows);
    }
  });

  it.each([
    ['safe', 60_000, '\x1b[38;2;63;143;82m'],
    ['warn', 150_000, '\x1b[38;2;168;121;0m'],
    ['auto', 165_000, '\x1b[38;2;200;96;26m'],
    ['hard', 180_000, '\x1b[38;2;212;60;69m'],
  ] as const)('of the tier %s and one accent, and no others', (_, used, colour) => {
    const view = overlayAt(used).view();
    expect(codes(view, 3).toSorted()).toEqual(['\x1b[38;2;59;130;196m', colour, '\x1b[39m'].toSorted());
    for (const code of codes(view, 1)) expect(code).toMatch(/^\x1b\[3[1-39]m$/);
    for (const code of codes(view, 2)) expect(code).toMatch(/^\x1b\[(38;5;\d+|39)m$/);
  });

  it('end in the row in which they begin', () => {
    for (const row of draw(countdown, { ...size, colorLevel: 3 }).rows) {
      const weights = (row.match(/\x1b\[(1|2|22)m/g) ?? []).at(-1);
      const foreground = (row.match(/\x1b\[3[89][;\d]*m/g) ?? []).at(-1);
      expect([weights ?? '\x1b[22m', foreground ?? '\x1b[39m']).toEqual(['\x1b[22m', '\x1b[39m']);
    }
  });

  describe('in continuous integration', () => {
    afterEach(() => vi.unstubAllEnvs());

    it('and rows are the same: the environment of this process has no say', () => {
      const before = draw(countdown, { ...size, colorLevel: 3 });
      vi.stubEnv('CI', 'true');
      vi.stubEnv('NO_COLOR', '1');
      vi.stubEnv('TERM', 'dumb');
      expect(draw(countdown, { ...size, colorLevel: 3 })).toEqual(before);
    });
  });
});

describe('any view at any size', () => {
  const anyText = fc.string({ unit: 'binary', maxLength: 60 });
  const anySize = fc.record({
    columns: fc.integer({ min: 40, max: 220 }),
    rows: fc.integer({ min: 10, max: 70 }),
    page: fc.constantFrom<OverlayPage>('overview', 'detail', 'help'),
    scroll: fc.nat(80),
    colorLevel: fc.constantFrom<ColorLevel>(0, 3),
    ascii: fc.boolean(),
  });
  const anyView = fc
    .record({
      base: fc.constantFrom(...everyCase.map(({ view }) => view)),
      name: anyText,
      model: anyText,
      runtime: anyText,
      next: anyText,
      notice: fc.option(anyText, { nil: undefined }),
      results: fc.array(
        fc.record({ name: anyText, label: anyText, tokens: fc.nat(999_999), at: fc.constant(0) }),
        {
          maxLength: 12,
        },
      ),
      can: fc.record({ postpone: fc.boolean(), undo: fc.boolean(), handoff: fc.boolean() }),
    })
    .map(({ base, notice, results, ...texts }): OverlayView => ({
      ...base,
      ...texts,
      ...(notice === undefined ? {} : { notice }),
      contents: results,
    }));

  it('is as many rows as the terminal has, none of them wider, in ASCII only 0x20–0x7e', () => {
    fc.assert(
      fc.property(anyView, anySize, (view, size) => {
        const frame = draw(view, size);
        expect(frame.rows).toHaveLength(size.rows);
        for (const row of frame.rows) {
          const text = bare(row);
          expect(stringWidth(text)).toBeLessThanOrEqual(size.columns);
          expect(text).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
          expect(text).toMatch(size.ascii ? /^[\x20-\x7e]*$/ : /^/);
          expect(size.colorLevel > 0 || row === text).toBe(true);
        }
        expect(frame.scroll).toBeLessThanOrEqual(frame.most);
      }),
      { numRuns: 150 },
    );
  });
});
