// The window becomes full: alone, in the middle of work, and beside a user who does something.
import { BACKSPACE } from '../agents/agent.js';
import { workAtLength } from './long-turn.js';
import { WATCH_MS, type Scenario } from './scenario.js';
import { compacted, must, openDialog, untouched } from '../../../src/verify/certificate.js';
import { fill, unanswered } from './steps.js';

const PIECE_MS = 500;
const DRAFT = 'half a thought';

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
    const { terminal, untilFooter, summaries } = stage;
    await fill(stage);
    const ending = await workAtLength(stage, PIECE_MS);
    await untilFooter(/agent is busy/);
    await terminal.until(() => ending() === 'answered', 'the end of the long answer');
    must(summaries() === 0, 'a summary was asked for during the turn');
    const line = await compacted(stage);
    return `waited for the turn; ${line}`;
  },
};

const queued: Scenario = {
  name: 'queued while busy',
  expects:
    'with --when-busy queue: typed during the turn where the agent takes it, and run behind it; elsewhere it waits for the end of the turn',
  options: ['--when-busy', 'queue'],
  typed: 1,
  play: async (stage) => {
    const { agent, terminal, untilLog, untilFooter, summaries, log } = stage;
    await fill(stage);
    const ending = await workAtLength(stage, 2 * PIECE_MS);
    if (agent.canQueue) await untilLog(/typing .*: sent/);
    else await untilFooter(/agent is busy/);
    must(ending() === undefined, 'the turn was over before the command was typed');
    await terminal.until(() => ending() === 'answered', 'the end of the long answer');
    must(summaries() === 0, 'a summary was asked for during the turn');
    must(agent.canQueue || !/ typing /.test(log()), 'the command was typed during the turn');
    const line = await compacted(stage);
    return `${agent.canQueue ? 'typed during the turn, run behind it' : 'waited for the turn'}; ${line}`;
  },
};

const dialog: Scenario = {
  name: 'permission dialog',
  expects: 'a tool asks for permission when the window is full: no key, and the tool is not approved',
  typed: 0,
  play: async (stage) => {
    await fill(stage);
    await openDialog(stage);
    return unanswered(stage);
  },
};

const draft: Scenario = {
  name: 'draft',
  expects: 'text in the prompt when the window is full: held, and the text stays; compacts when it is gone',
  typed: 1,
  play: async (stage) => {
    const { terminal } = stage;
    await fill(stage);
    await terminal.type(DRAFT);
    const held = await untouched(stage, /holding: you have a draft/, new RegExp(DRAFT), WATCH_MS);
    await terminal.type(BACKSPACE.repeat(DRAFT.length));
    const line = await compacted(stage);
    return `${held}, the draft intact; ${line}`;
  },
};

const stashed: Scenario = {
  name: 'draft put aside',
  expects:
    'with --draft stash: the draft is put aside, the command typed and verified, and the draft is back',
  options: ['--draft', 'stash'],
  isFor: ({ stash }) => stash !== undefined,
  strokes: ({ stash = '', strokes }) => [stash, ...strokes],
  typed: 1,
  play: async (stage) => {
    const { terminal, mock, activity } = stage;
    await fill(stage);
    await terminal.type(DRAFT);
    const line = await compacted(stage);
    const isBack = (): boolean =>
      activity() === 'draft' && terminal.rows().some((row) => row.replace(/^[❯>]/, '').trim() === DRAFT);
    await terminal.until(isBack, 'the draft in the prompt');
    must(!mock.asked().some(({ said }) => said.includes(DRAFT)), 'the draft was sent');
    return `the draft is back; ${line}`;
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

export const growing: readonly Scenario[] = [idle, busy, queued, dialog, draft, stashed, countdown, typing];
