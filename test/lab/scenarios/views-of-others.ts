// Another conversation comes into view: the number of the one before must not be told of it.
import { setTimeout as pause } from 'node:timers/promises';
import { assertThat } from '../../../src/verify/checks.js';
import { ENTER } from '../agents/agent.js';
import { DOWN } from '../commands/known.js';
import { LITTLE, SOME, type LabSession, type Scenario } from './scenario.js';

const KEY_MS = 500;
const RIGHT_MS = 20_000; // the number of the chosen conversation is there
const STAYS_MS = 15_000; // longer than it takes to rule out the screen against a session file
const FIRST = `heard 2 of you`;

const shows = (tokens: number): RegExp => new RegExp(String.raw`\b${tokens / 1_000}k`);

/** Two conversations, the first of which is fuller; the second is in view, and the list of sessions is open. */
const openList = async (session: LabSession): Promise<void> => {
  const { agent, turn, submit, terminal, untilFooter, untilScreen } = session;
  const { sessionList } = agent;
  if (!sessionList) throw new Error('the agent has no list of sessions');
  await turn(LITTLE);
  await turn(SOME);
  await untilFooter(shows(SOME));
  await submit(agent.clear);
  await terminal.until(() => !terminal.screen().includes(FIRST), 'an empty conversation');
  await terminal.until(() => !shows(SOME).test(session.footer()), 'no number of the conversation before');
  await turn(LITTLE + 2_000);
  await untilFooter(shows(LITTLE + 2_000));
  await pause(RIGHT_MS / 4); // until the session file is found, too
  await submit(sessionList.command);
  await untilScreen(sessionList.shows);
};

const chosen: Scenario = {
  name: 'session chosen from a list',
  expects:
    'the user goes back to a fuller conversation: its number is shown, and that of the other one does not come back',
  isFor: ({ sessionList }) => sessionList !== undefined,
  typed: 0,
  play: async (session) => {
    const { agent, terminal, untilFooter, footer } = session;
    await openList(session);
    await pause(KEY_MS);
    terminal.press(DOWN);
    await pause(KEY_MS);
    terminal.press(ENTER);
    await terminal.until(() => terminal.screen().includes(FIRST), 'the first conversation');
    const began = performance.now();
    // behind a long path opencode shows no number of it: then there is none, or its session's
    const isCovered = agent.name === 'opencode';
    await untilFooter(isCovered ? /looking for|\b25k/ : shows(SOME), RIGHT_MS);
    const took = performance.now() - began;
    while (performance.now() - began < RIGHT_MS + STAYS_MS) {
      assertThat(
        !shows(LITTLE + 2_000).test(footer()),
        `the other conversation's number is back: ${footer()}`,
      );
      await pause(KEY_MS);
    }
    return `its number after ${(took / 1_000).toFixed(1)} s, and for ${STAYS_MS / 1_000} s`;
  },
};

export const viewsOfOthers: readonly Scenario[] = [chosen];
