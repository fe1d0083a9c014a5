// Every unsuccessful end of a compaction, and how it is reported.
import { ESC } from '../agents/agent.js';
import { processTree } from '../process-tree.js';
import type { Answer } from '../../../src/verify/mock/api.js';
import { LITTLE, type Scenario } from './scenario.js';
import { logMessage, ENDED, assertThat } from '../../../src/verify/checks.js';
import { errorWith, tooLong } from './faults.js';
import { startConversation, fill, SLOW_MS, untilCompacting } from './steps.js';

const PATIENCE_MS = 400_000; // Gemini retries for nearly five minutes

const fails = (what: string, summary: Partial<Answer>): Scenario => ({
  name: `fails: ${what}`,
  expects: 'the summary fails: the outcome says so, and never that it worked',
  typed: 1,
  play: async (session) => {
    session.mock.configure({ summary });
    await fill(session);
    const line = logMessage(await session.untilLog(ENDED, 0, PATIENCE_MS));
    assertThat(!/: verified/.test(line), line);
    await session.untilFooter(/compaction (?:failed|not finished|not confirmed|interrupted)/);
    return line;
  },
});

const CONVERSATION = /the agent's session is /;
const BIG = 'nothing was left out here. '.repeat(15_000);

const failing: readonly Scenario[] = [
  fails('500', { error: errorWith(500) }),
  fails('400', { error: errorWith(400) }),
  fails('too long', { error: tooLong }),
  fails('dropped', { isCut: true }),
  fails('empty', { text: '' }),
  fails('not smaller', { text: BIG, usedTokens: 2_000, outputTokens: 60_000 }),
];

const interrupted: Scenario = {
  name: 'interrupted by Esc',
  expects: 'the user stops the compaction: the outcome says so',
  isFor: ({ canInterrupt }) => canInterrupt,
  typed: 1,
  play: async (session) => {
    await untilCompacting(session);
    session.terminal.press(ESC);
    if (session.agent.stopsAtSecondEsc) {
      await session.untilScreen(/esc again/);
      session.terminal.press(ESC);
    }
    const line = logMessage(await session.untilLog(ENDED));
    assertThat(/: interrupted/.test(line), line);
    return line;
  },
};

const byItself: Scenario = {
  name: 'agent compacts itself',
  expects: 'the agent begins by itself before our countdown ends: we type nothing, and its success counts',
  typed: 0,
  play: async (session) => {
    const { mock, submit, untilLog, agent } = session;
    if (agent.compactsAtOnce) {
      await fill(session, LITTLE);
      mock.configure({ next: [{ usedTokens: agent.ownTrigger }] });
    } else {
      await fill(session, agent.ownTrigger);
      mock.configure({ turn: { usedTokens: 12_000, text: 'heard it' } });
    }
    await submit('one more');
    return logMessage(await untilLog(/compaction by the (?:agent|user): verified/, 0, PATIENCE_MS));
  },
};

const byUser: Scenario = {
  name: 'user compacts',
  expects: 'the user gives the command before our countdown ends: we type nothing, and its success counts',
  typed: 0,
  play: async (session) => {
    const { submit, untilLog, agent } = session;
    await fill(session);
    await submit(agent.compact);
    return logMessage(await untilLog(/compaction by the (?:agent|user): verified/));
  },
};

const cleared: Scenario = {
  name: 'clear in the middle',
  expects: 'another conversation begins during the countdown: nothing is typed into it',
  typed: 0,
  play: async (session) => {
    const { submit, untilFooter, agent, waitFor, summaryCount } = session;
    await fill(session);
    await untilFooter(/compacting in/);
    await submit(agent.clear);
    await untilFooter(/^(?!.*(?:compacting in|waiting:))/);
    await waitFor(SLOW_MS);
    await startConversation(session);
    assertThat(summaryCount() === 0, 'a summary was asked for');
    return `nothing typed in ${SLOW_MS / 1000} s of the new conversation, which is safe`;
  },
};

const clearedUnderWay: Scenario = {
  name: 'clear while it compacts',
  expects:
    'another conversation is asked for while the agent compacts: nothing more is typed, and success is only told where there was one',
  typed: 1,
  play: async (session) => {
    const { submit, agent, untilLog, mock, waitFor, footer, log } = session;
    await untilCompacting(session);
    await submit(agent.clear);
    const line = logMessage(await untilLog(ENDED, 0, PATIENCE_MS));
    const isSummarised = mock
      .requests()
      .some(({ purpose, end }) => purpose === 'summary' && end === 'answered');
    assertThat(isSummarised || !/: verified/.test(line), `there was no summary, but ${line}`);
    await waitFor(SLOW_MS);
    assertThat(!/compacting in|waiting:/.test(footer()), `the footer: ${footer()}`);
    await startConversation(session);
    // of one that goes on where nobody sees it, the end is told later
    const ends = log().split(ENDED).length - log().split('given up too early').length;
    assertThat(ends === 1, 'another compaction was told');
    const isOther = log().split(CONVERSATION).length > 2;
    return `${agent.clear} ${isOther ? 'led to another conversation' : 'was refused by the agent'}; ${line}`;
  },
};

const killed: Scenario = {
  name: 'agent killed',
  expects:
    'kill -9 of the agent while it compacts: the wrapper ends as the agent did, and says what happened',
  typed: 1,
  play: async (session) => {
    const { terminal, log } = session;
    await untilCompacting(session);
    for (const pid of processTree(startedIn(log()))) process.kill(pid, 'SIGKILL');
    await terminal.ended;
    assertThat(/compaction by us: interrupted/.test(log()), 'the log does not say that it was interrupted');
    assertThat(/ended: exit code \d+, signal 9/.test(log()), `the end: ${log().trim().split('\n').at(-1)}`);
    return 'interrupted by the end of the agent; the wrapper ended with it';
  },
};

export const startedIn = (log: string): number => {
  const pid = Number(/started .* as process (\d+)/.exec(log)?.[1]);
  assertThat(Number.isInteger(pid), 'the log does not name the process of the agent');
  return pid;
};

export const ending: readonly Scenario[] = [
  ...failing,
  interrupted,
  byItself,
  byUser,
  cleared,
  clearedUnderWay,
  killed,
];
