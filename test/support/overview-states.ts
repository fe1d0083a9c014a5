// All states that the overview draws differently.
import { toAgentFacts } from '../../src/agents/agent.js';
import { agents } from '../../src/agents/index.js';
import type { OverviewPage } from '../../src/core/overview-keys.js';
import type { OverviewFacts, OverviewReport } from '../../src/core/report/overview-report.js';
import type { Activity } from '../../src/core/reading.js';
import { failOnce, HARD_TOKENS, NOON } from './compaction-play.js';
import { overviewAt, playOverview } from './overview-play.js';
import type { OverviewPlay } from './overview-play.js';
import { blank, grew, inSession, shows, tokens } from './sessions.js';

export interface OverviewCase {
  readonly name: string;
  readonly report: (page?: OverviewPage) => OverviewReport;
}

const reportOf = (play: () => OverviewPlay, more: Partial<OverviewFacts> = {}): OverviewCase['report'] => {
  const { report } = play();
  return (page) => report({ hotkey: 'Ctrl-]', ...more }, page);
};

/** An afternoon: the window fills twice, is compacted by the user and by the wrapper, and is full again. */
const afternoon = (used: number): OverviewPlay => {
  const overview = playOverview();
  const { play } = overview;
  const read = (count: number): void =>
    play.tell(
      tokens('log', count, {
        cachedTokens: Math.round(count * 0.9),
        model: 'claude-opus-4-6',
        at: NOON + play.at(),
      }),
    );
  play.tell(inSession('3f2a9c1e-5b7d-4e2f-9c1a-0d3e5f7a9b2c'));
  play.is('ready');
  const climb = (...counts: readonly number[]): void => {
    for (const count of counts) {
      play.is('busy');
      play.wait(150_000);
      read(count);
      play.is('ready');
      play.wait(1_000);
      play.keys();
    }
  };
  climb(20_000, 44_000, 75_000, 97_000, 121_000);
  play.is('compacting');
  play.wait(9_000);
  play.boundary({ initiator: 'user', preTokens: 121_000 });
  play.is('ready');
  climb(14_000, 61_000, 110_000, 164_000);
  play.wait(20_000);
  play.sent();
  play.is('compacting');
  play.wait(7_000);
  play.boundary({ preTokens: 164_000, postTokens: 12_000 });
  play.is('ready');
  climb(31_000, 90_000, used);
  return overview;
};

const results = [
  { name: 'Read', label: 'src/core/compaction/state.ts', tokens: 12_345, at: 0 },
  { name: 'Bash', label: 'npm test 2>&1 | tail -100', tokens: 8_123, at: 0 },
  { name: 'Grep', label: '日本語 👩‍💻 in all files', tokens: 812, at: 0 },
];

const held = (activity: Activity): OverviewPlay => {
  const overview = overviewAt();
  overview.play.is(activity);
  return overview;
};

const typing = (): OverviewPlay => {
  const overview = overviewAt();
  overview.play.wait(11_500);
  return overview;
};

const sent = (): OverviewPlay => {
  const overview = typing();
  overview.play.wait(400);
  overview.play.sent();
  return overview;
};

const after = (play: () => OverviewPlay, what: (overview: OverviewPlay) => void): OverviewPlay => {
  const overview = play();
  what(overview);
  return overview;
};

const inWindow = (window: number, used: number): OverviewPlay =>
  after(
    () => playOverview({}, { window }),
    ({ play }) => play.tell(tokens('log', used, { at: NOON })),
  );

