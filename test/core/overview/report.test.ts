import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OverviewReport } from '../../../src/core/report/overview-report.js';
import type { Bar, Row } from '../../../src/core/report/report-sections.js';
import { toAgentFacts } from '../../../src/agents/agent.js';
import { agents } from '../../../src/agents/index.js';
import { HARD_TOKENS } from '../../support/compaction-play.js';
import { overviewAt, playOverview, type OverviewPlay } from '../../support/overview-play.js';
import { blank, shows, tokens } from '../../support/sessions.js';
import { runs } from '../../support/runs.js';

const rowsOf = ({ sections }: OverviewReport, title: string): readonly Row[] =>
  sections.find((each) => each.title === title)?.rows ?? [];
const barOf = ({ sections }: OverviewReport): Bar | undefined => sections.find(({ bar }) => bar)?.bar;
const textOf = ({ sections }: OverviewReport, label: string): string =>
  sections.flatMap(({ rows }) => rows).find((each) => each.label === label)?.text ?? '';
const thresholds = (report: OverviewReport): readonly (string | undefined)[] =>
  rowsOf(report, 'Thresholds')
    .filter(({ values }) => values)
    .map(({ label }) => label);
const reached = (report: OverviewReport): readonly (string | undefined)[] =>
  rowsOf(report, 'Thresholds')
    .filter(({ sign }) => sign === 'reached')
    .map(({ label }) => label);
const inWindow = (windowTokens: number, used: number): OverviewReport => {
  const overview = playOverview({}, { window: windowTokens });
  overview.play.used(used);
  return overview.report();
};
const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);
const number = (text = ''): number => Number(text.replaceAll(/[,%]/g, ''));

describe('the head', () => {
  it.each([
    ['0f3a9c12-aaaa-4000-8000-000000000001', '0f3a9c12'],
    ['session_5f0b2e2e-0000-4000-8000-000000000001', 'session_5f0b2e2e'],
  ])('has of the conversation %s the id by which ps and history know it: %s', (sessionId, short) => {
    const overview = overviewAt();
    overview.play.tell({ type: 'session-changed', sessionId, path: '/session.jsonl' });
    expect(overview.report().name).toBe(short);
  });
});

describe('the parts of the window', () => {
  it('sum to the whole, in tokens, in percent and in the bar, in any window however full', () => {
    const sizes = { used: fc.integer({ min: 1, max: 2_500_000 }), cached: fc.nat(2_500_000) };
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 2_000_000 }),
        fc.record(sizes),
        (window, { used, cached }) => {
          const overview = playOverview({}, { window });
          overview.play.tell(tokens('log', used, { cachedTokens: cached }));
          const rows = rowsOf(overview.report(), 'What fills it');
          const [parts, total] = [rows.slice(0, -1), rows.at(-1)];
          expect(number(total?.values?.[0])).toBe(Math.max(used, window));
          expect(sum(parts.map(({ values }) => number(values?.[0])))).toBe(Math.max(used, window));
          expect(sum(parts.map(({ values }) => number(values?.[1]) * 10))).toBeCloseTo(1000, 6);
          expect(sum((barOf(overview.report())?.parts ?? []).map(({ share }) => share))).toBeCloseTo(1, 6);
        },
      ),
      runs(200),
    );
  });

  it('are none where tokens or the window are not known, and the bar is drawn by the percentage', () => {
    const overview = playOverview();
    overview.play.tell(shows(40));
    expect(rowsOf(overview.report(), 'What fills it')).toEqual([]);
    expect(barOf(overview.report())?.parts).toEqual([
      { name: 'used', share: 0.4 },
      { name: 'free', share: 0.6 },
    ]);
  });

  it('say so where more is used than there is room for', () => {
    const overfull = overviewAt(206_000).report();
    expect(rowsOf(overfull, 'What fills it').at(-1)?.values).toEqual(['206,000', '100.0%']);
    expect(barOf(overfull)?.fill).toBe('>100%');
    expect(barOf(overviewAt(200_000).report())?.fill).toBe('100%');
  });
});

