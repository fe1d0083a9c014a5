// A compaction is undone in the running agent: the model gets the whole conversation again.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { getList, getRecord, getText, isRecord, parseRecord } from '../../../src/core/json.js';
import { assertThat, logMessage, openDialog, untilCompacted } from '../../../src/verify/checks.js';
import { BACKSPACE, ENTER } from '../agents/agent.js';
import {
  FULL,
  LITTLE,
  QUICK_SUMMARY_MS,
  SOME,
  WATCH_MS,
  whileRunning,
  type LabSession,
  type Scenario,
} from './scenario.js';
import { fill, leave, pressChord, resumeArgsIn, runInSession, talk } from './steps.js';

const MORE = 2_000; // tokens: the same number as at the last compaction would be nothing new
const DIALOG_MS = 1_000; // Claude takes no key in the first moment of a dialog
const DRAFT = 'half a thought';
const PATIENCE_MS = 90_000;
const MINUTE_MS = 60_000;

export const undo = async (session: LabSession, ...args: readonly string[]): Promise<string> =>
  getText(await runInSession(session, 'switched', ['undo', ...args]), 'from') ?? '';

/** The next request of a turn has what was said in these turns, and not what was said in the others. */
export const asksWith = async (
  session: LabSession,
  said: readonly number[],
  unsaid: readonly number[] = [],
): Promise<string> => {
  const { mock, submit, untilRequest, summaryCount } = session;
  const summaries = summaryCount();
  mock.configure({ turn: { usedTokens: SOME, text: 'so it is' } });
  const question = `what of ${said.join(' and ')}`; // another one after each undo
  await submit(question);
  await untilRequest(
    ({ purpose, said: text, end }) => purpose === 'turn' && text.includes(question) && end === 'answered',
    'an answer after the undo',
  );
  // an agent whose window is as full as when it compacted by itself does so again first
  const isSummed = summaryCount() > summaries;
  const sent = isSummed ? mock.lastSummary() : mock.lastTurn();
  for (const number of said)
    assertThat(
      sent.includes(`my number ${number}`) && sent.includes(`heard ${number} of you`),
      `turn ${number} is not in the next request`,
    );
  for (const number of unsaid)
    assertThat(!sent.includes(`heard ${number} of you`), `turn ${number} is in the next request`);
  const what = isSummed ? 'next request, for another summary,' : 'next request';
  return `the ${what} has ${said.length} turns from before`;
};

const afterOurs: Scenario = {
  name: 'undo',
  expects:
    'after our compaction `ctxwrap undo`: the next request has the whole conversation, the old file is as it was',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    await fill(session);
    const line = await untilCompacted(session);
    const from = await undo(session);
    const before = readFileSync(from, 'utf8');
    const evidence = await asksWith(session, [1, 2, 3]);
    // an agent without another session file goes on in the old one
    const after = readFileSync(from, 'utf8');
    assertThat(after.startsWith(before), 'the old session file was changed');
    return `${evidence}; ${line}`;
  },
};

const byHotkey: Scenario = {
  name: 'undo by hotkey',
  expects: "after the user's own compact command the hotkey and u: the same",
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    const { terminal, agent, submit, summaryCount, untilLog } = session;
    await fill(session, SOME);
    await submit(agent.compact);
    await terminal.until(() => summaryCount() > 0, 'a summary');
    await untilLog(/the agent has compacted/);
    await pressChord(session, 'u');
    await untilLog(/typing \/\w+ .*: sent/);
    await session.untilFooter(/compaction undone/);
    return asksWith(session, [1, 2, 3]);
  },
};

const afterOwn: Scenario = {
  name: 'undo of its own compaction',
  expects:
    'the agent compacts by itself, `ctxwrap undo`: the same; it may compact again at once, and then of the whole conversation',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    const { mock, agent, submit, untilLog, terminal, activity } = session;
    await fill(session, agent.ownTrigger);
    mock.configure({ turn: { usedTokens: LITTLE, text: 'heard it' } });
    await submit('one more');
    const line = logMessage(await untilLog(/compaction by the (?:agent|user): verified/, 0, PATIENCE_MS));
    await terminal.until(() => activity() === 'ready', 'activity ready after the compaction');
    await undo(session);
    return `${await asksWith(session, [1, 2, 3])}; ${line}`;
  },
};

