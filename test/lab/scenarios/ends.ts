// Every way a compaction can end that is not success, and what is said of it then.
import { ESC } from '../agents/agent.js';
import { familyOf } from '../family.js';
import type { Answer } from '../../../src/verify/mock/api.js';
import type { Scenario } from './scenario.js';
import { brief, ENDED, must } from '../../../src/verify/certificate.js';
import { errorWith, tooLong } from './faults.js';
import { beginAnew, fill, SLOW_MS, underWay } from './steps.js';

const PATIENCE_MS = 400_000; // Gemini tries again for nearly five minutes

const fails = (what: string, summary: Partial<Answer>): Scenario => ({
  name: `fails: ${what}`,
  expects: 'the summary fails: the outcome says so, and never that it worked',
  typed: 1,
  play: async (stage) => {
    stage.mock.control({ summary });
    await fill(stage);
    const line = brief(await stage.untilLog(ENDED, 0, PATIENCE_MS));
    must(!/: verified/.test(line), line);
    await stage.untilFooter(/compaction (?:failed|not ended|interrupted)|no number shows it/);
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
  play: async (stage) => {
    await underWay(stage);
    stage.terminal.press(ESC);
    const line = brief(await stage.untilLog(ENDED));
    must(/: interrupted/.test(line), line);
    return line;
  },
};

const byItself: Scenario = {
  name: 'agent compacts itself',
  expects: 'the agent begins by itself before our countdown ends: we type nothing, and its success counts',
  typed: 0,
  play: async (stage) => {
    const { mock, say, untilLog, agent } = stage;
    await fill(stage, agent.ownTrigger);
    mock.control({ turn: { usedTokens: 12_000, text: 'heard it' } });
    await say('one more');
    return brief(await untilLog(/compaction by the (?:agent|user): verified/, 0, PATIENCE_MS));
  },
};

const byUser: Scenario = {
  name: 'user compacts',
  expects: 'the user gives the command before our countdown ends: we type nothing, and its success counts',
  typed: 0,
  play: async (stage) => {
    const { say, untilLog, agent } = stage;
    await fill(stage);
    await say(agent.compact);
    return brief(await untilLog(/compaction by the (?:agent|user): verified/));
  },
};

const cleared: Scenario = {
  name: 'clear in the middle',
  expects: 'another conversation begins during the countdown: nothing is typed into it',
  typed: 0,
  play: async (stage) => {
    const { say, untilFooter, agent, watch, summaries } = stage;
    await fill(stage);
    await untilFooter(/compacting in/);
    await say(agent.clear);
    await untilFooter(/^(?!.*(?:compacting in|waiting:|holding:))/);
    await watch(SLOW_MS);
    await beginAnew(stage);
    must(summaries() === 0, 'a summary was asked for');
    return `nothing typed in ${SLOW_MS / 1000} s of the new conversation, which is safe`;
  },
};

const clearedUnderWay: Scenario = {
  name: 'clear while it compacts',
  expects:
    'another conversation is asked for while the agent compacts: nothing more is typed, and success is only told where there was one',
  typed: 1,
  play: async (stage) => {
    const { say, agent, untilLog, mock, watch, footer, log } = stage;
    await underWay(stage);
    await say(agent.clear);
    const line = brief(await untilLog(ENDED, 0, PATIENCE_MS));
    const isSummarised = mock.asked().some(({ purpose, end }) => purpose === 'summary' && end === 'answered');
    must(isSummarised || !/: verified/.test(line), `there was no summary, but ${line}`);
    await watch(SLOW_MS);
    must(!/compacting in|waiting:|holding:/.test(footer()), `the footer: ${footer()}`);
    await beginAnew(stage);
    must(log().split(ENDED).length === 2, 'another compaction was told');
    const isOther = log().split(CONVERSATION).length > 2;
    return `${agent.clear} ${isOther ? 'led to another conversation' : 'was refused by the agent'}; ${line}`;
  },
};

const killed: Scenario = {
  name: 'agent killed',
  expects:
    'kill -9 of the agent while it compacts: the wrapper ends as the agent did, and says what happened',
  typed: 1,
  play: async (stage) => {
    const { terminal, log } = stage;
    await underWay(stage);
    for (const pid of familyOf(startedIn(log()))) process.kill(pid, 'SIGKILL');
    await terminal.ended;
    must(/compaction by us: interrupted/.test(log()), 'the log does not say that it was interrupted');
    must(/ended: exit code \d+, signal 9/.test(log()), `the end: ${log().trim().split('\n').at(-1)}`);
    return 'interrupted by the end of the agent; the wrapper ended with it';
  },
};

const startedIn = (log: string): number => {
  const pid = Number(/started .* as process (\d+)/.exec(log)?.[1]);
  must(Number.isInteger(pid), 'the log does not name the process of the agent');
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
