// A session with a manual clock, and its overview, updated as the session loop does it.
import type { CompactSettings } from '../../src/core/compaction/state.js';
import { emptyHistory, recordStep } from '../../src/core/report/history.js';
import type { OverviewPage } from '../../src/core/overview-keys.js';
import {
  overviewReport,
  type OverviewFacts,
  type OverviewReport,
} from '../../src/core/report/overview-report.js';
import type { FlowContext, SessionFlow } from '../../src/core/session-flow.js';
import { AUTO_TOKENS, NOON, playCompaction } from './compaction-play.js';
import type { Play } from './compaction-play.js';
import { tokens } from './sessions.js';

export interface OverviewPlay {
  readonly play: Play;
  readonly report: (more?: Partial<OverviewFacts>, page?: OverviewPage) => OverviewReport;
}

export const playOverview = (
  wish: Partial<CompactSettings> = {},
  context: Partial<FlowContext> = {},
): OverviewPlay => {
  let record = emptyHistory;
  let flow: SessionFlow | undefined;
  const play = playCompaction(wish, context, ({ event, after, now }) => {
    flow = after;
    record = recordStep(record, { ...after, event, now });
  });
  return {
    play,
    report: (more = {}, page = 'main') => {
      if (!flow) play.tell({ type: 'alarm' });
      if (!flow) throw new Error('nothing has been played');
      const { session, compaction } = flow;
      const now = NOON + play.at();
      return overviewReport({ session, compaction, record, startedAt: NOON, now, ...more }, page);
    },
  };
};

/** An agent that is ready, with a window filled to this level, at the end of its first turn. */
export const overviewAt = (used: number = AUTO_TOKENS, wish: Partial<CompactSettings> = {}): OverviewPlay => {
  const overview = playOverview(wish);
  const { play } = overview;
  play.is('ready');
  play.is('busy');
  play.wait(4_000);
  play.tell(tokens('log', used, { at: NOON + play.at() }));
  play.is('ready');
  return overview;
};
