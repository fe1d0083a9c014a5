// What several stories have in common: how the window becomes full, how a compaction ends, and what must stay as it is.
import { FULL, LITTLE, type Stage } from '../stage.js';
import { must } from './scenario.js';

export const ENDED = /compaction by us: /;
const WATCH_MS = 20_000; // longer than quiet, settled and countdown together
export const SLOW_MS = 30_000; // for what is done while a summary is on its way
const DONE_MS = 90_000;

/** Turns that make the window full; an agent has to have something to summarise. */
export const fill = async ({ turn }: Stage, usedTokens = FULL): Promise<void> => {
  await turn(LITTLE);
  await turn(LITTLE + 1_000);
  await turn(usedTokens);
};

/** A log line without its time and level. */
export const brief = (line: string): string => line.replace(/^\S+ \w+ /, '');

/** The log line on the end of the compaction, which must have worked; `from` is a place in the log. */
export const compacted = async (
  { untilLog }: Stage,
  { from = 0, patienceMs = DONE_MS } = {},
): Promise<string> => {
  const line = brief(await untilLog(ENDED, from, patienceMs));
  must(line.includes(': verified'), line);
  return line;
};

/** A compaction of ours is under way, and its summary takes its time. */
export const underWay = async (stage: Stage): Promise<void> => {
  stage.mock.control({ summary: { waitMs: SLOW_MS } });
  await fill(stage);
  await stage.untilAsked(({ purpose }) => purpose === 'summary', 'a summary');
  await stage.untilFooter(/compacting(?! in)/);
};

/** A tool asks for permission. */
export const openDialog = async ({ mock, say, untilScreen, agent }: Stage): Promise<void> => {
  mock.control({ next: [{ command: 'touch approved', text: 'I make a file.' }] });
  await say('make a file');
  await untilScreen(agent.dialog);
};

/** Time in which nothing is typed and what the screen shows stays there; says how long, and what the footer gave as the reason. */
export const untouched = async (
  { untilFooter, footer, watch, terminal, log }: Stage,
  reason: RegExp,
  shows: RegExp,
): Promise<string> => {
  await untilFooter(reason);
  await watch(WATCH_MS);
  must(shows.test(terminal.screen()), `${shows} is not on the screen any more`);
  must(!/ typing /.test(log()), 'something was typed there');
  const words = reason.exec(footer())?.input.split('  ').at(-1)?.trim() ?? '';
  return `"${words}" for ${WATCH_MS / 1000} s`;
};

/** The tool still asks. */
export const unanswered = async (stage: Stage): Promise<string> =>
  `${await untouched(stage, /a dialog is open/, stage.agent.dialog)}, and it still is`;

/** A first turn in another conversation, which has room. */
export const beginAnew = async ({ mock, say, untilAsked, untilFooter }: Stage): Promise<void> => {
  mock.control({ turn: { usedTokens: 3_000, text: 'a fresh start' } });
  await say('hello again');
  await untilAsked(({ said, end }) => said.includes('hello again') && end === 'answered', 'the new turn');
  await untilFooter(/3\.0k\S* +safe/);
};