const afterTheEnd: Scenario = {
  name: 'undo after the end',
  expects:
    'the session has ended: the new session is resumed by the command that `ctxwrap undo` prints, has the whole conversation, and is still there after the agent was started again without it',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    const { terminal, agent, mock, runCtxwrap } = session;
    await fill(session);
    await untilCompacted(session);
    await leave(session, terminal);
    const report = parseRecord(await runCtxwrap('undo', await endedFile(session), '--json'));
    const path = getText(getRecord(report, 'session'), 'path') ?? '';
    const args = resumeArgsIn(report);
    mock.configure({ turn: { usedTokens: SOME, text: 'so it is' } });
    await waitForNextMinute(); // Gemini names files after the minute, and cleans up those of others
    await leave(session, await talk(session, 'are you the same', args));
    const sent = mock.lastTurn();
    for (const number of [1, 2, 3])
      assertThat(sent.includes(`heard ${number} of you`), `turn ${number} is not in the next request`);
    await waitForNextMinute();
    await leave(session, await talk(session, 'something else', []));
    assertThat(existsSync(path), `the agent has removed ${path}`);
    const again = await runCtxwrap('history', '--json', path);
    assertThat(again.includes('"sessions"'), 'the new session cannot be read');
    return `resumed with ${agent.name} ${args.join(' ')}, and still there after another start`;
  },
};

/** The session file of the session that has ended, as history lists it. */
const endedFile = async ({ runCtxwrap }: LabSession): Promise<string> => {
  const [first] = getList(parseRecord(await runCtxwrap('history', '--json')), 'sessions');
  return getText(isRecord(first) ? first : undefined, 'path') ?? '';
};

const waitForNextMinute = (): Promise<void> => pause(MINUTE_MS - (Date.now() % MINUTE_MS) + 1_000);

const withTools: Scenario = {
  name: 'undo with tools',
  expects: 'a tool call in the conversation: it is in the next request, with its result',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    const { terminal, mock, activity } = session;
    await session.turn(LITTLE);
    mock.configure({ next: [{ command: 'touch made-by-a-tool', text: 'I run it.' }] });
    await session.submit('run it');
    await session.untilScreen(session.agent.dialog);
    await pause(DIALOG_MS);
    terminal.press(ENTER); // the first choice: yes, once
    await session.untilRequest(({ said, end }) => said !== 'run it' && end === 'answered', 'the tool');
    await terminal.until(() => existsSync(join(session.project, 'made-by-a-tool')), 'what the tool makes');
    await terminal.until(() => activity() === 'ready', 'activity ready after the tool');
    await fill(session);
    await untilCompacted(session);
    await undo(session);
    const evidence = await asksWith(session, [1, 2, 3, 4]);
    assertThat(mock.lastTurn().includes('touch made-by-a-tool'), 'the tool call is not in the next request');
    return evidence;
  },
};

const nested: Scenario = {
  name: 'undo twice',
  expects: 'two compactions, two undos: first what was said between them, then all of it',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    await fill(session);
    await untilCompacted(session);
    await session.turn(LITTLE);
    const from = session.log().length;
    await session.turn(FULL + MORE);
    await session.untilLog(/compaction by us: verified/, from);
    await undo(session);
    const first = await asksWith(session, [4, 5]);
    await undo(session, `${session.agent.name}#1`);
    return `${first}, then ${await asksWith(session, [1, 2, 3], [4, 5])}`;
  },
};

const withDraft: Scenario = {
  name: 'undo with a draft',
  expects: 'text in the prompt: waits, and the text stays; undone when it is gone',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    const { terminal } = session;
    await fill(session);
    await untilCompacted(session);
    await terminal.type(DRAFT);
    const undone = undo(session);
    await pause(WATCH_MS);
    assertThat(new RegExp(DRAFT).test(terminal.screen()), 'the draft is gone');
    await terminal.type(BACKSPACE.repeat(DRAFT.length));
    await undone;
    return asksWith(session, [1, 2, 3]);
  },
};

const atDialog: Scenario = {
  name: 'undo at a dialog',
  expects: 'a tool asks for permission: no key, and the tool is not approved',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    await fill(session);
    await untilCompacted(session);
    await openDialog(session);
    const from = session.log().length;
    void undo(session).catch(() => undefined);
    await pause(WATCH_MS);
    assertThat(session.agent.dialog.test(session.terminal.screen()), 'the dialog has gone');
    assertThat(!/ typing /.test(session.log().slice(from)), 'something was typed there');
    return `no key in ${WATCH_MS / 1000} s`;
  },
};

export const undoing: readonly Scenario[] = [
  ...[afterOurs, byHotkey, afterOwn, withTools, nested, withDraft, atDialog].map(whileRunning),
  afterTheEnd,
];
