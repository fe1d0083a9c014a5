// The window becomes full: while the agent is idle, while it works, and while the user is active.
import { BACKSPACE } from '../agents/agent.js';
import { startLongTurn } from './long-turn.js';
import { WATCH_MS, type Scenario } from './scenario.js';
import { untilCompacted, assertThat, openDialog, staysUntouched } from '../../../src/verify/checks.js';
import { fill, stillAsking } from './steps.js';

const PIECE_MS = 500;
const DRAFT = 'half a thought';

const idle: Scenario = {
  name: 'idle',
  expects: 'full while at rest: counts down, types the command, and the compaction is verified',
  typed: 1,
  play: async (session) => {
    await fill(session);
    await session.untilFooter(/compacting in \d+ s/);
    const line = await untilCompacted(session);
    assertThat(session.summaryCount() > 0, 'no summary was asked for');
    await session.untilFooter(/compacted/);
    return line;
  },
};

const busy: Scenario = {
  name: 'busy',
  expects: 'full while it works: waits for the end of the turn, then compacts',
  typed: 1,
  play: async (session) => {
    const { terminal, untilFooter, summaryCount } = session;
    await fill(session);
    const ending = await startLongTurn(session, PIECE_MS);
    await untilFooter(/agent is busy/);
    await terminal.until(() => ending() === 'answered', 'the end of the long answer');
    assertThat(summaryCount() === 0, 'a summary was asked for during the turn');
    const line = await untilCompacted(session);
    return `waited for the turn; ${line}`;
  },
};

const queued: Scenario = {
  name: 'queued while busy',
  expects:
    'with --when-busy queue: typed during the turn where the agent takes it, and run behind it; elsewhere it waits for the end of the turn',
  options: ['--when-busy', 'queue'],
  typed: 1,
  play: async (session) => {
    const { agent, terminal, untilLog, untilFooter, summaryCount, log } = session;
    await fill(session);
    const ending = await startLongTurn(session, 2 * PIECE_MS);
    if (agent.canQueue) await untilLog(/typing .*: sent/);
    else await untilFooter(/agent is busy/);
    assertThat(ending() === undefined, 'the turn was over before the command was typed');
    await terminal.until(() => ending() === 'answered', 'the end of the long answer');
    assertThat(summaryCount() === 0, 'a summary was asked for during the turn');
    assertThat(agent.canQueue || !/ typing /.test(log()), 'the command was typed during the turn');
    const line = await untilCompacted(session);
    return `${agent.canQueue ? 'typed during the turn, run behind it' : 'waited for the turn'}; ${line}`;
  },
};

const dialog: Scenario = {
  name: 'permission dialog',
  expects: 'a tool asks for permission when the window is full: no key, and the tool is not approved',
  typed: 0,
  play: async (session) => {
    await fill(session);
    await openDialog(session);
    return stillAsking(session);
  },
};

const draft: Scenario = {
  name: 'draft',
  expects: 'text in the prompt when the window is full: held, and the text stays; compacts when it is gone',
  typed: 1,
  play: async (session) => {
    const { terminal } = session;
    await fill(session);
    await terminal.type(DRAFT);
    const held = await staysUntouched(
      session,
      /waiting: unsent text in the prompt/,
      new RegExp(DRAFT),
      WATCH_MS,
    );
    await terminal.type(BACKSPACE.repeat(DRAFT.length));
    const line = await untilCompacted(session);
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
  play: async (session) => {
    const { terminal, mock, activity } = session;
    await fill(session);
    await terminal.type(DRAFT);
    const line = await untilCompacted(session);
    const isBack = (): boolean =>
      activity() === 'draft' && terminal.rows().some((row) => row.replace(/^[❯>]/, '').trim() === DRAFT);
    await terminal.until(isBack, 'the draft in the prompt');
    assertThat(!mock.requests().some(({ said }) => said.includes(DRAFT)), 'the draft was sent');
    return `the draft is back; ${line}`;
  },
};

const countdown: Scenario = {
  name: 'key during the countdown',
  expects: 'a key of the user during the countdown: it pauses, then goes on with what was left',
  typed: 1,
  play: async (session) => {
    const { terminal, untilFooter } = session;
    await fill(session);
    await untilFooter(/compacting in [2-6] s/);
    terminal.press('x');
    await untilFooter(/^(?!.*compacting in)/);
    terminal.press(BACKSPACE);
    await untilFooter(/compacting in [1-6] s/);
    return untilCompacted(session);
  },
};

const typing: Scenario = {
  name: 'keys during the typing',
  expects:
    'keys of the user while the command is typed: they come after it, in their order, and none is lost',
  typed: 1,
  play: async (session) => {
    const { terminal, agent } = session;
    await fill(session);
    const isTyped = (): boolean => terminal.rows().slice(0, -1).join('\n').includes(agent.compact); // the footer names it, too
    await terminal.until(isTyped, 'the command in the prompt');
    for (const key of 'abc') terminal.press(key);
    return untilCompacted(session);
  },
};

export const growing: readonly Scenario[] = [idle, busy, queued, dialog, draft, stashed, countdown, typing];
