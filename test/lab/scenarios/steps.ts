// Steps that only the lab's scenarios share.
import { spreadOver } from '../../../src/verify/mock/api.js';
import { setTimeout as pause } from 'node:timers/promises';
import { assertThat, HELD_BY_DIALOG, staysUntouched } from '../../../src/verify/checks.js';
import {
  getList,
  getRecord,
  getText,
  isRecord,
  parseRecord,
  type JsonRecord,
} from '../../../src/core/json.js';
import type { UserTerminal } from '../../../src/verify/user-terminal.js';
import { ctrl, ENTER } from '../agents/agent.js';
import { FULL, LITTLE, WATCH_MS, type LabSession } from './scenario.js';

const CHORD_MS = 200; // between the hotkey and its second key

/** The hotkey, then the key of an action. */
export const pressChord = async ({ terminal }: LabSession, key: string): Promise<void> => {
  terminal.pressForWrapper(ctrl(']'));
  await pause(CHORD_MS);
  terminal.pressForWrapper(key);
};

/** Runs a command of ctxwrap in another terminal that changes the running session, and returns its report when it says this outcome. */
export const runInSession = async (
  { runCtxwrap }: LabSession,
  expected: string,
  [command, ...args]: readonly [string, ...string[]],
): Promise<JsonRecord | undefined> => {
  const report = parseRecord(await runCtxwrap(command, '--json', ...args));
  const live = getRecord(report, 'live');
  const [outcome, words] = [getText(live, 'outcome'), getText(live, 'words')];
  assertThat(outcome === expected, `${command} says ${outcome}: ${words}`);
  return report;
};

export const SLOW_MS = 30_000; // for steps while a summary is being made

/** Turns that fill the window; an agent needs something to summarise. */
export const fill = async ({ turn }: LabSession, usedTokens = FULL): Promise<void> => {
  await turn(LITTLE);
  await turn(LITTLE + 1_000);
  await turn(usedTokens);
};

/** The tool still asks for permission. */
export const stillAsking = async (session: LabSession): Promise<string> =>
  `${await staysUntouched(session, HELD_BY_DIALOG, session.agent.dialog, WATCH_MS)}, and it still is`;

/** Waits until the wrapper's compaction runs; its summary is slow. */
export const untilCompacting = async (session: LabSession): Promise<void> => {
  session.mock.configure({ summary: spreadOver(SLOW_MS) });
  await fill(session);
  await session.untilRequest(({ purpose }) => purpose === 'summary', 'a summary');
  await session.untilFooter(/compacting(?! in)/);
};

/** A first turn in another conversation, which has room. */
export const startConversation = async ({
  mock,
  submit,
  untilRequest,
  untilFooter,
}: LabSession): Promise<void> => {
  mock.configure({ turn: { usedTokens: 3_000, text: 'a fresh start' } });
  await submit('hello again');
  await untilRequest(({ said, end }) => said.includes('hello again') && end === 'answered', 'the new turn');
  await untilFooter(/3\.0k\S* +safe/);
};

const SUBMIT_MS = 300; // a person does not press Enter together with the last letter
const START_MS = 3_000;
const LEAVE_MS = 90_000;
const BOUND_OPTIONS = ['--mode', 'warn'];

/** Types a message into another terminal of the user. */
export const submitIn = async ({ type, until, screen, press }: UserTerminal, text: string): Promise<void> => {
  await type(text);
  await until(() => screen().includes(text), `${text} in the prompt`);
  await pause(SUBMIT_MS);
  press(ENTER);
};

/** Starts the agent once more and says something when its screen shows `shown`; resolves when it has the answer. */
export const talk = async (
  session: LabSession,
  text: string,
  args: readonly string[],
  shown = /^/,
): Promise<UserTerminal> => {
  const { agent, mock, openTerminal, waitFor } = session;
  const terminal = openTerminal(...BOUND_OPTIONS, agent.name, ...session.agentArgs, ...args);
  const isReady = (): boolean => agent.ready.test(terminal.screen()) && shown.test(terminal.screen());
  await terminal.until(isReady, 'the prompt');
  await waitFor(START_MS);
  await submitIn(terminal, text);
  const isAnswered = (): boolean =>
    mock.requests().some(({ said, end }) => said.includes(text) && end === 'answered');
  await terminal.until(isAnswered, `an answer to "${text}"`);
  await waitFor(START_MS);
  return terminal;
};

/** Ends the agent of this terminal by its own command. */
export const leave = async ({ agent }: LabSession, terminal: UserTerminal): Promise<void> => {
  await submitIn(terminal, agent.exit);
  await Promise.race([terminal.ended, pause(LEAVE_MS)]);
};

const PUBLISH_MS = 1_000;
const MOST_LOOKS = 20;

/** The session file of the running session, once it is published. */
export const ownFile = async ({ runCtxwrap, waitFor }: LabSession): Promise<string> => {
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const [first] = getList(parseRecord(await runCtxwrap('ps', '--json')), 'sessions');
    const path = getText(isRecord(first) ? first : undefined, 'logPath');
    if (path !== undefined) return path;
    await waitFor(PUBLISH_MS);
  }
  throw new Error('ctxwrap does not publish the session file');
};

/** The agent's arguments for the new session, in the report of the command that has written it. */
export const resumeArgsIn = (report: JsonRecord | undefined): readonly string[] =>
  getList(getRecord(report, 'resume'), 'args').filter((word) => typeof word === 'string');
