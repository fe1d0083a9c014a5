// The footer shows the number of the conversation that is on the screen, or none. Another one takes it away at once.
import { setTimeout as pause } from 'node:timers/promises';
import { assertThat } from '../../../src/verify/checks.js';
import type { UserTerminal } from '../../../src/verify/user-terminal.js';
import { ENTER, ESC } from '../agents/agent.js';
import type { LabSession, Scenario } from './scenario.js';
import { submitIn } from './steps.js';

const [FIRST, SECOND, BESIDE] = [26_000, 17_000, 21_000] as const;
const ANSWER_MS = 2_000;
const AT_ONCE_MS = 1_500; // a busy machine draws and reads later
const LEFT = '\x1b[D';
const [DOWN, RIGHT] = ['\x1b[B', '\x1b[C'] as const;
const CTRL_C = '\x03';
const KEY_MS = 500;
const ENTRY_MS = 1_000;

export const rounded = (tokens: number): RegExp => new RegExp(` ${tokens / 1_000}k/`);
export const footerOf = (terminal: UserTerminal): string => terminal.rows().at(-1) ?? '';

/** Waits for what the footer of this terminal shows, no longer than this. */
export const until = (terminal: UserTerminal, pattern: RegExp, ms: number): Promise<void> =>
  terminal.until(() => pattern.test(footerOf(terminal)), `${pattern} in the footer within ${ms} ms`, ms);

/** The number is gone, before anything else is done. */
export const gone = async (terminal: UserTerminal, tokens: number): Promise<void> =>
  terminal.until(
    () => !rounded(tokens).test(footerOf(terminal)),
    `no ${tokens} tokens in the footer after ${AT_ONCE_MS} ms`,
    AT_ONCE_MS,
  );

/** A turn whose number comes within two seconds after the answer. */
export const say = async (
  { mock, untilRequest }: LabSession,
  terminal: UserTerminal,
  [question, usedTokens]: readonly [string, number],
): Promise<void> => {
  mock.configure({ turn: { usedTokens, text: `heard ${question}` } });
  await submitIn(terminal, question);
  await untilRequest(
    ({ said, purpose, end }) => purpose === 'turn' && said.includes(question) && end === 'answered',
    `an answer to "${question}"`,
  );
  await until(terminal, rounded(usedTokens), ANSWER_MS);
};

const another: Scenario = {
  name: 'another conversation',
  expects:
    '/new: its number goes with the conversation, and the new one has its own; then the first one again',
  play: async (session) => {
    const { terminal } = session;
    await say(session, terminal, ['my first words', FIRST]);
    await session.submit('/new');
    await gone(terminal, FIRST);
    await say(session, terminal, ['my second words', SECOND]);
    await session.submit('/resume');
    await gone(terminal, SECOND);
    await session.untilScreen(/Resume a previous session[^]*my first words/);
    await pause(ENTRY_MS);
    terminal.press(DOWN);
    await pause(KEY_MS);
    terminal.press(ENTER);
    await until(terminal, rounded(FIRST), ANSWER_MS);
    return 'each with its own number, at once';
  },
};

const beside: Scenario = {
  name: 'side chat',
  expects:
    '/side: the number goes, the side chat has its own, and after it the conversation has its own again',
  play: async (session) => {
    const { terminal } = session;
    await say(session, terminal, ['my first words', FIRST]);
    await session.submit('/side');
    await gone(terminal, FIRST);
    await session.untilScreen(/Ask a follow-up question/);
    await say(session, terminal, ['words beside', BESIDE]);
    terminal.press(CTRL_C);
    await session.untilScreen(/Archive/);
    await pause(KEY_MS);
    terminal.press(RIGHT);
    await pause(KEY_MS);
    terminal.press(ENTER);
    await gone(terminal, BESIDE);
    await until(terminal, rounded(FIRST), ANSWER_MS);
    return 'the side chat has its own number';
  },
};

const list: Scenario = {
  name: 'list of agents',
  expects: 'no number is shown with the list of agents, and that of the conversation that is chosen from it',
  play: async (session) => {
    const { terminal } = session;
    await say(session, terminal, ['my first words', FIRST]);
    await session.submit('/new');
    await gone(terminal, FIRST);
    await say(session, terminal, ['my second words', SECOND]);
    await pause(KEY_MS);
    terminal.press(LEFT);
    await gone(terminal, SECOND);
    await session.untilScreen(/Agent command center/);
    terminal.press(ESC);
    await until(terminal, rounded(SECOND), ANSWER_MS);
    await pause(KEY_MS);
    terminal.press(LEFT);
    await gone(terminal, SECOND);
    await session.untilScreen(/Agent command center/);
    await pause(ENTRY_MS);
    terminal.press(DOWN);
    await pause(KEY_MS);
    terminal.press(ENTER);
    await until(terminal, rounded(FIRST), ANSWER_MS);
    return 'gone with the list, and back';
  },
};

const resumed: Scenario = {
  name: 'two terminals',
  expects: 'resumed in another terminal it has its number before the first turn; two new ones have their own',
  play: async (session) => {
    const { terminal, openTerminal, agentArgs, agent } = session;
    await say(session, terminal, ['my first words', FIRST]);
    const other = openTerminal('--mode', 'warn', agent.name, 'resume', '--last', ...agentArgs);
    const shows = (pattern: RegExp) => (): boolean => pattern.test(other.screen());
    await other.until(shows(/my first words[^]*for agents/), 'the conversation in the other terminal');
    await until(other, rounded(FIRST), ANSWER_MS);
    await pause(KEY_MS);
    await submitIn(other, '/new');
    await gone(other, FIRST);
    await pause(ENTRY_MS);
    await say(session, other, ['words over there', SECOND]);
    assertThat(rounded(FIRST).test(footerOf(terminal)), `the first terminal shows ${footerOf(terminal)}`);
    await say(session, terminal, ['my second words', BESIDE]);
    assertThat(rounded(SECOND).test(footerOf(other)), `the other terminal shows ${footerOf(other)}`);
    return 'each terminal with the number of its conversation';
  },
};

/** For an agent with a server in the background that keeps its conversations. */
const inBackground = (scenario: Scenario): Scenario => ({
  ...scenario,
  name: `${scenario.name}, in the background`,
  isFor: (agent) => agent.embedded !== undefined,
  isInBackground: true,
  options: ['--mode', 'warn'],
  typed: 0,
});

const embedded = (scenario: Scenario): Scenario => ({
  ...inBackground(scenario),
  name: `${scenario.name}, without a server`,
  isInBackground: false,
});

export const views: readonly Scenario[] = [
  ...[another, beside, list, resumed].map(inBackground),
  ...[another, beside].map(embedded),
];
