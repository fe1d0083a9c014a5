// What several stories have in common: how the window becomes full, how a compaction ends, and what must stay as it is.
import { FULL, LITTLE, type Stage } from './stage.js';
import { must } from './scenario.js';

export const ENDED = /compaction by us: /;
const WATCH_MS = 20_000; // longer than quiet, settled and countdown together
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
  watchMs = WATCH_MS,
): Promise<string> => {
  await untilFooter(reason);
  await watch(watchMs);
  must(shows.test(terminal.screen()), `${shows} is not on the screen any more`);
  must(!/ typing /.test(log()), 'something was typed there');
  const words = reason.exec(footer())?.input.split('  ').at(-1)?.trim() ?? '';
  return `"${words}" for ${watchMs / 1000} s`;
};

/** What the footer says while a tool asks; what it asks where the agent tells. */
export const HELD_BY_DIALOG = /waiting: (?:a dialog is open|approve )/;

/** The tool still asks. */
export const unanswered = async (stage: Stage): Promise<string> =>
  `${await untouched(stage, HELD_BY_DIALOG, stage.agent.dialog)}, and it still is`;
