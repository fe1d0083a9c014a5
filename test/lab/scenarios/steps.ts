// Steps that only the lab's scenarios share.
import { spreadOver } from '../../../src/verify/mock/api.js';
import { setTimeout as pause } from 'node:timers/promises';
import { assertThat, HELD_BY_DIALOG, staysUntouched } from '../../../src/verify/checks.js';
import { getRecord, getText, parseRecord, type JsonRecord } from '../../../src/core/json.js';
import { ctrl } from '../agents/agent.js';
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