/** Shown whole. */
export const overviewCases = (): readonly OverviewCase[] => [
  { name: 'no-data', report: reportOf(playOverview) },
  {
    name: 'no-session-file',
    report: reportOf(() => playOverview({}, { agent: toAgentFacts(agents.generic, {}) })),
  },
  {
    name: 'number-gone',
    report: reportOf(() => after(playOverview, ({ play }) => play.tell(shows(40), blank))),
  },
  {
    name: 'size-pending',
    report: reportOf(() =>
      after(
        () => overviewAt(100_000),
        ({ play }) => play.boundary(),
      ),
    ),
  },
  {
    name: 'estimate-only',
    report: reportOf(() =>
      after(playOverview, ({ play }) => play.tell(tokens('estimate', 90_000, { at: NOON }), grew(5_000))),
    ),
  },
  { name: 'safe', report: reportOf(() => overviewAt(60_000)) },
  { name: 'warn', report: reportOf(() => overviewAt(150_000)) },
  {
    name: 'auto-countdown',
    report: reportOf(
      () =>
        after(
          () => afternoon(166_000),
          ({ play }) => play.wait(5_500),
        ),
      {
        contents: {
          toolResults: results,
          filled: { systemTokens: 18_400, fileTokens: 61_000, toolTokens: 22_500 },
        },
      },
    ),
  },
  {
    name: 'verified',
    report: reportOf(() =>
      after(sent, ({ play }) => {
        play.is('compacting');
        play.wait(4_000);
        play.boundary({ postTokens: 12_000 });
        play.is('ready');
        play.wait(1_000);
        play.tell(tokens('log', 12_500, { at: NOON + play.at() }));
      }),
    ),
  },
  { name: 'failed', report: reportOf(() => after(typing, ({ play }) => failOnce(play))) },
  {
    name: 'breaker',
    report: reportOf(() =>
      after(typing, ({ play }) => {
        for (let times = 0; times < 3; times += 1) {
          failOnce(play);
          play.is('busy');
          play.wait(4_000);
          play.tell(tokens('log', 165_001 + times, { at: NOON + play.at() }));
          play.is('ready');
          play.wait(75_000);
        }
      }),
    ),
  },
  { name: 'hard', report: reportOf(() => overviewAt(HARD_TOKENS)) },
  { name: 'overfull', report: reportOf(() => overviewAt(206_000)) },
  { name: 'hard-is-auto', report: reportOf(() => inWindow(32_000, 25_000)) },
  { name: 'a-million', report: reportOf(() => inWindow(1_000_000, 999_950)) },
  {
    name: 'window-unknown',
    report: reportOf(() => after(playOverview, ({ play }) => play.tell(shows(72, 'effective')))),
  },
  {
    name: 'window-assumed',
    report: reportOf(() =>
      after(playOverview, ({ play }) =>
        play.tell(
          { type: 'assumed-window', windowTokens: 200_000 },
          tokens('log', 90_000, { windowSource: 'default', at: NOON }),
        ),
      ),
    ),
  },
  {
    name: 'window-guessed',
    report: reportOf(() =>
      after(playOverview, ({ play }) =>
        play.tell(tokens('log', 90_000, { windowSource: 'default', at: NOON })),
      ),
    ),
  },
];

/** States whose text alone differs from that of a full window. */
export const heldCases = (): readonly OverviewCase[] => [
  ...(['busy', 'dialog', 'draft', 'unknown', 'compacting', 'dead'] as const).map((activity) => ({
    name: `held: ${activity}`,
    report: reportOf(() => held(activity)),
  })),
  { name: 'held: settling', report: reportOf(overviewAt) },
  {
    name: 'held: typing',
    report: reportOf(() =>
      after(overviewAt, ({ play }) => {
        play.wait(2_000);
        play.keys();
      }),
    ),
  },
  {
    name: 'asked for, held',
    report: reportOf(() =>
      after(
        () => held('draft'),
        ({ play }) => play.ask('one'),
      ),
    ),
  },
  { name: 'typing the command', report: reportOf(typing) },
  { name: 'sent', report: reportOf(sent) },
  { name: 'compacting', report: reportOf(() => after(sent, ({ play }) => play.is('compacting'))) },
  { name: 'mode ask', report: reportOf(() => overviewAt(165_000, { mode: 'ask' })) },
  { name: 'mode warn', report: reportOf(() => overviewAt(165_000, { mode: 'warn' })) },
];
