import { describe, expect, it } from 'vitest';
import { toAgentFacts } from '../../../src/agents/agent.js';
import { agents } from '../../../src/agents/index.js';
import { HARD_TOKENS } from '../../support/compaction-play.js';
import type { OverviewReport } from '../../../src/core/report/overview-report.js';
import { overviewAt, playOverview } from '../../support/overview-play.js';
import type { OverviewPlay } from '../../support/overview-play.js';
import { shows, tokens } from '../../support/sessions.js';
import { failOnce } from '../../support/compaction-play.js';

const textOf = ({ sections }: OverviewReport): string =>
  sections.flatMap(({ rows }) => rows).find(({ label }) => label === 'Next')?.text ?? '';
const next = ({ report }: OverviewPlay): string => textOf(report());

const failing = (): OverviewPlay => {
  const overview = overviewAt();
  overview.play.wait(11_500);
  for (let times = 0; times < 3; times += 1) {
    failOnce(overview.play);
    overview.play.turn(165_001 + times);
    overview.play.wait(75_000);
  }
  return overview;
};

describe('what happens next', () => {
  it.each([
    ['busy', 'Waiting: the agent is busy.'],
    ['dialog', 'Waiting: a dialog is open.'],
    ['draft', 'Waiting: unsent text in the prompt.'],
    ['unknown', 'Waiting: cannot read the screen.'],
    ['compacting', 'The agent is compacting.'],
    ['dead', 'The agent has ended.'],
  ] as const)('while the agent is %s: %s', (activity, sentence) => {
    const overview = overviewAt();
    overview.play.is(activity);
    expect(next(overview)).toBe(sentence);
  });

  it('while the agent has just stopped, while it is counted down, and while the user types', () => {
    const overview = overviewAt();
    expect(next(overview)).toBe('Waiting: the agent has just stopped.');
    overview.play.wait(3_500);
    expect(next(overview)).toBe('Compacts in 8 s · p: not now.');
    overview.play.keys();
    expect(next(overview)).toBe('Waiting: you just typed.');
  });

  it('with what is typed behind the command, while that can still be prevented', () => {
    const overview = overviewAt(undefined, { focus: 'evidence' });
    const shown = () =>
      overview
        .report()
        .sections.flatMap(({ rows }) => rows)
        .find(({ label }) => label === 'Focus')?.text;
    overview.play.wait(1_500);
    expect([next(overview), shown()]).toEqual(['Waiting: reading what must be kept.', undefined]);
    overview.play.tell({ type: 'focus-found', id: 1, text: 'Keep word for word: "Never push".' });
    expect([next(overview), shown()]).toEqual([
      'Compacts in 10 s · p: not now.',
      'Keep word for word: "Never push".',
    ]);
    overview.play.wait(10_000);
    overview.play.sent();
    expect(shown()).toBeUndefined();
  });

  it('after the user asked: what the gate holds on', () => {
    const overview = overviewAt(60_000);
    overview.play.is('draft');
    overview.play.ask('one');
    expect(next(overview)).toBe('Compaction requested, waiting: unsent text in the prompt.');
    overview.play.is('dialog');
    expect(next(overview)).toBe('Compaction requested, waiting: a dialog is open.');
  });

  it('while the command is typed, sent, and at work, and how it ended', () => {
    const overview = overviewAt();
    overview.play.wait(11_500);
    expect(next(overview)).toBe('Typing /compact.');
    overview.play.sent();
    expect(next(overview)).toBe('Command sent.');
    overview.play.is('compacting');
    expect(next(overview)).toBe('Compacting.');
    overview.play.boundary({ postTokens: 12_000 });
    overview.play.is('ready');
    expect(next(overview)).toBe('Compacts at 162,000 tokens (150,000 to go).');
    const rows = overview.report().sections.flatMap((section) => section.rows);
    expect(rows.find(({ label }) => label === 'Last')?.text).toBe('✓ compacted 165k → 12k');
    expect(rows.find(({ label }) => label === 'Used')?.text).toBe(
      '~12,000 tokens (record of the compaction, now)',
    );
  });

  it('names the key where only the user can go on', () => {
    const ask = overviewAt(165_000, { mode: 'ask' });
    expect(next(ask)).toBe('Full · c compacts now.');
    expect(next(failing())).toBe('Paused: compaction failed 3× · c to try again.');
  });

  it('below auto not before the end of a pause', () => {
    const overview = failing();
    overview.play.turn(100_000);
    expect(next(overview)).toMatch(
      /^Compacts at 162,000 tokens \(62,000 to go\), not in the next [1-4] min because it failed 3×; c tries now\.$/,
    );
    overview.play.tell({ type: 'postpone' });
    expect(next(overview)).toMatch(/to go\), not before your next turn\.$/);
  });

  it('of the agent’s own compaction, whatever ctxwrap was told to wait for', () => {
    const overview = overviewAt(100_000, { mode: 'warn' });
    overview.play.tell({ type: 'postpone' });
    expect(next(overview)).not.toMatch(/your next turn/);
  });

  it.each([
    {
      is: 'in the mode warn',
      overview: () => overviewAt(HARD_TOKENS, { mode: 'warn' }),
      sentence: /^In mode warn only the agent compacts, at 167,000 tokens, which is reached\.$/,
    },
    {
      is: 'without a number',
      overview: () => playOverview(),
      sentence: /^Waiting for the first usage number\.$/,
    },
    {
      is: 'below auto',
      overview: () => overviewAt(100_000),
      sentence: /^Compacts at 162,000 tokens \(62,000 to go\)\.$/,
    },
  ])('$is: $sentence', ({ overview, sentence }) => {
    expect(next(overview())).toMatch(sentence);
  });

  it('where the agent has no command that is known', () => {
    const overview = overviewAt(100_000);
    const { command: _, ...settings } = overview.play.state().settings;
    const report = overview.report({ compaction: { ...overview.play.state(), settings } });
    expect(textOf(report)).toBe(
      'Nothing is typed: the compact command of this agent is not known, or switched off.',
    );
  });

  it('where the number is not to be relied on', () => {
    const estimated = playOverview();
    estimated.play.tell(tokens('estimate', 190_000));
    expect(next(estimated)).toBe('Nothing is typed on an estimate: waiting for an exact number.');
    const assumed = playOverview();
    const guess = tokens('log', 190_000, { windowSource: 'default' });
    assumed.play.tell({ type: 'assumed-window', windowTokens: 200_000 }, guess);
    expect(next(assumed)).toBe('Nothing is typed while the window is only assumed: set --window.');
  });

  it('where the window is not known, unless the user has said in tokens where to compact', () => {
    const guess = tokens('log', 190_000, { windowSource: 'default' });
    const unknown = playOverview();
    unknown.play.tell(guess);
    expect(next(unknown)).toBe('The window is not known: set --window, or --auto in tokens (150k).');
    const told = playOverview({}, { ladder: { auto: { value: 250_000, unit: 'tokens' } } });
    told.play.tell(guess);
    expect(next(told)).toBe('Compacts at your limit of 250,000 tokens (60,000 to go).');
  });

  it('where the agent compacts before auto in a window that the user has set, and where nothing compacts', () => {
    const late = playOverview({}, { window: 1_000_000 });
    late.play.tell(tokens('log', 100_000));
    expect(next(late)).toBe('The agent compacts on its own at 167,000 tokens (67,000 to go).');
    const native = undefined;
    const agent = { ...toAgentFacts(agents.claude, {}), native };
    const calm = playOverview({}, { agent, ladder: { preset: 'handoff' } });
    calm.play.tell(tokens('log', 100_000));
    expect(next(calm)).toBe('Nothing happens automatically: there is no auto threshold.');
    const watching = playOverview({ mode: 'warn' }, { agent });
    watching.play.tell(tokens('log', 100_000));
    expect(next(watching)).toBe('Nothing happens automatically in mode warn; c compacts.');
  });

  it('in the mode ask, where it suggests', () => {
    expect(next(overviewAt(100_000, { mode: 'ask' }))).toBe(
      'Suggests compacting at 162,000 tokens (62,000 to go).',
    );
  });

  it('in percent where no window is known', () => {
    const overview = playOverview();
    overview.play.tell(shows(40.4));
    expect(next(overview)).toBe('Compacts at 85% (45 points to go).');
  });

  it('while the user has put it off', () => {
    const overview = overviewAt(100_000);
    overview.play.tell({ type: 'postpone' });
    overview.play.wait(60_000);
    expect(next(overview)).toBe('Compacts at 162,000 tokens (62,000 to go), not before your next turn.');
    overview.play.is('busy');
    overview.play.wait(1_000);
    overview.play.is('ready');
    expect(next(overview)).toMatch(/^Compacts at/);
  });
});