describe('the thresholds', () => {
  it.each([
    ['safe', 100_000, []],
    ['warn', 150_000, ['Warn']],
    ['auto', 165_000, ['Auto']],
    ['hard', HARD_TOKENS, ['Hard']],
  ] as const)('in the tier %s exactly one is marked, and none in safe', (tier, used, marked) => {
    const report = overviewAt(used).report();
    expect(report.tier).toBe(tier);
    expect(reached(report)).toEqual(marked);
  });

  it('hold hard only where it is above auto', () => {
    const small = inWindow(32_000, 31_000);
    expect(thresholds(small)).not.toContain('Hard');
    expect(rowsOf(small, 'Thresholds').at(-1)?.text).toBe('Hard is the same as auto.');
    expect(barOf(small)?.marks.map(({ name }) => name)).toEqual(['warn', 'auto']);
    const large = overviewAt(100_000).report();
    expect(thresholds(large)).toEqual(['Warn', 'Auto', "Agent's own", 'Hard', 'Effective window']);
    expect(rowsOf(large, 'Thresholds')[3]?.text).toBe('not reached: the agent compacts first');
    expect(barOf(large)?.marks.map(({ name, share }) => [name, share])).toEqual([
      ['warn', 0.71],
      ['auto', 0.81],
      ['hard', 0.885],
    ]);
  });

  it('are marked at most once in any window', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1_000, max: 2_000_000 }),
        fc.double({ min: 0, max: 1.2, noNaN: true }),
        (window, share) => {
          const report = inWindow(window, Math.round(window * share));
          expect(reached(report)).toHaveLength(report.tier === undefined || report.tier === 'safe' ? 0 : 1);
          for (const mark of barOf(report)?.marks ?? [])
            expect(mark.share >= 0 && mark.share <= 1).toBe(true);
        },
      ),
      runs(200),
    );
  });

  it('are none before the first number', () => {
    expect(rowsOf(playOverview().report(), 'Thresholds')).toEqual([]);
  });
});

describe('where there is no number', () => {
  const said = ({ report }: OverviewPlay): string => report().sections[0]?.rows[0]?.text ?? '';

  it('a sentence says why', () => {
    expect(said(playOverview())).toBe('No number yet: the first answer brings it.');
    const pending = overviewAt(100_000);
    pending.play.boundary();
    expect(said(pending)).toBe('Just compacted: the exact size follows with the next answer.');
    const generic = playOverview({}, { agent: toAgentFacts(agents.generic, {}) });
    expect(said(generic)).toBe('No number: generic has no session file.');
    const gone = playOverview();
    gone.play.tell(shows(40), blank);
    expect(said(gone)).toBe("No number: the agent's screen no longer shows it.");
    expect(said(overviewAt(100_000))).toBe('');
  });
});

describe('the numbers', () => {
  it('say where they come from, how old they are, and which of them is a guess', () => {
    const overview = overviewAt(100_000);
    overview.play.wait(30_000);
    expect(textOf(overview.report(), 'Used')).toBe('100,000 tokens (session file, 30 s ago)');
    expect(textOf(overview.report(), 'Window')).toBe('200,000 tokens (from the model table)');
    const guessed = playOverview();
    guessed.play.tell(
      { type: 'assumed-window', windowTokens: 200_000 },
      tokens('estimate', 90_000, { windowSource: 'default' }),
    );
    expect(textOf(guessed.report(), 'Used')).toMatch(/^~90,000 tokens \(estimated from /);
    expect(textOf(guessed.report(), 'Window')).toBe('200,000 tokens (assumed; set --window)');
    expect(barOf(guessed.report())?.fill).toBe('~45%?');
  });

  it('of a percentage say what it counts against', () => {
    const overview = playOverview();
    overview.play.tell(shows(40, 'effective'));
    expect(textOf(overview.report(), 'Used')).toMatch(/^40% of the window less the room for the answer \(/);
  });
});

describe('the second page', () => {
  it('names every source, what the agent does, and the failures', () => {
    const report = overviewAt(165_000).report({}, 'detail');
    expect(rowsOf(report, 'Where the number comes from')).toEqual([
      { text: 'the session file: 165,000 tokens; window 200,000 from the model table' },
      { values: ['165,000'], text: 'auto, the session file, now' },
    ]);
    expect(rowsOf(report, 'What the agent is doing')).toEqual([
      { text: 'ready for 0 s', notes: ['it is ready'] },
    ]);
    expect(rowsOf(report, 'Compacting').map(({ text }) => text)).toEqual([
      'The command is /compact.',
      'The window has been full for 0 s, 0 attempts.',
      'No recent failures.',
    ]);
  });
});
