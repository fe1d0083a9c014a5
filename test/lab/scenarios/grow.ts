// The window becomes full: alone, in the middle of work, and beside a user who does something.
import { BACKSPACE } from '../agents/agent.js';
import { FULL, LITTLE, type Stage } from '../stage.js';
import { must, type Scenario } from './scenario.js';

const ENDED = /compaction by us: /;
export const WATCH_MS = 20_000; // longer than quiet, settled and countdown together
const DONE_MS = 90_000;

/** Turns that make the window full; an agent has to have something to summarise. */
export const fill = async ({ turn }: Stage, usedTokens = FULL): Promise<void> => {
  await turn(LITTLE);
  await turn(LITTLE + 1_000);
  await turn(usedTokens);
};

/** The log line on the end of the compaction, which must have worked. */
export const compacted = async ({ untilLog }: Stage): Promise<string> => {
  const line = brief(await untilLog(ENDED, 0, DONE_MS));
  must(line.includes(': verified'), line);
  return line;
};

/** A log line without its time and level. */
export const brief = (line: string): string => line.replace(/^\S+ \w+ /, '');

// No two lines alike: Gemini stops a model that repeats itself.
const LONG = Array.from({ length: 40 }, (_, index) => `${index}. ${(index * 7919 + 1e7).toString(36)}\n`);

const idle: Scenario = {
  name: 'idle',
  expects: 'full while at rest: counts down, types the command, and the compaction is verified',
  typed: 1,
  play: async (stage) => {
    await fill(stage);
    await stage.untilFooter(/compacting in \d+ s/);
    const line = await compacted(stage);
    must(stage.summaries() > 0, 'no summary was asked for');
    await stage.untilFooter(/compacted/);
    return line;
  },
};

const busy: Scenario = {
  name: 'busy',
  expects: 'full while it works: waits for the end of the turn, then compacts',
  typed: 1,
  play: async (stage) => {
    const { mock, say, untilFooter, untilAsked, summaries } = stage;
    await fill(stage);
    mock.control({ turn: { pieces: LONG.length, pieceMs: 500, text: LONG.join('') } });
    await say('go on at length');
    await untilFooter(/agent is busy/);
    await untilAsked(({ said, end }) => said.includes('at length') && end === 'answered', 'the long answer');
    must(summaries() === 0, 'a summary was asked for during the turn');
    const line = await compacted(stage);
    return `waited for the turn; ${line}`;
  },
};

const dialog: Scenario = {
  name: 'permission dialog',
  expects: 'a tool asks for permission when the window is full: no key, and the tool is not approved',
  typed: 0,
  play: async (stage) => {
    const { mock, say, untilFooter, untilScreen, watch, agent, terminal } = stage;
    await fill(stage);
    mock.control({ next: [{ command: 'touch approved', text: 'I make a file.' }] });
    await say('make a file');
    await untilScreen(agent.dialog);
    await untilFooter(/a dialog is open/);
    await watch(WATCH_MS);
    must(agent.dialog.test(terminal.screen()), 'the dialog is gone');
    return `"a dialog is open" for ${WATCH_MS / 1000} s, and it still is`;
  },
};

const draft: Scenario = {
  name: 'draft',
  expects: 'text in the prompt when the window is full: held, and the text stays; compacts when it is gone',
  typed: 1,
  play: async (stage) => {
    const { terminal, untilFooter, watch, log } = stage;
    const text = 'half a thought';
    await fill(stage);
    await terminal.type(text);
    await untilFooter(/holding: you have a draft/);
    await watch(WATCH_MS);
    must(!/ typing /.test(log()), 'something was typed beside the draft');
    must(terminal.screen().includes(text), 'the draft is gone');
    await terminal.type(BACKSPACE.repeat(text.length));
    const line = await compacted(stage);
    return `held ${WATCH_MS / 1000} s with the draft intact; ${line}`;
  },
};

const countdown: Scenario = {
  name: 'key during the countdown',
  expects: 'a key of the user during the countdown: postponed, then counted down anew',
  typed: 1,
  play: async (stage) => {
    const { terminal, untilFooter } = stage;
    await fill(stage);
    await untilFooter(/compacting in [2-6] s/);
    terminal.press('x');
    await untilFooter(/^(?!.*compacting in)/);
    terminal.press(BACKSPACE);
    await untilFooter(/compacting in (?:9|10) s/);
    return compacted(stage);
  },
};

const typing: Scenario = {
  name: 'keys during the typing',
  expects:
    'keys of the user while the command is typed: they come after it, in their order, and none is lost',
  typed: 1,
  play: async (stage) => {
    const { terminal, agent } = stage;
    await fill(stage);
    await terminal.until(() => terminal.screen().includes(agent.compact), 'the command in the prompt');
    for (const key of 'abc') terminal.press(key);
    return compacted(stage);
  },
};

export const growing: readonly Scenario[] = [idle, busy, dialog, draft, countdown, typing];
