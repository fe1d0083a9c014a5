// The overview as it is drawn, in every state and at every size.
import fc from 'fast-check';
import stringWidth from 'string-width';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { OverviewPage } from '../../src/core/overview-keys.js';
import type { OverviewReport } from '../../src/core/report/overview-report.js';
import type { Row } from '../../src/core/report/report-sections.js';
import { renderOverview } from '../../src/ui/Overview.js';
import type { OverviewFrame } from '../../src/ui/Overview.js';
import type { ColorLevel } from '../../src/core/look.js';
import { overviewAt, playOverview } from '../support/overview-play.js';
import { heldCases, overviewCases } from '../support/overview-states.js';
import { inSession, tokens } from '../support/sessions.js';
import { runs } from '../support/runs.js';

interface Size {
  readonly columns: number;
  readonly rows: number;
  readonly scroll?: number;
  readonly colorLevel?: ColorLevel;
  readonly ascii?: boolean;
}

const draw = (
  report: OverviewReport,
  { columns, rows, scroll = 0, colorLevel = 0, ascii = false }: Size,
): OverviewFrame => renderOverview(report, { look: { columns, colorLevel, ascii }, rows, scroll });

const sgr = /\x1b\[[\d;]*m/g;
const bare = (row: string): string => row.replaceAll(sgr, '');
const widths = [40, 60, 80, 120, 200];

/** A row of its own for the size, and the contents without the empty rows before the keys. */
const picture = (report: OverviewReport, size: Size): string => {
  const rows = draw(report, size).rows.map((row) => row.trimEnd());
  const end = rows.findLastIndex((row, index) => index < rows.length - 1 && row !== '') + 1;
  return [`── ${size.columns} columns`, ...rows.slice(0, end), rows.at(-1) ?? ''].join('\n');
};

describe('in the state', () => {
  it.each(overviewCases())('$name it looks as it did', async ({ name, report }) => {
    const pictures = widths.map((columns) => picture(report(), { columns, rows: 70 }));
    await expect(`${pictures.join('\n\n')}\n`).toMatchFileSnapshot(`../fixtures/overview/${name}.txt`);
  });

  it('of waiting or working the sentence says on what', async () => {
    const pictures = heldCases().flatMap(({ name, report }) => [
      `═══ ${name}`,
      ...widths.map((columns) => picture(report(), { columns, rows: 12 })),
    ]);
    await expect(`${pictures.join('\n\n')}\n`).toMatchFileSnapshot('../fixtures/overview/held.txt');
  });

  it.each(['detail', 'help'] as const)('of a full window the page %s looks as it did', async (page) => {
    const pictures = widths.map((columns) => picture(countdownOn(page), { columns, rows: 70 }));
    await expect(`${pictures.join('\n\n')}\n`).toMatchFileSnapshot(`../fixtures/overview/page-${page}.txt`);
  });
});

const everyCase = [...overviewCases(), ...heldCases()];
const countdownOn = (page: OverviewPage): OverviewReport =>
  everyCase.find(({ name }) => name === 'auto-countdown')?.report(page) ?? playOverview().report();
const countdown = countdownOn('main');

describe('at the size', () => {
  const head = /^ +(claude|generic)/;
  const keys = /^ +c compact .*q close/;
  it.each([
    [40, 10],
    [60, 20],
    [80, 24],
    [120, 40],
    [200, 50],
  ])('%i × %i the keys and whose window it is are always there', (columns, rows) => {
    for (const { report } of overviewCases()) {
      const drawn = draw(report(), { columns, rows }).rows.map(bare);
      expect(drawn).toHaveLength(rows);
      expect(drawn[0]).toMatch(head);
      expect(drawn.at(-1)).toMatch(keys);
    }
  });

  it.each([40, 46, 52, 60, 80])('%i columns wide the keys stand side by side, without holes', (columns) => {
    for (const page of ['main', 'help'] as const) {
      const row = draw(countdownOn(page), { columns, rows: 24 }).rows.map(bare).at(-1) ?? '';
      expect(row).toMatch(/\S {2}q close/);
      expect(row.replace(/q close.*/, '').trim()).not.toMatch(/ {3}/);
    }
  });

  it.each([40, 80, 88, 120, 200])(
    '%i columns the title ends where the bar ends, as do the keys with the place',
    (columns) => {
      for (const page of ['main', 'detail', 'help'] as const) {
        const { rows, most } = draw(countdownOn(page), { columns, rows: 24 });
        const [head = '', keys = ''] = [rows[0], rows.at(-1)].map((row) => bare(row ?? ''));
        const margin = head.search(/\S/);
        expect(stringWidth(head)).toBe(columns - margin);
        expect(most === 0 ? columns - margin : stringWidth(keys)).toBe(columns - margin);
      }
    },
  );

  it('40 × 10 what happens next is seen without scrolling', () => {
    for (const { report } of everyCase) {
      const drawn = draw(report(), { columns: 40, rows: 10 }).rows.map(bare);
      expect(drawn.join('\n')).toMatch(/\n Next {4}\S/);
      expect([drawn[0], drawn.at(-1)]).toEqual([expect.stringMatching(head), expect.stringMatching(keys)]);
    }
  });

  it.each([40, 60, 80, 120])('of 8 rows and %i columns the whole choice of a limit is seen', (columns) => {
    const report = overviewAt().report({ limit: { choice: 2, span: 'always' } }, 'limit');
    const drawn = draw(report, { columns, rows: 8 }).rows.map(bare);
    for (const seen of [
      /^ +1 +200k/,
      /^ +2 +300k/,
      /^ +▶ 3 +500k +not reached here$/,
      /^ +4 +no limit +now, at 162k$/,
    ])
      expect(drawn).toContainEqual(expect.stringMatching(seen));
    expect(drawn).toContainEqual(expect.stringMatching(/^ +Tab +this session  \[always\]/));
    expect(drawn.at(-1)).toMatch(/Enter take {2}Esc back/);
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
    const { most } = draw(countdown, size);
    const bodies = Array.from({ length: most + 1 }, (_, scroll) =>
      draw(countdown, { ...size, scroll }).rows.slice(2, -2),
    );
    for (const [scroll, body] of bodies.slice(1).entries()) {
      const [upper = [], lower] = [bodies[scroll]?.slice(1), body.slice(0, -1)];
      expect(upper.slice(0, -1)).toEqual(lower.slice(0, -1));
      expect([lower.at(-1), '']).toContain(upper.at(-1)); // a title comes with its section
    }
    expect(draw(countdown, { ...size, scroll: most }).rows[0]).toBe(draw(countdown, size).rows[0]);
  });

  it('a title never stands alone in the last row, and the next page begins with it', () => {
    const { sections } = countdown;
    const titles = sections.flatMap(({ title }) => (title === undefined ? [] : [title]));
    const { most, shown } = draw(countdown, size);
    const bodies = Array.from({ length: most + 1 }, (_, scroll) =>
      draw(countdown, { ...size, scroll, colorLevel: 3 })
        .rows.slice(2, -2)
        .map((row) => bare(row).trim()),
    );
    for (const body of bodies.slice(0, -1)) expect(titles).not.toContain(body.at(-1));
    const pages = bodies.flatMap((_, page) => bodies[Math.min(most, page * (shown - 1))] ?? []);
    for (const title of titles) expect(pages).toContain(title);
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
  const shown = (report: OverviewReport): string =>
    draw(report, { columns: 100, rows: 70 }).rows.map(bare).join('\n');

  it('▶ is never in reverse video, which would make it a box', () => {
    const look = { columns: 100, colorLevel: 0, hasStyles: true, ascii: false } as const;
    const { rows } = renderOverview(overviewAt(190_000).report(), { look, rows: 70, scroll: 0 });
    expect(rows.join('\n')).toMatch(/\x1b\[1m▶/);
  });

  it('a number and its unit stay on one row', () => {
    // each case that tells an age at every third width; together they have all widths
    const telling = overviewCases().filter(({ report }) => shown(report()).includes(' ago'));
    expect(telling.length).toBeGreaterThanOrEqual(3);
    for (const [index, { report }] of telling.entries())
      for (let columns = 40 + (index % 3); columns <= 100; columns += 3)
        for (const row of draw(report(), { columns, rows: 70 }).rows)
          expect(bare(row)).not.toMatch(/^ *(?:s|min|h|d) ago/);
  });

  it('▶ stands in one row of the thresholds or in none', () => {
    for (const { report } of overviewCases()) {
      const { tier } = report();
      const marks = shown(report()).split('▶').length - 1;
      expect(marks).toBe(tier === undefined || tier === 'safe' ? 0 : 1);
    }
  });

  it('a window that holds more than it can is above 100 %', () => {
    expect(shown(overviewAt(206_000).report())).toContain(' >100%  hard');
    expect(shown(overviewAt(200_000).report())).toContain(' 100%  hard');
    expect(shown(overviewAt(199_999).report())).toContain(' 99%  hard');
  });

  it('a number that was rounded up to a million is one', () => {
    const overview = playOverview({}, { window: 1_000_000 });
    overview.play.used(999_950);
    overview.play.boundary({ postTokens: 20_000 });
    expect(shown(overview.report())).toContain('1.0M → 20k');
  });

  it('a refusal stands under the sentence, and what the file does not tell is left out', () => {
    const { report } = overviewAt(60_000);
    const notice = 'Paused after 3 failures.';
    expect(shown(report({ notice }))).toMatch(/Next .*\n +Paused after 3 failures\./);
    expect(shown(report({ notice }))).not.toContain('tool results');
    expect(shown(report({ contents: { toolResults: [] } }))).not.toContain('tool results');
  });

  it('undo is offered only where the agent can take a compaction back', () => {
    const { play, report } = playOverview();
    play.boundary({ postTokens: 20_000 });
    const keysIn = (more: object) => report(more).keys.map(([, word]) => word);
    expect(keysIn({})).toContain('undo');
    expect(keysIn({ hasNoUndo: true })).not.toContain('undo');
    const helpOf = (more: object) => shown(report(more, 'help'));
    expect(helpOf({})).toMatch(/ u +undo[^]* r +rescue/);
    expect(helpOf({ hasNoUndo: true, hasNoRescue: true })).not.toMatch(/ u +undo| r +rescue/);
  });

  it('evidence of the last compaction is on the second page', () => {
    expect(shown(countdownOn('detail'))).toMatch(/The last compaction\n.*164k → 12k.*verified\n/);
    expect(shown(countdownOn('detail'))).toContain('its record of the compaction');
  });
});

describe('names from outside', () => {
  const named = (name: string): readonly string[] => {
    const overview = playOverview();
    overview.play.tell(inSession(name), tokens('log', 60_000, { model: name }));
    const report = overview.report({
      contents: { toolResults: [{ name, label: name, tokens: 1_000, at: 0 }] },
    });
    return draw(report, { columns: 60, rows: 40 }).rows;
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
  const codes = (report: OverviewReport, colorLevel: ColorLevel): readonly string[] => [
    ...new Set(
      draw(report, { ...size, colorLevel })
        .rows.join('')
        .match(/\x1b\[[349][0-8]?[;\d]*m/g) ?? [],
    ),
  ];

  it('are absent in a monochrome terminal, which shows the same text, and parts of the bar by another cell', () => {
    for (const { report } of overviewCases()) {
      const { rows } = draw(report(), size);
      expect(rows.join('')).not.toContain('\x1b');
      const inOneCell = rows.map((row) => row.replaceAll('▮', '▰'));
      for (const colorLevel of [1, 2, 3] as const)
        expect(draw(report(), { ...size, colorLevel }).rows.map(bare)).toEqual(inOneCell);
    }
  });

  it.each([
    ['safe', 60_000, '\x1b[38;2;63;143;82m'],
    ['warn', 150_000, '\x1b[38;2;168;121;0m'],
    ['auto', 165_000, '\x1b[38;2;200;96;26m'],
    ['hard', 180_000, '\x1b[38;2;212;60;69m'],
  ] as const)('of the tier %s and one accent, and no others', (_, used, colour) => {
    const report = overviewAt(used).report();
    expect(codes(report, 3).toSorted()).toEqual(['\x1b[38;2;59;130;196m', colour, '\x1b[39m'].toSorted());
    for (const code of codes(report, 1)) expect(code).toMatch(/^\x1b\[3[1-39]m$/);
    for (const code of codes(report, 2)) expect(code).toMatch(/^\x1b\[(38;5;\d+|39)m$/);
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
    scroll: fc.nat(80),
    colorLevel: fc.constantFrom<ColorLevel>(0, 3),
    ascii: fc.boolean(),
  });
  const anyRow: fc.Arbitrary<Row> = fc.record(
    {
      sign: fc.constantFrom('reached', 'none', 'free'),
      label: anyText,
      values: fc.array(anyText, { maxLength: 3 }),
      text: anyText,
      emphasis: fc.constantFrom('plain', 'strong', 'quiet', 'accent', 'tier'),
      isOneLine: fc.constant(true as const),
      notes: fc.array(anyText, { maxLength: 2 }),
    },
    { requiredKeys: [] },
  );
  const anyReport = fc
    .record({
      base: fc.constantFrom(...everyCase.map(({ report }) => report)),
      page: fc.constantFrom<OverviewPage>('main', 'detail', 'help'),
      name: anyText,
      model: anyText,
      runtime: anyText,
      rows: fc.array(anyRow, { maxLength: 12 }),
    })
    .map(({ base, page, rows, ...texts }): OverviewReport => {
      const report = base(page);
      return { ...report, ...texts, sections: [...report.sections, { title: texts.name, rows }] };
    });

  it('is as many rows as the terminal has, none of them wider, in ASCII only 0x20–0x7e', () => {
    fc.assert(
      fc.property(anyReport, anySize, (report, size) => {
        const frame = draw(report, size);
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
      { ...runs(50), endOnFailure: true }, // to shrink a whole report takes minutes
    );
  });
});
