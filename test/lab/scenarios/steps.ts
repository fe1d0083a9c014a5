// What only the lab's stories have in common.
import { HELD_BY_DIALOG, untouched } from '../../../src/verify/certificate.js';
import { lasting } from '../../../src/verify/mock/api.js';
import { FULL, LITTLE, WATCH_MS, type Stage } from './scenario.js';

export const SLOW_MS = 30_000; // for what is done while a summary is on its way

/** Turns that make the window full; an agent has to have something to summarise. */
export const fill = async ({ turn }: Stage, usedTokens = FULL): Promise<void> => {
  await turn(LITTLE);
  await turn(LITTLE + 1_000);
  await turn(usedTokens);
};

/** The tool still asks for permission. */
export const unanswered = async (stage: Stage): Promise<string> =>
  `${await untouched(stage, HELD_BY_DIALOG, stage.agent.dialog, WATCH_MS)}, and it still is`;

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
