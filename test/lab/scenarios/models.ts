// The user changes the model when the window is full, or so that it becomes full.
import { assertThat, untilCompacted } from '../../../src/verify/checks.js';
import { ENTER, type OtherModels } from '../agents/agent.js';
import { LITTLE, WATCH_MS, type LabSession, type Scenario } from './scenario.js';
import { fill } from './steps.js';

const STEP_MS = 1_500;
const SHARES = ['--warn', '60%', '--auto', '75%', '--hard', '97%'];

const modelsOf = ({ agent }: LabSession): OtherModels => {
  if (!agent.otherModels) throw new Error(`${agent.name} has one model`);
  return agent.otherModels;
};

/** Presses the keys that choose a model, and confirms what the agent asks then. */
const choose = async ({ terminal, waitFor, agent }: LabSession, keys: readonly string[]): Promise<void> => {
  for (const each of keys) {
    await (each.length > 1 ? terminal.type(each) : terminal.press(each));
    await waitFor(STEP_MS);
  }
  if (!agent.otherModels?.asks?.test(terminal.screen())) return;
  terminal.press(ENTER);
  await waitFor(STEP_MS);
};

const larger: Scenario = {
  name: 'larger model',
  expects: 'a model with a larger window is chosen during the countdown: nothing is typed',
  isFor: ({ otherModels }) => otherModels !== undefined,
  adapt: (agent) => agent.otherModels?.adapt?.(agent) ?? agent,
  options: SHARES,
  typed: 0,
  play: async (session) => {
    const { usedTokens, large } = modelsOf(session);
    await fill(session, usedTokens);
    await session.untilFooter(/compacting in \d+ s/);
    await choose(session, large.keys);
    await session.untilFooter(large.footer);
    await session.waitFor(WATCH_MS);
    assertThat(session.summaryCount() === 0, 'a summary was asked for');
    assertThat(large.footer.test(session.footer()), session.footer());
    return `"${session.footer().trim()}" for ${WATCH_MS / 1000} s`;
  },
};

const smaller: Scenario = {
  ...larger,
  name: 'smaller model',
  expects: 'a model with a smaller window is chosen at rest: it is full then, and compacts',
  typed: 1,
  play: async (session) => {
    const { usedTokens, large, small } = modelsOf(session);
    await session.turn(LITTLE);
    await session.turn(LITTLE + 1_000);
    await choose(session, large.keys);
    await session.turn(usedTokens);
    await session.untilFooter(large.footer);
    await choose(session, small.keys);
    await session.untilFooter(small.footer);
    return untilCompacted(session);
  },
};

export const models: readonly Scenario[] = [larger, smaller];
