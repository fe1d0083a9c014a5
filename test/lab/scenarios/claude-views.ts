// Claude as a screen for sessions in the background: the list of agents, and the session that is chosen from it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { getText, parseRecord } from '../../../src/core/json.js';
import { assertThat, untilCompacted } from '../../../src/verify/checks.js';
import type { UserTerminal } from '../../../src/verify/user-terminal.js';
import { ENTER, ESC, definitionOf } from '../agents/agent.js';
import {
  FULL,
  LITTLE,
  QUICK_SUMMARY_MS,
  SOME,
  WATCH_MS,
  type LabSession,
  type Scenario,
} from './scenario.js';
import { SLOW_MS, fill, submitIn } from './steps.js';
import { asksWith, undo } from './undo.js';
import { footerOf, gone, rounded, say, until } from './views.js';
import { spreadOver } from '../../../src/verify/mock/api.js';

const LEFT = '\x1b[D';
const UP = '\x1b[A';
const KEY_MS = 500;
const LIST_MS = 1_000;
const OPEN_MS = 4_000; // the daemon starts the process of a session
const [BACK, MORE, OTHER] = [40_000, 61_000, 17_000] as const; // a small change is shown only after some seconds
const IS_LIST = /describe a task for a new session/;

/** From the conversation to the list of agents; the number goes with it. */
export const toList = async (
  session: LabSession,
  usedTokens: number,
  terminal = session.terminal,
): Promise<void> => {
  await pause(KEY_MS);
  terminal.press(LEFT);
  await terminal.until(() => IS_LIST.test(terminal.screen()), 'the list of agents');
  await gone(terminal, usedTokens);
  await until(terminal, /the list of agents/, LIST_MS);
  await pause(KEY_MS);
};

const back = async (terminal: UserTerminal, key: string, usedTokens: number): Promise<void> => {
  terminal.press(key);
  await until(terminal, rounded(usedTokens), OPEN_MS);
  await pause(KEY_MS);
};

const thereAndBack: Scenario = {
  name: 'agents and back',
  expects:
    '← and Enter, ← and Esc: no number in the list, then that of the session, also after more turns there',
  options: ['--mode', 'warn'],
  typed: 0,
  play: async (session) => {
    const { terminal } = session;
    await say(session, terminal, ['my first words', SOME]);
    await toList(session, SOME);
    await back(terminal, ENTER, SOME);
    await say(session, terminal, ['my second words', BACK]);
    await toList(session, BACK);
    await back(terminal, ESC, BACK);
    await say(session, terminal, ['my third words', MORE]);
    return 'gone with the list, and right behind it';
  },
};

const fullBehindList: Scenario = {
  name: 'agents in the countdown',
  expects:
    '← in the countdown: nothing is typed in the list; back in the session it begins anew and compacts',
  summaryMs: QUICK_SUMMARY_MS,
  typed: 1,
  play: async (session) => {
    const { terminal, untilFooter, log, waitFor } = session;
    await fill(session);
    await untilFooter(/compacting in [2-6] s/);
    await toList(session, FULL);
    await waitFor(WATCH_MS);
    assertThat(!/ typing /.test(log()), 'something was typed in the list');
    await back(terminal, ENTER, FULL);
    return untilCompacted(session);
  },
};

const undoneBehindList: Scenario = {
  name: 'undo behind the list of agents',
  expects: 'compacted in the background session; `ctxwrap undo` brings back every turn, those before ← too',
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    const { terminal, turn } = session;
    await turn(LITTLE);
    await turn(LITTLE + 1_000);
    await toList(session, LITTLE + 1_000);
    await back(terminal, ENTER, LITTLE + 1_000);
    await turn(FULL);
    const line = await untilCompacted(session);
    await undo(session);
    return `${await asksWith(session, [1, 2, 3])}; ${line}`;
  },
};

