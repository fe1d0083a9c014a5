// What only the lab's stories have in common.
import { lasting } from '../../../src/verify/mock/api.js';
import type { Stage } from '../../../src/verify/stage.js';
import { fill } from '../../../src/verify/certificate.js';

export const SLOW_MS = 30_000; // for what is done while a summary is on its way

/** A compaction of ours is under way, and its summary takes its time. */
export const underWay = async (stage: Stage): Promise<void> => {
  stage.mock.control({ summary: lasting(SLOW_MS) });
  await fill(stage);
  await stage.untilAsked(({ purpose }) => purpose === 'summary', 'a summary');
  await stage.untilFooter(/compacting(?! in)/);
};

/** A first turn in another conversation, which has room. */
export const beginAnew = async ({ mock, say, untilAsked, untilFooter }: Stage): Promise<void> => {
  mock.control({ turn: { usedTokens: 3_000, text: 'a fresh start' } });
  await say('hello again');
  await untilAsked(({ said, end }) => said.includes('hello again') && end === 'answered', 'the new turn');
  await untilFooter(/3\.0k\S* +safe/);
};
