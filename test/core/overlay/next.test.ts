import { describe, expect, it } from 'vitest';
import { toAgentFacts } from '../../../src/agents/agent.js';
import { agents } from '../../../src/agents/index.js';
import { HARD_TOKENS } from '../../support/compaction-play.js';
import type { OverlayReport } from '../../../src/core/report/overlay-report.js';
import { overlayAt, playOverlay } from '../../support/overlay-play.js';
import type { OverlayPlay } from '../../support/overlay-play.js';
import { shows, tokens } from '../../support/sessions.js';
import { failOnce } from '../../support/compaction-play.js';

const textOf = ({ sections }: OverlayReport): string =>
  sections.flatMap(({ rows }) => rows).find(({ label }) => label === 'Next')?.text ?? '';
const next = ({ report }: OverlayPlay): string => textOf(report());

const failing = (): OverlayPlay => {
  const overlay = overlayAt();
  overlay.play.wait(11_500);
  for (let times = 0; times < 3; times += 1) {
    failOnce(overlay.play);
    overlay.play.turn(165_001 + times);
    overlay.play.wait(75_000);
  }
  return overlay;
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
    const overlay = overlayAt();
    overlay.play.is(activity);
    expect(next(overlay)).toBe(sentence);
  });

  it('while the agent has just stopped, while it is counted down, and while the user types', () => {
    const overlay = overlayAt();
    expect(next(overlay)).toBe('Waiting: the agent has just stopped.');
    overlay.play.wait(3_500);
    expect(next(overlay)).toBe('Compacts in 8 s · p: not now.');
    overlay.play.keys();
    expect(next(overlay)).toBe('Waiting: you just typed.');
  });

  it('with what is typed behind the command, while that can still be prevented', () => {
    const overlay = overlayAt(undefined, { focus: 'evidence' });
    const shown = () =>
      overlay
        .report()
        .sections.flatMap(({ rows }) => rows)
        .find(({ label }) => label === 'Focus')?.text;
    overlay.play.wait(1_500);
    expect([next(overlay), shown()]).toEqual(['Waiting: reading what must be kept.', undefined]);
    overlay.play.tell({ type: 'focus-found', id: 1, text: 'Keep word for word: "Never push".' });
    expect([next(overlay), shown()]).toEqual([
      'Compacts in 10 s · p: not now.',
      'Keep word for word: "Never push".',
    ]);
    overlay.play.wait(10_000);
    overlay.play.sent();
    expect(shown()).toBeUndefined();
  });

  it('after the user asked: what the gate holds on', () => {
    const overlay = overlayAt(60_000);
    overlay.play.is('draft');
    overlay.play.ask('one');
    expect(next(overlay)).toBe('Compaction asked for, waiting: unsent text in the prompt.');
    overlay.play.is('dialog');
    expect(next(overlay)).toBe('Compaction asked for, waiting: a dialog is open.');
  });

  it('while the command is typed, sent, and at work, and how it ended', () => {
    const overlay = overlayAt();
    overlay.play.wait(11_500);
    expect(next(overlay)).toBe('Typing /compact.');
    overlay.play.sent();
    expect(next(overlay)).toBe('Command sent.');
    overlay.play.is('compacting');
    expect(next(overlay)).toBe('Compacting.');
    overlay.play.boundary({ postTokens: 12_000 });
    overlay.play.is('ready');
    expect(next(overlay)).toBe('Compacts at 162,000 tokens (150,000 to go).');
    const rows = overlay.report().sections.flatMap((section) => section.rows);
    expect(rows.find(({ label }) => label === 'Last')?.text).toBe('✓ compacted 165k → 12k');
    expect(rows.find(({ label }) => label === 'Used')?.text).toBe(
      '~12,000 tokens (record of the compaction, now)',
    );
  });

  it('names the key where only the user can go on', () => {
    const ask = overlayAt(165_000, { mode: 'ask' });
    expect(next(ask)).toBe('Full · c compacts now.');
    expect(next(failing())).toBe('Paused: compaction failed 3× · c to try again.');
  });

  it.each([
    {
      is: 'in the mode warn',
      overlay: () => overlayAt(HARD_TOKENS, { mode: 'warn' }),
      sentence: /^In mode warn only the agent compacts, at 167,000 tokens, which is reached\.$/,
    },
    {
      is: 'without a number',
      overlay: () => playOverlay(),
      sentence: /^Waiting for the first usage number\.$/,
    },
    {
      is: 'below auto',
      overlay: () => overlayAt(100_000),
      sentence: /^Compacts at 162,000 tokens \(62,000 to go\)\.$/,
    },
  ])('$is: $sentence', ({ overlay, sentence }) => {
    expect(next(overlay())).toMatch(sentence);
  });

  it('where the agent has no command that is known', () => {
    const overlay = overlayAt(100_000);
    const { command: _, ...settings } = overlay.play.state().settings;
    const report = overlay.report({ compaction: { ...overlay.play.state(), settings } });
    expect(textOf(report)).toBe(
      'Nothing is typed: the compact command of this agent is not known, or switched off.',
    );
  });

  it('where the number is not to be relied on', () => {
    const estimated = playOverlay();
    estimated.play.tell(tokens('estimate', 190_000));
    expect(next(estimated)).toBe('Nothing is typed on an estimate: waiting for an exact number.');
    const assumed = playOverlay();
    const guess = tokens('log', 190_000, { windowSource: 'default' });
    assumed.play.tell({ type: 'assumed-window', windowTokens: 200_000 }, guess);
    expect(next(assumed)).toBe('Nothing is typed while the window is only assumed: set --window.');
  });

  it('where the window is not known, unless the user has said in tokens where to compact', () => {
    const guess = tokens('log', 190_000, { windowSource: 'default' });
    const unknown = playOverlay();
    unknown.play.tell(guess);
    expect(next(unknown)).toBe('The window is not known: set --window, or --auto in tokens (150k).');
    const told = playOverlay({}, { ladder: { auto: { value: 250_000, unit: 'tokens' } } });
    told.play.tell(guess);
    expect(next(told)).toBe('Compacts at your limit of 250,000 tokens (60,000 to go).');
  });

  it('where the agent compacts before auto in a window that the user has set, and where nothing compacts', () => {
    const late = playOverlay({}, { window: 1_000_000 });
    late.play.tell(tokens('log', 100_000));
    expect(next(late)).toBe('The agent compacts by itself at 167,000 tokens (67,000 to go).');
    const native = undefined;
    const agent = { ...toAgentFacts(agents.claude, {}), native };
    const calm = playOverlay({}, { agent, ladder: { preset: 'handoff' } });
    calm.play.tell(tokens('log', 100_000));
    expect(next(calm)).toBe('Nothing happens by itself: there is no auto threshold.');
    const watching = playOverlay({ mode: 'warn' }, { agent });
    watching.play.tell(tokens('log', 100_000));
    expect(next(watching)).toBe('Nothing happens by itself in mode warn; c compacts.');
  });

  it('in the mode ask, where it suggests', () => {
    expect(next(overlayAt(100_000, { mode: 'ask' }))).toBe(
      'Suggests compacting at 162,000 tokens (62,000 to go).',
    );
  });

  it('in percent where no window is known', () => {
    const overlay = playOverlay();
    overlay.play.tell(shows(40.4));
    expect(next(overlay)).toBe('Compacts at 85% (45 points to go).');
  });

  it('while the user has put it off', () => {
    const overlay = overlayAt(100_000);
    overlay.play.tell({ type: 'postpone' });
    overlay.play.wait(60_000);
    expect(next(overlay)).toBe('Compacts at 162,000 tokens (62,000 to go), not before your next turn.');
    overlay.play.is('busy');
    overlay.play.wait(1_000);
    overlay.play.is('ready');
    expect(next(overlay)).toMatch(/^Compacts at/);
  });
});