const usersOwn: Scenario = {
  name: "the user's /compact behind the list of agents",
  expects: "the user's own /compact there is recorded, and undone",
  options: ['--mode', 'warn'],
  summaryMs: QUICK_SUMMARY_MS,
  play: async (session) => {
    const { terminal, turn, submit, untilLog } = session;
    await turn(LITTLE);
    await toList(session, LITTLE);
    await back(terminal, ENTER, LITTLE);
    await turn(FULL);
    await submit('/compact');
    const line = await untilLog(/compaction by the user: verified/);
    await undo(session);
    return `${await asksWith(session, [1, 2])}; ${line.replace(/^\S+ \w+ /, '')}`;
  },
};

const entered: Scenario = {
  name: 'another background session',
  expects:
    'a session that is started from the list and entered has its own number, and the first one its own',
  options: ['--mode', 'warn'],
  typed: 0,
  play: async (session) => {
    const { terminal, mock } = session;
    await say(session, terminal, ['my first words', SOME]);
    await toList(session, SOME);
    mock.configure({ turn: { usedTokens: OTHER, text: 'heard over there' } });
    await submitIn(terminal, 'words over there');
    await pause(2 * OPEN_MS); // its model is another one, whose requests the server does not tell from others
    terminal.press(ENTER);
    await until(terminal, /17k/, OPEN_MS);
    await toList(session, OTHER);
    for (const key of [UP, UP]) {
      terminal.press(key);
      await pause(KEY_MS);
    }
    await back(terminal, ENTER, SOME);
    return 'each with its own number';
  },
};

const leftWhileCompacting: Scenario = {
  name: 'agents while it compacts',
  expects: '← while our compaction runs: no key in the list; back in the session it has the size after it',
  typed: 1,
  play: async (session) => {
    const { terminal, mock, log, untilRequest, waitFor } = session;
    mock.configure({ summary: spreadOver(SLOW_MS / 2) });
    await fill(session);
    await untilRequest(({ purpose }) => purpose === 'summary', 'a summary');
    const typed = log().split(' typing ').length;
    await toList(session, FULL);
    await waitFor(SLOW_MS);
    terminal.press(ENTER);
    await until(terminal, /~?\d+(?:\.\d)?k\/200k/, OPEN_MS);
    assertThat(log().split(' typing ').length === typed, 'something was typed in the list');
    return footerOf(terminal).trim();
  },
};

/** The id of the session that the first terminal has moved to the background. */
const parkedIn = (home: string): string => {
  const folder = join(home, '.claude/sessions');
  const records = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => parseRecord(readFileSync(join(folder, name), 'utf8')));
  return records.map((record) => getText(record, 'parkedJobId')).find(Boolean) ?? '';
};

const attached: Scenario = {
  name: 'attach and agents',
  expects:
    '`ctxwrap claude attach ID` shows the number of that session, and `ctxwrap claude agents` none, until one is opened',
  options: ['--mode', 'warn'],
  typed: 0,
  play: async (session) => {
    const { openTerminal, agent, home, waitFor } = session;
    await say(session, session.terminal, ['my first words', SOME]);
    await toList(session, SOME);
    const id = parkedIn(home);
    const one = openTerminal('--mode', 'warn', agent.name, 'attach', id);
    await one.until(() => one.screen().includes('my first words'), 'the session'); // the start takes its time
    await until(one, rounded(SOME), OPEN_MS);
    await say(session, one, ['my second words', BACK]);
    await toList(session, BACK, one);
    await back(one, ENTER, BACK);
    const two = openTerminal('--mode', 'warn', agent.name, 'agents');
    await two.until(() => IS_LIST.test(two.screen()), 'the list of agents');
    await until(two, /the list of agents/, OPEN_MS);
    await waitFor(KEY_MS);
    two.press(ENTER);
    await until(two, rounded(BACK), OPEN_MS);
    return `session ${id} in both`;
  },
};

export const claudeViews: readonly Scenario[] = [
  thereAndBack,
  fullBehindList,
  undoneBehindList,
  usersOwn,
  entered,
  leftWhileCompacting,
  attached,
].map((scenario) => ({ ...scenario, isFor: (agent) => definitionOf(agent)?.name === 'claude' }));
